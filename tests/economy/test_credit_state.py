"""How short credits are: what it stops, what it never stops, and that it is told."""

from dataclasses import replace

import pytest
from tests.economy.conftest import (
    LIMITS,
    UNKNOWN,
    Economy,
    new_task,
    posted,
)

from journeyman.economy.budget import OWNER, OverBudget, spendable
from journeyman.economy.credit_state import CreditState, CreditWatch, credit_state
from journeyman.economy.posting import Accepted
from journeyman.journal.journal import Journal
from journeyman.testing import FakeClock

LOW = replace(LIMITS, low_credits=80, per_strategy_credits=100, per_day_credits=100)


@pytest.mark.parametrize(
    ("low", "reserve", "state"),
    [
        (100, 99, "normal"),
        (101, 99, "low"),
        (101, 100, "critical"),
        (0, 100, "critical"),
    ],
)
def test_the_state_follows_what_is_available(
    economy: Economy, low: int, reserve: int, state: str
) -> None:
    limits = replace(LIMITS, low_credits=low, reserve_credits=reserve)

    assert credit_state(limits, economy.journal) == state


async def test_what_waits_for_the_owner_makes_it_needs_owner(economy: Economy) -> None:
    limits = replace(LIMITS, reserve_credits=100)
    economy.network.post_answers.append(UNKNOWN)
    await economy.posting.post(new_task(5))

    assert credit_state(limits, economy.journal) is CreditState.NEEDS_OWNER


async def test_strategies_and_plans_leave_what_is_low_to_the_owner(
    journal: Journal, clock: FakeClock
) -> None:
    economy = Economy(journal, clock, LOW)
    economy.network.post_answers += [posted("a"), posted("b")]

    assert isinstance(await economy.posting.post(new_task(20), "any"), Accepted)
    refused = await economy.posting.post(new_task(1), "any")
    owner = await economy.posting.post(new_task(1), OWNER)

    assert isinstance(refused, OverBudget)
    assert refused.setting == "budget.low_credits"
    assert isinstance(owner, Accepted)
    assert spendable(LOW, journal, clock.now(), "any") == 0
    assert spendable(LOW, journal, clock.now()) == 29


def test_a_change_is_told_once_for_the_worse_and_for_the_better(
    economy: Economy,
) -> None:
    states = [*CreditState, CreditState.NEEDS_OWNER, CreditState.LOW]
    following = iter(states)
    watch = CreditWatch(
        find=lambda: next(following), journal=economy.journal, log=economy.log
    )
    for _ in states:
        watch.look()

    assert economy.log.names == [*["credits.short"] * 3, "credits.recover"]
