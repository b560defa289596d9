"""Looking at the market: what a look that fails means for the next one."""

import pytest
from tests.loop.conftest import (
    ABSENT,
    INVALID,
    NOT_SENT,
    THROTTLED,
    UNAUTHORIZED,
    UNKNOWN,
    Loop,
    ScriptedMarket,
    listing,
    task,
)

from journeyman.domain import Failure, TaskState
from journeyman.domain.outcome import NotSent
from journeyman.loop import Backoff, Bell
from journeyman.testing import FakeRandomness


@pytest.mark.parametrize("failure", [UNKNOWN, NOT_SENT, ABSENT, INVALID])
async def test_a_look_that_fails_is_told_and_made_again_later(
    loop: Loop, market: ScriptedMarket, failure: Failure
) -> None:
    market.pages = [failure]

    poll = await loop.discover()

    assert (poll.productive, poll.failure) == (False, failure)
    assert poll.retry_in is not None
    assert 0.5 <= poll.retry_in <= 2
    assert loop.log.named("discover.failed")[0]["message"] == failure.message
    assert not loop.gate.obstacle


async def test_a_wait_that_the_network_names_is_kept(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [THROTTLED]

    poll = await loop.discover()

    assert poll.retry_in is not None
    assert poll.retry_in >= 50


async def test_looks_that_go_on_failing_come_further_apart_until_one_succeeds(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [*[UNKNOWN] * 12, listing(), UNKNOWN]

    waits = [(await loop.discover()).retry_in or 0.0 for _ in range(14)]

    assert max(waits) <= 300
    assert max(waits[:2]) < max(waits[6:12])
    assert waits[12] == 0.0
    assert waits[13] <= 2


async def test_a_refused_token_suspends_everything_not_only_looking(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [UNAUTHORIZED]
    loop.select((task(),))

    poll = await loop.discover()

    assert poll.retry_in is not None
    assert poll.retry_in >= 60
    assert loop.log.names[-1] == "identity.rejected"
    async with loop.running():
        assert loop.record().state is TaskState.WANTED
        await loop.later(60)
    assert loop.record().state is TaskState.COMPLETED


async def test_a_page_of_known_tasks_gives_no_reason_to_look_again_at_once(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [listing(task()), listing(task()), listing()]

    assert [(await loop.discover()).productive for _ in range(3)] == [
        True,
        False,
        False,
    ]


def test_a_wait_has_jitter_a_floor_and_a_ceiling() -> None:
    backoff = Backoff(FakeRandomness(seed=1))

    waits = {attempt: backoff.seconds(attempt) for attempt in range(1, 100)}

    assert all(0.5 <= wait <= min(300, 2.0**attempt) for attempt, wait in waits.items())
    assert len(set(waits.values())) == len(waits)
    assert backoff.seconds(10_000, NotSent("")) <= 300


async def test_a_ring_while_nobody_waits_is_heard_once() -> None:
    bell = Bell()
    bell.ring()
    bell.ring()

    assert await bell.wait()
    assert not await bell.wait(0)
