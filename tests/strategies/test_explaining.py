"""Every problem code is explained, and what its page says is true."""

from pathlib import Path

import pytest

from journeyman.domain.errors import ConfigurationError
from journeyman.strategies.loading.loader import load
from journeyman.strategies.loading.problems import CODES, explain, render_page
from journeyman.strategies.loading.registry import load_registry

PAGE = Path(__file__).parents[2] / "docs/reference/strategy-errors.md"
WITHOUT_PYTHON = {"E100", "E114", "E115", "E116"}
"""What these tell of is not in a strategy's text; other tests provoke them."""
IN_PYTHON = sorted(set(CODES) - WITHOUT_PYTHON)


def codes_of(folder: Path, source: str) -> set[str]:
    (folder / "mine.py").write_text(source)
    return {problem.code for problem in load(folder).problems}


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_an_explanation_with_an_example(code: str) -> None:
    found = explain(code.lower())

    assert found is not None
    assert (found.code, found.meaning) == (code, CODES[code])
    assert found.example("Wrong")
    assert found.example("Right")
    assert not found.text.startswith("#")


@pytest.mark.parametrize("code", IN_PYTHON)
def test_what_is_called_wrong_provokes_the_code_and_what_is_right_does_not(
    code: str, folder: Path
) -> None:
    found = explain(code)

    assert found is not None
    assert codes_of(folder, found.example("Wrong")) == {code}
    assert codes_of(folder, found.example("Right")) == set()


def test_a_name_that_nothing_has_is_refused_by_its_code(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="E115"):
        load_registry(folder).find("nobody")


def test_there_is_no_explanation_of_what_is_no_code() -> None:
    assert explain("E999") is None


def test_the_reference_page_is_current() -> None:
    assert PAGE.read_text("utf-8") == render_page(), "run `journeyman explain --write`"
