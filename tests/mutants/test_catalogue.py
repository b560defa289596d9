"""The catalogue of planted bugs is complete, and each still has its place."""

import re
from pathlib import Path

import pytest
from tests.mutants.__main__ import MISSED, planted
from tests.mutants.catalogue import (
    FOUND_BY_SIMULATION,
    FOUND_BY_TESTS,
    STEERING,
    SourceMutant,
)
from tests.simulation.mutants import MUTANTS

ROOT = Path(__file__).parents[2]
ALL = [mutant for mutants in FOUND_BY_TESTS.values() for mutant in mutants]


def test_every_promise_has_planted_bugs() -> None:
    page = (ROOT / "docs/explanation/promises.md").read_text()
    promises = re.findall(r"^### (.+)$", page, re.MULTILINE)

    assert [*FOUND_BY_SIMULATION] == promises
    assert [*FOUND_BY_TESTS] == promises
    unsimulated = [name for name, bugs in FOUND_BY_SIMULATION.items() if not bugs]
    assert unsimulated == [STEERING]
    assert all(FOUND_BY_TESTS.values())


def test_every_bug_of_the_simulation_breaks_one_promise() -> None:
    named = [name for names in FOUND_BY_SIMULATION.values() for name in names]

    assert sorted(named) == sorted(mutant.name for mutant in MUTANTS)


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_a_bug_still_has_its_place_and_its_test(mutant: SourceMutant) -> None:
    file = ROOT / "src" / "journeyman" / mutant.file

    assert planted(mutant, file.read_text()) != file.read_text()
    assert (ROOT / "tests" / mutant.found_by.partition("::")[0]).exists()


def test_the_page_names_every_bug() -> None:
    page = (ROOT / "docs/reference/mutants.md").read_text()
    names = [mutant.name for mutant in ALL]
    names += [mutant.name.replace("_", " ") for mutant in MUTANTS]

    assert [name for name in names if f"| {name} |" not in page] == []
    assert MISSED not in page
