"""What a daemon does now and then, so that it can run for months."""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import anyio
import pytest
from tests.daemon.conftest import URL, Site

from journeyman.daemon.agent import open_agent
from journeyman.daemon.strategies import load_strategies
from journeyman.daemon.system import SystemClock
from journeyman.daemon.wiring import Components
from journeyman.domain.tasks import Task, TaskId, TaskState
from journeyman.economy.bookkeeping import Answered, book_delivery, book_earning
from journeyman.journal.archives import archived
from journeyman.journal.journal import Journal
from journeyman.journal.ledger_archives import LedgerArchives
from journeyman.journal.maintenance import LAST_ENTRIES, faults
from journeyman.journal.tasks import PastTask

AT_ONCE = 1e-9
"""In days: less than a daemon takes to start, so that the first look finds all."""


def pass_over(site: Site, task_id: str, *, days_ago: float, text: str = "") -> None:
    def then() -> datetime:
        return SystemClock().now() - timedelta(days=days_ago)

    with Journal(site.data / "journal.db", then) as journal, journal.tx("decision"):
        journal.tasks.record_decision(
            Task(id=TaskId(task_id), text=text),
            TaskState.SKIPPED,
            reason="no",
            fingerprint="f",
        )


async def test_tasks_that_were_passed_over_a_month_ago_are_forgotten(
    site: Site,
) -> None:
    await site.run(work__max_tasks=2)
    pass_over(site, "old", days_ago=31)
    pass_over(site, "recent", days_ago=29)

    async with anyio.create_task_group() as group:
        run = partial(site.run, schedule__housekeeping_every_seconds=0.05)
        group.start_soon(run)
        await site.logged("journal.forgotten")
        group.cancel_scope.cancel()

    assert site.log.named("journal.forgotten")[0]["tasks"] == 1
    with site.journal() as journal:
        assert journal.tasks.last_decision(TaskId("old")) is None
        assert journal.tasks.last_decision(TaskId("recent")) is not None
        assert journal.tasks.counts()["completed"] >= 2


async def test_an_ended_task_loses_its_texts_first_and_then_its_moves(
    site: Site,
) -> None:
    await site.run(work__max_tasks=2)
    with site.journal() as journal:
        (done, *_) = journal.tasks.recent(TaskState.COMPLETED, 1)
        moves = len(journal.tasks.history(done.task_id))
    assert done.result is not None

    later = (SystemClock().now() + timedelta(days=1)).isoformat()
    with Journal(site.data / "journal.db", SystemClock().now) as journal:
        with journal.tx("history"):
            journal.tasks.drop_texts("", later)
        kept = journal.tasks.get(done.task_id)
        assert (kept.result, kept.task.text, kept.task.raw) == (None, "", {})
        assert (done.given != {}, kept.given) == (True, {})
        assert (kept.state, kept.task.title) == (TaskState.COMPLETED, done.task.title)
        assert len(journal.tasks.history(done.task_id)) == moves

        with journal.tx("history"):
            journal.tasks.drop_events("", later)
        (last,) = journal.tasks.history(done.task_id)
        assert last.after == TaskState.COMPLETED
        assert faults(journal) == []


def give_up(site: Site, task_id: str, *, days_ago: float) -> None:
    """Leave a task with a long text that has ended."""

    def then() -> datetime:
        return SystemClock().now() - timedelta(days=days_ago)

    task = Task(id=TaskId(task_id), text="x" * 600_000)
    with Journal(site.data / "journal.db", then) as journal, journal.tx("decision"):
        journal.tasks.record_decision(task, TaskState.WANTED, reason="", fingerprint="")
        journal.tasks.move(journal.tasks.get(task.id), TaskState.SKIPPED)


async def test_a_journal_that_is_too_large_loses_its_oldest_texts(site: Site) -> None:
    await site.run(work__max_tasks=2)
    give_up(site, "old", days_ago=20)
    give_up(site, "recent", days_ago=0.5)

    async with anyio.create_task_group() as group:
        run = partial(
            site.run, work__max_journal_mb=1, schedule__housekeeping_every_seconds=0.05
        )
        group.start_soon(run)
        await site.logged("journal.shortened")
        group.cancel_scope.cancel()

    with site.journal() as journal:
        assert journal.tasks.get(TaskId("old")).task.text == ""
        assert journal.tasks.get(TaskId("recent")).task.text != ""
        assert faults(journal) == []


async def test_a_task_is_past_once_its_texts_and_moves_are_archived(
    site: Site,
) -> None:
    await site.run(work__max_tasks=2)
    with site.journal() as journal:
        (done, *_) = journal.tasks.recent(TaskState.COMPLETED, 1)
        counts = journal.tasks.counts()
    keeping: dict[str, Any] = {
        "work__archive": True,
        "work__keep_texts_days": AT_ONCE,
        "work__keep_events_days": AT_ONCE,
        "work__keep_tasks_days": AT_ONCE,
        "schedule__housekeeping_every_seconds": 0.05,
    }
    past: PastTask | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(partial(site.run, **keeping))
        while past is None:
            await anyio.sleep(0.01)
            with site.journal() as journal:
                past = journal.tasks.past(done.task_id)
        group.cancel_scope.cancel()

    assert past is not None
    found = archived(site.data / "archives", past.month, done.task_id)
    assert [sorted(one.keys() & {"task", "moves"}) for one in found] == [
        ["task"],
        ["moves"],
    ]
    with site.journal() as journal:
        assert journal.tasks.counts()["completed"] >= counts["completed"]
        assert faults(journal) == []


def book_pay(site: Site, tasks: int, *, days_ago: float) -> None:
    """Leave the ledger entries of tasks that are past."""

    def then() -> datetime:
        return SystemClock().now() - timedelta(days=days_ago)

    with Journal(site.data / "journal.db", then) as journal, journal.tx("pay"):
        for number in range(tasks):
            task_id = TaskId(f"past-{number}")
            book_delivery(journal.ledger, task_id, strategy="s", listed=3, request="")
            book_earning(
                journal.ledger,
                task_id,
                strategy="s",
                listed=3,
                answered=Answered(credits=3),
                cause="complete",
            )


async def test_a_journal_that_is_too_large_loses_old_entries_of_its_ledger(
    site: Site,
) -> None:
    site.data.mkdir(mode=0o700)
    book_pay(site, 2, days_ago=50)
    for task_id in ("recent", "too"):
        give_up(site, task_id, days_ago=0.5)
    settings, environment = site.settings(work__max_journal_mb=1), site.environment()

    async with open_agent(settings, URL, environment) as agent:
        parts = Components(
            settings=settings,
            agent=agent,
            registry=load_strategies(settings.strategies),
            environment=environment,
        )
        few = LedgerArchives(agent.directory.archives, agent.journal, stay=1)
        await replace(parts.housekeeping, ledger_archives=few).keep()

        assert agent.journal.ledger.archived().last_entry == 4
        assert faults(agent.journal, agent.directory.archives) == []
    assert site.log.named("journal.shortened")


@pytest.mark.endurance
async def test_a_long_ledger_goes_into_archives_but_for_its_last_entries(
    site: Site,
) -> None:
    site.data.mkdir(mode=0o700)
    book_pay(site, 2_600, days_ago=50)
    keeping: dict[str, Any] = {
        "work__keep_texts_days": 1,
        "work__keep_events_days": 1,
        "work__keep_tasks_days": 1,
        "schedule__housekeeping_every_seconds": 0.05,
    }
    archived_until = 0
    async with anyio.create_task_group() as group:
        group.start_soon(partial(site.run, **keeping))
        while not archived_until:
            await anyio.sleep(0.05)
            with site.journal() as journal:
                archived_until = journal.ledger.archived().last_entry
        group.cancel_scope.cancel()

    with site.journal() as journal:
        entries, _ = journal.ledger.head()
        assert entries - archived_until >= LAST_ENTRIES
        assert journal.ledger.entry(1) is None
        assert faults(journal, site.data / "archives") == []


async def test_what_the_journal_loses_is_archived_where_its_owner_wants_that(
    site: Site,
) -> None:
    await site.run(work__max_tasks=2)
    with site.journal() as journal:
        (done, *_) = journal.tasks.recent(TaskState.COMPLETED, 1)
    assert done.result is not None

    keeping: dict[str, Any] = {
        "work__archive": True,
        "work__keep_texts_days": AT_ONCE,
        "work__keep_events_days": AT_ONCE,
        "schedule__housekeeping_every_seconds": 0.05,
    }
    ended_at, folder = done.updated_at.isoformat(), site.data / "archives"
    found: list[dict[str, Any]] = []
    async with anyio.create_task_group() as group:
        group.start_soon(partial(site.run, **keeping))
        while len(found) < 2:
            found = [*archived(folder, ended_at, done.task_id)]
            await anyio.sleep(0.01)
        group.cancel_scope.cancel()

    texts, moves = found
    assert texts["result"]["output"] == done.result.output
    assert texts["task"]["raw"] == done.task.raw
    assert moves["moves"][-1]["after"] == TaskState.COMPLETED
    with site.journal() as journal:
        assert journal.tasks.get(done.task_id).result is None
        assert faults(journal) == []
