"""What people read about the settings: `config show`, the template, the reference."""

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from journeyman.domain.text import HIDDEN
from journeyman.settings import schema
from journeyman.settings.sources import DEFAULT, LoadedSettings, is_secret, leaves


@dataclass(frozen=True, kw_only=True, slots=True)
class SettingRow:
    """One setting, as a person should see it."""

    key: str
    """Dotted: `network.base_url`."""
    value: str
    """As JSON; `***` for a secret; the default in words, in brackets, for none."""
    origin: str
    description: str


def rows(loaded: LoadedSettings) -> list[SettingRow]:
    """Return a row for each setting, and one for each value in a table that is set."""
    values = loaded.settings.model_dump(mode="json")
    return [
        _row(loaded, setting, key, value)
        for setting in schema.settings_by_key().values()
        for key, value in leaves(values[setting.key[0]][setting.key[1]], setting.key)
    ]


def _row(
    loaded: LoadedSettings, setting: schema.Setting, key: schema.Key, value: object
) -> SettingRow:
    dotted = ".".join(key)
    # Only text can be a secret: a `max_tokens = 500` is none.
    hidden = is_secret(dotted) and isinstance(value, str)
    return SettingRow(
        key=dotted,
        value=HIDDEN if hidden else _shown(setting, value),
        origin=loaded.origin.get(dotted, loaded.origin.get(setting.dotted, DEFAULT)),
        description=setting.description,
    )


def _shown(setting: schema.Setting, value: object) -> str:
    if value is None:
        return f"({setting.default_is})"
    if isinstance(value, float):
        return f"{value:.15g}"
    return json.dumps(value, ensure_ascii=False)


WIDTH = 80
"""In columns; it fits beside another window."""

_TEMPLATE_HEAD = """\
The settings of Journeyman. Everything below is commented out and shows the default,
or an example where there is none. Remove the `# ` in front of a setting to change it.

Stronger than this file are the environment (JOURNEYMAN_SECTION__KEY) and the command
line. `journeyman config show` shows where each value came from.

Made by `python -m journeyman.settings.describe`, from the code."""


def render_toml(schema_name: str) -> str:
    """Return the text of the file; editors find the schema by the name given."""
    lines = [f"#:schema {schema_name}", ""]
    for paragraph in _TEMPLATE_HEAD.split("\n\n"):
        lines += [*_comment(paragraph), "#"]
    lines.pop()
    for section in schema.sections():
        lines += ["", "", *_section(section)]
    return "\n".join(lines) + "\n"


def render_chosen(head: str, chosen: Mapping[str, object]) -> str:
    """Return the text of a file with some settings, each with what it does.

    Args:
        head: What stands at its top; a blank line separates paragraphs.
        chosen: The values by dotted key.
    """
    lines: list[str] = []
    for paragraph in head.split("\n\n"):
        lines += [*_comment(paragraph), "#"]
    lines.pop()
    for section in schema.sections():
        settings = [one for one in section.settings if one.dotted in chosen]
        if settings:
            lines += ["", "", *_comment(section.description), f"[{section.name}]"]
        # A table of its own ends the section that it stands in.
        for one in sorted(settings, key=lambda one: one.wanted == "tables"):
            lines += ["", *_chosen_entry(one, chosen[one.dotted])]
    return "\n".join(lines) + "\n"


def _chosen_entry(setting: schema.Setting, value: object) -> Iterator[str]:
    yield from _comment(setting.description)
    if setting.wanted != "tables" or not isinstance(value, dict):
        yield f"{setting.key[-1]} = {toml_value(value)}"
        return
    for name, table in value.items():
        yield f"[{setting.dotted}.{name}]"
        for key, inner in table.items():
            yield f"{key} = {toml_value(inner)}"


def toml_value(value: object) -> str:
    """Write a value as TOML; what a setting can hold is nearly the same as JSON."""
    if isinstance(value, dict):
        pairs = (f"{name} = {toml_value(inner)}" for name, inner in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    return json.dumps(value, ensure_ascii=False)


def _section(section: schema.SettingSection) -> Iterator[str]:
    yield from _comment(section.description)
    yield f"[{section.name}]"
    for setting in section.settings:
        yield ""
        yield from _template_entry(setting)


def _template_entry(setting: schema.Setting) -> Iterator[str]:
    yield from _comment(setting.description)
    yield from _comment(_facts(setting))
    value = setting.example if setting.default is None else setting.default
    yield f"# {setting.key[-1]} = {toml_value(value)}"


def _facts(setting: schema.Setting) -> str:
    default = setting.default_is or toml_value(setting.default)
    facts = f"{setting.wanted[0].upper()}{setting.wanted[1:]}. Default: {default}."
    if setting.default is not None and setting.example is not None:
        facts += f" For example {toml_value(setting.example)}."
    return facts


def _comment(text: str) -> list[str]:
    return wrap(
        " ".join(text.split()),
        WIDTH,
        initial_indent="# ",
        subsequent_indent="# ",
        break_on_hyphens=False,
    )


_REFERENCE_HEAD = """\
# Configuration

Every setting has a default. Journeyman needs only the address of a network.

A value comes from the strongest source that has it:

1. the command line, such as `--base-url`;
2. the environment: `JOURNEYMAN_SECTION__KEY`, with two underscores between the
   section and the key, such as `JOURNEYMAN_NETWORK__BASE_URL`. An empty variable
   counts as not set. A list is written `a,b` or as JSON.
   `JOURNEYMAN_SECTION__KEY_FILE` names a file that holds the value, as secrets are
   handed to containers; white space around it is removed. A strategy's parameter
   is `JOURNEYMAN_STRATEGIES__PARAMS__COUNT_WORDS__MAX_WORDS`;
3. the files given with `--config FILE`, of which later ones are stronger. Without
   `--config`, the first that exists of `journeyman.toml` and
   `config/journeyman.toml` in the current directory, and `journeyman.toml` in the
   user's configuration directory (`~/.config/journeyman` on Linux);
4. the default.

`journeyman config show` lists the files that were read, and those that lie nearby and
were not; with `--origin`, where each value came from. A key that no
setting has, a value of a wrong type, and a file that cannot be read are errors.
All of them are reported at once, with the file and the line, and the exit code is 4.

`config/journeyman.toml` has every setting, commented out. Its schema is
`config/journeyman.schema.json`, which editors use for hints.

This page is made by `python -m journeyman.settings.describe`, from the code.
"""


def render_markdown() -> str:
    """Return the text of the page."""
    lines = [_REFERENCE_HEAD]
    for section in schema.sections():
        lines += _reference_section(section)
    return "\n".join(lines)


def _reference_section(section: schema.SettingSection) -> Iterator[str]:
    yield f"## {section.name}"
    yield ""
    yield section.description
    yield ""
    yield "| setting | value | default | what it does | also |"
    yield "|---|---|---|---|---|"
    for setting in section.settings:
        yield _reference_row(setting)
    yield ""


def _reference_row(setting: schema.Setting) -> str:
    default = setting.default_is or f"`{toml_value(setting.default)}`"
    also = f"`{setting.variable}`"
    if setting.option:
        also = f"`{setting.option}`, {also}"
    cells = (f"`{setting.dotted}`", setting.wanted, default, setting.description, also)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


SCHEMA_NAME = "journeyman.schema.json"


def documents() -> dict[Path, str]:
    """Return the text of each generated file by its place in the repository."""
    schema_text = json.dumps(schema.json_schema(), indent=2, ensure_ascii=False) + "\n"
    return {
        Path("config/journeyman.toml"): render_toml(SCHEMA_NAME),
        Path("config", SCHEMA_NAME): schema_text,
        Path("docs/reference/configuration.md"): render_markdown(),
    }


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description="Write the configuration's documents.")
    parser.add_argument("root", nargs="?", type=Path, default=Path())
    root: Path = parser.parse_args().root
    for place, text in documents().items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
