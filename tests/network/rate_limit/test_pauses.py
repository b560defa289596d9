"""Pauses that a network asks for, and the pace after them."""

from datetime import timedelta
from email.utils import format_datetime

import httpx2 as httpx
import pytest
from tests.network.rate_limit.conftest import CLAIM, LISTING, Answer, Site

from journeyman.domain.outcomes import Confirmed, NotSent, Refused
from journeyman.network.rate_limit.pause import Cause

BUSY = Answer(429, {"error": "rate_limited"}, {"retry-after": "50"})


async def test_a_named_pause_holds_for_every_caller_of_that_endpoint(
    site: Site,
) -> None:
    site.network.reply = lambda name: BUSY if name == CLAIM else Answer()
    assert isinstance(await site.claim(), Refused)
    site.network.reply = lambda _: Answer()

    for _ in range(20):
        pause = await site.claim()
        assert isinstance(pause, NotSent)
        assert pause.paused
        assert pause.retry_after is not None
        assert site.clock.monotonic() + pause.retry_after >= 50
    assert isinstance(await site.look(), Confirmed)
    assert [name for _, name in site.network.asked] == [CLAIM, LISTING]

    await site.until(await site.claim())
    assert isinstance(await site.claim(), Confirmed)


async def test_a_pause_may_be_a_date_and_is_at_most_the_longest(site: Site) -> None:
    later = format_datetime(site.clock.now() + timedelta(seconds=90), usegmt=True)
    site.network.reply = lambda _: Answer(503, {}, {"retry-after": later})
    await site.claim()
    pause = site.rate_limiter.pause_for("claim")
    assert pause is not None
    assert 90 <= pause.seconds <= 99

    site.clock.advance(pause.seconds)
    site.network.reply = lambda _: Answer(429, {}, {"retry-after": "9" * 12})
    await site.claim()
    pause = site.rate_limiter.pause_for("claim")
    assert pause is not None
    assert 3600 <= pause.seconds <= 3960


@pytest.mark.parametrize("wait", ["soon", "-5", "", "Sat, 21 Nov 2020 00:00:00 GMT"])
async def test_a_pause_that_cannot_be_read_becomes_one_of_our_own(
    site: Site, wait: str
) -> None:
    site.network.reply = lambda _: Answer(429, {}, {"retry-after": wait})

    waits = []
    for _ in range(12):
        outcome = await site.claim()
        if isinstance(outcome, NotSent):
            waits.append(outcome.retry_after or 0.0)
            await site.until(outcome)

    assert waits
    assert max(waits) <= 60


async def test_a_refusal_about_a_task_pauses_nothing(site: Site) -> None:
    taken = Answer(409, {"error": "already_claimed"}, {"retry-after": "600"})
    site.network.reply = lambda _: taken

    for _ in range(20):
        assert isinstance(await site.claim(), Refused)

    assert site.rate_limiter.pause_for("claim") is None


async def test_a_body_that_says_slow_down_counts_as_much_as_a_status(
    site: Site,
) -> None:
    said = Answer(200, {"ok": False, "error": "rate_limited"}, {"retry-after": "9"})
    site.network.reply = lambda _: said
    await site.claim()

    pause = site.rate_limiter.pause_for("claim")

    assert pause is not None
    assert pause.cause is Cause.THROTTLED
    assert pause.seconds >= 9


async def test_a_short_wait_is_slept_and_a_long_one_is_given_back(site: Site) -> None:
    site.network.reply = lambda _: Answer(429, {}, {"retry-after": "0.5"})
    await site.claim()
    site.network.reply = lambda _: Answer()

    outcome = await site.claim()

    if isinstance(outcome, NotSent):  # the pace after it is slower still
        await site.until(outcome)
        outcome = await site.claim()
    assert isinstance(outcome, Confirmed)
    assert all(nap <= 1 for nap in site.clock.slept)


async def test_the_rate_halves_when_asked_and_is_free_again_after_good_answers(
    site: Site,
) -> None:
    for _ in range(20):
        await site.claim()
        site.clock.advance(0.5)
    site.network.reply = lambda _: Answer(429, {})
    await site.claim()
    limit = site.rate_limiter.limits["claim"]
    assert limit.rate.value == pytest.approx(1.0, abs=0.1)  # of two a second

    site.network.reply = lambda _: Answer()
    good = 0
    while limit.is_throttled:
        outcome = await site.claim()
        good += isinstance(outcome, Confirmed)
        if isinstance(outcome, NotSent):
            await site.until(outcome)

    assert good <= 16
    assert site.log.names.count("network.throttled") == 1
    assert site.log.names.count("network.throttling_ended") == 1


async def test_throttling_that_is_long_over_is_logged_as_over(site: Site) -> None:
    site.network.reply = lambda _: Answer(error=httpx.ReadTimeout)
    await site.claim()
    site.network.reply = lambda _: Answer()
    site.clock.advance(3600)
    assert site.rate_limiter.pause_for("claim") is None

    assert isinstance(await site.claim(), Confirmed)

    assert not site.rate_limiter.limits["claim"].is_throttled
    assert site.log.names.count("network.throttling_ended") == 1


async def test_answers_that_come_too_late_halve_the_pace_too(site: Site) -> None:
    site.network.reply = lambda _: Answer(error=httpx.ReadTimeout)

    await site.claim()

    assert site.rate_limiter.limits["claim"].rate.value is not None


async def test_a_pause_is_logged_with_its_reason_and_its_end(
    site: Site,
) -> None:
    site.network.reply = lambda _: BUSY
    await site.claim()
    await site.claim()

    ((name, pause),) = site.rate_limiter.pauses()

    assert (name, pause.cause) == ("claim", Cause.THROTTLED)
    assert "429 Too Many Requests" in pause.reason
    (told,) = site.log.named("network.request_paused")
    assert told["endpoint"] == "claim"
    assert len(site.log.named("network.request")) == 1
