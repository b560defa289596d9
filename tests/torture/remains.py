"""What a killed daemon left, and what the network's own file says beside it."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from journeyman.daemon.environment import SystemClock
from journeyman.domain.errors import StateError
from journeyman.domain.tasks import IN_FLIGHT, TaskState
from journeyman.journal.journal import Journal

UNBORN = "no identity yet"
REGISTERING = "a registration on its way"
IDLE = "nothing in flight"
JOURNAL = "journal.db"


@dataclass(frozen=True)
class Death:
    """One kill: how a data directory looks after it."""

    moments: frozenset[str]
    """The states in which a task was, or why there was none."""
    integrity: str
    fault: str | None
    """In the hash chain of the ledger."""


def autopsy(data: Path, table: Path) -> Death:
    """Look at a copy, on `table`: recovering the files is the next life's work."""
    if not (data / JOURNAL).exists():
        return Death(frozenset({UNBORN}), "ok", None)
    shutil.rmtree(table, ignore_errors=True)
    table.mkdir()
    for file in data.glob(f"{JOURNAL}*"):
        shutil.copy(file, table)
    path = table / JOURNAL
    integrity = integrity_of(path)
    with Journal(path, SystemClock().now) as journal:
        is_born = (data / "identity.json").exists()
        moments = _at_work(journal) if is_born else _at_birth(journal)
        return Death(frozenset(moments), integrity, journal.ledger.first_fault())


def _at_work(journal: Journal) -> set[str]:
    working = {f"a task {state}" for state in IN_FLIGHT & journal.tasks.counts().keys()}
    return working or {IDLE}


def _at_birth(journal: Journal) -> set[str]:
    may_have_left = journal.facts.get("registration") is not None
    return {REGISTERING if may_have_left else UNBORN}


def integrity_of(path: Path) -> str:
    """Give what SQLite says of its own file; "ok" is good."""
    with _reading(path) as db:
        return str(db.execute("PRAGMA integrity_check").fetchone()[0])


@dataclass(frozen=True)
class Books:
    """The work of one agent, by task: what was paid, and which result was given."""

    paid: dict[str, int]
    results: dict[str, object]
    unfinished: frozenset[str]
    balance: int


def our_books(data: Path) -> Books:
    """Read the journal of a daemon that has ended.

    An entry for each task: one that was booked twice would make the balance differ.
    """
    with _reading(data / JOURNAL) as db:
        earned = "SELECT subject, amount FROM ledger WHERE kind = 'earned'"
        results = "SELECT task_id, result FROM full_tasks WHERE state = 'completed'"
        states = "SELECT task_id, state FROM tasks"
        return Books(
            paid=_once_each(db.execute(earned).fetchall()),
            results={
                task: json.loads(result)["output"]
                for task, result in db.execute(results)
            },
            unfinished=frozenset(
                task for task, state in db.execute(states) if state in IN_FLIGHT
            ),
            balance=db.execute("SELECT sum(amount) FROM ledger").fetchone()[0],
        )


def network_books(path: Path, agent_id: str) -> Books:
    """Read the file of a sandbox that has ended."""
    ours = {"agent": agent_id}
    with _reading(path) as db:
        paid = (
            "SELECT reference, amount FROM entries"
            " WHERE reason = 'reward' AND target = :agent"
        )
        results = (
            "SELECT task_id, result FROM tasks"
            " WHERE status = 'completed' AND claimant = :agent"
        )
        held = (
            "SELECT task_id FROM tasks"
            " WHERE status != 'completed' AND claimant = :agent"
        )
        balance = "SELECT balance FROM accounts WHERE account = :agent"
        return Books(
            paid=_once_each(db.execute(paid, ours).fetchall()),
            results={
                task: json.loads(result) for task, result in db.execute(results, ours)
            },
            unfinished=frozenset(task for (task,) in db.execute(held, ours)),
            balance=db.execute(balance, ours).fetchone()[0],
        )


def members(path: Path) -> list[str]:
    """Give the agents that registered at a sandbox that has ended."""
    with _reading(path) as db:
        query = "SELECT agent_id FROM agents WHERE role = 'member' ORDER BY joined_at"
        return [agent for (agent,) in db.execute(query)]


def files_with(words: bytes, folder: Path) -> list[str]:
    """Give the files below a folder in which these bytes are."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [
        str(path.relative_to(folder)) for path in files if words in path.read_bytes()
    ]


def has_claimed(data: Path) -> bool:
    """Tell whether an agent has begun to work, while it does so."""
    try:
        with Journal(data / JOURNAL, SystemClock().now, read_only=True) as journal:
            return bool(journal.tasks.count_in(IN_FLIGHT))
    except StateError:
        return False  # It is about to make the file.


def has_asked(data: Path) -> bool:
    """Tell whether an agent has written down that it asks to join, while it does so."""
    try:
        with Journal(data / JOURNAL, SystemClock().now, read_only=True) as journal:
            return journal.facts.get("registration") is not None
    except StateError:
        return False  # It is about to make the file.


def way_of(data: Path, task_id: str) -> list[TaskState]:
    """Give the states that a task went through in one agent's journal, in order."""
    with _reading(data / JOURNAL) as db:
        query = "SELECT after FROM task_events WHERE task_id = ? ORDER BY event_id"
        return [TaskState(state) for (state,) in db.execute(query, (task_id,))]


def _once_each(rows: list[tuple[str, int]]) -> dict[str, int]:
    found = dict(rows)
    assert len(found) == len(rows), "a task was paid or booked twice"
    return found


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as db:
        yield db
