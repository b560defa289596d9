"""When a strategy that makes errors must rest, and when it may work again.

Pure arithmetic on `Health`: who keeps it, and who is told, is the quarantine's part.
"""

from dataclasses import dataclass, replace

from journeyman.domain import TaskId
from journeyman.journal import Condition, Health


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """What went wrong, and when."""

    at: float
    """Seconds since 1970."""
    problem: str
    fix: str = ""
    task_id: TaskId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Breaker:
    """The owner's rule. All times are in seconds."""

    errors: int
    """So many within the window, and the strategy rests."""
    window_seconds: float
    first_rest_seconds: float
    longest_rest_seconds: float
    """A rest after a failed try is twice as long as the one before, up to this."""

    def after_error(self, health: Health, fault: Fault) -> Health:
        """Count an error of a strategy."""
        told = replace(
            health,
            errors=self._recent(health.errors, fault.at),
            problem=fault.problem,
            fix=fault.fix,
            task_id=fault.task_id,
        )
        match health.condition:
            case Condition.MISCONFIGURED:
                return told
            case Condition.RESTING if is_resting(health, fault.at):
                # It was at work already when its rest began.
                return told
            case Condition.RESTING:
                longer = min(2 * health.rest_seconds, self.longest_rest_seconds)
                return _at_rest(told, fault.at, longer)
            case Condition.SOUND if len(told.errors) >= self.errors:
                return _at_rest(told, fault.at, self.first_rest_seconds)
            case Condition.SOUND:
                return told

    def _recent(self, errors: tuple[float, ...], now: float) -> tuple[float, ...]:
        # One from the future was written before the clock was set back.
        kept = [at for at in errors if now - self.window_seconds < at <= now]
        return (*kept, now)[-self.errors :]


def after_success(health: Health, now: float) -> Health:
    """Let a strategy that did a task work without limits, if its rest was over.

    Errors of the window go on to count: one success among many errors is no cure.
    """
    if health.condition is not Condition.RESTING or is_resting(health, now):
        return health
    return Health(strategy=health.strategy, fingerprint=health.fingerprint, since=now)


def misconfigured(health: Health, fault: Fault) -> Health:
    """Let a strategy rest until its file or its settings change."""
    return replace(
        health,
        condition=Condition.MISCONFIGURED,
        since=fault.at,
        problem=fault.problem,
        fix=fault.fix,
        task_id=fault.task_id,
    )


def is_resting(health: Health, now: float) -> bool:
    """Tell whether a strategy may be given no work at all.

    A rest that begins in the future was written before the clock was set back, and
    counts as over; see docs/decisions/0023.
    """
    if health.condition is Condition.RESTING and health.since > now:
        return False
    return now < health.rests_until


def is_on_trial(health: Health, now: float) -> bool:
    """Tell whether its rest is over, and it is to be tried with one task."""
    return health.condition is Condition.RESTING and not is_resting(health, now)


def _at_rest(health: Health, now: float, seconds: float) -> Health:
    return replace(health, condition=Condition.RESTING, since=now, rest_seconds=seconds)
