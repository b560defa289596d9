"""Each limit of the owner's, alone: kept at the limit, broken one above."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.economy.conftest import LIMITS, UNKNOWN, Economy, new_task, posted

from journeyman.domain.errors import UsageError
from journeyman.economy.bookkeeping import book_adjustment
from journeyman.economy.budget import (
    Limits,
    OverBudget,
    Period,
    check_post,
    check_top_up,
    end_of,
    spendable,
    start_of,
    usage,
    uses,
    worst_case,
)
from journeyman.economy.posting import Accepted
from journeyman.journal.journal import Journal
from journeyman.journal.spends import SpendState
from journeyman.testing import FakeClock

WIDE = Limits(
    reserve_credits=0,
    low_credits=0,
    per_post_credits=1000,
    per_hour_credits=1000,
    per_day_credits=1000,
    per_month_credits=1000,
    posts_per_day=1000,
    per_strategy_credits=1000,
    cost_per_day_credits=0,
    unexplained_per_day_credits=1000,
    topup_per_day_cents=0,
    topup_per_month_cents=0,
)
DAY = 86_400


def _wide(limit: str, value: int) -> Limits:
    only: dict[str, Any] = {limit: value}
    return replace(WIDE, **only)


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
    ("per_hour_credits", 20, (10, 10), ""),
    ("per_hour_credits", 20, (10, 11), "budget.per_hour_credits"),
    ("per_month_credits", 20, (10, 10), ""),
    ("per_month_credits", 20, (10, 11), "budget.per_month_credits"),
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
    economy = Economy(journal, clock, _wide(limit, value))

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


def _move(journal: Journal, credits_: int) -> None:
    with journal.tx("adjustment"):
        book_adjustment(journal.ledger, credits_, shown=0)


def _spending_refused_by(journal: Journal, clock: FakeClock, limits: Limits) -> str:
    """Return the setting by which all that spends is refused, or nothing."""
    now = clock.now()
    post = check_post(limits, journal, now, 1)
    page = check_top_up(limits, journal, now, 1)
    assert post == page
    assert (spendable(limits, journal, now) > 0) is (post is None)
    assert (worst_case(limits, journal, now).credits > 0) is (post is None)
    return post.setting if post else ""


async def test_unexplained_losses_past_their_limit_stop_all_spending_until_tomorrow(
    economy: Economy, clock: FakeClock
) -> None:
    limits = replace(
        WIDE,
        unexplained_per_day_credits=5,
        topup_per_day_cents=9,
        topup_per_month_cents=9,
    )
    journal = economy.journal
    _move(journal, -5)
    assert _spending_refused_by(journal, clock, limits) == ""

    _move(journal, +4)
    _move(journal, -1)

    assert (
        _spending_refused_by(journal, clock, limits)
        == "budget.unexplained_per_day_credits"
    )
    clock.step(DAY)
    assert _spending_refused_by(journal, clock, limits) == ""


async def test_after_unexplained_losses_no_post_is_sent(economy: Economy) -> None:
    _move(economy.journal, +200)
    _move(economy.journal, -51)

    done = await economy.posting.post(new_task(1))

    assert isinstance(done, OverBudget)
    assert done.setting == "budget.unexplained_per_day_credits"
    assert economy.network.posts == []


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


BERLIN = ZoneInfo("Europe/Berlin")


async def test_the_day_ends_at_midnight_where_the_owner_lives(
    journal: Journal, clock: FakeClock
) -> None:
    economy = Economy(journal, clock, replace(WIDE, posts_per_day=1, zone=BERLIN))
    clock.advance(DAY / 2 - 3600 - 1)

    assert await _post_all(economy, 1) == [""]
    assert await _post_all(economy, 1) == ["budget.posts_per_day"]
    clock.advance(1)
    assert await _post_all(economy, 1) == [""]


@pytest.mark.parametrize("period", Period)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kolkata", "Cuba"])
def test_periods_follow_each_other_without_a_gap_or_an_overlap(
    period: Period, zone: str
) -> None:
    # A year from here has both changes of the clocks; those of Cuba are at midnight.
    at, until = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    while at < until:
        end = end_of(period, at, ZoneInfo(zone))
        last = end - timedelta(microseconds=1)

        assert start_of(period, at, ZoneInfo(zone)) <= at < end
        assert start_of(period, end, ZoneInfo(zone)) == end
        assert start_of(period, last, ZoneInfo(zone)) <= at
        at = end + timedelta(days=(period is Period.HOUR) * 0.5)


async def test_a_clock_set_back_opens_no_period_again(
    journal: Journal, clock: FakeClock
) -> None:
    limits = replace(WIDE, per_hour_credits=5, per_month_credits=10)
    economy = Economy(journal, clock, limits)
    assert await _post_all(economy, 5) == [""]

    for _ in range(40):
        clock.step(-DAY)
        assert await _post_all(economy, 1) == ["budget.per_hour_credits"]


async def test_what_a_wrong_clock_recorded_ahead_frees_a_limit_when_its_day_is_over(
    journal: Journal, clock: FakeClock
) -> None:
    economy = Economy(journal, clock, replace(WIDE, per_day_credits=5))
    clock.step(30 * DAY)
    await _post_all(economy, 5)
    ahead = clock.now()
    clock.step(-30 * DAY)

    over = await economy.posting.post(new_task(1))

    assert isinstance(over, OverBudget)
    assert over.frees_at == end_of(Period.DAY, ahead)


async def test_a_limit_tells_when_it_is_free_again(
    journal: Journal, clock: FakeClock
) -> None:
    economy = Economy(journal, clock, replace(WIDE, per_day_credits=5))
    await _post_all(economy, 5)

    over = await economy.posting.post(new_task(1))

    assert isinstance(over, OverBudget)
    assert over.frees_at == datetime(2026, 11, 22, tzinfo=UTC)


async def test_each_limit_shows_what_is_used_held_and_left(economy: Economy) -> None:
    economy.network.post_answers += [posted(), UNKNOWN]
    await economy.posting.post(new_task(5))
    await economy.posting.post(new_task(7), "poster")

    found = {
        one.limit.setting: (one.used, one.held, one.left)
        for one in uses(LIMITS, economy.journal, economy.clock.now())
    }

    assert found == {
        "budget.posts_per_day": (1, 1, 8),
        "budget.per_month_credits": (5, 7, 488),
        "budget.per_day_credits": (5, 7, 38),
        "budget.per_hour_credits": (5, 7, 38),
        "budget.per_strategy_credits": (0, 7, 43),
        "topup.per_day_cents": (0, 0, 500),
        "topup.per_month_cents": (0, 0, 2000),
    }


@pytest.mark.parametrize(
    ("limit", "value", "most"),
    [
        ("reserve_credits", 30, 70),
        ("per_hour_credits", 1, 12),  # from noon to midnight
        ("per_day_credits", 40, 40),
        ("per_month_credits", 50, 50),
        ("posts_per_day", 0, 0),
    ],
)
def test_the_worst_case_is_the_narrowest_limit(
    economy: Economy, limit: str, value: int, most: int
) -> None:
    limits = _wide(limit, value)

    case = worst_case(limits, economy.journal, economy.clock.now())

    assert (case.credits, case.cents) == (most, 0)


async def test_a_refused_post_does_not_weigh_on_the_day(economy: Economy) -> None:
    economy.network.post_answers.append(posted())
    done = await economy.posting.post(new_task(25))
    assert isinstance(done, Accepted)
    with economy.journal.tx("released"):
        economy.journal.spends.move(done.spend_id, SpendState.RELEASED)

    at = usage(economy.journal, economy.clock.now())

    assert (at.posts_today, at.spent_today, at.reserved) == (0, 0, 0)
