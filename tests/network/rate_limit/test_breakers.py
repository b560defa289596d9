"""A network that is down, or broken in one place."""

import httpx2 as httpx
import pytest
from tests.network.rate_limit.conftest import CLAIM, LISTING, Answer, Site

from journeyman.domain.outcomes import Confirmed, NotSent, Unknown
from journeyman.network.rate_limit.pause import Cause, Permit

DEAD = Answer(error=httpx.ConnectError)
SILENCE = Unknown("no answer")
TEN_MINUTES = 600.0


async def _work(site: Site, until: float) -> None:
    """Look and claim again and again, as eagerly as the rate limiter allows."""
    while site.clock.monotonic() < until:
        await site.look()
        await site.claim()
        site.clock.advance(5.0)


@pytest.mark.parametrize(
    "dead",
    [
        DEAD,
        Answer(error=httpx.ReadTimeout, seconds=20.0),
        Answer(error=httpx.RemoteProtocolError),
        Answer(502),
        Answer(503),
        Answer(546),
    ],
    ids=["refused", "silent", "resets", "502", "503", "546"],
)
async def test_a_dead_server_costs_at_most_one_request_a_minute(
    site: Site, dead: Answer
) -> None:
    site.network.reply = lambda _: dead
    await _work(site, 120)
    asked = site.network.count()

    await _work(site, 120 + TEN_MINUTES)

    assert asked <= 12  # until it was known
    assert site.network.count() - asked <= 10
    assert site.log.names.count("network.breaker_opened") <= 3


async def test_requests_that_one_silence_has_met_together_are_no_failures_in_a_row(
    site: Site,
) -> None:
    limiter = site.rate_limiter
    under_way = [await limiter.acquire(one) for one in ["claim", "submit"] * 4]
    site.clock.advance(15.0)

    for permit in under_way:
        assert isinstance(permit, Permit)
        limiter.release(permit, SILENCE)
    assert "network.breaker_opened" not in site.log.names

    for _ in range(4):
        permit = await limiter.acquire("claim")
        assert isinstance(permit, Permit)
        site.clock.advance(15.0)
        limiter.release(permit, SILENCE)
    assert "network.breaker_opened" in site.log.names


@pytest.mark.parametrize("returns_at", [601.0, 633.0, 659.0, 695.0])
async def test_after_a_dead_server_returns_work_resumes_within_a_minute(
    site: Site, returns_at: float
) -> None:
    def reply(_: str) -> Answer:
        return DEAD if site.clock.monotonic() < returns_at else Answer()

    site.network.reply = reply
    await _work(site, returns_at)
    resumed = None
    while resumed is None:
        if isinstance(await site.claim(), Confirmed):
            resumed = site.clock.monotonic()
        site.clock.advance(0.1)

    assert resumed - returns_at <= 60.2
    assert site.rate_limiter.general_pause() is None
    assert site.log.named("network.breaker_closed")[-1]["scope"] == "service"


async def test_one_broken_endpoint_is_probed_alone_and_the_others_go_on(
    site: Site,
) -> None:
    site.network.reply = lambda name: Answer(500 if name == CLAIM else 200)

    await _work(site, TEN_MINUTES)

    claims = sum(name == CLAIM for _, name in site.network.asked)
    looks = sum(name == LISTING for _, name in site.network.asked)
    assert claims <= 5 + 10
    assert looks == TEN_MINUTES / 5
    (opened,) = site.log.named("network.breaker_opened")
    assert opened["scope"] == "claim"
    pause = site.rate_limiter.pause_for("claim")
    assert pause is None or pause.cause is Cause.FAILING


async def test_a_refusal_is_no_failure(site: Site) -> None:
    site.network.reply = lambda _: Answer(409, {"error": "taken"})

    await _work(site, 60)

    assert "network.breaker_opened" not in site.log.names


async def test_while_a_probe_is_on_its_way_nobody_else_goes(site: Site) -> None:
    site.network.reply = lambda _: DEAD
    await _work(site, 120)
    while site.rate_limiter.general_pause():
        site.clock.advance(1.0)

    async def paused_meanwhile() -> list[bool]:
        return [
            isinstance(one, NotSent) and one.paused
            for one in [await site.claim(), await site.look()]
        ]

    permit = await site.rate_limiter.acquire("claim")
    assert isinstance(permit, Permit)
    assert await paused_meanwhile() == [True, True]
    site.rate_limiter.release(permit, None)
    # Nobody saw how it ended, as when the daemon stops: the next one is the probe.
    assert isinstance(await site.claim(), NotSent | Unknown)
    assert site.network.asked[-1][1] == CLAIM
