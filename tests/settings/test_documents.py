"""The files that are made from the settings are current, and true."""

import re
import tomllib
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # ships no types
import pytest

from journeyman.settings.describe import documents
from journeyman.settings.schema import json_schema, sections, settings_by_key
from journeyman.settings.sources import load_settings

ROOT = Path(__file__).parents[2]
TEMPLATE = Path("config/journeyman.toml")


def _uncommented() -> str:
    return re.sub(r"(?m)^# (\w+ = )", r"\1", documents()[TEMPLATE])


@pytest.mark.parametrize("place", documents(), ids=str)
def test_a_generated_file_is_current(place: Path) -> None:
    written = (ROOT / place).read_text(encoding="utf-8")

    assert written == documents()[place], "run python -m journeyman.settings.describe"


def test_the_template_changes_nothing_as_it_is() -> None:
    loaded = load_settings(files=[ROOT / TEMPLATE], environ={}, cwd=ROOT)

    assert set(loaded.origin.values()) == {"default"}


def test_the_template_has_every_setting_of_every_section() -> None:
    table = tomllib.loads(_uncommented())

    found = {(section, key) for section in table for key in table[section]}
    assert found == set(settings_by_key())


def test_the_template_with_everything_uncommented_is_valid(tmp_path: Path) -> None:
    file = tmp_path / "all.toml"
    file.write_text(_uncommented())

    jsonschema.validate(tomllib.loads(_uncommented()), json_schema())
    load_settings(files=[file], environ={}, cwd=tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"work": {"slots": 0}},
        {"work": {"slot": 1}},
        {"wrk": {}},
        {"log": {"level": "loud"}},
    ],
    ids=str,
)
def test_the_schema_refuses_what_loading_refuses(wrong: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, json_schema())


EXAMPLES = [
    pytest.param(text, id=f"{page.stem}-{number}")
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for number, text in enumerate(
        re.findall(r"(?ms)^```toml\n(.*?)^```", page.read_text(encoding="utf-8"))
    )
    if "[project." not in text  # a package's pyproject.toml
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_of_the_docs_is_read_where_they_put_it(
    text: str, tmp_path: Path
) -> None:
    (tmp_path / "journeyman.toml").write_text(text)

    loaded = load_settings(environ={}, cwd=tmp_path)

    origins = set(loaded.origin.values())
    assert any(origin.startswith("journeyman.toml:") for origin in origins)


def test_the_schema_itself_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


SETTINGS = settings_by_key().values()


def test_every_setting_is_documented_with_its_unit_and_its_default() -> None:
    page = documents()[Path("docs/reference/configuration.md")]

    for setting in SETTINGS:
        name = setting.dotted
        assert f"| `{name}` |" in page, name
        assert setting.variable in page, name
        assert setting.description.endswith("."), name
        assert setting.default is not None or setting.default_is, name
        assert setting.default is not None or setting.example is not None, name
        if setting.kind in {"integer", "number"}:
            assert setting.wanted.endswith(")"), f"{name}: a number needs a unit"


@pytest.mark.parametrize("section", sections(), ids=lambda section: section.name)
def test_a_section_says_what_it_is_about(section: object) -> None:
    assert getattr(section, "description", "").endswith(".")


def test_no_document_depends_on_whose_machine_made_it(home: Path) -> None:
    assert not any(str(home) in text for text in documents().values())
