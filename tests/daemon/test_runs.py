"""The daemon from its start to its end, against the sandbox."""

import os
import shutil
import signal

import anyio
import pytest
from tests.daemon.conftest import Answering, MakeSite, Site, Unreachable

from journeyman.domain.errors import (
    AlreadyRunningError,
    NetworkError,
    SafetyError,
    StateError,
)
from journeyman.journal.directory import DataDirectory, DirectoryLock
from journeyman.journal.identity import load_identity

PAGE = b"<!DOCTYPE html><title>Welcome to nginx!</title>"
SLOW = """
import anyio
from journeyman import Strategy


class Slow(Strategy):
    api, version = 1, "1"
    kinds = frozenset({"word_count"})

    async def run(self, task, ctx):
        await anyio.sleep(SECONDS)
        return str(len(task.text.split()))
""".replace("SECONDS", "0.05")
STUCK = SLOW.replace("0.05", "3600")


async def test_it_joins_works_and_agrees_with_the_networks_ledger(
    site: Site,
) -> None:
    await site.run(work__max_tasks=6)

    with site.journal() as journal:
        assert journal.tasks.counts() == {"completed": 6}
        balance = journal.ledger.balance()
        assert journal.ledger.first_fault() is None
    ledger = await site.ledger()
    (us,) = [one for one in ledger["agents"] if one["balance"] == balance]
    assert us
    assert ledger["balanced"]
    assert site.log.names[-1] == "daemon.stopped"
    assert site.log.named("daemon.stopped")[0]["completed"] == 6


async def test_a_copy_of_the_data_directory_is_told_once(site: Site) -> None:
    await site.run(work__max_tasks=1)
    await site.run(work__max_tasks=1)
    assert site.log.named("data.copied") == []
    site.data.rename(site.folder / "first")
    shutil.copytree(site.folder / "first", site.data)

    await site.run(work__max_tasks=1)
    await site.run(work__max_tasks=1)

    (told,) = site.log.named("data.copied")
    assert told["data_directory"] == str(site.data)


async def test_it_keeps_its_identity_and_its_ledger_over_runs(site: Site) -> None:
    await site.run(work__max_tasks=2)
    first = load_identity(site.data / "identity.json")

    await site.run(work__max_tasks=2)

    assert load_identity(site.data / "identity.json") == first
    with site.journal() as journal:
        assert journal.tasks.counts()["completed"] == 4
        assert journal.ledger.totals()["starter"] == 100


async def test_once_looks_once_does_what_it_found_and_ends(site: Site) -> None:
    await site.run(work__once=True)

    with site.journal() as journal:
        assert journal.tasks.counts() == {"completed": 6}
    assert site.log.named("daemon.stopped")[0]["completed"] == 6


async def test_another_network_is_refused_and_gets_no_token(site: Site) -> None:
    await site.run(work__once=True)
    site.transport = other = Answering()

    with pytest.raises(SafetyError, match=r"127\.0\.0\.1:8080[\s\S]*other\.example"):
        await site.run("http://other.example", work__once=True)

    assert other.requests == []


async def test_the_token_is_in_no_line_of_the_log(site: Site) -> None:
    await site.run(work__max_tasks=2)

    identity = load_identity(site.data / "identity.json")
    assert identity is not None
    assert identity.access_token.reveal() not in str(site.log.lines)


async def test_every_line_about_the_agent_names_it_and_every_line_about_a_task_too(
    site: Site,
) -> None:
    await site.run(work__once=True)

    identity = load_identity(site.data / "identity.json")
    assert identity is not None
    # The request that joins is sent by nobody yet.
    lines = site.log.lines[site.log.names.index("identity.joined") :]
    about_tasks = [fields for name, fields in lines if name.startswith("task.")]
    assert {fields["agent_id"] for _, fields in lines} == {identity.agent_id}
    assert any(name.startswith("network.") for name, _ in lines)
    assert about_tasks
    assert all(fields["task_id"] for fields in about_tasks)


async def test_a_page_instead_of_json_is_told_clearly_and_not_asked_for_again(
    site: Site,
) -> None:
    site.transport = nginx = Answering(200, PAGE, "text/html")

    with pytest.raises(SafetyError, match=r"base_url"):
        await site.run()
    with pytest.raises(SafetyError, match=r"base_url") as caught:
        await site.run()

    assert "a web page, not an agent" in caught.value.problem
    assert str(site.data / "registration.answer") in caught.value.fix
    assert caught.value.exit_code == 6
    assert sum("create-free-agent" in one.url.path for one in nginx.requests) == 1


async def test_a_network_that_cannot_be_reached_is_told_clearly(
    site: Site,
) -> None:
    site.transport = Unreachable()

    with pytest.raises(NetworkError, match=r"could not join[\s\S]*--base-url"):
        await site.run(retry__registrations_per_start=1)


async def test_a_market_that_cannot_be_read_once_is_an_error_of_its_own(
    site: Site,
) -> None:
    await site.run(work__max_tasks=1)
    site.transport = Answering(500, b'{"error": "down"}')

    with pytest.raises(NetworkError, match="marketplace"):
        await site.run(work__once=True)


async def test_a_stop_while_joining_ends_it_without_an_error(site: Site) -> None:
    site.transport = Unreachable()

    async with anyio.create_task_group() as group:
        group.start_soon(site.run)
        await site.logged("identity.join_delayed")
        _interrupt()

    assert site.log.names[-1] == "daemon.stopped"
    assert load_identity(site.data / "identity.json") is None


async def test_a_signal_drains_and_ends_it(site: Site) -> None:
    (site.folder / "strategies" / "count_words.py").write_text(SLOW)

    async with anyio.create_task_group() as group:
        group.start_soon(site.run)
        await site.logged("task.executing")
        _interrupt()

    assert site.log.named("daemon.stopped")[0]["reason"] == "SIGINT"
    assert site.log.named("daemon.stopped")[0]["in_flight"] == 0
    with site.journal() as journal:
        counts = journal.tasks.counts()
    assert not set(counts) - {"completed", "wanted", "rejected"}


async def test_a_second_signal_breaks_work_off_and_the_next_run_ends_it(
    site: Site,
) -> None:
    (site.folder / "strategies" / "count_words.py").write_text(STUCK)
    async with anyio.create_task_group() as group:
        group.start_soon(site.run)
        await site.logged("task.executing")
        _interrupt()
        await site.logged("daemon.draining")
        _interrupt()
    assert site.log.named("daemon.grace_over")
    (site.folder / "strategies" / "count_words.py").write_text(SLOW)

    await site.run(work__once=True)

    assert site.log.named("recover.continued")
    with site.journal() as journal:
        assert set(journal.tasks.counts()) <= {"completed", "rejected"}


async def test_work_that_does_not_end_within_its_grace_is_broken_off(
    site: Site,
) -> None:
    (site.folder / "strategies" / "count_words.py").write_text(STUCK)

    async with anyio.create_task_group() as group:
        group.start_soon(lambda: site.run(work__grace_seconds=0.01))
        await site.logged("task.executing")
        _interrupt()

    assert site.log.named("daemon.grace_over")[0]["in_flight"]
    assert site.log.names[-1] == "daemon.stopped"


async def test_a_second_daemon_on_the_same_data_is_refused(site: Site) -> None:
    directory = DataDirectory(site.data)
    directory.prepare()

    with DirectoryLock(directory), pytest.raises(AlreadyRunningError):
        await site.run()


async def test_a_data_directory_that_cannot_be_used_is_told_clearly(
    site: Site,
) -> None:
    site.data.write_text("a file")

    with pytest.raises(StateError, match="cannot be written"):
        await site.run()


async def test_a_broken_strategy_is_told_and_the_others_work(site: Site) -> None:
    (site.folder / "strategies" / "broken.py").write_text("def (")

    await site.run(work__max_tasks=1)

    (told,) = site.log.named("strategy.not_loaded")
    assert "broken.py" in str(told["path"])
    with site.journal() as journal:
        assert journal.tasks.counts()["completed"] == 1


async def test_without_any_strategy_it_says_so_and_skips_everything(
    make_site: MakeSite,
) -> None:
    site = await make_site()
    (site.folder / "strategies" / "count_words.py").unlink()

    await site.run(work__once=True)

    assert site.log.named("strategy.none")
    with site.journal() as journal:
        assert journal.tasks.counts() == {"skipped": 6}


async def test_a_disk_that_fails_ends_the_daemon_with_one_clear_error(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await site.run(work__max_tasks=1)

    def refuse(*_: object, **__: object) -> None:
        raise StateError("the journal cannot be written", "Free some space.")

    monkeypatch.setattr("journeyman.journal.tasks.Tasks.move", refuse)

    with pytest.raises(StateError, match="cannot be written"):
        await site.run()


def _interrupt() -> None:
    """Send this process the signal of Ctrl-C; the daemon's receiver has it."""
    os.kill(os.getpid(), signal.SIGINT)
