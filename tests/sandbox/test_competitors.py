"""Agents that compete: they earn like anybody, and take what clients post."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import anyio.lowlevel
import httpx2 as httpx

from journeyman.sandbox import SandboxEnvironment, SandboxOptions, create_app


class QuickTime(SandboxEnvironment):
    """Time that passes when somebody waits, up to a chosen moment."""

    def __init__(self) -> None:
        self._now = datetime(2026, 11, 21, tzinfo=UTC)
        self._steps_left = 0
        self._more = anyio.Event()
        self.idle = anyio.Event()
        self._tokens = 0

    def now(self) -> datetime:
        return self._now

    def new_token(self) -> str:
        self._tokens += 1
        return f"{self._tokens:064x}"[::-1]

    def pass_at_once(self, hours: float) -> None:
        """Let time pass in which nobody does anything."""
        self._now += timedelta(hours=hours)

    async def sleep(self, seconds: float) -> None:
        while self._steps_left == 0:
            self.idle.set()
            await self._more.wait()
        self._steps_left -= 1
        await anyio.lowlevel.checkpoint()
        self._now += timedelta(seconds=seconds)

    async def let_pass(self, steps: int) -> None:
        self._steps_left, self.idle = steps, anyio.Event()
        self._more.set()
        self._more = anyio.Event()
        await self.idle.wait()


@asynccontextmanager
async def contested(
    **options: Any,  # noqa: ANN401 - as SandboxOptions takes them
) -> AsyncIterator[tuple[httpx.AsyncClient, QuickTime]]:
    time = QuickTime()
    app = create_app(SandboxOptions(**options), time)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://sandbox") as client,
    ):
        yield client, time


async def test_competitors_do_all_the_work_that_a_program_can_do() -> None:
    async with contested(tasks=13, competitors=3, seed=4) as (client, time):
        await time.let_pass(300)
        ledger = (await client.get("/sandbox/ledger")).json()

    competitors = [one for one in ledger["agents"] if "competitor" in one["agent_id"]]
    assert ledger["balanced"]
    assert ledger["tasks"] == {"open": 2, "claimed": 0, "submitted": 0, "completed": 11}
    assert len([one for one in competitors if one["earned"]]) >= 2


async def test_a_competitor_takes_what_a_client_posts() -> None:
    async with contested(tasks=0, competitors=1) as (client, time):
        agent = (
            await client.post("/functions/v1/create-free-agent-public", json={})
        ).json()
        await client.post(
            "/functions/v1/write-post-task-public",
            json={"title": "Say hello", "description": "Any language", "reward": 40},
            headers={"Authorization": f"Bearer {agent['access_token']}"},
        )
        await time.let_pass(4)
        ledger = (await client.get("/sandbox/ledger")).json()

    earned = {one["agent_id"]: one["earned"] for one in ledger["agents"]}
    assert earned["agent_competitor_01"] == 40


async def post(client: httpx.AsyncClient) -> dict[str, Any]:
    """Post for 40 credits, as a new agent; return the answer."""
    path = "/functions/v1/create-free-agent-public"
    agent = (await client.post(path, json={})).json()
    client.headers["Authorization"] = f"Bearer {agent['access_token']}"
    posted = await client.post(
        "/functions/v1/write-post-task-public",
        json={"title": "Say hello", "description": "Any language", "reward": 40},
    )
    answer: dict[str, Any] = posted.json()
    return answer


async def listed(client: httpx.AsyncClient) -> dict[str, Any]:
    """Return the one task that there is, as its poster sees it."""
    answer = await client.get("/functions/v1/get-marketplace-tasks")
    (task,) = answer.json()["tasks"]
    return dict(task)


async def test_a_post_that_nobody_claims_expires_and_its_reward_goes_back() -> None:
    async with contested(tasks=0, own_posts=True, post_hours=2) as (client, time):
        await post(client)
        time.pass_at_once(hours=1)
        early = await listed(client)
        time.pass_at_once(hours=1)
        late = await listed(client)
        ledger = (await client.get("/sandbox/ledger")).json()

    assert early["status"] == "open"
    assert (late["status"], late["refunded_credits"]) == ("expired", 40)
    (agent,) = [one for one in ledger["agents"] if one["spent"] == one["refunded"] > 0]
    assert (agent["balance"], ledger["balanced"]) == (100, True)


async def test_its_poster_alone_sees_what_came_back() -> None:
    options = {"tasks": 0, "competitors": 1, "own_posts": True, "lists_taken": True}
    async with contested(**options) as (client, time):
        await post(client)
        await time.let_pass(4)
        own = await listed(client)
        public = (await client.get("/functions/v1/public-marketplace")).json()

    assert (own["status"], own["result"]) == ("completed", "Done by Competitor 1.")
    assert "result" not in public["tasks"][0]


async def test_a_post_may_cost_a_fee_beside_its_reward() -> None:
    async with contested(tasks=0, post_fee=3) as (client, _):
        posted = await post(client)
        ledger = (await client.get("/sandbox/ledger")).json()

    assert (posted["fee"], posted["balance"]) == (3, 57)
    assert (ledger["balances"]["fees"], ledger["balanced"]) == (3, True)


async def test_the_same_seed_makes_the_same_contest() -> None:
    contests = []
    for _ in range(2):
        async with contested(tasks=26, competitors=4, seed=9) as (client, time):
            await time.let_pass(60)
            contests.append((await client.get("/sandbox/ledger")).json())

    assert contests[0] == contests[1]
