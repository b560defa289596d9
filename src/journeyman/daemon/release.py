"""Letting a strategy out of quarantine, on its owner's word."""

from datetime import datetime

from journeyman.domain import JSON
from journeyman.domain.errors import UsageError
from journeyman.journal import Condition, Journal
from journeyman.loop import Quarantine, is_on_trial


def release_strategy(quarantine: Quarantine, strategy: str) -> dict[str, JSON]:
    """Release one from a running daemon's quarantine.

    Raises:
        UsageError: it is not there.
    """
    if not quarantine.release(strategy):
        raise _not_held(strategy)
    return {"strategy": strategy, "released": True}


def release_in_journal(journal: Journal, strategy: str) -> dict[str, JSON]:
    """Release one where no daemon runs; the next start gives it work.

    Raises:
        UsageError: it is not in quarantine.
    """
    health = journal.strategy_health.all().get(strategy)
    if health is None or health.condition is Condition.SOUND:
        raise _not_held(strategy)
    with journal.tx("strategy released"):
        journal.strategy_health.forget(strategy)
    return {"strategy": strategy, "released": True}


def _not_held(strategy: str) -> UsageError:
    return UsageError(
        f"the strategy {strategy!r} is not in quarantine",
        "Those in quarantine are shown by `journeyman status`.",
    )


def health_of_strategies(journal: Journal, now: datetime) -> dict[str, JSON]:
    """Give, by name, each strategy that is in quarantine or on trial after it.

    Each has `condition` (resting, on trial or misconfigured), `problem`, `fix`,
    `task_id`, `errors` (a number) and `retry_in` (seconds; None: only a change helps).
    """
    ill: dict[str, JSON] = {}
    for name, health in journal.strategy_health.all().items():
        if health.condition is Condition.SOUND:
            continue
        is_over = is_on_trial(health, now.timestamp())
        rest = 0.0 if is_over else health.rests_until - now.timestamp()
        is_resting = health.condition is Condition.RESTING
        ill[name] = {
            "condition": "on trial" if is_over else str(health.condition),
            "problem": health.problem,
            "fix": health.fix,
            "task_id": health.task_id,
            "errors": len(health.errors),
            "retry_in": round(rest) if is_resting else None,
        }
    return ill
