"""Claims follow proof: how many tasks are claimed, by what the network has shown."""

import pytest
from tests.worker.conftest import (
    CONFLICT,
    REJECTED,
    UNKNOWN,
    Loop,
    MakeLoop,
    ScriptedMarket,
    task,
)

from journeyman.domain.outcomes import Refusal, Refused
from journeyman.domain.tasks import IN_FLIGHT, Progress, TaskState
from journeyman.worker.proof import Proven, read_proven

PENDING = Refused(Refusal.PENDING, "in review", 409, progress=Progress.IN_REVIEW)


def owed(loop: Loop) -> int:
    return loop.journal.tasks.count_in(IN_FLIGHT)


async def test_until_a_task_has_gone_all_the_way_there_is_one_claim_at_a_time(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(is_proven=False)
    market.script["submit"] = [UNKNOWN] * 3
    loop.select.decide(tuple(task(f"t{n}") for n in range(10)))

    async with loop.running():
        for _ in range(2):
            assert market.verbs().count("claim") == 1
            await loop.later(400)
        await loop.later(400)

    assert loop.journal.tasks.counts() == {"completed": 10}


async def test_a_task_that_is_put_off_does_not_hold_up_the_first_payment(
    make_loop: MakeLoop,
) -> None:
    loop = make_loop(is_proven=False)
    loop.select.decide((task("t1", "later"),))

    async with loop.running():
        loop.select.decide((task("t2"), task("t3")))
        await loop.later(0)

    assert loop.journal.tasks.counts() == {"claimed": 1, "completed": 2}


async def test_a_strategy_that_puts_everything_off_does_not_claim_the_whole_market(
    make_loop: MakeLoop,
) -> None:
    loop = make_loop(is_proven=False)
    loop.select.decide(tuple(task(f"t{n}", "later") for n in range(40)))

    async with loop.running():
        await loop.later(300)

    assert owed(loop) == 4


async def test_slots_open_one_by_one_as_tasks_are_completed(
    make_loop: MakeLoop,
) -> None:
    loop = make_loop(is_proven=False, slots=4)
    assert loop.proof.window == 1

    await loop.work(task("t1"))
    assert loop.proof.window == 2
    await loop.work(*(task(f"t{n}", "yield") for n in range(2, 20)))

    assert loop.proof.window == 4
    assert loop.contexts.peak == 4


async def test_what_was_proven_outlasts_a_restart(make_loop: MakeLoop) -> None:
    await make_loop(is_proven=False).work(task("t1"), task("t2"))

    restarted = make_loop(is_proven=False)

    assert restarted.proof.window == 3
    assert restarted.proof.has("complete")


async def test_refusals_that_are_alike_close_the_slots_again(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=4)
    market.script["submit"] = [
        Refused(Refusal.CONFLICT, f"409: no. {100 + n}", 409) for n in range(40)
    ]
    loop.select.decide(tuple(task(f"t{n}") for n in range(40)))

    async with loop.running():
        assert loop.proof.window == 1
        assert owed(loop) <= 16
        for _ in range(3):
            await loop.later(61)
            assert owed(loop) <= 16

    assert market.verbs().count("claim") < 25
    assert loop.log.named("claim.slowed")[0]["action"] == "submit"


async def test_a_refusal_of_one_task_or_a_verdict_closes_nothing(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=4)
    market.script["submit"] = [REJECTED] * 2
    market.script["complete"] = [CONFLICT] * 2
    loop.select.decide(tuple(task(f"t{n}") for n in range(2)))
    async with loop.running():
        loop.select.decide((task("alone"),))
        await loop.later(0)
        await loop.later(400)

    assert loop.record("alone").state is TaskState.REJECTED
    assert loop.proof.window == 4


@pytest.mark.parametrize("action", ["submit", "complete"])
async def test_while_an_action_is_taken_in_no_form_hardly_anything_is_claimed(
    loop: Loop, market: ScriptedMarket, action: str
) -> None:
    loop.blocked[action] = "no form is understood"
    market.script[action] = [UNKNOWN] * 100
    loop.select.decide(tuple(task(f"t{n}") for n in range(20)))

    async with loop.running():
        await loop.later(400)

        assert market.verbs().count("claim") == 1


async def test_while_no_claim_was_ever_understood_none_is_even_intended(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(is_proven=False)
    loop.blocked["claim"] = "no form is understood"
    loop.select.decide((task("t1"),))

    async with loop.running():
        await loop.later(400)

    assert market.verbs() == []
    assert loop.record("t1").state is TaskState.WANTED


@pytest.mark.parametrize("action", ["submit", "complete"])
async def test_while_results_must_wait_long_hardly_anything_is_claimed(
    loop: Loop, market: ScriptedMarket, action: str
) -> None:
    loop.rate_limiter.pause_requests(action, 600)
    loop.select.decide(tuple(task(f"t{n}") for n in range(20)))

    async with loop.running():
        assert market.verbs().count("claim") == 1
        await loop.later(700)
        await loop.later(700)

    assert loop.journal.tasks.counts() == {"completed": 20}


async def test_undelivered_work_is_bounded_over_all_states(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=2)
    market.script["submit"] = [UNKNOWN] * 500
    loop.select.decide(tuple(task(f"t{n}") for n in range(100)))

    async with loop.running():
        for _ in range(5):
            await loop.later(70)
            assert owed(loop) == 8


async def test_tasks_in_review_leave_room_for_others_up_to_a_wider_bound(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=2)
    market.script["complete"] = [PENDING] * 10_000
    loop.select.decide(tuple(task(f"t{n}") for n in range(100)))

    async with loop.running():
        for _ in range(30):
            await loop.later(20)

    assert 20 <= owed(loop) <= 28


async def test_where_nothing_was_paid_yet_only_a_long_review_lets_others_begin(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=2, is_proven=False)
    market.script["complete"] = [PENDING] * 10_000
    loop.select.decide(tuple(task(f"t{n}") for n in range(100)))

    async with loop.running():
        for _ in range(10):
            await loop.later(2)
            assert owed(loop) == 1
        for _ in range(100):
            await loop.later(60)

    assert owed(loop) == 20


def test_the_window_opens_by_one_and_halves() -> None:
    proven = Proven()
    widths = []
    for _ in range(5):
        proven = proven.opened(4)
        widths.append(proven.window)
    for _ in range(4):
        proven = proven.halved()
        widths.append(proven.window)

    assert widths == [2, 3, 4, 4, 4, 2, 1, 0, 0]


def test_what_is_stored_is_read_again_and_nonsense_proves_nothing() -> None:
    proven = Proven(
        confirmed=frozenset({"claim"}),
        lacks=frozenset({"complete"}),
        ignores_keys=True,
        window=3,
    )

    assert read_proven(proven.as_json()) == proven
    for nonsense in (None, "x", {"window": "wide", "confirmed": [1], "lacks": 3}):
        assert read_proven(nonsense) == Proven()  # type: ignore[arg-type]


async def test_a_long_doubt_about_the_first_task_lets_another_begin(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=2, is_proven=False)
    market.script["submit"] = [UNKNOWN] * 10_000
    loop.select.decide((task("t1"), task("t2")))

    async with loop.running():
        for _ in range(60):
            await loop.later(60)

    assert "t2" in {call.task_id for call in market.calls}
