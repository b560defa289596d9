"""The rate limiter of a daemon honours its settings, and no second limit of its own."""

from pathlib import Path

import pytest
from tests.network.rate_limit.conftest import URL, Answer, PassingClock, Scripted

from journeyman.daemon.environment import Environment
from journeyman.daemon.network import build_rate_limiter
from journeyman.domain.outcomes import NotSent
from journeyman.domain.tasks import AccessToken, AgentId, Identity
from journeyman.network.client import NetworkClient
from journeyman.observability.redaction import Redactor
from journeyman.settings.sources import load_settings
from journeyman.testing import FakeRandomness, RecordingLog

MAX = "rate_limit.max_retry_after_seconds"


@pytest.mark.parametrize(
    ("longest", "wanted", "waited"),
    [(7_200, 7_000, 7_000), (7_200, 9_000, 7_200), (31_622_400, 90_000, 90_000)],
)
async def test_a_retry_after_is_respected_up_to_the_setting(
    tmp_path: Path, longest: int, wanted: int, waited: int
) -> None:
    loaded = load_settings(files=(), overrides={MAX: longest}, environ={}, cwd=tmp_path)
    clock, log = PassingClock(), RecordingLog()
    busy = Answer(429, {"error": "rate_limited"}, {"retry-after": str(wanted)})
    network = Scripted(clock, lambda _: busy)
    environment = Environment(
        clock=clock, randomness=FakeRandomness(), log=log, redactor=Redactor()
    )
    rate_limiter = build_rate_limiter(loaded.settings, environment)
    client = NetworkClient(
        base_url=URL, log=log, clock=clock, transport=network, rate_limiter=rate_limiter
    )
    async with client:
        client.identify(Identity(AgentId("a"), AccessToken("secret"), URL))
        await client.marketplace_tasks(50)
        clock.advance(waited - 2)
        early = await client.marketplace_tasks(50)
        paused_requests = len(network.asked)
        clock.advance(waited * 0.25 + 60)  # a pause is made longer by some jitter
        await client.marketplace_tasks(50)

    assert isinstance(early, NotSent)
    assert (paused_requests, len(network.asked)) == (1, 2)
