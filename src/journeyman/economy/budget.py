"""The owner's limits: decided before a request, against all that is held or spent."""

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
    """Where the money stands at one moment."""

    balance: int
    """In credits, as booked."""
    held: int
    """In credits: posts that may have left without being booked."""
    spent_today: int
    posts_today: int

    @property
    def available(self) -> int:
        """Credits that are ours beyond doubt."""
        return self.balance - self.held


def standing(journal: Journal, now: datetime) -> BudgetUsage:
    """Read where the money stands."""
    posts, credits_, _ = journal.spends.counting_since(
        SpendKind.POST, start_of_day(now)
    )
    return BudgetUsage(
        balance=journal.ledger.balance(),
        held=journal.spends.held_credits(),
        spent_today=credits_,
        posts_today=posts,
    )


def check_post(limits: Limits, at: BudgetUsage, reward: int) -> OverBudget | None:
    """Say whether a post of this reward keeps within every limit."""
    checks = (
        (
            reward > limits.per_post_credits,
            "budget.per_post_credits",
            f"{reward} credits for one post; the limit is {limits.per_post_credits}",
        ),
        (
            at.posts_today >= limits.posts_per_day,
            "budget.posts_per_day",
            f"{at.posts_today} posts today; the limit is {limits.posts_per_day}",
        ),
        (
            at.spent_today + reward > limits.per_day_credits,
            "budget.per_day_credits",
            (
                f"{at.spent_today} credits spent today, {reward} more asked for; "
                f"the limit is {limits.per_day_credits}"
            ),
        ),
        (
            at.available - reward < limits.reserve_credits,
            "budget.reserve_credits",
            (
                f"{at.available} credits available, {reward} to spend; "
                f"{limits.reserve_credits} must stay"
            ),
        ),
    )
    return _first(checks)


def check_top_up(
    limits: Limits,
    journal: Journal,
    now: datetime,
    cents: int,
) -> OverBudget | None:
    """Say whether asking for this checkout keeps within the caps on real money."""
    kind = SpendKind.TOP_UP
    _, _, today = journal.spends.counting_since(kind, start_of_day(now))
    _, _, month = journal.spends.counting_since(kind, start_of_day(now).replace(day=1))
    checks = (
        (
            today + cents > limits.topup_per_day_cents,
            "topup.per_day_cents",
            (
                f"{today} cents asked for today and {cents} more; the cap is "
                f"{limits.topup_per_day_cents}"
            ),
        ),
        (
            month + cents > limits.topup_per_month_cents,
            "topup.per_month_cents",
            (
                f"{month} cents asked for this month and {cents} more; the cap is "
                f"{limits.topup_per_month_cents}"
            ),
        ),
    )
    return _first(checks)


def _first(checks: tuple[tuple[bool, str, str], ...]) -> OverBudget | None:
    return next(
        (OverBudget(setting, message) for broken, setting, message in checks if broken),
        None,
    )


def start_of_day(now: datetime) -> datetime:
    """Give the moment at which the day of `now` began."""
    return datetime.combine(now.date(), time(), tzinfo=now.tzinfo)


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
        """Say whether a strategy may spend so much more today.

        What is held or of unknown outcome counts as spent. Posts of one strategy must
        be decided one after the other: this holds nothing.
        """
        limit = self.of.get(strategy, self.each)
        since = start_of_day(now)
        _, spent, _ = journal.spends.counting_since(SpendKind.POST, since, strategy)
        if spent + reward <= limit:
            return None
        is_named = strategy in self.of
        setting = f"strategy_credits.{strategy}" if is_named else "per_strategy_credits"
        return OverBudget(
            f"budget.{setting}",
            f"{strategy} has spent {spent} credits today, {reward} more asked for; "
            f"its limit is {limit}",
        )
