"""What the settings say of spending, as the economy wants it.

Apart from the agent, so that who only asks about limits imports nothing that sends.
"""

from collections.abc import Sequence
from datetime import datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

from journeyman.daemon.schedule import SlotTimes
from journeyman.domain.credits import cents_for
from journeyman.domain.errors import ConfigurationError
from journeyman.economy.budget import Limits
from journeyman.economy.catalogue import Pack, Packs
from journeyman.economy.growth import GrowthPolicy, GrowthRules
from journeyman.economy.plan import Plan
from journeyman.journal.journal import Journal
from journeyman.settings.sections import PlanSettings, Settings


def packs_of(settings: Settings, journal: Journal) -> Packs:
    """Return the packs that the owner lets an agent ask for."""
    topup = settings.topup
    usual = Pack(
        price_id=topup.price_id,
        credits=topup.credits,
        cents=cents_for(topup.credits),
        plan=topup.plan,
    )
    configured = [
        Pack(
            price_id=price_id,
            credits=one.credits,
            cents=one.cents or cents_for(one.credits),
            plan=one.plan,
            label=one.label,
        )
        for price_id, one in topup.packs.items()
    ]
    return Packs(configured=configured, usual=usual, journal=journal)


def limits_of(settings: Settings) -> Limits:
    """Return what the owner lets an agent spend."""
    budget, topup = settings.budget, settings.topup
    return Limits(
        reserve_credits=budget.reserve_credits,
        low_credits=budget.low_credits,
        per_post_credits=budget.per_post_credits,
        per_hour_credits=budget.per_hour_credits,
        per_day_credits=budget.per_day_credits,
        per_month_credits=budget.per_month_credits,
        posts_per_day=budget.posts_per_day,
        per_strategy_credits=budget.per_strategy_credits,
        strategy_credits=budget.strategy_credits,
        cost_per_day_credits=budget.cost_per_day_credits,
        unexplained_per_day_credits=budget.unexplained_per_day_credits,
        topup_per_day_cents=topup.per_day_cents,
        topup_per_month_cents=topup.per_month_cents,
        zone=ZoneInfo(budget.time_zone),
    )


def plans_of(settings: Settings) -> list[Plan]:
    """Return what the owner wants posted again and again.

    Raises:
        ConfigurationError: a plan's `cron` is none.
    """
    return [
        _plan(name, one, limits_of(settings).zone)
        for name, one in settings.posting.plan.items()
    ]


def _plan(name: str, settings: PlanSettings, zone: tzinfo) -> Plan:
    try:
        seconds = settings.every_seconds or 0.0
        times = SlotTimes(zone, cron=settings.cron, seconds=seconds)
    except ValueError as error:
        raise ConfigurationError(
            f"posting.plan.{name}.cron is {settings.cron!r}: {error}",
            "Write five fields, such as `0 9 * * mon` for each Monday at nine.",
        ) from error
    last = settings.until
    after = last + timedelta(days=1) if last else None
    return Plan(
        name=name,
        times=times,
        title=settings.title,
        description=settings.description,
        kind=settings.kind,
        tags=settings.tags,
        input=settings.input,
        reward=settings.reward,
        per_month_credits=settings.per_month_credits,
        max_posts=settings.max_posts,
        until=datetime.combine(after, time(), zone) if after else None,
        growth=settings.growth,
    )


def growth_of(
    settings: Settings, plans: Sequence[Plan], journal: Journal
) -> GrowthPolicy:
    """Return when posts for growth are worth their cost."""
    growth = settings.growth
    return GrowthPolicy(
        rules=GrowthRules(
            enabled=growth.enabled,
            share=growth.share,
            trials=growth.trials,
            window=timedelta(hours=growth.window_hours),
        ),
        plans=[one for one in plans if one.growth],
        journal=journal,
    )
