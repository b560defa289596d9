"""The quarantine: strategies that are given no work, or one task to show that they can.

A strategy rests after too many errors (`Breaker`); when its rest is over it is on
trial: it gets one task at a time, until one is done. One that says that it cannot work
stays here until its file or its settings change. Both outlive a restart, and end when
the file or the settings change, or when the owner releases the strategy.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from journeyman.domain.clock import Clock
from journeyman.domain.tasks import TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.strategy_health import Condition, Health
from journeyman.lifecycle import events
from journeyman.observability.events import Log


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """What went wrong, and when."""

    at: float
    """Seconds since 1970."""
    problem: str
    fix: str = ""
    task_id: TaskId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StrategyBreaker:
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


UNDER_WAY = frozenset(
    {TaskState.WANTED, TaskState.CLAIMING, TaskState.CLAIMED, TaskState.EXECUTING}
)
"""A trial is still to be decided while its task is in one of these."""

NOBODY: Mapping[str, str] = MappingProxyType({})


class Quarantine:
    """Keeps how strategies fare, in memory as in the journal."""

    def __init__(
        self, *, journal: Journal, breaker: StrategyBreaker, clock: Clock, log: Log
    ) -> None:
        """Begin with what earlier runs have left."""
        self._journal = journal
        self._breaker = breaker
        self._clock = clock
        self._log = log
        self._healths = journal.strategy_health.all()
        self._fingerprints: Mapping[str, str] = {}
        self._trials: dict[str, TaskId] = {}
        self._listeners: list[Callable[[str], None]] = []

    def enforce(self, fingerprints: Mapping[str, str]) -> None:
        """Judge by these strategies from now on, as `fingerprint` by name.

        What is known of another file or of other settings is forgotten.
        """
        self._fingerprints = fingerprints
        changed = [
            health.strategy
            for health in self._healths.values()
            if fingerprints.get(health.strategy, health.fingerprint)
            != health.fingerprint
        ]
        for strategy in changed:
            self._let_go(strategy, "its file or its settings have changed")
        now = self._now()
        for name, health in self._healths.items():
            if name in fingerprints and is_resting(health, now):
                self._tell_of_rest(health)

    def on_release(self, listener: Callable[[str], None]) -> None:
        """Call this, inside the transaction, when a strategy may work again."""
        self._listeners.append(listener)

    # -- who may work -----------------------------------------------------------

    def obstacles(self) -> Mapping[str, str]:
        """Say who may begin no further task now, and why, by name."""
        if not self._healths:
            return NOBODY
        now = self._now()
        reasons = (
            (name, self._obstacle(health, now))
            for name, health in self._healths.items()
        )
        return {name: reason for name, reason in reasons if reason}

    def may_begin(self, strategy: str, task_id: TaskId) -> bool:
        """Tell whether a strategy may do this task; on trial, the task is its trial."""
        health = self._healths.get(strategy)
        if health is None:
            return True
        now = self._now()
        if is_on_trial(health, now):
            if self._trial_of(strategy) not in (None, task_id):
                return False
            if self._trials.get(strategy) != task_id:
                self._trials[strategy] = task_id
                self._log.emit(events.ON_TRIAL, strategy=strategy, task_id=task_id)
            return True
        return not is_resting(health, now)

    def holds(self, strategy: str) -> bool:
        """Tell whether a strategy rests, or is busy with its trial."""
        return strategy in self.obstacles()

    # -- what they did, told inside a transaction -------------------------------

    def count_error(
        self, strategy: str, problem: str, task_id: TaskId | None = None
    ) -> None:
        """Count a crash or a time-out; too many, and the strategy rests."""
        before = self._health(strategy)
        fault = Fault(at=self._now(), problem=problem, task_id=task_id)
        self._keep(self._breaker.after_error(before, fault))
        self.end_trial(strategy)
        if self._healths[strategy].since != before.since:
            self._tell_of_rest(self._healths[strategy])

    def count_success(self, strategy: str) -> None:
        """Let a strategy that did a task on trial work as before."""
        before = self._healths.get(strategy)
        if before is None or after_success(before, self._now()) is before:
            return
        self._forget(strategy)
        self._tell_of_release(strategy, "it has done a task")

    def bar(
        self, strategy: str, problem: str, fix: str, task_id: TaskId | None = None
    ) -> None:
        """Give a strategy no work until its file or its settings change."""
        fault = Fault(at=self._now(), problem=problem, fix=fix, task_id=task_id)
        self._keep(misconfigured(self._health(strategy), fault))
        self.end_trial(strategy)

    def tell(self, strategy: str) -> None:
        """Tell the owner what keeps a strategy from work, and what would help."""
        self._tell_of_rest(self._healths[strategy])

    def end_trial(self, strategy: str) -> None:
        """Let another task be the trial: this one has shown nothing."""
        self._trials.pop(strategy, None)

    # -- the owner ----------------------------------------------------------------

    def release(self, strategy: str) -> bool:
        """Let a strategy work again, on the owner's word; False: it was not held."""
        health = self._healths.get(strategy)
        if health is None or health.condition is Condition.SOUND:
            return False
        self._let_go(strategy, "its owner released it")
        return True

    def _let_go(self, strategy: str, reason: str) -> None:
        was_held = self._healths[strategy].condition is not Condition.SOUND
        with self._journal.tx("strategy released"):
            self._forget(strategy)
        if was_held:
            self._tell_of_release(strategy, reason)

    # -- keeping and telling ------------------------------------------------------

    def _obstacle(self, health: Health, now: float) -> str:
        if health.condition is Condition.MISCONFIGURED:
            return "cannot work as it is set up"
        if is_resting(health, now):
            return "rests after errors"
        if is_on_trial(health, now) and self._trial_of(health.strategy) is not None:
            return "is tried with one task after its rest"
        return ""

    def _trial_of(self, strategy: str) -> TaskId | None:
        """Give the task that is its trial; one that came to nothing is none."""
        task_id = self._trials.get(strategy)
        known = self._journal.tasks.sighting(task_id) if task_id else None
        return task_id if known and known[0] in UNDER_WAY else None

    def _health(self, strategy: str) -> Health:
        fingerprint = self._fingerprints.get(strategy, "")
        sound = Health(strategy=strategy, fingerprint=fingerprint)
        return self._healths.get(strategy, sound)

    def _keep(self, health: Health) -> None:
        self._healths[health.strategy] = health
        self._journal.strategy_health.put(health)

    def _forget(self, strategy: str) -> None:
        del self._healths[strategy]
        self._journal.strategy_health.forget(strategy)
        self.end_trial(strategy)
        for listener in self._listeners:
            listener(strategy)

    def _tell_of_rest(self, health: Health) -> None:
        rest = health.rests_until - self._now()
        self._log.emit(
            events.QUARANTINED,
            strategy=health.strategy,
            problem=health.problem,
            fix=health.fix,
            task_id=health.task_id,
            errors=len(health.errors),
            retry_in=round(rest) if rest < float("inf") else None,
        )

    def _tell_of_release(self, strategy: str, reason: str) -> None:
        self._log.emit(events.RELEASED, strategy=strategy, reason=reason)

    def _now(self) -> float:
        return self._clock.now().timestamp()
