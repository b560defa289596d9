"""Pauses that a network asks for, and the pace after them."""

from datetime import timedelta
from email.utils import format_datetime

import httpx2 as httpx
import pytest
from tests.network.rate_limit.conftest import CLAIM, Answer, Site

from journeyman.domain.outcomes import Confirmed, NotSent, Refusal, Refused
from journeyman.network.rate_limit.pause import Cause, Pause, Permit

GOOD = Confirmed(None)
ASKS = Refused(Refusal.THROTTLED, "slow down", 429)
BUSY = Answer(429, {"error": "rate_limited"}, {"retry-after": "50"})


async def test_a_pause_holds_for_the_whole_service(site: Site) -> None:
    site.network.reply = lambda name: BUSY if name == CLAIM else Answer()
    assert isinstance(await site.claim(), Refused)
    site.network.reply = lambda _: Answer()

    for _ in range(20):
        for pause in (await site.claim(), await site.look()):
            assert isinstance(pause, NotSent)
            assert pause.paused
            assert pause.retry_after is not None
            assert site.clock.monotonic() + pause.retry_after >= 50
    assert [name for _, name in site.network.asked] == [CLAIM]

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
    (told,) = site.log.named("network.throttled")
    assert told["endpoint"] == "service"
    assert told["rate"] == pytest.approx(1.0, abs=0.1)  # of two a second

    site.network.reply = lambda _: Answer()
    good = 0
    while "network.throttling_ended" not in site.log.names:
        outcome = await site.claim()
        good += isinstance(outcome, Confirmed)
        if isinstance(outcome, NotSent):
            await site.until(outcome)

    assert good <= 16
    assert site.log.names.count("network.throttled") == 1


async def test_an_endpoint_that_was_idle_is_back_at_its_pace_within_seconds(
    site: Site,
) -> None:
    site.clock.advance(1000)
    site.network.reply = lambda _: Answer(429, {}, {"retry-after": "1"})
    await site.claim()
    site.network.reply = lambda _: Answer()

    asked = len(site.network.asked)
    end = site.clock.monotonic() + 12
    while site.clock.monotonic() < end:
        if isinstance(outcome := await site.claim(), NotSent):
            await site.until(outcome)
        if not any(site.rate_limiter.pauses()):
            site.clock.advance(0.1)

    assert len(site.network.asked) - asked >= 12
    assert not any(site.rate_limiter.pauses())


async def test_however_long_a_storm_lasts_the_pace_after_it_is_soon_the_usual(
    site: Site,
) -> None:
    site.network.reply = lambda _: Answer(429, {}, {"retry-after": "5"})
    while site.clock.monotonic() < 600:
        if isinstance(outcome := await site.claim(), NotSent):
            await site.until(outcome)
    assert len(site.network.asked) <= 120

    site.network.reply = lambda _: Answer()
    back = site.clock.monotonic()
    while any(site.rate_limiter.pauses()):
        if isinstance(outcome := await site.claim(), NotSent):
            await site.until(outcome)

    assert site.clock.monotonic() - back <= 20


async def test_after_a_pause_one_request_goes_first_and_the_rest_follow_gently(
    site: Site,
) -> None:
    limiter = site.rate_limiter
    under_way = [await limiter.acquire("claim") for _ in range(8)]
    site.network.reply = lambda _: Answer(429, {}, {"retry-after": "20"})
    await site.claim()
    for permit in under_way:
        assert isinstance(permit, Permit)
        limiter.release(permit, None)
    site.clock.advance(25)

    first = await limiter.acquire("claim")
    assert isinstance(first, Permit)
    assert isinstance(await limiter.acquire("submit"), Pause)
    limiter.release(first, GOOD)
    second = await limiter.acquire("submit")

    assert isinstance(second, Permit)
    assert second.began - first.began >= 0.2


async def test_answers_to_what_was_under_way_make_a_pause_no_longer(
    site: Site,
) -> None:
    under_way = [await site.rate_limiter.acquire("claim") for _ in range(8)]
    for permit in under_way:
        assert isinstance(permit, Permit)
        site.rate_limiter.release(permit, ASKS)

    (pause,) = dict(site.rate_limiter.pauses()).values()
    assert pause.seconds <= 2


async def test_a_refusal_that_names_its_endpoint_pauses_it_alone(site: Site) -> None:
    said = {"message": "Rate limit exceeded for claim-task-public"}
    busy = Answer(429, said, {"retry-after": "50"})
    site.network.reply = lambda name: busy if name == CLAIM else Answer()
    await site.claim()

    assert isinstance(await site.claim(), NotSent)
    assert isinstance(await site.look(), Confirmed)


async def _until_asked_again(site: Site) -> None:
    """Let the claims be refused, wait, and let them be refused once more."""
    await site.claim()
    await site.until(await site.claim())
    assert isinstance(await site.claim(), Refused)


async def test_a_second_pause_of_one_endpoint_is_tested_by_one_request_of_another(
    site: Site,
) -> None:
    site.network.reply = lambda name: BUSY if name == CLAIM else Answer()
    await _until_asked_again(site)

    assert isinstance(await site.look(), Confirmed)
    assert isinstance(await site.look(), Confirmed)
    assert isinstance(await site.claim(), NotSent)
    throttled = [told["endpoint"] for told in site.log.named("network.throttled")]
    assert throttled == ["service", "claim"]

    await site.until(await site.claim())
    assert isinstance(await site.claim(), Refused)
    for _ in range(3):
        assert isinstance(await site.look(), Confirmed)
    assert isinstance(await site.claim(), NotSent)


async def test_a_pause_that_another_endpoint_confirms_is_not_doubted_again(
    site: Site,
) -> None:
    site.network.reply = lambda _: BUSY
    await _until_asked_again(site)
    assert isinstance(await site.look(), Refused)

    for _ in range(5):
        await site.until(await site.claim())
        asked = len(site.network.asked)
        assert isinstance(await site.claim(), Refused)
        assert isinstance(await site.look(), NotSent)
        assert len(site.network.asked) == asked + 1


async def test_an_endpoint_with_a_pause_of_its_own_loses_it_when_another_asks_too(
    site: Site,
) -> None:
    site.network.reply = lambda name: BUSY if name == CLAIM else Answer()
    await _until_asked_again(site)
    assert isinstance(await site.look(), Confirmed)
    site.network.reply = lambda _: BUSY

    assert isinstance(await site.look(), Refused)

    assert isinstance(await site.client.public_marketplace(), NotSent)


async def test_throttling_that_is_long_over_is_logged_as_over(site: Site) -> None:
    site.network.reply = lambda _: Answer(error=httpx.ReadTimeout)
    await site.claim()
    site.network.reply = lambda _: Answer()
    site.clock.advance(3600)
    assert site.rate_limiter.pause_for("claim") is None

    assert isinstance(await site.claim(), Confirmed)

    assert site.log.names.count("network.throttling_ended") == 1


async def test_answers_that_come_too_late_halve_the_pace_too(site: Site) -> None:
    site.network.reply = lambda _: Answer(error=httpx.ReadTimeout)

    await site.claim()

    (told,) = site.log.named("network.throttled")
    assert told["endpoint"] == "claim"
    assert told["rate"] == pytest.approx(0.5)


async def test_a_pause_is_logged_with_its_reason_and_its_end(
    site: Site,
) -> None:
    site.network.reply = lambda _: BUSY
    await site.claim()
    await site.claim()

    ((name, pause),) = site.rate_limiter.pauses()

    assert (name, pause.cause) == ("service", Cause.THROTTLED)
    assert "429 Too Many Requests" in pause.reason
    (told,) = site.log.named("network.request_paused")
    assert told["endpoint"] == "claim"
    assert len(site.log.named("network.request")) == 1
