"""Tasks whose request may not go now wait without having tried."""

from datetime import timedelta

import pytest
from tests.worker.conftest import (
    ABSENT,
    UNAUTHORIZED,
    UNKNOWN,
    Loop,
    MakeLoop,
    ScriptedMarket,
    task,
)

from journeyman.domain.outcomes import NotSent
from journeyman.domain.tasks import TaskState
from journeyman.network.rate_limit.circuit_breaker import TokenStatus
from journeyman.worker.token import TokenMemory, rejection

HELD = NotSent("held back: slow down", retry_after=30.0, paused=True)


@pytest.mark.parametrize(
    ("verb", "state"),
    [
        ("claim", TaskState.WANTED),
        ("submit", TaskState.SUBMITTING),
        ("complete", TaskState.COMPLETING),
    ],
)
async def test_a_task_is_postponed_before_its_request_and_counts_no_attempt(
    loop: Loop, market: ScriptedMarket, verb: str, state: TaskState
) -> None:
    loop.rate_limiter.pause_requests(verb, 100)
    loop.select.decide((task(),))
    async with loop.running():
        record = loop.record()
        assert (record.state, record.attempts) == (state, 0)
        assert not record.maybe_sent
        assert 100 <= loop.wait() <= 110
        assert verb not in market.verbs()
        await loop.later(120)

    assert loop.record().state is TaskState.COMPLETED
    assert "task.delayed" not in loop.log.names


@pytest.mark.parametrize("verb", ["claim", "submit", "complete"])
async def test_a_request_that_is_paused_at_the_last_moment_is_not_an_attempt(
    loop: Loop, market: ScriptedMarket, verb: str
) -> None:
    market.script[verb] = [HELD]
    await loop.work(task())

    record = loop.record()
    assert record.attempts == 0
    assert not record.maybe_sent
    assert 30 <= loop.wait() <= 33
    assert "task.delayed" not in loop.log.names


@pytest.mark.parametrize("verb", ["claim", "submit", "complete"])
async def test_what_pauses_until_tomorrow_goes_on_soon_after_a_restart(
    make_loop: MakeLoop, market: ScriptedMarket, verb: str
) -> None:
    first = make_loop()
    market.script[verb] = [NotSent("in no shape", retry_after=50_000, paused=True)]
    await first.work(task())
    assert first.wait() <= 660

    mended = make_loop()
    mended.clock.advance(660)
    await mended.work()

    assert mended.record().state is TaskState.COMPLETED


async def test_a_long_pause_is_looked_at_again_and_kept(
    loop: Loop, market: ScriptedMarket
) -> None:
    loop.rate_limiter.pause_requests("claim", 3_000)
    loop.select.decide((task(),))
    async with loop.running():
        for _ in range(4):
            assert loop.wait() <= 660
            await loop.later(660)
        assert market.verbs() == []
        await loop.later(660)

    assert loop.record().state is TaskState.COMPLETED


async def test_a_request_of_unknown_outcome_stays_so_while_its_repeat_is_paused(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [UNKNOWN]
    loop.select.decide((task(),))
    async with loop.running():
        loop.rate_limiter.pause_requests("submit", 1000)
        await loop.later(120)

        record = loop.record()
        assert record.maybe_sent
        assert record.attempts == 1


async def test_tasks_that_were_postponed_together_do_not_come_back_together(
    loop: Loop,
) -> None:
    loop.rate_limiter.pause_requests("claim", 100)
    await loop.work(*(task(f"t{n}") for n in range(4)))

    assert len({loop.wait(f"t{n}") for n in range(4)}) == 4


async def test_an_absent_endpoint_uses_up_no_patience_with_a_task(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["claim"] = [ABSENT] * 10
    loop.rate_limiter.absent.add("claim")
    loop.select.decide((task(),))
    async with loop.running():
        for _ in range(9):
            await loop.later(400)

    assert loop.record().state is TaskState.WANTED
    assert loop.record().doubts == 0


async def test_a_result_does_not_grow_too_old_while_the_token_is_rejected(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(result_max_age_days=7)
    memory = TokenMemory(loop.journal, loop.clock)
    market.script["submit"] = [UNKNOWN, UNKNOWN]
    await loop.work(task())
    memory.note(TokenStatus.REJECTED, "401 Unauthorized")
    memory.note(TokenStatus.REJECTED, "401 again")
    assert rejection(loop.journal) == {
        "rejected_since": loop.clock.now().isoformat(),
        "message": "401 Unauthorized",
    }
    loop.clock.advance(timedelta(days=30).total_seconds())
    memory.note(TokenStatus.ACCEPTED, "")
    memory.note(TokenStatus.ACCEPTED, "")

    await loop.work()
    assert loop.record().state is TaskState.SUBMITTING
    loop.clock.advance(120)
    await loop.work()

    assert rejection(loop.journal) is None
    assert loop.record().state is TaskState.COMPLETED


@pytest.mark.parametrize(
    ("verb", "state"),
    [("submit", TaskState.SUBMITTING), ("complete", TaskState.COMPLETING)],
)
async def test_a_result_that_asks_whether_the_token_works_again_is_not_given_up(
    make_loop: MakeLoop, market: ScriptedMarket, verb: str, state: TaskState
) -> None:
    loop = make_loop(result_max_age_days=7)
    memory = TokenMemory(loop.journal, loop.clock)
    market.script[verb] = [UNAUTHORIZED] * 3
    await loop.work(task())
    memory.note(TokenStatus.REJECTED, "401 Unauthorized")
    loop.clock.advance(timedelta(days=30).total_seconds())
    await loop.work()
    assert loop.record().state is state

    memory.note(TokenStatus.ACCEPTED, "")
    loop.clock.advance(timedelta(days=1).total_seconds())
    memory.note(TokenStatus.REJECTED, "401 once more")
    loop.clock.advance(timedelta(days=30).total_seconds())
    await loop.work()
    assert loop.record().state is state

    memory.note(TokenStatus.ACCEPTED, "")
    loop.clock.advance(timedelta(days=1).total_seconds())
    await loop.work()
    assert loop.record().state is TaskState.COMPLETED


async def test_a_result_that_was_never_parked_grows_too_old_as_before(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(result_max_age_days=7)
    market.script["submit"] = [UNKNOWN, UNKNOWN]
    await loop.work(task())
    loop.clock.advance(timedelta(days=30).total_seconds())

    await loop.work()

    assert loop.record().state is TaskState.REJECTED
