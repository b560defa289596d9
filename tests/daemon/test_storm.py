"""How often a market is asked while it says 429, and how soon all is normal again."""

from collections.abc import AsyncIterator, Callable

import pytest
from tests.network.rate_limit.conftest import URL, Answer, PassingClock, Scripted

from journeyman.daemon.discovery import Pace
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import AccessToken, AgentId, Identity, Task
from journeyman.network.client import NetworkClient
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.network.service_model.vocabulary import ASSUMED
from journeyman.testing import FakeRandomness, RecordingLog
from journeyman.worker.discover import Discover
from journeyman.worker.select import Decision, Select

HOUR = 3600.0
STORM = {"error": "rate_limited"}


class Nobody(Select):
    """Wants nothing."""

    def __init__(self) -> None:
        """Need nothing."""

    def settled(self) -> object:
        return object()

    def is_settled(self, key: object, on: object) -> bool:
        return key is not None and on is not None

    def decide(self, tasks: tuple[Task, ...]) -> Decision:
        return Decision(known=len(tasks))


class Poller:
    """The real client, guard, look and pace, in a time of its own."""

    def __init__(self, seed: int) -> None:
        self.clock, randomness = PassingClock(), FakeRandomness(seed)
        self.network = Scripted(self.clock, lambda _: Answer(body={"tasks": []}))
        self.log = log = RecordingLog()
        self.rate_limiter = RateLimiter(
            clock=self.clock, randomness=randomness, log=log, private=ASSUMED.private
        )
        self.client = NetworkClient(
            base_url=URL,
            log=log,
            clock=self.clock,
            transport=self.network,
            rate_limiter=self.rate_limiter,
        )
        self.client.identify(Identity(AgentId("a"), AccessToken("secret"), URL))
        self.discover = Discover(
            network=self.client,
            select=Nobody(),
            retry=RetryPolicy(),
            randomness=randomness,
            clock=self.clock,
            rate_limiter=self.rate_limiter,
            limit=50,
            on_page=lambda _tasks: False,
            log=log,
        )
        self._pace = Pace(usual=30.0, longest=300.0, randomness=randomness)

    @property
    def is_slowed(self) -> bool:
        """Whether the limits that were told of last are not over yet."""
        told = [name for name in self.log.names if name.startswith("network.throttl")]
        return bool(told) and told[-1] != "network.throttling_ended"

    async def poll(self) -> float:
        """Look once, let the pause after it pass, and give that pause."""
        poll = await self.discover.look()
        wait = self._pace.next_wait(poll, has_room=True, is_busy=True)
        self.clock.advance(wait)
        return wait

    async def poll_for(self, seconds: float) -> int:
        """Poll for a while; give how many requests that made."""
        start, before = self.clock.monotonic(), len(self.network.asked)
        while self.clock.monotonic() < start + seconds:
            await self.poll()
        return len(self.network.asked) - before


@pytest.fixture
async def make_poller() -> AsyncIterator[Callable[[int], Poller]]:
    made: list[Poller] = []

    def make(seed: int) -> Poller:
        made.append(Poller(seed))
        return made[-1]

    yield make
    for poller in made:
        await poller.client.__aexit__(None, None, None)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("wait", ["", "1", "120"])
async def test_a_storm_halves_the_requests_and_ten_polls_later_all_is_normal(
    make_poller: Callable[[int], Poller], seed: int, wait: str
) -> None:
    poller = make_poller(seed)
    normal = await poller.poll_for(HOUR)

    headers = {"retry-after": wait} if wait else {}
    poller.network.reply = lambda _: Answer(429, STORM, headers)
    in_storm = await poller.poll_for(HOUR)
    assert in_storm <= normal / 2

    poller.network.reply = lambda _: Answer(body={"tasks": []})
    while poller.rate_limiter.pause_for("marketplace_tasks"):
        await poller.poll()
    waits = [await poller.poll() for _ in range(10)]
    after = await poller.poll_for(HOUR)

    assert waits[9] <= 60  # the usual pause: thirty seconds on average
    assert not poller.is_slowed
    assert after == pytest.approx(normal, rel=0.25)


async def test_a_market_that_is_back_is_seen_within_a_minute(
    make_poller: Callable[[int], Poller],
) -> None:
    for seed in range(6):
        poller = make_poller(seed)
        poller.network.reply = lambda _: Answer(503, {})
        await poller.poll_for(900 + 11.0 * seed)
        back = poller.clock.monotonic()
        poller.network.reply = lambda _: Answer(body={"tasks": []})
        asked = len(poller.network.asked)
        while len(poller.network.asked) == asked:
            await poller.poll()
        assert poller.network.asked[-1][0] - back <= 60
