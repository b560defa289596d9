"""A journal of an earlier version goes on in this one, with all that is in it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest
from tests.journal.conftest import brought_to, task

from journeyman.domain.tasks import SpendId, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, EntryKind, NewEntry
from journeyman.journal.maintenance import faults
from journeyman.journal.spends import SpendKind, SpendState
from journeyman.testing import FakeClock

STATES = (
    TaskState.SKIPPED,
    TaskState.WANTED,
    TaskState.CLAIMING,
    TaskState.EXECUTED,
    TaskState.SUBMITTING,
    TaskState.COMPLETED,
    TaskState.REJECTED,
)


@pytest.fixture
def first_version(tmp_path: Path) -> Path:
    """Give a journal as the first version wrote it, with something in each table."""
    full, old = tmp_path / "full.db", tmp_path / "journal.db"
    with Journal(full, FakeClock().now) as journal:
        _fill(journal)
    script = files("journeyman.journal") / "migrations" / "0001_first_journal.sql"
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript(f"{script.read_text()}\nPRAGMA user_version = 1;")
        connection.execute("ATTACH ? AS full", (str(full),))
        for table in _tables(connection):
            rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
            columns = ", ".join(name for (name,) in rows)
            connection.execute(
                f"INSERT INTO main.{table} ({columns}) "  # noqa: S608 - names of ours
                f"SELECT {columns} FROM full.{table} ORDER BY rowid"
            )
        connection.commit()
    return old


def _fill(journal: Journal) -> None:
    for state in STATES:
        brought_to(journal, state, state.value)
    with journal.tx("books"):
        for key, kind, amount in (
            ("starter", EntryKind.STARTER, 100),
            ("earned:completed", EntryKind.EARNED, 3),
        ):
            journal.ledger.book(
                NewEntry(
                    key=key,
                    kind=kind,
                    amount=amount,
                    confidence=Confidence.CONFIRMED,
                    subject=key.rpartition(":")[2],
                    strategy="count",
                )
            )
        journal.spends.reserve(
            SpendId("post-1"),
            SpendKind.POST,
            credits_=5,
            cents=0,
            strategy="owner",
            request={"title": "Count"},
        )
        journal.strategy_states.put("count", {"runs": 3})
        journal.facts.put("agent", "agent-1")


def _tables(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table'"
    )
    yield from [name for (name,) in rows]


def test_nothing_of_a_first_version_is_lost(first_version: Path) -> None:
    with Journal(first_version, FakeClock().now) as journal:
        assert faults(journal) == []
        assert journal.ledger.balance() == 103
        assert journal.facts.get("agent") == "agent-1"
        assert journal.strategy_states.get("count") == {"runs": 3}
        spend = journal.spends.get(SpendId("post-1"))
        assert spend is not None
        assert spend.state is SpendState.RESERVED
        for state in STATES:
            assert journal.tasks.get(TaskId(state.value)).state is state
        submitting = journal.tasks.get(TaskId("submitting"))
        assert submitting.maybe_sent
        assert submitting.result is not None


def test_a_first_version_goes_on_where_it_was(first_version: Path) -> None:
    clock = FakeClock()
    with Journal(first_version, clock.now) as journal:
        (waiting,) = journal.waiting.best_paid(clock.now(), 10)
        assert (waiting.task_id, waiting.chance, waiting.cost) == ("wanted", 1.0, 0.0)
        judged, until = journal.track_records.unread()
        assert [one.is_paid for one in judged] == [True, False]
        with journal.tx("more"):
            journal.tasks.record_decision(
                task("new"),
                TaskState.WANTED,
                reason="why",
                strategy="count",
                fingerprint="f",
            )
            journal.track_records.learn([], until)
            journal.ledger.book(
                NewEntry(
                    key="cost:1",
                    kind=EntryKind.COST,
                    amount=0,
                    cost=2_500,
                    confidence=Confidence.ASSUMED,
                    strategy="count",
                )
            )
        assert faults(journal) == []
        assert list(journal.recordings.last(10)) == []
        assert journal.shadows.scores() == []
        assert journal.ledger.balance() == 103
