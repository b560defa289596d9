"""The gate of all spending: every limit of the owner's, decided before a request.

A limit is a row of data: what it counts, in which period, and how much. What is
reserved, or has an unknown outcome, weighs as much as what was spent. So a limit holds
whatever the network answers, and whenever the daemon is killed.

Periods are those of the calendar, in the owner's time zone. What was recorded at a
later time than now weighs too: a clock that is set back opens no period a second time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta, tzinfo
from enum import StrEnum

from journeyman.domain.credits import MILLIONTHS
from journeyman.journal.journal import Journal
from journeyman.journal.spends import SpendKind

OWNER = "owner"
"""Who asked, when it was a person at the command line."""
LONGEST_MONTH = timedelta(days=31)


class Period(StrEnum):
    """For how long what was spent weighs on a limit."""

    HOUR = "hour"
    DAY = "day"
    MONTH = "month"


_SINCE_WHEN = {
    Period.HOUR: "this hour",
    Period.DAY: "today",
    Period.MONTH: "this month",
}


class Unit(StrEnum):
    """What a limit counts, in the order of `Spends.counted_since`."""

    POSTS = "posts"
    CREDITS = "credits"
    CENTS = "cents"


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What may be spent."""

    reserve_credits: int
    """Floor: this much of the balance is never spent."""
    low_credits: int
    """Floor of the posts that nobody asks for by hand."""
    per_post_credits: int
    per_hour_credits: int
    per_day_credits: int
    per_month_credits: int
    posts_per_day: int
    per_strategy_credits: int
    """A day, for a strategy that is not named."""
    strategy_credits: Mapping[str, int] = field(default_factory=dict)
    """A day, by the name of a strategy."""
    cost_per_day_credits: float
    """Outside of the network, for each strategy, as it reports."""
    unexplained_per_day_credits: int
    """Past this, nothing is spent for the rest of the day."""
    topup_per_day_cents: int
    topup_per_month_cents: int
    zone: tzinfo = UTC
    """Whose hours, days and months they are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """One limit on what is spent in a period."""

    setting: str
    """The setting that would change it."""
    most: int
    unit: Unit
    period: Period
    kind: SpendKind = SpendKind.POST
    poster: str | None = None
    """Counts what this poster spends alone; None: everybody."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LimitUse:
    """How much of a limit is used at one moment."""

    limit: Limit
    used: int
    """Settled, or carried from before this journal."""
    held: int
    """Reserved, open, or of unknown outcome."""
    ends_at: datetime
    """When all of it is free again."""

    @property
    def left(self) -> int:
        """What may still be spent in the period."""
        return max(0, self.limit.most - self.used - self.held)


@dataclass(frozen=True, slots=True)
class OverBudget:
    """A limit says no."""

    setting: str
    """The setting that would change it."""
    message: str
    frees_at: datetime | None = None
    """When the same may be asked again; None: not by waiting."""


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


def usage(journal: Journal, now: datetime, zone: tzinfo = UTC) -> BudgetUsage:
    """Return what is there and what was spent today."""
    today = start_of(Period.DAY, now, zone)
    posts, credits_, _ = journal.spends.counted_since(SpendKind.POST, today)
    return BudgetUsage(
        balance=journal.ledger.balance(),
        reserved=journal.spends.reserved_credits(),
        spent_today=credits_,
        posts_today=posts,
    )


# -- the limits ----------------------------------------------------------------------


def limits_on_posts(limits: Limits) -> list[Limit]:
    """Return the limits on posts that hold for everybody."""
    return [
        Limit(
            setting="budget.posts_per_day",
            most=limits.posts_per_day,
            unit=Unit.POSTS,
            period=Period.DAY,
        ),
        *(
            Limit(
                setting=f"budget.per_{period}_credits",
                most=most,
                unit=Unit.CREDITS,
                period=period,
            )
            for period, most in (
                # The longest first: the one that refuses says when it is free again.
                (Period.MONTH, limits.per_month_credits),
                (Period.DAY, limits.per_day_credits),
                (Period.HOUR, limits.per_hour_credits),
            )
        ),
    ]


def limit_on_strategy(limits: Limits, strategy: str) -> Limit:
    """Return the limit on what one strategy posts."""
    is_named = strategy in limits.strategy_credits
    setting = f"strategy_credits.{strategy}" if is_named else "per_strategy_credits"
    return Limit(
        setting=f"budget.{setting}",
        most=limits.strategy_credits.get(strategy, limits.per_strategy_credits),
        unit=Unit.CREDITS,
        period=Period.DAY,
        poster=strategy,
    )


def limits_on_top_ups(limits: Limits) -> list[Limit]:
    """Return the caps on real money."""
    return [
        Limit(
            setting=f"topup.per_{period}_cents",
            most=most,
            unit=Unit.CENTS,
            period=period,
            kind=SpendKind.TOP_UP,
        )
        for period, most in (
            (Period.DAY, limits.topup_per_day_cents),
            (Period.MONTH, limits.topup_per_month_cents),
        )
    ]


# -- the gate ------------------------------------------------------------------------


def check_post(
    limits: Limits,
    journal: Journal,
    now: datetime,
    reward: int,
    *,
    strategy: str = "",
    more: Sequence[Limit] = (),
) -> OverBudget | None:
    """Return the limit that a post of this reward would break; None if it may go.

    Called in the transaction that reserves the post, so that no other is decided in
    between.

    Args:
        limits: The owner's.
        journal: Knows what was spent and is reserved.
        now: The wall clock.
        reward: What the post costs.
        strategy: Which asks; empty where none does.
        more: Limits of this post alone.
    """
    if reward > limits.per_post_credits:
        return OverBudget(
            "budget.per_post_credits",
            f"{reward} credits for one post; the limit is {limits.per_post_credits}",
        )
    if over := check_losses(limits, journal, now):
        return over
    own = [limit_on_strategy(limits, strategy)] if strategy else []
    for limit in (*more, *own, *limits_on_posts(limits)):
        amount = 1 if limit.unit is Unit.POSTS else reward
        if over := _check(limit, journal, now, limits.zone, amount):
            return over
    by_hand = not (strategy or more)
    return _check_floors(limits, usage(journal, now).available, reward, by_hand=by_hand)


def _check_floors(
    limits: Limits, available: int, reward: int, *, by_hand: bool
) -> OverBudget | None:
    """Return the floor that a post of this reward would go below, if any."""
    if not by_hand and available - reward < limits.low_credits:
        return OverBudget(
            "budget.low_credits",
            f"{available} credits available, {reward} to spend; {limits.low_credits} "
            "must stay for what the owner posts",
        )
    if available - reward < limits.reserve_credits:
        return OverBudget(
            "budget.reserve_credits",
            f"{available} credits available, {reward} to spend; "
            f"{limits.reserve_credits} must stay",
        )
    return None


def check_top_up(
    limits: Limits, journal: Journal, now: datetime, cents: int
) -> OverBudget | None:
    """Return the cap on real money that this checkout would break; None if it may."""
    if over := check_losses(limits, journal, now):
        return over
    checked = (
        _check(limit, journal, now, limits.zone, cents)
        for limit in limits_on_top_ups(limits)
    )
    return next(filter(None, checked), None)


def check_losses(limits: Limits, journal: Journal, now: datetime) -> OverBudget | None:
    """Return why nothing may be spent after what left our balance unexplained.

    Somebody else may be spending with our token. Work goes on: it only brings credits.
    """
    lost = journal.ledger.unexplained_losses(start_of(Period.DAY, now, limits.zone))
    if lost <= limits.unexplained_per_day_credits:
        return None
    return OverBudget(
        "budget.unexplained_per_day_credits",
        f"{lost} credits left the balance today, and nothing of ours explains them; "
        f"the limit is {limits.unexplained_per_day_credits}",
        end_of(Period.DAY, now, limits.zone),
    )


def _check(
    limit: Limit, journal: Journal, now: datetime, zone: tzinfo, amount: int
) -> OverBudget | None:
    weight = _weight(limit, journal, start_of(limit.period, now, zone))
    if weight + amount <= limit.most:
        return None
    who = f"{limit.poster}: " if limit.poster else ""
    return OverBudget(
        limit.setting,
        f"{who}{weight} {limit.unit} {_SINCE_WHEN[limit.period]}, {amount} more asked "
        f"for; the limit is {limit.most}",
        _frees_at(limit, journal, now, zone) if amount <= limit.most else None,
    )


def _frees_at(limit: Limit, journal: Journal, now: datetime, zone: tzinfo) -> datetime:
    """Return when a period is over, also for what a wrong clock recorded ahead."""
    last = journal.spends.last_at(limit.kind)
    return end_of(limit.period, max(now, last or now), zone)


def _weight(limit: Limit, journal: Journal, since: datetime) -> int:
    counted = journal.spends.counted_since(limit.kind, since, limit.poster)
    return counted[list(Unit).index(limit.unit)]


# -- what is used and left -----------------------------------------------------------


def use_of(limit: Limit, journal: Journal, now: datetime, zone: tzinfo) -> LimitUse:
    """Return how much of a limit is used now."""
    since = start_of(limit.period, now, zone)
    held = journal.spends.held_since(limit.kind, since, limit.poster)
    held_amount = held[list(Unit).index(limit.unit)]
    return LimitUse(
        limit=limit,
        used=_weight(limit, journal, since) - held_amount,
        held=held_amount,
        ends_at=_frees_at(limit, journal, now, zone),
    )


def uses(
    limits: Limits, journal: Journal, now: datetime, more: Sequence[Limit] = ()
) -> list[LimitUse]:
    """Return how much of each limit is used; of strategies, those that have posted."""
    today = start_of(Period.DAY, now, limits.zone)
    strategies = {*journal.spends.posters_since(today), *limits.strategy_credits}
    strategies -= {OWNER, *(limit.poster for limit in more)}
    every = [
        *limits_on_posts(limits),
        *(limit_on_strategy(limits, name) for name in sorted(strategies)),
        *more,
        *limits_on_top_ups(limits),
    ]
    return [use_of(limit, journal, now, limits.zone) for limit in every]


def spendable(
    limits: Limits, journal: Journal, now: datetime, strategy: str = ""
) -> int:
    """Return the credits that may still leave now, within every limit on credits."""
    if check_losses(limits, journal, now):
        return 0
    floor = limits.reserve_credits
    if strategy:
        floor = max(floor, limits.low_credits)
    own = [limit_on_strategy(limits, strategy)] if strategy else []
    lefts = [
        use_of(limit, journal, now, limits.zone).left
        for limit in (*own, *limits_on_posts(limits))
        if limit.unit is Unit.CREDITS
    ]
    return max(0, min(usage(journal, now).available - floor, *lefts))


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The most that may still leave before the day ends, whatever goes wrong."""

    credits: int
    """Of those that are held now; what is earned meanwhile may be spent, too, within
    the limits of the periods."""
    cents: int
    """Of real money that payment pages may ask for; a person pays, or does not."""


def worst_case(limits: Limits, journal: Journal, now: datetime) -> WorstCase:
    """Return the most that the limits allow for the rest of the day."""
    if check_losses(limits, journal, now):
        return WorstCase(credits=0, cents=0)
    left = {
        (one.limit.unit, one.limit.period): one.left
        for one in uses(limits, journal, now)
        if one.limit.poster is None
    }
    rest = end_of(Period.DAY, now, limits.zone) - now
    hours = -(-rest // timedelta(hours=1)) - 1
    return WorstCase(
        credits=max(
            0,
            min(
                usage(journal, now).available - limits.reserve_credits,
                left[Unit.CREDITS, Period.HOUR] + hours * limits.per_hour_credits,
                left[Unit.CREDITS, Period.DAY],
                left[Unit.CREDITS, Period.MONTH],
                left[Unit.POSTS, Period.DAY] * limits.per_post_credits,
            ),
        ),
        cents=min(left[Unit.CENTS, Period.DAY], left[Unit.CENTS, Period.MONTH]),
    )


def is_over_cost(
    limits: Limits, journal: Journal, now: datetime, strategy: str
) -> bool:
    """Return whether a strategy has cost as much today as it may."""
    since = start_of(Period.DAY, now, limits.zone)
    cost = journal.ledger.cost_since(strategy, since)
    return cost >= limits.cost_per_day_credits * MILLIONTHS


# -- periods -------------------------------------------------------------------------


def start_of(period: Period, now: datetime, zone: tzinfo = UTC) -> datetime:
    """Return the moment, in UTC, at which a period of the owner's calendar began."""
    local = now.astimezone(zone)
    if period is Period.HOUR:
        return local.replace(minute=0, second=0, microsecond=0).astimezone(UTC)
    day = local.date() if period is Period.DAY else local.date().replace(day=1)
    return datetime.combine(day, time(), zone).astimezone(UTC)


def end_of(period: Period, now: datetime, zone: tzinfo = UTC) -> datetime:
    """Return the moment, in UTC, at which the next period begins."""
    local = start_of(period, now, zone).astimezone(zone)
    if period is Period.HOUR:
        return local.astimezone(UTC) + timedelta(hours=1)
    is_day = period is Period.DAY
    day = local.date() + (timedelta(days=1) if is_day else LONGEST_MONTH)
    first = day if is_day else day.replace(day=1)
    return datetime.combine(first, time(), zone).astimezone(UTC)
