"""A whole daemon on a network that refuses, lacks, or does not answer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import pytest
from tests.daemon.conftest import MakeSite, Site
from tests.daemon.simulated import Household

from journeyman.daemon.causes import EarningCause
from journeyman.daemon.commands import OwnerCommands
from journeyman.daemon.status import journal_status

QUICK: dict[str, Any] = {
    "rate_limit__probe_every_seconds": 0.1,
    "schedule__discover_every_seconds": 0.05,
    "schedule__deliver_every_seconds": 0.05,
}


@dataclass
class Refusing(httpx.AsyncBaseTransport):
    """Refuses what it is told to, and passes everything else on."""

    inner: httpx.AsyncBaseTransport
    status: int
    refuses: Callable[[httpx.Request], bool]
    refused: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self.refuses(request):
            self.refused.append(request.url.path)
            return httpx.Response(self.status, json={"error": "no"})
        self.passed.append(request.url.path)
        return await self.inner.handle_async_request(request)


async def test_a_rejected_token_parks_the_work_and_goes_on_by_itself_when_it_works(
    site: Site,
) -> None:
    await site.run(work__max_tasks=1)
    gate = Refusing(site.transport, 401, lambda one: "authorization" in one.headers)
    site.transport = gate

    async with anyio.create_task_group() as group:
        group.start_soon(lambda: site.run(work__max_tasks=3, **QUICK))
        await site.logged("identity.rejected")
        with site.journal() as journal:
            rejected = journal_status(journal)["token_rejected"]
        assert isinstance(rejected, dict)
        assert str(rejected["message"]).startswith("401 Unauthorized")
        gate.refuses = lambda _: False

    (told,) = site.log.named("identity.rejected")
    assert told["agent_id"]
    assert site.log.names.count("identity.accepted") == 1
    with site.journal() as journal:
        assert journal_status(journal)["token_rejected"] is None
        assert journal.tasks.counts()["completed"] == 4


async def test_a_restart_remembers_that_the_token_was_rejected(site: Site) -> None:
    await site.run(work__max_tasks=1)
    good = site.transport
    site.transport = Refusing(good, 401, lambda one: "authorization" in one.headers)
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: site.run(**QUICK))
        await site.logged("identity.rejected")
        group.cancel_scope.cancel()

    site.transport = gate = Refusing(good, 401, lambda _: False)
    await site.run(work__max_tasks=1, **QUICK)

    assert site.log.names.count("identity.accepted") == 1
    assert not any("create-free-agent" in path for path in gate.passed)


@pytest.mark.endurance
async def test_without_the_listing_endpoint_the_public_marketplace_gives_the_work(
    make_site: MakeSite,
) -> None:
    site = await make_site()
    site.transport = Refusing(
        site.transport, 404, lambda one: "get-marketplace" in one.url.path
    )

    await site.run(work__max_tasks=6, **QUICK)

    (told,) = site.log.named("network.endpoint_absent")
    assert told["endpoint"] == "marketplace_tasks"
    with site.journal() as journal:
        assert journal.tasks.counts() == {"completed": 6}


@pytest.mark.endurance
async def test_without_the_submit_endpoint_results_are_kept(site: Site) -> None:
    gate = Refusing(site.transport, 405, lambda one: "submit" in one.url.path)
    site.transport = gate
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: site.run(retry__refusal_seconds=0.1, **QUICK))
        await site.logged("network.endpoint_absent")
        group.cancel_scope.cancel()

    with site.journal() as journal:
        counts = journal.tasks.counts()
        waiting = journal.tasks.recent("submitting", 10)
    # Nothing was ever delivered here, so that no second one is claimed.
    assert counts["submitting"] == 1
    assert "completed" not in counts
    assert all(record.result for record in waiting)


def test_a_marketplace_that_keeps_failing_is_the_cause_and_not_an_empty_one(
    tmp_path: Path,
) -> None:
    home = Household(tmp_path)
    home.network.answers["get-marketplace-tasks"] = (500, {"error": "out of order"})
    found: list[EarningCause] = []

    async def look(commands: OwnerCommands) -> None:
        await anyio.sleep(100)  # Simulated: several times as long as five failures.
        found.extend(commands.parts.find_causes())

    home.live(look)

    told = {cause.name: cause.message for cause in found}
    assert told["network_paused"].startswith("the marketplace is not read: it keeps")
    assert "nothing_listed" not in told
