"""Slots bound the work, `max_tasks` bounds the run, the gate bounds both."""

from collections.abc import Callable, Sequence
from random import Random

import pytest
from tests.worker.conftest import (
    CLAIMED,
    COMPLETED,
    CONFLICT,
    FORBIDDEN,
    NOT_SENT,
    THROTTLED,
    UNAUTHORIZED,
    UNKNOWN,
    Answer,
    Loop,
    MakeLoop,
    ScriptedMarket,
    task,
)

from journeyman.domain.outcomes import Confirmed, Outcome, Refusal, Refused, Unknown
from journeyman.domain.tasks import IN_FLIGHT, Progress, TaskId, TaskState
from journeyman.journal.owner_pauses import ALL_WORK, OwnerPause
from journeyman.network.answers import Receipt
from journeyman.worker.proof import VAIN_REPEATS


def states(loop: Loop) -> dict[str, int]:
    return loop.journal.tasks.counts()


async def test_as_many_tasks_are_executed_at_once_as_there_are_slots_and_no_more(
    make_loop: MakeLoop,
) -> None:
    loop = make_loop(slots=3)

    await loop.work(*(task(f"t{n}", "yield") for n in range(30)))

    assert states(loop) == {"completed": 30}
    assert loop.contexts.peak == 3


@pytest.mark.parametrize("seed", range(4))
async def test_repeated_claims_take_no_more_slots_than_there_are(
    make_loop: MakeLoop, market: ScriptedMarket, seed: int
) -> None:
    chance = Random(seed)  # noqa: S311 - repeatable on purpose
    loop = make_loop(slots=2)
    answers: list[Answer] = [UNKNOWN, NOT_SENT, THROTTLED]
    market.script["claim"] = [chance.choice(answers) for _ in range(12)]
    loop.select.decide(tuple(task(f"t{n}", "yield") for n in range(12)))

    async with loop.running():
        for _ in range(10):
            await loop.later(400)

    assert states(loop) == {"completed": 12}
    assert loop.contexts.peak == 2


async def test_repeats_of_results_take_no_slot_from_new_work(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=2)
    market.script["submit"] = [UNKNOWN] * 2
    await loop.work(task("old1"), task("old2"))
    loop.select.decide((task("new1", "hang"), task("new2", "hang")))
    loop.clock.advance(400)

    async with loop.running():
        assert states(loop) == {"completed": 2, "executing": 2}


async def test_a_strategy_that_retries_everything_later_does_not_claim_the_whole_market(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=2)

    await loop.work(*(task(f"t{n}", "later") for n in range(40)))

    assert states(loop) == {"claimed": 8, "wanted": 32}
    assert market.verbs().count("claim") == 8


async def test_the_best_paid_task_goes_first(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=1)

    await loop.work(*(task(f"pays{n}", reward=n) for n in (2, 9, 5)))

    claims = [call.task_id for call in market.calls if call.verb == "claim"]
    assert claims == ["pays9", "pays5", "pays2"]


@pytest.mark.parametrize("slots", [1, 2, 8])
@pytest.mark.parametrize("most", [1, 2, 5])
async def test_no_more_tasks_are_begun_than_the_run_was_asked_for(
    make_loop: MakeLoop, market: ScriptedMarket, slots: int, most: int
) -> None:
    loop = make_loop(slots=slots, max_tasks=most)

    await loop.work(*(task(f"t{n}", "yield") for n in range(12)))

    assert market.verbs().count("claim") == most
    assert loop.worker.progress.ended == most
    assert loop.worker.is_done


async def test_a_task_that_waits_for_a_repeat_counts_as_begun(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=4, max_tasks=2)
    market.script["submit"] = [UNKNOWN, UNKNOWN]
    loop.select.decide(tuple(task(f"t{n}") for n in range(6)))

    async with loop.running():
        assert market.verbs().count("claim") == 2
        assert not loop.worker.is_done
        await loop.later(400)

    assert market.verbs().count("claim") == 2
    assert loop.worker.is_done


async def test_work_of_an_earlier_run_counts_towards_this_one(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [UNKNOWN] * 2
    await make_loop().work(task("old1"), task("old2"))
    loop = make_loop(max_tasks=2)
    loop.clock.advance(400)

    await loop.work(task("new"))

    assert loop.worker.is_done
    assert loop.record("new").state is TaskState.WANTED


async def test_a_lost_task_leaves_its_place_to_another(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    market.script["claim"] = [CONFLICT] * 3
    loop = make_loop(slots=1, max_tasks=1)

    await loop.work(*(task(f"t{n}") for n in range(5)))

    assert states(loop) == {"lost": 3, "completed": 1, "wanted": 1}


async def work_through(loop: Loop, names: Sequence[str]) -> None:
    """Want these tasks, and work for half an hour."""
    loop.select.decide(tuple(task(name, "yield") for name in names))
    async with loop.running():
        for _ in range(20):
            await loop.later(100)


def lend_at_most(
    most: int, market: ScriptedMarket, refuse: Callable[[Sequence[TaskId]], Refused]
) -> Sequence[TaskId]:
    """Let an agent hold so many tasks at once; return those that it holds."""
    held: list[TaskId] = []

    def claim(task_id: TaskId) -> Outcome[Receipt]:
        if task_id not in held:
            if len(held) == most:
                return refuse(held)
            held.append(task_id)
        return CLAIMED

    def complete(task_id: TaskId) -> Outcome[Receipt]:
        held.remove(task_id)
        return COMPLETED

    market.script["claim"] = [claim] * 100
    market.script["complete"] = [complete] * 6
    return held


async def test_a_conflict_with_tasks_that_we_hold_loses_none(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=4)
    lend_at_most(2, market, lambda _: CONFLICT)
    loop.select.decide(tuple(task(f"t{n}", "yield") for n in range(6)))
    async with loop.running():
        for _ in range(6):
            await loop.later(10)

    assert states(loop) == {"completed": 6}


async def test_a_conflict_with_our_own_lost_claim_says_nothing_of_what_we_hold(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=2)
    await loop.work(task("held", "later"))
    market.script["claim"] = [UNKNOWN, CONFLICT]

    await loop.work(task("lost"))
    async with loop.running():
        await loop.later(400)

    assert loop.record("lost").state is TaskState.COMPLETED
    assert market.verbs("lost").count("claim") == 2
    assert loop.record("held").state is TaskState.CLAIMED


@pytest.mark.parametrize("slots", [1, 2, 4])
async def test_a_task_that_a_queue_gives_in_place_of_another_is_worked_on(
    make_loop: MakeLoop, market: ScriptedMarket, slots: int
) -> None:
    loop = make_loop(slots=slots)
    queue = [TaskId(f"t{n}") for n in range(5)]
    held: list[TaskId] = []

    def give_the_next(asked: TaskId) -> Outcome[Receipt]:
        gave = queue.pop(0)
        held.append(gave)
        other = None if gave == asked else gave
        return Confirmed(Receipt(instead=other, given={"claim.job": gave}))

    def take(result_of: TaskId) -> Outcome[Receipt]:
        return COMPLETED if result_of in held else CONFLICT

    market.script["claim"] = [give_the_next] * 5
    market.script["complete"] = [take] * 20
    await work_through(loop, [f"t{4 - n}" for n in range(5)])

    assert states(loop) == {"completed": 5}
    assert market.verbs().count("claim") == 5
    delivered = [one.task_id for one in market.calls if one.verb != "claim"]
    assert [given["claim.job"] for given in market.given] == delivered


async def test_what_is_given_in_place_of_a_task_and_is_none_of_ours_changes_nothing(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["claim"] = [Confirmed(Receipt(instead=TaskId("unseen")))]

    await loop.work(task("t1"))

    assert loop.record("t1").state is TaskState.COMPLETED


PAID = Confirmed(Receipt(progress=Progress.PAID, credits_earned=3))


async def test_a_task_that_is_paid_and_still_held_is_completed(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=2)

    def one_at_a_time(held: Sequence[TaskId]) -> Refused:
        said = f"one at a time, you still have {held[0]}"
        return Refused(Refusal.CONFLICT, said, 409, answer=said)

    lend_at_most(1, market, one_at_a_time)
    market.script["submit"] = [PAID] * 4
    loop.select.decide(tuple(task(f"t{n}", "yield") for n in range(4)))
    async with loop.running():
        for _ in range(8):
            await loop.later(10)

    assert states(loop) == {"completed": 4}
    assert market.verbs().count("complete") == 4
    assert make_loop().worker.proof.holds_paid
    assert loop.journal.ledger.balance() == 100 + 4 * 3


async def test_tasks_that_are_paid_are_completed_where_as_many_are_held_as_may_be(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=2)
    said = "You have 2 sheets on loan. Return one first."
    full = Refused(Refusal.FULL, said, 409, answer=said)
    held = lend_at_most(2, market, lambda _: full)
    market.script["submit"] = [PAID] * 6
    await work_through(loop, [f"t{n}" for n in range(6)])

    assert states(loop) == {"completed": 6}
    assert len(held) < 2
    assert loop.journal.ledger.balance() == 100 + 6 * 3


async def test_what_was_completed_once_it_was_paid_is_not_completed_again(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=1)
    full = "You have 1 sheet on loan. Return it first."
    refused = Refused(Refusal.FULL, full, 409, answer=full)
    market.script["claim"] = [CLAIMED, refused, CLAIMED, refused, CLAIMED]
    market.script["submit"] = [PAID] * 3
    for name in ("t0", "t1", "t2"):
        loop.select.decide((task(name, "yield"),))
    async with loop.running():
        for _ in range(8):
            await loop.later(100)

    assert states(loop) == {"completed": 3}
    asked = [market.verbs(one).count("complete") for one in ("t0", "t1", "t2")]
    assert asked == [1, 1, 1]


async def test_no_task_is_lost_to_a_limit_that_is_told_in_a_yes(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=2)
    full = Refused(Refusal.REJECTED, "Clerk has 2 open bookings.", 200)
    lend_at_most(2, market, lambda _: full)
    market.script["submit"] = [PAID] * 6
    await work_through(loop, [f"t{n}" for n in range(6)])

    assert states(loop) == {"completed": 6}


async def test_a_limit_is_understood_whatever_a_403_says(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=3)
    said = "Ei enempää kuin kaksi keskeneräistä työtä."
    full = Refused(Refusal.UNAUTHORIZED, said, 403, answer={"viesti": said})
    lend_at_most(2, market, lambda _: full)
    market.script["submit"] = [PAID] * 6
    await work_through(loop, [f"t{n}" for n in range(6)])

    assert states(loop) == {"completed": 6}
    assert loop.journal.ledger.balance() == 100 + 6 * 3


async def test_a_refusal_that_names_what_we_hold_is_about_that(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=3)

    def two_at_most(held: Sequence[TaskId]) -> Refused:
        said = f"You still owe us {held[0]} and {held[1]}. File one of them first."
        return Refused(Refusal.REJECTED, said, 200, answer={"note": said})

    lend_at_most(2, market, two_at_most)
    await work_through(loop, [f"poem-{n}" for n in range(5)])

    assert states(loop) == {"completed": 5}


async def test_a_lost_completion_of_what_is_paid_and_held_is_asked_for_again(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=1)
    full = "You have 1 sheet on loan. Return it first."
    refused = Refused(Refusal.FULL, full, 409, answer=full)
    market.script["claim"] = [CLAIMED, refused, refused, CLAIMED]
    market.script["submit"] = [PAID] * 2
    market.script["complete"] = [Unknown("no answer"), COMPLETED, COMPLETED]

    await loop.work(task("t0"))
    loop.select.decide((task("t1", "yield"),))
    async with loop.running():
        for _ in range(6):
            await loop.later(100)

    assert states(loop) == {"completed": 2}
    assert market.verbs().count("complete") == 3


async def test_a_rate_limit_completes_nothing_that_is_paid(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=1)
    limited = Refused(Refusal.THROTTLED, "too many tasks", 429, answer="too many")
    market.script["claim"] = [CLAIMED, limited, CLAIMED]
    market.script["submit"] = [PAID] * 2

    await loop.work(task("t0"))
    loop.select.decide((task("t1", "yield"),))
    async with loop.running():
        for _ in range(6):
            await loop.later(100)

    assert states(loop) == {"completed": 2}
    assert "complete" not in market.verbs()


async def test_a_task_that_is_paid_is_not_completed_where_nobody_holds_it(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=1)
    taken = Refused(Refusal.CONFLICT, "", 409, answer="t9 was taken 2 days ago")
    market.script["claim"] = [CLAIMED, taken, CLAIMED]
    market.script["submit"] = [PAID] * 2

    await loop.work(*(task(f"t{n}") for n in range(3)))

    assert states(loop) == {"completed": 2, "lost": 1}
    assert "complete" not in market.verbs()


async def test_a_conflict_that_stays_when_fewer_tasks_are_held_is_about_the_task(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=4)

    def only_even(task_id: TaskId) -> Outcome[Receipt]:
        return CONFLICT if int(task_id[1:]) % 2 else CLAIMED

    market.script["claim"] = [only_even] * 100
    loop.select.decide(tuple(task(f"t{n}", "yield") for n in range(40)))
    async with loop.running():
        for _ in range(20):
            await loop.later(10)

    assert states(loop) == {"completed": 20, "lost": 20}
    assert market.verbs().count("claim") <= 40 + 2 * VAIN_REPEATS


async def test_while_paused_nothing_is_claimed_and_work_in_flight_goes_on(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [UNKNOWN]
    await loop.work(task("old"))
    loop.select.decide((task("new"),))
    pause = OwnerPause(by="ann", reason="why", since=loop.clock.now())
    with loop.journal.tx("paused"):
        loop.journal.owner_pauses.put(pause)
    loop.clock.advance(400)

    async with loop.running():
        assert loop.record("old").state is TaskState.COMPLETED
        assert loop.record("new").state is TaskState.WANTED
        assert loop.gate.obstacle == f"paused {pause}"
        assert not loop.worker.has_room
        with loop.journal.tx("resumed"):
            loop.journal.owner_pauses.remove(ALL_WORK)
        await loop.later(0)

    assert loop.record("new").state is TaskState.COMPLETED


async def test_a_closed_gate_starts_nothing_and_delivers_what_is_done(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [UNKNOWN]
    market.script["claim"] = [CLAIMED, UNKNOWN]
    loop = make_loop(slots=2)
    await loop.work(task("done", reward=9), task("claiming"))
    loop.select.decide((task("new"),))
    loop.gate.close("stopping")
    loop.clock.advance(400)

    async with loop.running():
        pass

    assert loop.path("done")[-1] == "completed"
    assert loop.record("claiming").state is TaskState.CLAIMING
    assert loop.record("new").state is TaskState.WANTED


async def test_a_refused_token_stops_everything_for_a_minute_and_then_goes_on(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=1)

    def refuse(_: TaskId) -> Refused:
        loop.rate_limiter.pause_requests("everything", 60)
        return UNAUTHORIZED

    market.script["claim"] = [refuse]
    loop.select.decide(tuple(task(f"t{n}") for n in range(3)))

    async with loop.running():
        assert len(market.calls) == 1
        assert loop.gate.obstacle == "token rejected"
        await loop.later(59)
        assert len(market.calls) == 1
        await loop.later(400)

    assert states(loop) == {"completed": 3}


async def test_a_token_refused_in_the_middle_keeps_the_results(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [UNAUTHORIZED] * 3
    loop.select.decide(tuple(task(f"t{n}") for n in range(3)))

    async with loop.running():
        assert not market.script["complete"]
        assert sum(states(loop).get(state, 0) for state in IN_FLIGHT) == 3
        await loop.later(400)

    assert states(loop) == {"completed": 3}
    assert {loop.record(f"t{n}").executions for n in range(3)} == {1}


async def test_work_that_was_just_claimed_is_done_also_while_the_token_is_refused(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=2)

    def claimed_and_refused(_: TaskId) -> Outcome[Receipt]:
        loop.rate_limiter.pause_requests("everything", 60)
        return CLAIMED

    market.script["claim"] = [UNAUTHORIZED, claimed_and_refused]
    loop.select.decide((task("refused", reward=9), task("claimed")))

    async with loop.running():
        assert loop.record("claimed").state is TaskState.SUBMITTING
        assert market.verbs() == ["claim", "claim"]
        await loop.later(400)

    assert states(loop) == {"completed": 2}


async def test_a_403_about_one_task_stops_that_task_only(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=1)
    market.script["claim"] = [FORBIDDEN]

    await loop.work(task("theirs", reward=9), task("ours"))

    assert loop.record("ours").state is TaskState.COMPLETED
    assert loop.record("theirs").state is TaskState.WANTED


async def test_an_idle_worker_sleeps_until_something_is_due(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [THROTTLED]
    loop.select.decide((task(),))

    async with loop.running():
        assert loop.worker.is_idle
        assert loop.worker._seconds_until_due(loop.worker._workload()) == 30.0
        loop.clock.advance(49)
        assert 1 <= loop.worker._seconds_until_due(loop.worker._workload()) <= 30


async def test_an_agent_that_holds_as_many_as_it_may_asks_for_no_other(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=6)
    held: set[TaskId] = set()

    def two_at_most(task_id: TaskId) -> Outcome[Receipt]:
        if len(held - {task_id}) == 2:
            said = "You have 2 running assignments, the limit is 2"
            return Refused(Refusal.FULL, said, 422, answer=said)
        held.add(task_id)
        return CLAIMED

    def complete(task_id: TaskId) -> Outcome[Receipt]:
        held.discard(task_id)
        return COMPLETED

    market.script["claim"] = [two_at_most] * 400
    market.script["complete"] = [complete] * 30
    loop.select.decide(tuple(task(f"t{n}", "yield") for n in range(30)))
    async with loop.running():
        for _ in range(100):
            await loop.later(10)

    assert states(loop) == {"completed": 30}
    # What leaves at once before the first is told, and little else.
    assert market.verbs().count("claim") <= 30 + 10
