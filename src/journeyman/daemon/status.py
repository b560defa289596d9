"""The status of an agent: from its running daemon, or from the journal it left."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from journeyman.daemon.earning import can_earn, known_of, network_record, summary
from journeyman.daemon.turns import WITHIN_SECONDS, LoopTurns
from journeyman.domain.clock import Clock
from journeyman.domain.credits import MILLIONTHS
from journeyman.domain.tasks import IN_FLIGHT, JSON, TaskState
from journeyman.economy.budget import (
    Limits,
    LimitUse,
    Period,
    check_losses,
    check_post,
    end_of,
    spendable,
    start_of,
    usage,
    uses,
    worst_case,
)
from journeyman.economy.credit_state import credit_state
from journeyman.economy.growth import GrowthPolicy
from journeyman.economy.mark import found_older
from journeyman.economy.plan import Plan
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import RECEIVABLE
from journeyman.journal.spends import Spend, SpendKind, SpendState
from journeyman.journal.strategy_health import Condition
from journeyman.lifecycle.quarantine import is_half_open
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.worker.join import is_registration_unknown
from journeyman.worker.token import rejection

REASONS_SHOWN = 8


def journal_status(journal: Journal, base_url: str | None = None) -> dict[str, JSON]:
    """Return balance, tasks by state and by strategy, and what waits.

    `base_url` None means the network that was seen last.
    """
    counts = journal.tasks.counts()
    network = base_url or next(iter(journal.observations.networks()), "")
    return {
        "can_earn": summary(
            can_earn(known_of(journal, network_record(journal, network)))
        ),
        "registration_unknown": is_registration_unknown(journal),
        "older_journal_found_at": found_older(journal),
        "token_rejected": rejection(journal),
        "balance": journal.ledger.balance(),
        "ledger": dict(journal.ledger.totals()),
        "reserved_credits": journal.spends.reserved_credits(),
        "owed_credits": journal.ledger.accounts().get(RECEIVABLE, 0),
        "tasks_seen": journal.totals.get("tasks.seen"),
        "tasks": dict(counts),
        "in_flight": sum(counts.get(state, 0) for state in IN_FLIGHT),
        "waiting": counts.get(TaskState.WANTED, 0),
        "strategies": {
            name: dict(states)
            for name, states in journal.tasks.outcomes_by_strategy().items()
        },
        "skipped_because": dict(journal.tasks.skip_reasons(REASONS_SHOWN)),
        "open_top_ups": [
            top_up_as_json(spend)
            for spend in journal.spends.unsettled(SpendKind.TOP_UP)
            if spend.state is not SpendState.RESERVED
        ],
    }


def budget_status(
    limits: Limits,
    journal: Journal,
    now: datetime,
    plans: Sequence[Plan],
    growth: GrowthPolicy,
) -> dict[str, JSON]:
    """Return each limit: used, held, left, when it is free; and why a plan may post."""
    more = [one.limit for one in plans]
    at, most = usage(journal, now, limits.zone), worst_case(limits, journal, now)
    today = start_of(Period.DAY, now, limits.zone)
    return {
        "balance": at.balance,
        "held": at.reserved,
        "available": at.available,
        "reserve_credits": limits.reserve_credits,
        "credit_state": credit_state(limits, journal),
        "spendable": spendable(limits, journal, now),
        "per_post_credits": limits.per_post_credits,
        "time_zone": str(limits.zone),
        "worst_case_credits": most.credits,
        "worst_case_cents": most.cents,
        "limits": [limit_status(one) for one in uses(limits, journal, now, more)],
        "unexplained": _unexplained(limits, journal, now),
        "plans": [plan_status(one, growth, limits, journal, now) for one in plans],
        "costs": [
            {
                "setting": "budget.cost_per_day_credits",
                "strategy": strategy,
                "limit": limits.cost_per_day_credits,
                "used": cost / MILLIONTHS,
                "frees_at": _time(end_of(Period.DAY, now, limits.zone)),
            }
            for strategy, cost in journal.ledger.costs_since(today).items()
        ],
    }


def plan_status(
    plan: Plan, growth: GrowthPolicy, limits: Limits, journal: Journal, now: datetime
) -> dict[str, JSON]:
    """Return whether a plan may post now, and why: one for growth by its figures."""
    over = check_post(limits, journal, now, plan.reward, more=[plan.limit])
    gate = (
        f"{over.message} ({over.setting})."
        if over
        else f"No limit keeps it from a post of {plan.reward} credits."
    )
    status: dict[str, JSON] = {
        "plan": plan.name,
        "cost": plan.reward,
        "refused_by": over.setting if over else None,
        "frees_at": _time(over.frees_at) if over and over.frees_at else None,
    }
    if not plan.growth:
        return status | {"may_post": over is None, "why": gate, "growth": None}
    verdict = growth.decide(plan, now)
    return status | {
        "may_post": verdict.may_post and over is None,
        "why": f"{verdict.message} {gate}" if verdict.may_post else verdict.message,
        "growth": {
            "rule": verdict.rule,
            "cost": verdict.cost,
            "earned": verdict.earned,
            "allowed": verdict.allowed,
            "spent": verdict.spent,
            "gains": list(verdict.gains),
            "sure_gain": round(verdict.sure_gain, 1) if verdict.gains else None,
            "changes_at": _time(verdict.changes_at) if verdict.changes_at else None,
        },
    }


def _unexplained(limits: Limits, journal: Journal, now: datetime) -> JSON:
    """Return the limit on losses that nothing explains, as `limit_status` would."""
    lost = journal.ledger.unexplained_losses(start_of(Period.DAY, now, limits.zone))
    over = check_losses(limits, journal, now)
    return {
        "setting": "budget.unexplained_per_day_credits",
        "unit": "credits",
        "period": "day",
        "limit": limits.unexplained_per_day_credits,
        "used": lost,
        "held": 0,
        "left": max(0, limits.unexplained_per_day_credits - lost),
        "frees_at": _time(end_of(Period.DAY, now, limits.zone)) if lost else None,
        "paused": over.message if over else None,
    }


def turns_status(turns: LoopTurns | None) -> JSON:
    """Return how long the event loop was held up; None where nobody measures it."""
    if turns is None:
        return None
    return {
        "longest_turn_seconds": round(turns.longest_seconds, 4),
        "within_seconds": WITHIN_SECONDS,
    }


def limit_status(one: LimitUse) -> JSON:
    """Return a limit, and what is used, held and left of it."""
    is_touched = one.used or one.held
    return {
        "setting": one.limit.setting,
        "unit": one.limit.unit,
        "period": one.limit.period,
        "limit": one.limit.most,
        "used": one.used,
        "held": one.held,
        "left": one.left,
        "frees_at": _time(one.ends_at) if is_touched else None,
    }


def _time(at: datetime) -> str:
    return at.isoformat(timespec="seconds")


def top_up_as_json(spend: Spend) -> dict[str, JSON]:
    """Return a top-up for a list, a page or a notification.

    Only a page that waits to be paid has its `url`; `doubt` says why another has none.
    """
    is_open = spend.state is SpendState.OPEN
    return {
        "spend_id": spend.spend_id,
        "state": spend.state.value,
        "credits": spend.credits,
        "cents": spend.cents,
        "url": spend.answer.get("url") if is_open else None,
        "doubt": "" if is_open else spend.reason,
        "at": spend.at.isoformat(timespec="seconds"),
        "expires_at": spend.expires_at.isoformat(timespec="seconds")
        if spend.expires_at
        else None,
    }


def health_of_strategies(journal: Journal, now: datetime) -> dict[str, JSON]:
    """Return each strategy that is in quarantine, or half-open after it, by name.

    A kind of its work has an entry of its own, such as "ask_llm, kind 'essay'". Each
    has `strategy`, `kind` (empty: all), `condition` (quarantined, half-open or
    misconfigured), `problem`, `fix`, `task_id`, `errors` (a number) and `retry_in`
    (seconds; None: only a change helps).
    """
    unsound: dict[str, JSON] = {}
    for health in journal.strategy_health.all().values():
        if health.condition is Condition.SOUND:
            continue
        is_over = is_half_open(health, now.timestamp())
        rest = 0.0 if is_over else health.quarantined_until - now.timestamp()
        is_quarantined = health.condition is Condition.QUARANTINED
        unsound[health.label] = {
            "strategy": health.strategy,
            "kind": health.kind,
            "condition": "half-open" if is_over else str(health.condition),
            "problem": health.problem,
            "fix": health.fix,
            "task_id": health.task_id,
            "errors": len(health.errors),
            "retry_in": round(rest) if is_quarantined else None,
        }
    return unsound


def pauses(rate_limiter: RateLimiter, clock: Clock) -> list[JSON]:
    """Return each pause: what waits, its cause, until when, and the reason.

    The name is `service`, `token`, or that of an endpoint; `until` is in ISO 8601.
    """
    now = clock.now()
    return [
        {
            "what": name,
            "cause": pause.cause.value,
            "until": (now + timedelta(seconds=pause.seconds)).isoformat(
                timespec="seconds"
            ),
            "seconds": round(pause.seconds, 1),
            "reason": pause.reason,
        }
        for name, pause in rate_limiter.pauses()
    ]
