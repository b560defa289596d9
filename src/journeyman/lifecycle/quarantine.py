"""The quarantine: a circuit breaker for each strategy.

Too many errors put a strategy into quarantine: it is given no work (the breaker is
open). When the quarantine period is over, the breaker is half-open: one task at a time
is a trial run. Its success ends the quarantine; another error begins a longer one. A
strategy that reports that it cannot work stays here until its file or its settings
change. All of this outlives a restart, and ends when the file or the settings change,
or when the owner releases the strategy.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

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
class QuarantineRule:
    """The owner's rule. All times are in seconds."""

    errors: int
    """After this many within the window the strategy is quarantined."""
    window_seconds: float
    initial_seconds: float
    max_seconds: float
    """After a failed trial run the next period is twice as long, up to this."""

    def after_error(self, health: Health, fault: Fault) -> Health:
        """Count an error of a strategy."""
        counted = replace(
            health,
            errors=self._recent(health.errors, fault.at),
            problem=fault.problem,
            fix=fault.fix,
            task_id=fault.task_id,
        )
        match health.condition:
            case Condition.MISCONFIGURED:
                return counted
            case Condition.QUARANTINED if is_quarantined(health, fault.at):
                # It was at work already when its quarantine began.
                return counted
            case Condition.QUARANTINED:
                longer = min(2 * health.quarantine_seconds, self.max_seconds)
                return _quarantined(counted, fault.at, longer)
            case Condition.SOUND if len(counted.errors) >= self.errors:
                return _quarantined(counted, fault.at, self.initial_seconds)
            case Condition.SOUND:
                return counted

    def _recent(self, errors: tuple[float, ...], now: float) -> tuple[float, ...]:
        # One from the future was written before the clock was set back.
        kept = [at for at in errors if now - self.window_seconds < at <= now]
        return (*kept, now)[-self.errors :]


def is_quarantined(health: Health, now: float) -> bool:
    """Return whether a strategy may be given no work at all.

    A quarantine that begins in the future was written before the clock was set back,
    and counts as over; see docs/decisions/0023.
    """
    if health.condition is Condition.QUARANTINED and health.since > now:
        return False
    return now < health.quarantined_until


def is_half_open(health: Health, now: float) -> bool:
    """Return whether the period is over, and a trial run is due."""
    is_over = not is_quarantined(health, now)
    return health.condition is Condition.QUARANTINED and is_over


def _quarantined(health: Health, now: float, seconds: float) -> Health:
    return replace(
        health,
        condition=Condition.QUARANTINED,
        since=now,
        quarantine_seconds=seconds,
    )


TRIAL_GOES_ON = frozenset(
    {TaskState.WANTED, TaskState.CLAIMING, TaskState.CLAIMED, TaskState.EXECUTING}
)
"""A trial run is not decided while its task is in one of these states."""

NOBODY: Mapping[str, str] = {}


@dataclass(kw_only=True, eq=False)
class Quarantine:
    """Knows the health of each strategy, in memory as in the journal."""

    journal: Journal
    rule: QuarantineRule
    clock: Clock
    log: Log
    _healths: dict[str, Health] = field(init=False)
    """What earlier runs left, and what this one has learned."""
    _fingerprints: Mapping[str, str] = field(init=False, default_factory=dict)
    _trials: dict[str, TaskId] = field(init=False, default_factory=dict)
    _listeners: list[Callable[[str], None]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._healths = self.journal.strategy_health.all()

    def use(self, fingerprints: Mapping[str, str]) -> None:
        """Watch these strategies from now on, given as `fingerprint` by name.

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
            self._release(strategy, "its file or its settings have changed")
        now = self._now()
        for name, health in self._healths.items():
            if name in fingerprints and is_quarantined(health, now):
                self.report(name)

    def on_release(self, listener: Callable[[str], None]) -> None:
        """Call this, inside the transaction, when a strategy may work again."""
        self._listeners.append(listener)

    # -- who may work -----------------------------------------------------------

    def obstacles(self) -> Mapping[str, str]:
        """Return who may begin no further task now, and why, by name."""
        if not self._healths:
            return NOBODY
        now = self._now()
        reasons = {
            name: self._obstacle(health, now) for name, health in self._healths.items()
        }
        return {name: reason for name, reason in reasons.items() if reason}

    def may_begin(self, strategy: str, task_id: TaskId) -> bool:
        """Return whether a strategy may do this task, which may be its trial run."""
        health = self._healths.get(strategy)
        if health is None:
            return True
        now = self._now()
        if not is_half_open(health, now):
            return not is_quarantined(health, now)
        if self._trial_of(strategy) not in (None, task_id):
            return False
        if self._trials.get(strategy) != task_id:
            self._trials[strategy] = task_id
            self.log.emit(events.TRIAL_RUN, strategy=strategy, task_id=task_id)
        return True

    def contains(self, strategy: str) -> bool:
        """Return whether a strategy is quarantined, or busy with its trial run."""
        return strategy in self.obstacles()

    # -- what they did, noted inside a transaction ------------------------------

    def count_error(
        self, strategy: str, problem: str, task_id: TaskId | None = None
    ) -> None:
        """Count an error or a time-out; too many, and the strategy is quarantined."""
        before = self._health(strategy)
        fault = Fault(at=self._now(), problem=problem, task_id=task_id)
        self._keep(self.rule.after_error(before, fault))
        self.end_trial(strategy)
        if self._healths[strategy].since != before.since:
            self.report(strategy)

    def count_success(self, strategy: str) -> None:
        """Release a strategy that succeeded in its trial run.

        Errors of the window still count: one success among many errors proves little.
        """
        health = self._healths.get(strategy)
        if health is not None and is_half_open(health, self._now()):
            self._forget(strategy)
            self._report_release(strategy, "it has done a task")

    def mark_misconfigured(
        self, strategy: str, problem: str, fix: str, task_id: TaskId | None = None
    ) -> None:
        """Give a strategy no work until its file or its settings change."""
        self._keep(
            replace(
                self._health(strategy),
                condition=Condition.MISCONFIGURED,
                since=self._now(),
                problem=problem,
                fix=fix,
                task_id=task_id,
            )
        )
        self.end_trial(strategy)

    def end_trial(self, strategy: str) -> None:
        """Make another task the trial run: this one has shown nothing."""
        self._trials.pop(strategy, None)

    def report(self, strategy: str) -> None:
        """Log why a strategy is given no work, and what would help."""
        health = self._healths[strategy]
        left = health.quarantined_until - self._now()
        self.log.emit(
            events.QUARANTINED,
            strategy=strategy,
            problem=health.problem,
            fix=health.fix,
            task_id=health.task_id,
            errors=len(health.errors),
            retry_in=round(left) if left < float("inf") else None,
        )

    def release(self, strategy: str) -> bool:
        """Release a strategy at its owner's request; False: it was not quarantined."""
        health = self._healths.get(strategy)
        if health is None or health.condition is Condition.SOUND:
            return False
        self._release(strategy, "its owner released it")
        return True

    # -- keeping and reporting ----------------------------------------------------

    def _release(self, strategy: str, reason: str) -> None:
        was_sound = self._healths[strategy].condition is Condition.SOUND
        with self.journal.tx("strategy released"):
            self._forget(strategy)
        if not was_sound:
            self._report_release(strategy, reason)

    def _obstacle(self, health: Health, now: float) -> str:
        if health.condition is Condition.MISCONFIGURED:
            return "cannot work as it is set up"
        if is_quarantined(health, now):
            return "is in quarantine after errors"
        if is_half_open(health, now) and self._trial_of(health.strategy) is not None:
            return "is busy with its trial run"
        return ""

    def _trial_of(self, strategy: str) -> TaskId | None:
        """Return the task of its trial run, if that still goes on."""
        task_id = self._trials.get(strategy)
        known = self.journal.tasks.last_decision(task_id) if task_id else None
        return task_id if known and known[0] in TRIAL_GOES_ON else None

    def _health(self, strategy: str) -> Health:
        fingerprint = self._fingerprints.get(strategy, "")
        sound = Health(strategy=strategy, fingerprint=fingerprint)
        return self._healths.get(strategy, sound)

    def _keep(self, health: Health) -> None:
        self._healths[health.strategy] = health
        self.journal.strategy_health.put(health)

    def _forget(self, strategy: str) -> None:
        del self._healths[strategy]
        self.journal.strategy_health.forget(strategy)
        self.end_trial(strategy)
        for listener in self._listeners:
            listener(strategy)

    def _report_release(self, strategy: str, reason: str) -> None:
        self.log.emit(events.RELEASED, strategy=strategy, reason=reason)

    def _now(self) -> float:
        return self.clock.now().timestamp()
