"""Strategies that make errors are quarantined, have a trial run, and come back."""

import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from tests.worker.conftest import (
    CONFLICT,
    REJECTED,
    RULE,
    Loop,
    MakeLoop,
    ScriptedMarket,
    task,
)

from journeyman.domain.tasks import Task, TaskState
from journeyman.journal.strategy_health import Condition, Health
from journeyman.lifecycle.active import Generation
from journeyman.lifecycle.quarantine import StrategyFault, is_half_open, is_quarantined
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.registry import load_registry

SPARE = """
    from journeyman import Strategy


    class Spare(Strategy):
        api, version = 1, "1"
        kinds = frozenset({"puppet"})

        def wants(self, task):
            return "spare" in task.tags

        async def run(self, task):
            return "spare did it"
"""


def _bad(count: int, first: int = 0) -> list[Task]:
    return [task(f"bad{n}", "raise", reward=9) for n in range(first, first + count)]


async def _fall_ill(loop: Loop) -> None:
    """Make the puppet fail as often as it may, and be quarantined."""
    for one in _bad(RULE.errors):
        await loop.work(one)


def _health(loop: Loop) -> Health:
    return loop.journal.strategy_health.all()["puppet", ""]


async def test_too_many_errors_and_a_strategy_claims_nothing_more(
    loop: Loop, market: ScriptedMarket
) -> None:
    await _fall_ill(loop)
    calls = len(market.calls)

    await loop.work(task("good"))

    assert len(market.calls) == calls
    assert loop.record("good").state is TaskState.SKIPPED
    assert (
        loop.record("good").reason
        == "puppet wants it, but is in quarantine after errors"
    )
    (told,) = loop.log.named("strategy.quarantined")
    assert (told["errors"], told["retry_in"], told["task_id"]) == (3, 60, "bad2")
    assert "ValueError: a bug of the author's (" in str(told["problem"])


async def test_errors_that_are_far_apart_are_no_reason_to_rest(loop: Loop) -> None:
    for one in _bad(6):
        await loop.work(one)
        loop.clock.advance(301)

    assert loop.log.named("strategy.quarantined") == []


async def test_time_outs_count_as_errors_and_what_is_deliberate_does_not(
    make_loop: MakeLoop,
) -> None:
    loop = make_loop(timeout_seconds=0.01)
    for n in range(5):
        await loop.work(task(f"d{n}", "decline"), task(f"l{n}", "later"))
    assert loop.log.named("strategy.quarantined") == []

    loop.select.decide(tuple(task(f"h{n}", "hang") for n in range(3)))
    async with loop.running():
        while loop.worker.in_flight:
            await loop.quiet()

    assert len(loop.log.named("strategy.quarantined")) == 1


async def test_what_the_network_refuses_is_no_error_and_counts_for_its_kind_only(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [REJECTED] * 5

    await loop.work(*(task(f"t{n}") for n in range(5)))
    market.script["submit"] = []
    await loop.work(task("other", kind="other puppet"))

    assert loop.record("t1").state is TaskState.REJECTED
    assert loop.record("other").state is TaskState.COMPLETED
    assert [one["kind"] for one in loop.log.named("strategy.quarantined")] == ["puppet"]


async def test_after_its_quarantine_it_gets_one_task_and_the_others_wait_for_that(
    loop: Loop, market: ScriptedMarket
) -> None:
    await _fall_ill(loop)
    loop.clock.advance(60)

    loop.select.decide((task("t0"), task("t1"), task("t2")))

    states = {name: loop.record(name).state for name in ("t0", "t1", "t2")}
    assert list(states.values()).count(TaskState.WANTED) == 1
    assert "is busy with its trial run" in loop.record("t1").reason
    assert market.verbs("t1") == []
    assert loop.log.named("strategy.trial_run")[0]["task_id"] == "t0"


async def test_a_task_well_done_and_all_is_as_before(loop: Loop) -> None:
    await _fall_ill(loop)
    loop.clock.advance(60)
    page = (task("t0"), task("t1"), task("t2"))

    await loop.work(*page)
    await loop.work(*page)

    assert {loop.record(f"t{n}").state for n in range(3)} == {TaskState.COMPLETED}
    assert loop.log.named("strategy.released")[0]["reason"] == "it has done a task"
    assert ("puppet", "") not in loop.journal.strategy_health.all()


async def test_each_failed_trial_run_doubles_the_quarantine_up_to_the_longest(
    loop: Loop,
) -> None:
    await _fall_ill(loop)
    periods = []
    for number in range(3, 7):
        periods.append(_health(loop).quarantine_seconds)
        loop.clock.advance(periods[-1])
        await loop.work(*_bad(1, first=number))

    assert periods == [60, 120, 200, 200]


async def test_a_trial_that_comes_to_nothing_lets_another_task_be_the_trial(
    loop: Loop, market: ScriptedMarket
) -> None:
    await _fall_ill(loop)
    loop.clock.advance(60)
    market.script["claim"] = [CONFLICT]
    await loop.work(task("lost"))
    await loop.work(task("declined", "decline"))

    await loop.work(task("done"))

    assert loop.record("lost").state is TaskState.LOST
    assert loop.record("declined").state is TaskState.DECLINED
    assert loop.record("done").state is TaskState.COMPLETED
    assert loop.log.named("strategy.released")


async def test_a_quarantine_outlives_a_restart(make_loop: MakeLoop) -> None:
    await _fall_ill(make_loop())

    restarted = make_loop()
    await restarted.work(task("t1"))

    assert restarted.record().state is TaskState.SKIPPED
    assert restarted.log.named("strategy.quarantined")[0]["strategy"] == "puppet"
    restarted.clock.advance(60)
    await restarted.work(task("t1"))
    assert restarted.record().state is TaskState.COMPLETED


async def test_a_reload_during_a_trial_does_not_call_it_a_rest(
    loop: Loop,
) -> None:
    await _fall_ill(loop)
    loop.clock.advance(100)
    loop.select.decide((task("t0"),))
    assert loop.quarantine.contains("puppet")

    loop.active.replace(loop.active.current)

    assert len(loop.log.named("strategy.quarantined")) == 1


async def test_another_version_of_the_file_begins_anew(make_loop: MakeLoop) -> None:
    await _fall_ill(make_loop())

    mended = make_loop(fingerprint="2")
    await mended.work(task())

    assert mended.record().state is TaskState.COMPLETED
    (told,) = mended.log.named("strategy.released")
    assert told["reason"] == "its file or its settings have changed"


async def test_a_misconfigured_strategy_stays_out_until_something_changes(
    make_loop: MakeLoop,
) -> None:
    first = make_loop()
    await first.work(task("first", "misconfigured"))
    restarted = make_loop()
    restarted.clock.advance(1_000_000)
    await restarted.work(task("second"))
    assert "cannot work as it is set up" in restarted.record("second").reason

    changed = make_loop(fingerprint="2")
    await changed.work(task("second"))

    assert changed.record("second").state is TaskState.COMPLETED


async def test_its_owner_may_release_it(loop: Loop) -> None:
    await loop.work(task("first", "misconfigured"))

    assert loop.quarantine.release("puppet")
    assert not loop.quarantine.release("puppet")
    await loop.work(task("second"))

    assert loop.record("second").state is TaskState.COMPLETED


async def test_another_strategy_that_wants_a_task_gets_it(
    make_loop: MakeLoop, folder: Path
) -> None:
    (folder / "spare.py").write_text(textwrap.dedent(SPARE))
    loop = make_loop(slots=1)
    loop.select.decide((task("waiting", tags=("spare",)),))
    assert loop.record("waiting").strategy == "puppet"

    await loop.work(*_bad(RULE.errors))
    await loop.work(task("new", tags=("spare",)))

    for name in ("waiting", "new"):
        assert loop.record(name).state is TaskState.COMPLETED
        assert loop.record(name).strategy == "spare"


async def test_a_claimed_task_waits_for_its_strategy_and_is_done_after_its_trial(
    loop: Loop,
) -> None:
    await loop.work(task("held", "later"))
    loop.clock.advance(590)
    await _fall_ill(loop)
    # From here on it does its work.
    with loop.journal.tx("test"):
        loop.journal.tasks.enrich(loop.record("held"), task("held"), "puppet")

    async with loop.running():
        await loop.later(10)
        assert loop.record("held").state is TaskState.CLAIMED
        assert loop.log.named("task.waiting")[0]["retry_in"] == 60
        await loop.later(60)

    assert loop.record("held").state is TaskState.COMPLETED
    assert loop.record("held").executions == 2


async def test_a_release_wakes_the_tasks_that_wait_for_it(loop: Loop) -> None:
    await loop.work(task("held", "later"))
    await loop.work(task("bad", "misconfigured"))
    loop.clock.advance(600)
    with loop.journal.tx("test"):
        loop.journal.tasks.enrich(loop.record("held"), task("held"), "puppet")

    async with loop.running():
        assert loop.wait("held") == 60
        loop.quarantine.release("puppet")
        await loop.later(0)

    assert loop.record("held").state is TaskState.COMPLETED


async def test_a_claimed_task_does_not_wait_for_ever(loop: Loop) -> None:
    await loop.work(task("held", "later"))
    await loop.work(task("bad", "misconfigured"))
    loop.clock.advance(600)

    async with loop.running():
        for _ in range(60):
            await loop.later(60)

    assert loop.record("held").state is TaskState.FAILED
    assert "in quarantine, and no other wants it" in loop.record("held").reason


async def test_the_end_of_old_work_says_nothing_about_the_current_version(
    make_loop: MakeLoop, folder: Path
) -> None:
    loop = make_loop(timeout_seconds=0.05)
    await loop.work(*_bad(2))
    old = loop.active.registry.strategies[0]
    left: list[LoadedStrategy] = []
    loop.active.on_leave(left.append)
    loop.select.decide((task("slow", "hang"),))
    async with loop.running():
        loop.active.replace(Generation(load_registry(folder), {"puppet": "2"}))
        assert left == []
        while loop.worker.in_flight:
            await loop.quiet()

    assert loop.record("slow").state is TaskState.FAILED
    assert left == [old]
    assert loop.journal.strategy_health.all() == {}


# -- the breaker alone ----------------------------------------------------------------

ILL = Health(
    strategy="s",
    fingerprint="1",
    condition=Condition.QUARANTINED,
    quarantine_seconds=60,
    since=1_000,
)


@pytest.mark.parametrize(
    ("now", "quarantined", "half_open"),
    [
        pytest.param(1_059, True, False, id="in quarantine"),
        pytest.param(1_060, False, True, id="after that"),
        pytest.param(999, False, True, id="the clock was set back"),
    ],
)
def test_a_quarantine_has_a_beginning_and_an_end(
    now: float, *, quarantined: bool, half_open: bool
) -> None:
    assert is_quarantined(ILL, now) == quarantined
    assert is_half_open(ILL, now) == half_open


def test_an_error_of_work_begun_before_a_quarantine_does_not_make_it_longer() -> None:
    later = RULE.after_error(ILL, StrategyFault(at=1_030, problem="late"))

    assert (later.since, later.quarantine_seconds, later.problem) == (1_000, 60, "late")
    assert not is_half_open(ILL, 1_030)


def test_nothing_changes_for_a_misconfigured_strategy_but_the_last_problem() -> None:
    ill = replace(ILL, condition=Condition.MISCONFIGURED)

    later = RULE.after_error(ill, StrategyFault(at=5_000, problem="again"))

    assert (later.condition, later.problem) == (Condition.MISCONFIGURED, "again")
    assert is_quarantined(later, 1e12)
