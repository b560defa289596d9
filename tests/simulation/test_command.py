"""`python -m tests.simulation simulate`."""

import json
from pathlib import Path

import pytest
from tests.simulation.__main__ import main
from tests.simulation.faults import FAULTS
from tests.simulation.invariants import INVARIANTS
from tests.simulation.mutants import MUTANTS

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "invariants.md"
CLAIM_FIRST = next(mutant for mutant in MUTANTS if mutant.name == "claim_first")


@pytest.mark.endurance
def test_it_tells_what_was_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["simulate", "--days", "0.02", "--seed", "3", "--seeds", "2", "--json"])

    told = json.loads(capsys.readouterr().out)
    assert code == 0
    assert told["passed"]
    assert told["runs"] == 2
    assert told["daemon_hours"] > 0.9
    assert told["totals"]["starts"] >= 2


@pytest.mark.endurance
def test_its_summary_is_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--days", "0.02", "--chaos", "hard"]) == 0

    told = capsys.readouterr().out
    assert "daemon-hours" in told
    assert INVARIANTS["I-5"] in told


def test_a_broken_promise_gives_exit_1_and_the_command_that_shows_it_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with CLAIM_FIRST.applied():
        code = main(["simulate", "--days", "0.02", "--chaos", "off", "--seed", "5"])

    told = capsys.readouterr().out
    assert code == 1
    assert "VIOLATED: I-5" in told
    assert (
        "python -m tests.simulation simulate --days 0.02 --chaos off --seed 5" in told
    )


def test_the_reference_names_every_invariant_and_every_fault() -> None:
    text = REFERENCE.read_text()

    assert [name for name in INVARIANTS if f"| {name} |" not in text] == []
    assert [said for said in INVARIANTS.values() if said not in text] == []
    assert [name for name in FAULTS if f"`{name}`" not in text] == []
