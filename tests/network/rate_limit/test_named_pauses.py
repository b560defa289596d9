"""Pauses that are named elsewhere than in `Retry-After`."""

import pytest
from tests.network.rate_limit.conftest import Answer, Site

from journeyman.domain.outcomes import Refused, Unknown
from journeyman.domain.tasks import JSON
from journeyman.testing import FakeClock

NOW = int(FakeClock().now().timestamp())


async def _named(site: Site, answer: Answer) -> float | None:
    site.network.reply = lambda _: answer
    outcome = await site.claim()
    assert isinstance(outcome, Refused | Unknown)
    return outcome.retry_after


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"x-ratelimit-reset": "30"}, {}),
        ({"x-ratelimit-reset": str(NOW + 30)}, {}),
        ({"x-ratelimit-reset": str((NOW + 30) * 1000)}, {}),
        ({"ratelimit-reset": "30"}, {}),
        ({"ratelimit": '"default";r=0;t=30'}, {}),
        ({"ratelimit": "limit=10, remaining=0, reset=30"}, {}),
        ({"retry-after-ms": "30000"}, {}),
        ({}, {"retry_after": 30}),
        ({}, {"error": {"code": "slow_down", "retryAfterMs": 30_000}}),
        ({}, {"error": "busy", "details": {"retryAfter": "30s"}}),
        ({}, {"message": "Rate limited. Try again in 30 seconds."}),
        ({}, {"detail": "Request was throttled. Expected available in 30 seconds."}),
        ({}, {"error": "please wait 0.5 minutes"}),
        ({"retry-after": "30"}, {"retry_after": 99}),
    ],
)
async def test_a_pause_is_read_wherever_it_is_named(
    site: Site, status: int, headers: dict[str, str], body: JSON
) -> None:
    assert await _named(site, Answer(status, body, headers)) == pytest.approx(30, abs=1)


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"x-ratelimit-reset": str(NOW - 30)}, {}),
        ({"x-ratelimit-reset": "never"}, {}),
        ({"x-ratelimit-limit": "100"}, {"limit": 100}),
        ({}, {"retry_after": True}),
        ({}, {"retry_after": 10**9}),
        ({}, {"message": "100 requests per 60 seconds are allowed"}),
    ],
)
async def test_what_names_no_pause_is_none(
    site: Site, headers: dict[str, str], body: JSON
) -> None:
    assert await _named(site, Answer(429, body, headers)) is None


async def test_a_conflict_may_say_in_a_field_when_to_ask_again(site: Site) -> None:
    answer = Answer(409, {"error": "not yet", "retry_after_seconds": 30}, {})

    assert await _named(site, answer) == 30


async def test_how_long_something_was_is_no_time_to_ask_again(site: Site) -> None:
    answer = Answer(409, {"error": "you had it for 30 minutes; another has it"}, {})

    assert await _named(site, answer) is None


async def test_an_answer_that_asks_for_nothing_pauses_nothing(site: Site) -> None:
    answer = Answer(409, {"error": "taken"}, {"x-ratelimit-reset": "30"})

    assert await _named(site, answer) is None
