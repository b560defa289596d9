"""The reference page says what the code does."""

from pathlib import Path

import pytest

import journeyman
from journeyman.strategies.api import Context, Strategy
from journeyman.strategies.loading.problems import CODES

PAGE = (Path(__file__).parents[2] / "docs/reference/strategy-api.md").read_text()


@pytest.mark.parametrize("code", CODES)
def test_every_problem_code_is_documented_with_its_meaning(code: str) -> None:
    assert f"| {code} | {CODES[code]} |" in PAGE


@pytest.mark.parametrize("name", [n for n in journeyman.__all__ if n[0] != "_"])
def test_every_public_name_is_documented(name: str) -> None:
    assert name in PAGE


@pytest.mark.parametrize(
    "attribute", [name for name in Strategy.__annotations__ if name[0] != "_"]
)
def test_every_attribute_of_a_strategy_is_documented(attribute: str) -> None:
    assert f"| `{attribute}` |" in PAGE


@pytest.mark.parametrize("member", [name for name in vars(Context) if name[0] != "_"])
def test_all_that_the_context_shows_is_documented(member: str) -> None:
    assert f"| `{member}" in PAGE
