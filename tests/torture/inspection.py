"""Inspection of the files of a killed daemon, and of its network."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import StateError
from journeyman.domain.tasks import IN_FLIGHT, TaskState
from journeyman.journal.journal import Journal

NOT_JOINED = "no identity yet"
REGISTERING = "a registration on its way"
IDLE = "nothing in flight"
JOURNAL = "journal.db"


@dataclass(frozen=True)
class FilesAfterKill:
    """A data directory after a kill."""

    states: frozenset[str]
    """The states of the tasks in flight, or why there were none."""
    integrity: str
    fault: str | None
    """In the hash chain of the ledger."""


def inspect_files(data: Path, scratch: Path) -> FilesAfterKill:
    """Inspect a copy, in `scratch`: the next process is to recover the files."""
    if not (data / JOURNAL).exists():
        return FilesAfterKill(frozenset({NOT_JOINED}), "ok", None)
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    for file in data.glob(f"{JOURNAL}*"):
        shutil.copy(file, scratch)
    path = scratch / JOURNAL
    integrity = integrity_of(path)
    with Journal(path, SystemClock().now) as journal:
        has_joined = (data / "identity.json").exists()
        states = _task_states(journal) if has_joined else _join_states(journal)
        return FilesAfterKill(
            frozenset(states), integrity, journal.ledger.first_fault()
        )


def _task_states(journal: Journal) -> set[str]:
    working = {f"a task {state}" for state in IN_FLIGHT & journal.tasks.counts().keys()}
    return working or {IDLE}


def _join_states(journal: Journal) -> set[str]:
    may_have_left = journal.facts.get("registration") is not None
    return {REGISTERING if may_have_left else NOT_JOINED}


def integrity_of(path: Path) -> str:
    """Return what SQLite reports about a file; "ok" is good."""
    with _reading(path) as db:
        return str(db.execute("PRAGMA integrity_check").fetchone()[0])


@dataclass(frozen=True)
class WorkRecord:
    """The work of one agent, by task: what was paid, and which result was submitted."""

    paid: dict[str, int]
    results: dict[str, object]
    unfinished: frozenset[str]
    balance: int


BALANCE = "SELECT sum(amount) FROM ledger WHERE account = 'agent'"


def journal_record(data: Path) -> WorkRecord:
    """Read the journal of a daemon that has ended.

    Each task has one entry: one that was booked twice would make the balance differ.
    """
    with _reading(data / JOURNAL) as db:
        earned = "SELECT subject, amount FROM ledger WHERE kind = 'earned'"
        results = "SELECT task_id, result FROM full_tasks WHERE state = 'completed'"
        states = "SELECT task_id, state FROM tasks"
        return WorkRecord(
            paid=_once_each(db.execute(earned).fetchall()),
            results={
                task: json.loads(result)["output"]
                for task, result in db.execute(results)
            },
            unfinished=frozenset(
                task for task, state in db.execute(states) if state in IN_FLIGHT
            ),
            balance=db.execute(BALANCE).fetchone()[0],
        )


def sandbox_record(path: Path, agent_id: str) -> WorkRecord:
    """Read the file of a sandbox that has ended."""
    agent = {"agent": agent_id}
    with _reading(path) as db:
        paid = (
            "SELECT reference, amount FROM entries"
            " WHERE reason = 'reward' AND target = :agent"
        )
        results = (
            "SELECT task_id, result FROM tasks"
            " WHERE status = 'completed' AND claimant = :agent"
        )
        unfinished = (
            "SELECT task_id FROM tasks"
            " WHERE status != 'completed' AND claimant = :agent"
        )
        balance = "SELECT balance FROM accounts WHERE account = :agent"
        return WorkRecord(
            paid=_once_each(db.execute(paid, agent).fetchall()),
            results={
                task: json.loads(result) for task, result in db.execute(results, agent)
            },
            unfinished=frozenset(task for (task,) in db.execute(unfinished, agent)),
            balance=db.execute(balance, agent).fetchone()[0],
        )


def members(path: Path) -> list[str]:
    """Return the agents that registered at a sandbox that has ended."""
    with _reading(path) as db:
        query = "SELECT agent_id FROM agents WHERE role = 'member' ORDER BY joined_at"
        return [agent for (agent,) in db.execute(query)]


def files_with(words: bytes, folder: Path) -> list[str]:
    """Return the files below a folder in which these bytes are."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [
        str(path.relative_to(folder)) for path in files if words in path.read_bytes()
    ]


def has_claimed(data: Path) -> bool:
    """Return whether a running agent has started to work."""
    try:
        with Journal(data / JOURNAL, SystemClock().now, read_only=True) as journal:
            return bool(journal.tasks.count_in(IN_FLIGHT))
    except StateError:
        return False  # It has not created the file yet.


def has_join_intent(data: Path) -> bool:
    """Return whether a running agent has stored its intent to register."""
    try:
        with Journal(data / JOURNAL, SystemClock().now, read_only=True) as journal:
            return journal.facts.get("registration") is not None
    except StateError:
        return False  # It has not created the file yet.


def states_of(data: Path, task_id: str) -> list[TaskState]:
    """Return the states that a task went through in one agent's journal, in order."""
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
