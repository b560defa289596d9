"""A step is kept whole or not at all, alone or in a group of steps."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from tests.journal.conftest import Open, brought_to

from journeyman.domain.errors import StateError
from journeyman.domain.tasks import TaskState
from journeyman.journal.journal import Journal

Put = Callable[[], str]


def putting(journal: Journal, name: str) -> Put:
    def write() -> str:
        journal.facts.put(name, name)
        journal.totals.add(name)
        return name

    return write


def failing(journal: Journal, name: str) -> Put:
    def write() -> str:
        putting(journal, name)()
        raise ZeroDivisionError(name)

    return write


async def _commit_all(journal: Journal, *writes: Put) -> list[str]:
    """Commit as so many tasks would in one turn of the loop; tell how each ended."""
    ended: list[str] = [""] * len(writes)

    async def commit(place: int, write: Put) -> None:
        try:
            ended[place] = await journal.commit(write)
        except (ZeroDivisionError, StateError) as error:
            ended[place] = type(error).__name__

    async with anyio.create_task_group() as group:
        for place, write in enumerate(writes):
            group.start_soon(commit, place, write)
    return ended


def test_a_write_outside_of_a_transaction_is_a_bug(journal: Journal) -> None:
    with pytest.raises(RuntimeError, match="outside"):
        journal.facts.put("a", 1)


def test_transactions_do_not_nest(journal: Journal) -> None:
    def nest() -> None:
        with journal.tx("outer"):
            journal.facts.put("a", 1)
            with journal.tx("inner"):
                pass

    with pytest.raises(RuntimeError, match="inner"):
        nest()

    assert journal.facts.get("a") is None
    with journal.tx("next"):
        journal.facts.put("a", 2)
    assert journal.facts.get("a") == 2


async def test_steps_of_one_turn_are_all_durable_when_they_return(
    journal: Journal, open_journal: Open
) -> None:
    names = ["a", "b", "c"]

    ended = await _commit_all(journal, *(putting(journal, name) for name in names))

    assert ended == names
    assert [open_journal().facts.get(name) for name in names] == names
    assert [journal.totals.get(name) for name in names] == [1, 1, 1]


async def test_a_step_that_fails_takes_no_other_with_it(journal: Journal) -> None:
    ended = await _commit_all(
        journal, putting(journal, "a"), failing(journal, "b"), putting(journal, "c")
    )

    assert ended == ["a", "ZeroDivisionError", "c"]
    assert [journal.facts.get(name) for name in "abc"] == ["a", None, "c"]
    assert [journal.totals.get(name) for name in "abc"] == [1, 0, 1]


async def test_a_step_whose_caller_was_cancelled_is_written_all_the_same(
    journal: Journal,
) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(journal.commit, putting(journal, "a"))
        await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()

    # At once: whoever has cancelled it goes on from what the journal says.
    assert journal.facts.get("a") == "a"
    assert await journal.commit(putting(journal, "b")) == "b"


class Commits:
    """Counts what became durable."""

    def __init__(self) -> None:
        self.labels: list[str] = []

    def before(self, label: str) -> None:
        """Let it happen."""

    def after(self, label: str) -> None:
        self.labels.append(label)


async def test_a_step_that_has_nearly_arrived_shares_the_commit(
    journal: Journal,
) -> None:
    commits = Commits()
    journal.database.observe(commits)

    async def commit_after(turns: int, name: str) -> None:
        for _ in range(turns):
            await anyio.lowlevel.checkpoint()
        await journal.commit(putting(journal, name))

    async with anyio.create_task_group() as group:
        for turns, name in enumerate("abc"):
            group.start_soon(commit_after, turns, name)

    assert [journal.facts.get(name) for name in "abc"] == ["a", "b", "c"]
    assert commits.labels == ["group"]


async def test_a_full_disk_undoes_the_whole_group_and_says_what_to_do(
    journal: Journal,
) -> None:
    # max_page_count is SQLite's own way to have a disk that is full.
    (size,) = journal.database.rows("PRAGMA page_count")[0]
    journal.database.rows(f"PRAGMA max_page_count = {size}")

    def swell() -> str:
        journal.facts.put("big", "x" * 1_000_000)
        return "big"

    ended = await _commit_all(journal, putting(journal, "a"), swell)

    assert ended == ["StateError", "StateError"]
    assert journal.facts.get("a") is None
    assert journal.totals.get("a") == 0
    with pytest.raises(StateError, match=r"cannot be written \(alone\)[\s\S]*space"):
        _swell_alone(journal)


def _swell_alone(journal: Journal) -> None:
    with journal.tx("alone"):
        journal.facts.put("big", "x" * 1_000_000)


async def test_after_a_full_disk_has_space_again_all_goes_on(journal: Journal) -> None:
    (size,) = journal.database.rows("PRAGMA page_count")[0]
    journal.database.rows(f"PRAGMA max_page_count = {size}")
    with pytest.raises(StateError):
        _swell_alone(journal)

    journal.database.rows("PRAGMA max_page_count = 100000")

    assert await _commit_all(journal, putting(journal, "a")) == ["a"]


def test_a_second_writer_is_an_error_that_names_the_file(
    journal: Journal, path: Path
) -> None:
    journal.database.rows("PRAGMA busy_timeout = 1")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StateError, match=r"journal\.db"):
        brought_to(journal, TaskState.WANTED)
    other.execute("ROLLBACK")
    other.close()

    assert brought_to(journal, TaskState.WANTED).state is TaskState.WANTED
