"""The owner's limits: decided before a request, against all reserved and spent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, time

from journeyman.journal.journal import Journal
from journeyman.journal.spends import SpendKind

OWNER = "owner"
"""Who asked, when it was a person at the command line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What may be spent. Days and months are those of UTC."""

    reserve_credits: int
    """Floor: this much of the balance is never spent."""
    per_post_credits: int
    per_day_credits: int
    posts_per_day: int
    topup_per_day_cents: int
    topup_per_month_cents: int


@dataclass(frozen=True, slots=True)
class OverBudget:
    """A limit says no."""

    setting: str
    """The setting that would change it."""
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetUsage:
    """What is there and what was spent, at one moment."""

    balance: int
    """In credits, as booked."""
    reserved: int
    """In credits: posts that may have left without being booked."""
    spent_today: int
    posts_today: int

    @property
    def available(self) -> int:
        """Credits that are ours beyond doubt."""
        return self.balance - self.reserved


def usage(journal: Journal, now: datetime) -> BudgetUsage:
    """Return what is there and what was spent today."""
    posts, credits_, _ = journal.spends.counted_since(SpendKind.POST, start_of_day(now))
    return BudgetUsage(
        balance=journal.ledger.balance(),
        reserved=journal.spends.reserved_credits(),
        spent_today=credits_,
        posts_today=posts,
    )


def check_post(limits: Limits, at: BudgetUsage, reward: int) -> OverBudget | None:
    """Return the limit that a post of this reward would break; None if it may go."""
    if reward > limits.per_post_credits:
        return OverBudget(
            "budget.per_post_credits",
            f"{reward} credits for one post; the limit is {limits.per_post_credits}",
        )
    if at.posts_today >= limits.posts_per_day:
        return OverBudget(
            "budget.posts_per_day",
            f"{at.posts_today} posts today; the limit is {limits.posts_per_day}",
        )
    if at.spent_today + reward > limits.per_day_credits:
        return OverBudget(
            "budget.per_day_credits",
            f"{at.spent_today} credits spent today, {reward} more asked for; "
            f"the limit is {limits.per_day_credits}",
        )
    if at.available - reward < limits.reserve_credits:
        return OverBudget(
            "budget.reserve_credits",
            f"{at.available} credits available, {reward} to spend; "
            f"{limits.reserve_credits} must stay",
        )
    return None


def check_top_up(
    limits: Limits, journal: Journal, now: datetime, cents: int
) -> OverBudget | None:
    """Return the cap on real money that this checkout would break; None if it may."""
    day = start_of_day(now)
    for since, most, setting, period in (
        (day, limits.topup_per_day_cents, "topup.per_day_cents", "today"),
        (
            start_of_month(now),
            limits.topup_per_month_cents,
            "topup.per_month_cents",
            "this month",
        ),
    ):
        _, _, asked = journal.spends.counted_since(SpendKind.TOP_UP, since)
        if asked + cents > most:
            return OverBudget(
                setting,
                f"{asked} cents asked for {period} and {cents} more; the cap is {most}",
            )
    return None


def start_of_day(now: datetime) -> datetime:
    """Return the moment at which the day of `now` began."""
    return datetime.combine(now.date(), time(), tzinfo=now.tzinfo)


def start_of_month(now: datetime) -> datetime:
    """Return the moment at which the month of `now` began."""
    return start_of_day(now).replace(day=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Allowances:
    """Credits a day (UTC), for each strategy."""

    each: int
    """For a strategy that is not named."""
    of: Mapping[str, int] = field(default_factory=dict)
    """By name."""

    def check(
        self, journal: Journal, now: datetime, strategy: str, reward: int
    ) -> OverBudget | None:
        """Return the limit that a strategy would break by spending so much more today.

        What is reserved or of unknown outcome counts as spent. Posts of one strategy
        must be decided one after the other: this reserves nothing.
        """
        limit = self.of.get(strategy, self.each)
        since = start_of_day(now)
        _, spent, _ = journal.spends.counted_since(SpendKind.POST, since, strategy)
        if spent + reward <= limit:
            return None
        is_named = strategy in self.of
        setting = f"strategy_credits.{strategy}" if is_named else "per_strategy_credits"
        return OverBudget(
            f"budget.{setting}",
            f"{strategy} has spent {spent} credits today, {reward} more asked for; "
            f"its limit is {limit}",
        )
