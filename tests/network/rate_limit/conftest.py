"""A client and its rate limiter, in a time that passes only while somebody waits."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2 as httpx
import pytest
from tests.network.conftest import PINNED
from tests.one_task import in_one_task

from journeyman.domain.outcomes import NotSent, Outcome
from journeyman.domain.tasks import (
    AccessToken,
    AgentId,
    IdempotencyKey,
    Identity,
    Task,
    TaskId,
)
from journeyman.network.client import NetworkClient
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.network.rate_limit.pause import RateLimits
from journeyman.network.service_model.search import RequestSearch
from journeyman.network.service_model.vocabulary import ASSUMED
from journeyman.testing import FakeClock, FakeRandomness, RecordingLog

URL = "http://network.example"
TOKEN = "token-of-ours"  # noqa: S105 - of a network that does not exist
CLAIM, SUBMIT = "claim-task-public", "submit-task-result-public"
LISTING, PUBLIC = "get-marketplace-tasks", "public-marketplace"
POST = "write-post-task-public"


class PassingClock(FakeClock):
    """A clock on which whoever sleeps lets the time pass."""

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)


@dataclass
class Answer:
    """What the network says; an exception breaks the connection."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    error: type[httpx.TransportError] | None = None
    seconds: float = 0.0
    """How long it takes."""


Reply = Callable[[str], Answer]


@dataclass
class Scripted(httpx.AsyncBaseTransport):
    """A network that answers by the last part of the path, and counts."""

    clock: FakeClock
    reply: Reply = lambda _name: Answer()
    asked: list[tuple[float, str]] = field(default_factory=list)
    """When, on the monotonic clock, and what."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        name = request.url.path.rsplit("/", 1)[-1]
        self.asked.append((self.clock.monotonic(), name))
        answer = self.reply(name)
        self.clock.advance(answer.seconds)
        if answer.error is not None:
            raise answer.error("broken", request=request)
        return httpx.Response(answer.status, json=answer.body, headers=answer.headers)

    def count(self, since: float = 0.0, until: float = float("inf")) -> int:
        return sum(since <= at < until for at, _ in self.asked)


@dataclass
class Site:
    """A client, the rate limiter before it, the network behind it."""

    client: NetworkClient
    rate_limiter: RateLimiter
    network: Scripted
    clock: PassingClock
    log: RecordingLog
    _made: int = 0

    async def claim(self, task: str | None = None) -> Outcome[Any]:
        """Claim a task; another one each time, unless it is named."""
        self._made += 1
        name = task or f"t{self._made}"
        return await self.client.claim(
            Task(id=TaskId(name)), IdempotencyKey(f"claim-{name}")
        )

    async def look(self) -> Outcome[Any]:
        return await self.client.marketplace_tasks(50)

    async def until(self, outcome: Outcome[Any]) -> None:
        """Wait for as long as an outcome says."""
        assert isinstance(outcome, NotSent)
        self.clock.advance((outcome.retry_after or 0.0) + 0.001)


@pytest.fixture
def options() -> RateLimits:
    return RateLimits()


@pytest.fixture
async def site(options: RateLimits) -> AsyncIterator[Site]:
    clock, log = PassingClock(), RecordingLog()
    network = Scripted(clock)
    rate_limiter = RateLimiter(
        clock=clock,
        randomness=FakeRandomness(),
        log=log,
        private=ASSUMED.private,
        options=options,
    )
    client = NetworkClient(
        base_url=URL,
        log=log,
        clock=clock,
        transport=network,
        rate_limiter=rate_limiter,
        # What is asked is when a request is sent, and not how it is written.
        search=RequestSearch(owner=PINNED, clock=clock, log=log),
    )
    client.identify(Identity(AgentId("a"), AccessToken(TOKEN), URL))
    async with in_one_task(client):
        yield Site(client, rate_limiter, network, clock, log)
