"""An agent whose journal is lost: it waits for its owner, and its limits hold."""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.conftest import Site

from journeyman.daemon.agent import open_agent
from journeyman.daemon.missing_journal import begin_journal, restore_journal
from journeyman.daemon.status import journal_status
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import AlreadyRunningError, SafetyError, StateError
from journeyman.domain.tasks import NewTask
from journeyman.economy.budget import OverBudget
from journeyman.economy.posting import Accepted
from journeyman.journal.backups import backups, make_backup
from journeyman.journal.directory import JOURNAL_FILES, DataDirectory, DirectoryLock
from journeyman.journal.identity import load_mark
from journeyman.journal.journal import Journal
from journeyman.journal.maintenance import faults

NOW = SystemClock().now
TASK = NewTask(title="Count", description="Count the words", reward=20)
ONE_POST = {"budget__per_day_credits": 30}


async def post(site: Site) -> object:
    async with open_agent(
        site.settings(**ONE_POST), "http://127.0.0.1:8080", site.environment()
    ) as agent:
        return await agent.posting.post(TASK)


@pytest.fixture
def directory(site: Site) -> DataDirectory:
    return DataDirectory(site.data)


def lose_journal(directory: DataDirectory) -> None:
    for suffix in JOURNAL_FILES:
        Path(f"{directory.journal}{suffix}").unlink(missing_ok=True)


def empty_journal(directory: DataDirectory) -> None:
    lose_journal(directory)
    directory.journal.touch()


def begin_elsewhere(directory: DataDirectory) -> None:
    lose_journal(directory)
    Journal(directory.journal, NOW).close()


@pytest.mark.parametrize("lose", [lose_journal, empty_journal, begin_elsewhere])
async def test_without_its_journal_an_agent_does_nothing(
    site: Site, directory: DataDirectory, lose: Callable[[DataDirectory], None]
) -> None:
    assert isinstance(await post(site), Accepted)
    lose(directory)

    for _ in range(2):
        with pytest.raises(SafetyError, match=r"is missing[\s\S]*journal restore"):
            await post(site)


async def test_a_new_journal_counts_what_the_lost_one_had_spent(
    site: Site, directory: DataDirectory
) -> None:
    await post(site)
    lose_journal(directory)

    begin_journal(directory, site.settings(**ONE_POST), 80, NOW)

    assert isinstance(await post(site), OverBudget)
    assert site.log.named("journal.is_older") == []
    with site.journal() as journal:
        assert journal.ledger.balance() == 80
        assert faults(journal) == []


async def test_where_nothing_is_known_the_limits_count_as_used_up(
    site: Site, directory: DataDirectory
) -> None:
    await post(site)
    lose_journal(directory)
    content = directory.identity.read_text()
    directory.identity.write_text(content.replace('"journal"', '"other"'))

    begin_journal(directory, site.settings(), 80, NOW)

    over = await post(site)
    assert isinstance(over, OverBudget)
    assert over.setting == "budget.posts_per_day"


async def test_a_journal_that_is_there_is_not_begun_anew(
    site: Site, directory: DataDirectory
) -> None:
    await post(site)

    with pytest.raises(SafetyError, match="has an owner"):
        begin_journal(directory, site.settings(), 80, NOW)


async def test_a_restored_backup_counts_what_was_spent_since(
    site: Site, directory: DataDirectory
) -> None:
    await site.run(work__max_tasks=1)
    make_backup(directory, NOW, keep=3)
    await post(site)
    with site.journal() as journal:
        balance = journal.ledger.balance()
    directory.journal.write_bytes(b"damaged" * 1000)

    done = restore_journal(directory, None, NOW)

    assert isinstance(await post(site), OverBudget)
    assert site.log.named("journal.is_older")[0]["posts_today"] == 1
    with site.journal() as journal:
        assert journal_status(journal)["older_journal_found_at"]
    assert done.installed.kept_as is not None
    assert done.installed.kept_as.read_bytes().startswith(b"damaged")
    with site.journal() as journal:
        assert journal.ledger.balance() == balance
        assert faults(journal) == []


async def test_the_newest_backup_that_is_whole_is_restored(
    site: Site, directory: DataDirectory
) -> None:
    await post(site)
    earlier = NOW() - timedelta(hours=1)
    whole = make_backup(directory, lambda: earlier, keep=3)
    broken = make_backup(directory, NOW, keep=3)
    broken.path.write_bytes(b"\x00" * 5000)

    done = restore_journal(directory, None, NOW)

    assert done.installed.source == whole.path
    assert len(done.damaged) == 1


async def test_a_journal_is_not_restored_under_a_daemon(
    site: Site, directory: DataDirectory
) -> None:
    await post(site)
    make_backup(directory, NOW, keep=3)

    with DirectoryLock(directory), pytest.raises(AlreadyRunningError):
        restore_journal(directory, None, NOW)


async def test_the_journal_of_another_agent_is_not_restored(
    site: Site, directory: DataDirectory, tmp_path: Path
) -> None:
    await post(site)
    other = tmp_path / "other.db"
    with Journal(other, NOW) as journal, journal.tx("owner"):
        journal.facts.put("agent", "somebody")

    with pytest.raises(SafetyError, match="journal of somebody"):
        restore_journal(directory, other, NOW)

    assert isinstance(await post(site), OverBudget)


def test_where_no_backup_is_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="no backup") as caught:
        restore_journal(DataDirectory(tmp_path), None, NOW)

    assert "journal begin" in caught.value.fix


CHANGES = {"os.rename", "os.remove", "shutil.copyfile", "sqlite3.connect"}
"""What a restore does to the disk, as Python's audit hooks name it."""


def killed_at(moment: int, action: Callable[[], object]) -> bool:
    """Do it in another process, and kill that at its n-th change of the disk."""
    child = os.fork()
    if child == 0:
        passed = 0

        def watch(event: str, _arguments: tuple[Any, ...]) -> None:
            nonlocal passed
            if event in CHANGES:
                passed += 1
                if passed == moment:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(watch)
            action()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.endurance
async def test_a_restore_that_is_killed_at_any_moment_is_finished_by_the_next(
    site: Site, directory: DataDirectory, tmp_path: Path
) -> None:
    await post(site)
    make_backup(directory, NOW, keep=3)
    (before,) = backups(directory)
    directory.journal.write_bytes(b"damaged" * 1000)
    (site.data / "journal.db-wal").write_bytes(b"old log" * 1000)
    saved = shutil.copytree(site.data, tmp_path / "saved")

    moment, was_killed = 0, True
    while was_killed:
        moment += 1
        shutil.rmtree(site.data)
        shutil.copytree(saved, site.data)
        was_killed = killed_at(moment, lambda: restore_journal(directory, None, NOW))
        if was_killed and not directory.journal.exists():
            with pytest.raises(SafetyError, match="is missing"):
                await site.run(work__once=True)
        done = restore_journal(directory, None, NOW)
        assert done.installed.source == before.path
        with site.journal() as journal:
            assert faults(journal) == []
            assert journal.spends.recorded() == 1
        kept = [one.read_bytes()[:7] for one in site.data.glob("journal-replaced-*.db")]
        assert b"damaged" in kept

    assert moment > 5
    assert load_mark(directory.identity) is not None
