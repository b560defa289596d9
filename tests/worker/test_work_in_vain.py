"""Nobody works in vain: what a strategy's work of a kind brings decides about more."""

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.worker.conftest import (
    PUPPET,
    REJECTED,
    RULE,
    Loop,
    MakeLoop,
    ScriptedMarket,
    task,
)

from journeyman.domain.outcomes import Confirmed, Outcome, Refusal, Refused
from journeyman.domain.tasks import Progress, Task, TaskId, TaskState
from journeyman.economy.bookkeeping import book_cost
from journeyman.journal.strategy_health import Condition
from journeyman.lifecycle.quarantine import MOST_KINDS, QuarantineRule
from journeyman.network.answers import Receipt

CAREFUL = QuarantineRule(
    errors=3, window_seconds=600, initial_seconds=60, max_seconds=200, batch=2
)
IN_REVIEW = Refused(Refusal.OTHER, "in review", 202, progress=Progress.IN_REVIEW)


@pytest.fixture
def careful(make_loop: MakeLoop) -> Loop:
    return make_loop(rule=CAREFUL, slots=8)


def _page(first: int, count: int, **fields: str) -> list[Task]:
    return [task(f"t{n}", **fields) for n in range(first, first + count)]


def _submitted(market: ScriptedMarket) -> int:
    return market.verbs().count("submit")


def _accept_only(*accepted: str) -> Callable[[TaskId], Outcome[Receipt]]:
    def judge(task_id: TaskId) -> Outcome[Receipt]:
        return Confirmed(Receipt()) if task_id in accepted else REJECTED

    return judge


async def test_a_strategy_whose_every_result_is_rejected_does_not_do_the_whole_market(
    careful: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [REJECTED] * 100

    await careful.work(*_page(0, 45))

    assert _submitted(market) <= CAREFUL.errors + CAREFUL.batch
    (told,) = careful.log.named("strategy.quarantined")
    assert (told["strategy"], told["kind"]) == ("puppet", "puppet")
    assert "brought 0 credits, net of their cost; last: wrong answer" in str(
        told["problem"]
    )
    reason = careful.record("t44").reason
    assert "'puppet' is in quarantine for kind 'puppet', and no other" in reason
    careful.select.decide((task("later"),))
    reason = careful.record("later").reason
    assert (
        reason == "puppet wants it, but its work of kind 'puppet' has brought nothing"
    )


async def test_it_is_tried_again_with_one_task_after_ever_longer_pauses(
    careful: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [REJECTED] * 100
    await careful.work(*_page(0, 10))
    begun, pauses = _submitted(market), []

    for number in range(4):
        health = careful.journal.strategy_health.all()["puppet", "puppet"]
        pauses.append(health.quarantine_seconds)
        careful.clock.advance(pauses[-1])
        await careful.work(*_page(100 * (number + 1), 10))

    assert pauses == [60, 120, 200, 200]
    assert _submitted(market) == begun + 4
    assert [one["kind"] for one in careful.log.named("strategy.trial_run")] == [
        "puppet"
    ] * 4


async def test_a_trial_that_is_accepted_opens_it_again_step_by_step(
    careful: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [REJECTED] * 4
    await careful.work(*_page(0, 4))
    market.script["submit"] = []
    careful.clock.advance(60)

    await careful.work(*_page(10, 10))
    await careful.work(*_page(10, 10))

    states = [careful.record(f"t{n}").state for n in range(10, 20)]
    assert states == [TaskState.COMPLETED] * 10
    (told,) = careful.log.named("strategy.released")
    assert (told["kind"], told["reason"]) == ("puppet", "its work was accepted")


async def test_a_kind_begins_with_a_small_batch_and_opens_by_one_with_each_success(
    careful: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [IN_REVIEW] * 100
    careful.select.decide(tuple(_page(0, 20)))

    async with careful.running():
        at_first = _submitted(market)
        market.script["complete"] = []
        for _ in range(20):
            await careful.later(400)

    assert at_first == CAREFUL.batch
    assert careful.earned == 20 * 3
    health = careful.journal.strategy_health.all()["puppet", "puppet"]
    assert health.window == CAREFUL.batch + 20


async def test_a_kind_that_must_wait_keeps_no_other_kind_waiting(
    careful: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [IN_REVIEW] * 2
    careful.select.decide(tuple(_page(0, 5)))
    other = task("other", kind="other puppet", reward=1)
    careful.select.decide((other,))

    async with careful.running():
        pass

    assert careful.record("other").state is TaskState.COMPLETED
    assert careful.record("t4").state is TaskState.WANTED


async def test_work_that_is_accepted_and_costs_more_than_it_brings_is_in_vain(
    careful: Loop, market: ScriptedMarket
) -> None:
    with careful.journal.tx("costs"):
        for number in range(45):
            book_cost(
                careful.journal.ledger,
                *(f"c{number}", 3_500_000),
                strategy="puppet",
                subject=f"t{number}",
                note="tokens",
            )

    await careful.work(*_page(0, 45))

    assert _submitted(market) <= CAREFUL.errors + CAREFUL.batch
    (told,) = careful.log.named("strategy.quarantined")
    assert "brought -1.5 credits, net of their cost" in str(told["problem"])


async def test_one_success_in_ten_is_worth_it_where_failures_cost_nothing(
    careful: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [_accept_only("t0", "t5", "t10", "t15")] * 20

    for number in range(20):
        await careful.work(task(f"t{number}"))

    assert _submitted(market) == 20
    assert careful.log.named("strategy.quarantined") == []


async def test_a_strategy_that_was_good_once_is_stopped_when_it_is_no_longer(
    careful: Loop, market: ScriptedMarket
) -> None:
    await careful.work(*_page(0, 40))
    market.script["submit"] = [REJECTED] * 200

    for number in range(50, 100):
        await careful.work(task(f"t{number}"))

    assert _submitted(market) == 40 + 2 * CAREFUL.errors
    assert len(careful.log.named("strategy.quarantined")) == 1


async def test_a_network_that_gives_each_task_a_kind_of_its_own_gains_nothing_by_it(
    make_loop: MakeLoop, market: ScriptedMarket, folder: Path
) -> None:
    wants = "def wants(self, task): return True"
    any_kind = re.sub("kinds = .*", wants, textwrap.dedent(PUPPET))
    (folder / "puppet.py").write_text(any_kind)
    careful = make_loop(rule=CAREFUL)
    market.script["submit"] = [REJECTED] * 200

    for number in range(100):
        await careful.work(task(f"t{number}", kind=f"puppet {number}"))

    assert _submitted(market) == MOST_KINDS + CAREFUL.errors


async def test_leaks_that_were_stopped_count_for_their_kind_alone(
    careful: Loop, market: ScriptedMarket
) -> None:
    await careful.work(*_page(0, 10, text="tell"))
    await careful.work(task("other", kind="other puppet"))

    assert market.verbs().count("claim") <= CAREFUL.errors + CAREFUL.batch + 1
    assert careful.record("other").state is TaskState.COMPLETED
    (told,) = careful.log.named("strategy.quarantined")
    assert told["kind"] == "puppet"


async def test_a_free_decline_is_no_work_in_vain_and_one_that_cost_is(
    careful: Loop,
) -> None:
    await careful.work(*_page(0, 10, text="decline"))
    assert careful.log.named("strategy.quarantined") == []

    with careful.journal.tx("costs"):
        for number in range(20, 30):
            book_cost(
                careful.journal.ledger,
                *(f"c{number}", 500_000),
                strategy="puppet",
                subject=f"t{number}",
                note="tokens",
            )
    await careful.work(*_page(20, 10, text="decline"))

    (told,) = careful.log.named("strategy.quarantined")
    assert "last: declined: not today" in str(told["problem"])


async def test_what_was_shown_outlasts_a_restart_and_not_a_new_version(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [REJECTED] * 5
    await make_loop(rule=CAREFUL).work(*_page(0, 5))

    restarted = make_loop(rule=CAREFUL)
    await restarted.work(task("again"))
    assert restarted.record("again").state is TaskState.SKIPPED

    market.script["submit"] = []
    changed = make_loop(rule=CAREFUL, fingerprint="2")
    await changed.work(task("new"))

    assert changed.record("new").state is TaskState.COMPLETED


async def test_its_owner_may_release_a_kind_with_its_strategy(
    careful: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [REJECTED] * 3
    await careful.work(*_page(0, 3))

    assert careful.quarantine.release("puppet")
    await careful.work(task("after"))

    assert careful.record("after").state is TaskState.COMPLETED


# -- bugs in wants ---------------------------------------------------------------------

BROKEN = """
    from journeyman import Strategy


    class Broken(Strategy):
        api, version = 1, "1"

        def wants(self, task):
            return task.input["rows"] > 3

        async def run(self, task):
            return "never"
"""


async def test_a_bug_in_wants_is_told_and_counts_like_one_in_run(
    make_loop: MakeLoop, folder: Path
) -> None:
    (folder / "puppet.py").write_text(textwrap.dedent(BROKEN))
    loop = make_loop()

    loop.select.decide(tuple(_page(0, 10)))

    told = loop.log.named("strategy.wants_failed")
    assert len(told) == RULE.errors
    assert "TypeError" in str(told[0]["problem"])
    assert str(told[0]["where"]).endswith("puppet.py:9 in wants")
    (quarantined,) = loop.log.named("strategy.quarantined")
    assert (quarantined["strategy"], quarantined["kind"]) == ("broken", "")
    assert "TypeError" in str(quarantined["problem"])


async def test_a_strategy_that_cannot_work_is_not_even_asked(loop: Loop) -> None:
    await loop.work(task("first", "misconfigured"))
    health = loop.journal.strategy_health.all()["puppet", ""]
    assert health.condition is Condition.MISCONFIGURED

    def wants(_task: Task) -> bool:
        raise AssertionError("it was asked")

    loop.active.registry.strategies[0].instance.wants = wants  # type: ignore[method-assign, assignment]
    await loop.work(task("second"))

    assert loop.record("second").reason == "puppet cannot work as it is set up"
    assert loop.log.named("strategy.wants_failed") == []
