"""Running totals say at every commit what a count over everything would say."""

import sqlite3
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from tests.journal.conftest import move, sight, task

from journeyman.domain.tasks import TRANSITIONS, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, EntryKind, NewEntry


def _counted(path: Path) -> tuple[dict[str, int], int, int]:
    with sqlite3.connect(path) as other:
        states = dict(other.execute("SELECT state, count(*) FROM tasks GROUP BY state"))
        (seen,) = other.execute("SELECT count(*) FROM tasks").fetchone()
        (credits_,) = other.execute(
            "SELECT coalesce(sum(amount), 0) FROM ledger WHERE account = 'agent'"
        ).fetchone()
    other.close()
    return states, seen, credits_


def _replayed(path: Path) -> dict[str, str]:
    with sqlite3.connect(path) as other:
        events = other.execute(
            "SELECT task_id, before, after FROM task_events ORDER BY event_id"
        ).fetchall()
    other.close()
    stands: dict[str, str] = {}
    for task_id, before, after in events:
        assert stands.get(task_id, "seen") == before
        stands[task_id] = after
    return stands


@pytest.mark.parametrize("seed", range(8))
def test_totals_and_histories_agree_with_the_rows_over_a_random_walk(
    journal: Journal, path: Path, seed: int
) -> None:
    chance = Random(seed)  # noqa: S311 - repeatable on purpose
    states: dict[str, TaskState] = {}
    for step in range(60):
        name = f"t{chance.randrange(12)}"
        if name not in states:
            states[name] = chance.choice([TaskState.WANTED, TaskState.SKIPPED])
            sight(journal, task(name), states[name])
        elif after := sorted(TRANSITIONS[states[name]]):
            states[name] = chance.choice(after)
            move(journal, journal.tasks.get(TaskId(name)), states[name])
        with journal.tx("entry"):
            journal.ledger.book(
                NewEntry(
                    key=f"k{chance.randrange(step + 1)}",
                    kind=chance.choice(list(EntryKind)),
                    amount=chance.randrange(-9, 9),
                    confidence=Confidence.CONFIRMED,
                )
            )

    counts, seen, credits_ = _counted(path)

    assert journal.tasks.counts() == counts == Counter(states.values())
    assert journal.totals.get("tasks.seen") == seen
    assert sum(journal.ledger.totals().values()) == credits_
    assert journal.ledger.balance() == credits_
    assert _replayed(path) == states
    assert journal.ledger.first_fault() is None


def test_totals_of_a_step_that_was_undone_are_forgotten(journal: Journal) -> None:
    def fail() -> None:
        with journal.tx("broken"):
            journal.totals.add("x", 5)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    with journal.tx("whole"):
        journal.totals.add("x", 1)

    assert journal.totals.get("x") == 1
    assert journal.totals.get("never") == 0
