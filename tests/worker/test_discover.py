"""Looking at the market: what a look that fails means for the next one."""

from collections.abc import Sequence
from dataclasses import replace

import anyio
import pytest
from tests.worker.conftest import (
    ABSENT,
    INVALID,
    NOT_SENT,
    REJECTED,
    THROTTLED,
    UNAUTHORIZED,
    UNKNOWN,
    Loop,
    ScriptedMarket,
    listing,
    task,
)

from journeyman.domain.outcomes import Failure, NotSent, Refusal
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import Task, TaskState
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.testing import FakeRandomness


@pytest.mark.parametrize("failure", [UNKNOWN, NOT_SENT, ABSENT, REJECTED])
async def test_a_look_that_fails_is_told_and_made_again_later(
    loop: Loop, market: ScriptedMarket, failure: Failure
) -> None:
    market.pages = [failure, failure]  # also without a limit

    poll = await loop.discover.look()

    assert (poll.productive, poll.failure) == (False, failure)
    assert poll.retry_in is not None
    assert 0.5 <= poll.retry_in <= 2
    assert loop.log.named("discover.failed")[0]["message"] == failure.message
    assert not loop.gate.obstacle


async def test_a_bug_of_ours_in_a_look_is_told_and_the_next_look_comes(
    loop: Loop, market: ScriptedMarket
) -> None:
    def stumble(tasks: Sequence[Task]) -> bool:
        raise ZeroDivisionError(f"ours, over {len(tasks)} tasks")

    as_it_was, loop.discover.on_page = loop.discover.on_page, stumble
    market.pages = [listing(task("a")), listing(task("a"))]

    poll = await loop.discover.look()

    assert not poll.productive
    assert poll.retry_in is not None
    (told,) = loop.log.named("network.bug")
    assert "ours, over 1 tasks" in str(told["traceback"])
    loop.discover.on_page = as_it_was
    assert (await loop.discover.look()).productive


async def test_a_wait_that_the_network_names_is_kept(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [THROTTLED]

    poll = await loop.discover.look()

    assert poll.retry_in is not None
    assert poll.retry_in >= 50


async def test_looks_that_go_on_failing_come_further_apart_until_one_succeeds(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [*[UNKNOWN] * 12, listing(), UNKNOWN]

    waits = [(await loop.discover.look()).retry_in or 0.0 for _ in range(14)]

    assert max(waits) <= 300
    assert max(waits[:2]) < max(waits[6:12])
    assert waits[12] == 0.0
    assert waits[13] <= 2


async def test_a_look_that_is_paused_is_not_a_failed_look(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [NotSent("held back", retry_after=42.0, paused=True)]

    poll = await loop.discover.look()

    assert poll.retry_in == 42.0
    assert loop.discover.tally.polls == loop.discover.tally.failed_polls == 0
    assert "discover.failed" not in loop.log.names


async def test_a_refused_look_waits_until_the_network_may_be_asked_again(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [UNAUTHORIZED]
    loop.rate_limiter.pause_requests("everything", 60)
    loop.select.decide((task(),))

    poll = await loop.discover.look()

    assert poll.retry_in is not None
    assert poll.retry_in >= 60
    async with loop.running():
        assert loop.record().state is TaskState.WANTED
        await loop.later(60)
    assert loop.record().state is TaskState.COMPLETED


@pytest.mark.parametrize("refusal", [Refusal.INVALID, Refusal.REJECTED])
async def test_a_limit_that_is_refused_is_left_away_from_then_on(
    loop: Loop, market: ScriptedMarket, refusal: Refusal
) -> None:
    market.pages = [
        replace(INVALID, refusal=refusal),
        listing(task()),
        listing(),
        listing(),
    ]

    polls = [await loop.discover.look() for _ in range(3)]

    assert polls[0].productive
    assert market.limits == [50, None, None, None]
    assert loop.log.named("discover.limit_refused") == [{"limit": 50}]


async def test_a_look_that_is_refused_without_a_limit_too_keeps_the_limit(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [INVALID, INVALID, listing()]

    first = await loop.discover.look()
    await loop.discover.look()

    assert first.failure == INVALID
    assert market.limits == [50, None, 50]


async def test_where_the_listing_is_absent_the_public_marketplace_gives_the_tasks(
    loop: Loop, market: ScriptedMarket
) -> None:
    loop.rate_limiter.absent.add("marketplace_tasks")
    loop.rate_limiter.pause_requests("marketplace_tasks", 600)
    market.public_pages = [listing(task()), listing()]

    assert (await loop.discover.look()).productive
    await loop.discover.look()
    assert (market.limits, market.public_looks) == ([], 2)

    loop.clock.advance(600)
    loop.rate_limiter.absent.clear()
    market.pages = [listing(task("t2"))]
    await loop.discover.look()
    assert (market.limits, market.public_looks) == ([50], 2)


async def test_a_page_far_larger_than_asked_for_is_decided_about_in_steps(
    loop: Loop, market: ScriptedMarket
) -> None:
    many = [task(f"t{n}") for n in range(1000)]
    market.pages = [listing(*many, *many[:500])]
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    async with anyio.create_task_group() as group:
        group.start_soon(count_turns)
        await loop.discover.look()
        group.cancel_scope.cancel()

    assert turns >= 5
    assert loop.journal.tasks.counts() == {"wanted": 1000}
    assert loop.discover.tally.wanted == 1000


async def test_a_page_of_known_tasks_gives_no_reason_to_look_again_at_once(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [listing(task()), listing(task()), listing()]

    assert [(await loop.discover.look()).productive for _ in range(3)] == [
        True,
        False,
        False,
    ]


def test_a_wait_has_jitter_a_floor_and_a_ceiling() -> None:
    retry, chance = RetryPolicy(), FakeRandomness(seed=1)

    waits = {attempt: retry.backoff(attempt, chance) for attempt in range(1, 100)}

    assert all(0.5 <= wait <= min(300, 2.0**attempt) for attempt, wait in waits.items())
    assert len(set(waits.values())) == len(waits)
    assert retry.wait_after(10_000, NotSent(""), chance) <= 60


async def test_a_wake_up_while_nobody_waits_counts_once() -> None:
    wakeup = Wakeup()
    wakeup.notify()
    wakeup.notify()

    assert await wakeup.wait()
    assert not await wakeup.wait(0)
