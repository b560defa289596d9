"""A journal is checked and copied once a day, and a damaged one is not worked on."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from tests.daemon.conftest import Site

from journeyman.daemon.backups import JournalBackups, require_sound
from journeyman.daemon.disk import MEBIBYTE
from journeyman.daemon.missing_journal import restore_journal
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import StateError
from journeyman.domain.tasks import Task, TaskId, TaskState
from journeyman.economy.bookkeeping import book_starter
from journeyman.journal.backups import backups
from journeyman.journal.directory import DataDirectory
from journeyman.journal.journal import Journal
from journeyman.journal.maintenance import faults
from journeyman.testing import FakeClock, RecordingLog

HOUR = 3_600


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[JournalBackups]:
    """Return what cares for a journal with one task and the starter credits."""
    clock, directory = FakeClock(), DataDirectory(tmp_path)
    with Journal(directory.journal, clock.now) as journal:
        with journal.tx("first"):
            book_starter(journal.ledger, None)
            journal.tasks.record_decision(
                Task(id=TaskId("t")), TaskState.SKIPPED, reason="no", fingerprint="f"
            )
        yield JournalBackups(
            journal=journal,
            directory=directory,
            keep=3,
            min_free_mb=64,
            free=lambda _path: 1000 * MEBIBYTE,
            has_threads=False,
            clock=clock,
            log=RecordingLog(),
        )


async def live(keeper: JournalBackups, hours: int) -> None:
    assert isinstance(keeper.clock, FakeClock)
    for _ in range(hours):
        keeper.clock.advance(HOUR)
        await keeper.keep_up()


def cheat(keeper: JournalBackups) -> None:
    with closing(sqlite3.connect(keeper.directory.journal)) as connection:
        connection.execute("DROP TRIGGER ledger_is_not_changed")
        connection.execute("UPDATE ledger SET note = 'gift' WHERE entry_id = 1")
        connection.commit()


def log_of(keeper: JournalBackups) -> RecordingLog:
    assert isinstance(keeper.log, RecordingLog)
    return keeper.log


async def test_a_clock_that_was_years_ahead_stops_no_backup(
    keeper: JournalBackups,
) -> None:
    assert isinstance(keeper.clock, FakeClock)
    keeper.clock.step(10 * 365 * 24 * HOUR)
    await keeper.keep_up()
    keeper.clock.step(-10 * 365 * 24 * HOUR)

    await live(keeper, 25)

    made = [one.made_at for one in backups(keeper.directory)]
    assert len(made) == 2
    assert max(made) <= keeper.clock.now()


async def test_a_copy_is_made_each_day_and_three_are_kept(
    keeper: JournalBackups,
) -> None:
    await live(keeper, 24 * 5)

    made = backups(keeper.directory)
    assert len(log_of(keeper).named("journal.backed_up")) == 5
    assert [(made[0].made_at - one.made_at).days for one in made] == [0, 1, 2]
    with Journal(made[0].path, keeper.clock.now) as copy:
        assert faults(copy) == []
        assert copy.tasks.counts() == {"skipped": 1}
    assert made[0].path.stat().st_mode & 0o777 == 0o600


async def test_without_room_no_copy_is_made_and_the_old_ones_stay(
    keeper: JournalBackups,
) -> None:
    await live(keeper, 1)
    poor = replace(keeper, free=lambda _path: 64 * MEBIBYTE)

    await live(poor, 48)

    assert len(backups(keeper.directory)) == 1
    told = str(log_of(keeper).named("journal.not_backed_up")[0]["message"])
    assert "64 MiB are free" in told


async def test_damage_that_only_a_full_check_finds_stops_every_start(
    keeper: JournalBackups, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An entry that is older than the last ones.
    monkeypatch.setattr("journeyman.journal.maintenance.LAST_ENTRIES", 0)
    require_sound(keeper.journal)
    await live(keeper, 1)
    cheat(keeper)
    require_sound(keeper.journal)

    with pytest.raises(StateError, match="entry 1 was changed"):
        await live(keeper, 25)
    for _ in range(2):
        with pytest.raises(StateError, match=r"entry 1 was[\s\S]*journal restore"):
            require_sound(keeper.journal)

    assert len(backups(keeper.directory)) == 1


async def test_what_was_mended_by_its_owner_is_worked_on_again(
    keeper: JournalBackups,
) -> None:
    with keeper.journal.tx("found"):
        keeper.journal.facts.put("damage", ["what was mended since"])

    require_sound(keeper.journal)

    assert keeper.journal.facts.get("damage") is None


async def test_a_journal_with_a_damaged_page_is_not_worked_on(site: Site) -> None:
    await site.run(work__max_tasks=2)
    async with anyio.create_task_group() as group:
        group.start_soon(site.run)
        await site.logged("journal.backed_up")
        group.cancel_scope.cancel()
    directory = DataDirectory(site.data)
    with closing(sqlite3.connect(directory.journal)) as connection:
        root = "SELECT rootpage FROM sqlite_master WHERE name = 'task_events'"
        (page,) = connection.execute(root).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with directory.journal.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\x5a" * size)

    with pytest.raises(StateError, match=r"damaged|malformed") as refused:
        await site.run(work__once=True)

    assert "journal restore" in refused.value.fix
    restore_journal(directory, None, SystemClock().now)
    await site.run(work__once=True)
    with site.journal() as journal:
        assert faults(journal) == []
