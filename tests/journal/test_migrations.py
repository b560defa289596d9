"""A journal of an earlier version goes on in this one, with all that is in it."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from importlib.resources import files
from pathlib import Path

import pytest
from tests.journal.conftest import brought_to, task

from journeyman.domain.tasks import Result, SpendId, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, EntryKind, NewEntry
from journeyman.journal.maintenance import faults
from journeyman.journal.recordings import Opinion
from journeyman.journal.spends import SpendKind, SpendState
from journeyman.journal.strategy_health import Condition
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
    """Return a journal as the first version wrote it, with something in each table."""
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
        connection.execute("DELETE FROM totals WHERE name LIKE 'account.%'")
        _chain_as_first_version(connection)
        connection.commit()
    return old


def _chain_as_first_version(connection: sqlite3.Connection) -> None:
    """Give each entry the hash that the first version gave it."""
    columns = "key, kind, amount, balance, confidence, subject, strategy, note, at"
    rows = connection.execute(
        f"SELECT entry_id, {columns} FROM ledger"  # noqa: S608 - names of ours
    ).fetchall()
    trigger = connection.execute(
        "SELECT sql FROM main.sqlite_master WHERE name = 'ledger_is_not_changed'"
    ).fetchone()[0]
    connection.execute("DROP TRIGGER ledger_is_not_changed")
    previous = "0" * 64
    for entry_id, *content in rows:
        text = json.dumps([previous, *content])
        digest = hashlib.sha256(text.encode()).hexdigest()
        connection.execute(
            "UPDATE ledger SET previous_hash = ?, hash = ? WHERE entry_id = ?",
            (previous, digest, entry_id),
        )
        previous = digest
    connection.execute(trigger)


def _fill(journal: Journal) -> None:
    for state in STATES:
        brought_to(journal, state, state.value)
    with journal.tx("booking"):
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
        assert journal.ledger.accounts() == {
            "agent": 103,
            "earnings": -3,
            "starter": -100,
        }
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


LAST_WORDS = 7
"""The last version before what is stored got today's words."""
AT = "2026-01-02T03:04:05+00:00"
OLD_ROWS: tuple[tuple[str, tuple[object, ...]], ...] = (
    (
        (
            "INSERT INTO tasks (task_id, state, strategy, reward, fingerprint, "
            "seen_at, updated_at, next_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        ),
        ("t1", "executed", "count", 3, "f", AT, AT, 5.5),
    ),
    (
        "INSERT INTO task_texts VALUES (?, ?, ?)",
        (
            "t1",
            (
                '{"id": "t1", "title": "Count\\ud800", "description": "", "kind": "", '
                '"tags": ["a"], "reward": 3, "text": "x", "input": {"n": [1, null]}, '
                f'"status": "", "deadline": "{AT}", "poster": null, "claimant": null, '
                '"raw": {"id": "t1"}}'
            ),
            '{"output": "4", "evidence": {"by": "hand"}}',
        ),
    ),
    (
        (
            "INSERT INTO spends (spend_id, kind, state, credits, cents, strategy, "
            "request, at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        ),
        ("post-1", "post", "held", 5, 0, "owner", '{"title": "Count"}', AT, AT),
    ),
    (
        "INSERT INTO strategy_health VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ("count", "f", "resting", "[1.5, 2.5]", 60.0, "no", "", "", 10.0),
    ),
    (
        "INSERT INTO tape VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(1, "t1", AT, 300, 0, "count", "why"),
            f'{{"title": "Count", "reward": 3, "deadline": "{AT}"}}',
            '{"count": ["why", 2.5], "other": "not mine"}',
        ),
    ),
    ("INSERT INTO totals VALUES (?, ?)", ("tape.bytes", 300)),
    (
        "INSERT INTO shadow_verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (1, "young", "t1", "f", AT, "count", 1, "me too", 1.5, 0, 0.25),
    ),
    (
        "INSERT INTO facts VALUES (?, ?)",
        (
            "strategies.shadow",
            (
                '{"shadows": ["young"], "promoted": {"old": {"at": "2026", '
                '"failures_before": 0.5, "is_settled": true}}}'
            ),
        ),
    ),
    (
        "INSERT INTO track_records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ("count", "", 1.5, 2.0, 2.0, 30.0, 2, 6.0, 3, 20.0, 30.0),
    ),
)


@pytest.fixture
def old_words(tmp_path: Path) -> Path:
    """Return a journal whose rows were written before what is stored was renamed."""
    path = tmp_path / "old.db"
    folder = files("journeyman.journal") / "migrations"
    scripts = sorted(one.name for one in folder.iterdir() if one.name.endswith(".sql"))
    with closing(sqlite3.connect(path)) as connection:
        for script in scripts[:LAST_WORDS]:
            connection.executescript((folder / script).read_text())
        for statement, values in OLD_ROWS:
            connection.execute(statement, values)
        connection.execute(f"PRAGMA user_version = {LAST_WORDS}")
        connection.commit()
    return path


def test_rows_in_the_old_form_are_read(old_words: Path) -> None:
    with Journal(old_words, FakeClock().now) as journal:
        record = journal.tasks.get(TaskId("t1"))
        spend = journal.spends.get(SpendId("post-1"))
        health = journal.strategy_health.all()["count", ""]
        (recorded,) = journal.recordings.last(10)
        (score,) = journal.shadows.scores()
        state = journal.shadows.state()
        track_record = journal.track_records.all()["count", ""]
        assert journal.recordings.bytes() == 300

    assert (record.task.title, record.task.tags) == ("Count\ud800", ("a",))
    assert record.task.deadline == datetime.fromisoformat(AT)
    assert record.task.input == {"n": [1, None]}
    assert record.result == Result("4", evidence={"by": "hand"})
    assert spend is not None
    assert (spend.state, spend.request) == (SpendState.RESERVED, {"title": "Count"})
    assert (health.condition, health.errors) == (Condition.QUARANTINED, (1.5, 2.5))
    assert (health.quarantine_seconds, health.task_id) == (60.0, None)
    assert recorded.task.deadline == datetime.fromisoformat(AT)
    assert recorded.opinions == {
        "count": Opinion(wanted=True, reason="why", offer=2.5),
        "other": Opinion(wanted=False, reason="not mine"),
    }
    assert (score.strategy, score.agreed, score.mean_seconds) == ("young", 1, 0.25)
    assert state.promoted["old"].is_settled
    assert (track_record.paid, track_record.credits) == (1.5, 3)
