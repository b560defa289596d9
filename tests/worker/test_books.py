"""What work is owed and what it brings stand in the books, each with its cause."""

from datetime import timedelta

import pytest
from tests.worker.conftest import Answer, Loop, ScriptedMarket, task

from journeyman.domain.outcomes import Confirmed, Refusal, Refused, Unknown
from journeyman.domain.tasks import Progress, TaskState
from journeyman.journal.ledger import Confidence, Entry
from journeyman.journal.maintenance import faults
from journeyman.network.answers import Receipt

REVIEWED = Refused(Refusal.PENDING, "it is being reviewed", 409, None)
REJECTED = Refused(Refusal.REJECTED, "not good", 422, None, Progress.REJECTED)


def booked(loop: Loop) -> dict[str, Entry]:
    assert faults(loop.journal) == []
    return {entry.key: entry for entry in loop.journal.ledger.recent(99)}


def balances(loop: Loop) -> tuple[int, int]:
    """Return what is ours, and what is owed to us."""
    accounts = loop.journal.ledger.accounts()
    return accounts["agent"], accounts["receivable"]


async def test_what_is_delivered_is_owed_until_it_is_paid(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [REVIEWED]
    await loop.work(task(reward=3))

    assert balances(loop) == (100, 3)

    loop.clock.advance(timedelta(days=1).total_seconds())
    await loop.work()

    assert balances(loop) == (103, 0)
    entries = booked(loop)
    assert entries["delivered:t1"].request == market.calls[1].key
    assert entries["earned:t1"].request == market.calls[-1].key
    assert (entries["delivered:t1"].cause, entries["earned:t1"].cause) == (
        "submit",
        "complete",
    )


@pytest.mark.parametrize("shown", [1, 5])
async def test_expected_claimed_and_observed_stand_side_by_side(
    loop: Loop, market: ScriptedMarket, shown: int
) -> None:
    market.script["complete"] = [
        Confirmed(Receipt(credits_earned=shown, balance=100 + shown))
    ]

    await loop.work(task(reward=3))

    entries = booked(loop)
    earned = entries["earned:t1"]
    assert (earned.expected, earned.claimed, earned.observed) == (
        3,
        shown,
        100 + shown,
    )
    assert entries["corrected:t1"].amount == shown - 3
    assert balances(loop) == (100 + shown, 0)


async def test_an_amount_that_nobody_named_is_unknown_and_not_0(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [Confirmed(Receipt())]

    await loop.work(task(reward=0))

    earned = booked(loop)["earned:t1"]
    assert (earned.expected, earned.claimed, earned.observed) == (None, None, None)


@pytest.mark.parametrize(
    "answer", [REJECTED, Confirmed(Receipt(progress=Progress.REJECTED))]
)
async def test_rejected_work_is_owed_nothing_any_more(
    loop: Loop, market: ScriptedMarket, answer: Answer
) -> None:
    market.script["complete"] = [answer]

    await loop.work(task(reward=3))

    corrected = booked(loop)["corrected:t1"]
    assert (corrected.amount, corrected.cause) == (-3, "complete")
    assert balances(loop) == (100, 0)


async def test_pay_that_cannot_be_true_leaves_the_reward_owed(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [Confirmed(Receipt(credits_earned=-50))]

    await loop.work(task(reward=3))

    earned = booked(loop)["earned:t1"]
    assert (earned.amount, earned.claimed) == (0, -50)
    assert earned.confidence is Confidence.DOUBTFUL
    assert balances(loop) == (100, 3)


async def test_work_that_nobody_answers_for_stays_owed_when_it_is_given_up(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [Unknown("a time-out")] * 9
    await loop.work(task(reward=3))

    loop.clock.advance(timedelta(days=400).total_seconds())
    await loop.work()

    assert loop.record().state is TaskState.REJECTED
    assert booked(loop).keys() == {"starter", "delivered:t1"}
    assert balances(loop) == (100, 3)
