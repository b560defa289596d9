"""Each limit of the owner's, alone: kept at the limit, broken one above."""

from dataclasses import replace

import pytest
from tests.economy.conftest import LIMITS, Economy, new_task, posted

from journeyman.domain.errors import UsageError
from journeyman.economy.budget import Limits, OverBudget, usage
from journeyman.economy.posting import Accepted
from journeyman.journal.journal import Journal
from journeyman.journal.spends import SpendState
from journeyman.testing import FakeClock

WIDE = Limits(
    reserve_credits=0,
    per_post_credits=1000,
    per_day_credits=1000,
    posts_per_day=1000,
    topup_per_day_cents=0,
    topup_per_month_cents=0,
)
DAY = 86_400


async def _post_all(economy: Economy, *rewards: int) -> list[str]:
    """Post one after the other; give the setting that refused each, or nothing."""
    ended = []
    for number, reward in enumerate(rewards):
        economy.network.post_answers.append(posted(f"task-{number}"))
        done = await economy.posting.post(new_task(reward))
        ended.append(done.setting if isinstance(done, OverBudget) else "")
    return ended


TABLE = [
    ("reserve_credits", 90, (9,), ""),
    ("reserve_credits", 90, (10,), ""),
    ("reserve_credits", 90, (11,), "budget.reserve_credits"),
    ("per_post_credits", 10, (9,), ""),
    ("per_post_credits", 10, (10,), ""),
    ("per_post_credits", 10, (11,), "budget.per_post_credits"),
    ("per_day_credits", 20, (10, 9), ""),
    ("per_day_credits", 20, (10, 10), ""),
    ("per_day_credits", 20, (10, 11), "budget.per_day_credits"),
    ("posts_per_day", 2, (1,), ""),
    ("posts_per_day", 2, (1, 1), ""),
    ("posts_per_day", 2, (1, 1, 1), "budget.posts_per_day"),
    ("posts_per_day", 0, (1,), "budget.posts_per_day"),
]


@pytest.mark.parametrize(("limit", "value", "rewards", "refused_by"), TABLE)
async def test_a_limit_holds_alone(
    journal: Journal,
    clock: FakeClock,
    limit: str,
    value: int,
    rewards: tuple[int, ...],
    refused_by: str,
) -> None:
    economy = Economy(journal, clock, replace(WIDE, **{limit: value}))

    ended = await _post_all(economy, *rewards)

    assert ended == [*[""] * (len(rewards) - 1), refused_by]


async def test_what_is_refused_is_neither_sent_nor_held_and_is_told(
    economy: Economy,
) -> None:
    done = await economy.posting.post(new_task(26))

    assert done == OverBudget(
        "budget.per_post_credits", "26 credits for one post; the limit is 25"
    )
    assert economy.network.posts == []
    assert economy.journal.spends.recent(9) == []
    assert economy.log.names == ["post.over_budget"]


@pytest.mark.parametrize("reward", [0, -1, -1000])
async def test_a_post_cannot_earn(economy: Economy, reward: int) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        await economy.posting.post(new_task(reward))

    assert economy.network.posts == []
    assert economy.balance == 100


async def test_a_new_day_has_a_new_budget_and_the_same_floor(
    journal: Journal, clock: FakeClock
) -> None:
    economy = Economy(journal, clock, LIMITS)

    assert await _post_all(economy, 25, 25, 1) == ["", "", "budget.per_day_credits"]
    clock.advance(DAY / 2)
    assert await _post_all(economy, 25, 6) == ["", "budget.reserve_credits"]


async def test_the_day_ends_at_midnight_utc(journal: Journal, clock: FakeClock) -> None:
    economy = Economy(journal, clock, replace(WIDE, posts_per_day=1))
    clock.advance(DAY / 2 - 1)

    assert await _post_all(economy, 1) == [""]
    assert await _post_all(economy, 1) == ["budget.posts_per_day"]
    clock.advance(1)
    assert await _post_all(economy, 1) == [""]


async def test_a_refused_post_does_not_weigh_on_the_day(economy: Economy) -> None:
    economy.network.post_answers.append(posted())
    done = await economy.posting.post(new_task(25))
    assert isinstance(done, Accepted)
    with economy.journal.tx("released"):
        economy.journal.spends.move(done.spend_id, SpendState.RELEASED)

    at = usage(economy.journal, economy.clock.now())

    assert (at.posts_today, at.spent_today, at.reserved) == (0, 0, 0)
