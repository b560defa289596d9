"""A deadline, or a lease, is obeyed: no work past it, and no result that is late."""

from datetime import timedelta

import pytest
from tests.worker.conftest import (
    NOT_SENT,
    UNKNOWN,
    Loop,
    MakeLoop,
    ScriptedMarket,
    task,
)

from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import DEADLINE_PASSED, TaskState
from journeyman.network.answers import Receipt
from journeyman.testing import FakeClock


def leased(until: timedelta, clock: FakeClock) -> Confirmed[Receipt]:
    end = clock.now() + until
    return Confirmed(Receipt(lease_until=end))


async def test_a_strategy_works_no_longer_than_until_the_deadline(
    make_loop: MakeLoop, clock: FakeClock, market: ScriptedMarket
) -> None:
    loop = make_loop(timeout_seconds=3600.0)
    soon = clock.now() + timedelta(seconds=0.01)
    loop.select.decide((task(text="hang", deadline=soon),))

    async with loop.running():
        while loop.worker.in_flight:
            await loop.quiet()

    assert loop.record().state is TaskState.FAILED
    assert "submit" not in market.verbs()


async def test_work_that_is_not_begun_in_time_is_not_begun(
    loop: Loop, clock: FakeClock, market: ScriptedMarket
) -> None:
    loop.select.decide(
        (task(text="later", deadline=clock.now() + timedelta(seconds=300)),)
    )

    async with loop.running():
        assert loop.record().state is TaskState.CLAIMED
        await loop.later(600)

    assert loop.record().executions == 1
    assert (loop.record().state, loop.record().reason) == (
        TaskState.FAILED,
        DEADLINE_PASSED,
    )
    assert loop.log.named("task.expired")[0]["error"] == DEADLINE_PASSED
    assert market.verbs() == ["claim"]


async def test_a_lease_that_ends_before_the_deadline_is_the_deadline(
    loop: Loop, clock: FakeClock, market: ScriptedMarket
) -> None:
    market.script["claim"] = [leased(timedelta(seconds=60), clock)]

    await loop.work(task(text="later", deadline=clock.now() + timedelta(days=1)))

    assert loop.record().task.deadline == clock.now() + timedelta(seconds=60)


async def test_a_lease_beyond_the_deadline_changes_nothing(
    loop: Loop, clock: FakeClock, market: ScriptedMarket
) -> None:
    market.script["claim"] = [leased(timedelta(days=9), clock)]
    deadline = clock.now() + timedelta(days=1)

    await loop.work(task(deadline=deadline))

    assert loop.record().task.deadline == deadline
    assert loop.record().state is TaskState.COMPLETED


@pytest.mark.parametrize("ago", [timedelta(0), timedelta(days=200)])
async def test_a_lease_that_is_over_when_it_is_given_is_told_and_not_believed(
    ago: timedelta, loop: Loop, clock: FakeClock, market: ScriptedMarket
) -> None:
    market.script["claim"] = [leased(-ago, clock)]

    await loop.work(task())

    assert loop.record().state is TaskState.COMPLETED
    assert loop.record().task.deadline is None
    (told,) = loop.log.named("task.lease_over")
    assert told["until"] == clock.now() - ago


async def test_a_task_that_is_shown_with_a_deadline_that_is_over_is_done(
    loop: Loop, clock: FakeClock, market: ScriptedMarket
) -> None:
    over = clock.now() - timedelta(days=1)
    shown = Receipt(task=task(deadline=over))
    market.script["claim"] = [Confirmed(shown)]

    await loop.work(task())

    assert loop.record().state is TaskState.COMPLETED
    assert loop.log.named("task.lease_over")


async def test_a_result_that_was_never_sent_is_not_sent_late(
    loop: Loop, clock: FakeClock, market: ScriptedMarket
) -> None:
    market.script["submit"] = [NOT_SENT] * 9
    loop.select.decide((task(deadline=clock.now() + timedelta(seconds=300)),))

    async with loop.running():
        await loop.later(299)
        sent = market.verbs().count("submit")
        await loop.later(600)

    assert market.verbs().count("submit") == sent
    assert (loop.record().state, loop.record().reason) == (
        TaskState.FAILED,
        DEADLINE_PASSED,
    )
    assert loop.record().result is not None
    assert loop.log.named("task.expired")


async def test_a_result_that_may_have_been_sent_in_time_is_followed(
    loop: Loop, clock: FakeClock, market: ScriptedMarket
) -> None:
    market.script["submit"] = [UNKNOWN]
    loop.select.decide((task(deadline=clock.now() + timedelta(seconds=1)),))

    async with loop.running():
        await loop.later(600)

    assert loop.record().state is TaskState.COMPLETED
    assert market.verbs() == ["claim", "submit", "submit", "complete"]


async def test_a_result_that_was_accepted_is_completed_however_late(
    loop: Loop, clock: FakeClock, market: ScriptedMarket
) -> None:
    market.script["complete"] = [NOT_SENT]
    loop.select.decide((task(deadline=clock.now() + timedelta(seconds=1)),))

    async with loop.running():
        await loop.later(600)

    assert loop.record().state is TaskState.COMPLETED


async def test_a_restart_goes_on_following_a_result_that_may_have_arrived(
    make_loop: MakeLoop, clock: FakeClock, market: ScriptedMarket
) -> None:
    loop = make_loop()
    loop.select.decide((task(deadline=clock.now() + timedelta(seconds=60)),))
    market.script["submit"] = [UNKNOWN]
    async with loop.running():
        pass
    clock.advance(3600)

    restarted = make_loop()
    async with restarted.running():
        await restarted.later(3600)

    assert restarted.record().state is TaskState.COMPLETED
