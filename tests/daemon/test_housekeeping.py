"""What a daemon does now and then, so that it can run for months."""

from datetime import datetime, timedelta
from functools import partial

import anyio
from tests.daemon.conftest import Site

from journeyman.daemon.system import SystemClock
from journeyman.domain.tasks import Task, TaskId, TaskState
from journeyman.journal.journal import Journal


def pass_over(site: Site, task_id: str, *, days_ago: float) -> None:
    def then() -> datetime:
        return SystemClock().now() - timedelta(days=days_ago)

    with Journal(site.data / "journal.db", then) as journal, journal.tx("decision"):
        journal.tasks.record_decision(
            Task(id=TaskId(task_id)), TaskState.SKIPPED, reason="no", fingerprint="f"
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
