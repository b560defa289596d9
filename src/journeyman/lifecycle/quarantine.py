"""The quarantine: a circuit breaker for each strategy, and each kind of its work.

Too many errors put a strategy into quarantine: it is given no work (the breaker is
open). When the quarantine period is over, the breaker is half-open: one task at a time
is a trial run. Its success ends the quarantine; another error begins a longer one. A
strategy that reports that it cannot work stays here until its file or its settings
change. All of this outlives a restart, and ends when the file or the settings change,
or when the owner releases the strategy.

Nobody works in vain: each kind of a strategy's work begins with a small batch. A window
of tasks that may be undecided at once opens as TCP's slow start opens one (RFC 5681):
by one with each result that brought more than it cost. When the last results together
brought nothing, net of their cost, the breaker opens for that kind of work alone.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from journeyman.domain.clock import Clock
from journeyman.domain.credits import MILLIONTHS
from journeyman.domain.tasks import IN_FLIGHT, Task, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.owner_pauses import ALL_WORK, OwnerPause
from journeyman.journal.strategy_health import (
    ONLY_A_CHANGE_HELPS,
    Condition,
    Health,
    Part,
)
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle import events
from journeyman.observability.events import Log

WIDE = 32
"""A window of so many bounds nothing any more."""
MOST_KINDS = 10
"""Kinds of work that are told apart for one strategy, so that a network that gives each
task a kind of its own cannot have a whole market done in vain."""
OTHER_KINDS = "*"
NO_BLOCKING = "run it in a process (strategies.runners), or let nothing in it block"


@dataclass(frozen=True, kw_only=True, slots=True)
class StrategyFault:
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
    batch: int = 4
    """So many tasks of one kind may be undecided at once in the beginning."""

    def after_error(self, health: Health, fault: StrategyFault) -> Health:
        """Count an error of a strategy."""
        counted = replace(
            health,
            errors=self._recent(health.errors, fault.at),
            problem=fault.problem,
            fix=fault.fix,
            task_id=fault.task_id,
        )
        match health.condition:
            case Condition.MISCONFIGURED | Condition.STUCK:
                return counted
            case Condition.QUARANTINED if is_quarantined(health, fault.at):
                # It was at work already when its quarantine began.
                return counted
            case Condition.SOUND if len(counted.errors) < self.errors:
                return counted
            case _:
                return self._quarantined(counted, fault.at)

    def after_result(self, health: Health, gain: float, fault: StrategyFault) -> Health:
        """Count what a result brought, in credits and net of its cost.

        `fault` says what there is to say if that was nothing.
        """
        gains = (*health.gains, gain)[-2 * self.errors :]
        judged = replace(health, gains=gains)
        is_judged, is_worth_it = len(gains) >= self.errors, sum(gains) > 0
        if gain > 0:
            # Another failure soon goes on where the pauses have got to.
            paused = 0.0 if is_judged and is_worth_it else health.quarantine_seconds
            return replace(
                judged,
                condition=Condition.SOUND,
                quarantine_seconds=paused,
                window=min(health.window + 1, WIDE),
            )
        told = replace(judged, problem=fault.problem, task_id=fault.task_id)
        is_sound = health.condition is Condition.SOUND
        is_in_vain = is_sound and is_judged and not is_worth_it
        if is_in_vain or is_half_open(health, fault.at):
            return replace(self._quarantined(told, fault.at), window=1)
        return told

    def _quarantined(self, health: Health, now: float) -> Health:
        """Return it in quarantine, for twice as long as the last time."""
        longer = min(2 * health.quarantine_seconds, self.max_seconds)
        return replace(
            health,
            condition=Condition.QUARANTINED,
            since=now,
            quarantine_seconds=longer or self.initial_seconds,
        )

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
    is_barred = health.condition is Condition.QUARANTINED
    return is_barred and not is_quarantined(health, now)


DISABLED = "is disabled by its owner"
TRIAL_GOES_ON = frozenset(
    {TaskState.WANTED, TaskState.CLAIMING, TaskState.CLAIMED, TaskState.EXECUTING}
)
"""A trial run is not decided while its task is in one of these states."""
UNDECIDED = IN_FLIGHT | {TaskState.WANTED}
"""The same, where the network decides about the result."""


@dataclass(kw_only=True, eq=False)
class Quarantine:
    """Knows the health of each strategy, in memory as in the journal."""

    journal: Journal
    rule: QuarantineRule
    clock: Clock
    log: Log
    _known: dict[Part, Health] | None = field(init=False, default=None)
    _ill: list[Health] | None = field(init=False, default=None)
    """Of them, those that are not sound; None until somebody asks."""
    _fingerprints: Mapping[str, str] = field(init=False, default_factory=dict)
    _trials: dict[Part, TaskId] = field(init=False, default_factory=dict)
    _listeners: list[Callable[[str], None]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.journal.database.after_rollback(self._reread)

    @property
    def _healths(self) -> dict[Part, Health]:
        """What earlier runs left, and what this one has learned."""
        if self._known is None:
            self._known = self.journal.strategy_health.all()
        return self._known

    def _reread(self) -> None:
        """Read again what the journal knows, as a step was undone."""
        self._known = self._ill = None

    def use(self, fingerprints: Mapping[str, str]) -> None:
        """Watch these strategies from now on, given as `fingerprint` by name.

        What is known of another file or of other settings is forgotten.
        """
        self._fingerprints = fingerprints
        changed = [
            health.part
            for health in self._healths.values()
            if fingerprints.get(health.strategy, health.fingerprint)
            != health.fingerprint
        ]
        self._release(changed, "its file or its settings have changed")
        now = self._now()
        for part, health in self._healths.items():
            if health.strategy in fingerprints and is_quarantined(health, now):
                self.report(*part)

    def on_release(self, listener: Callable[[str], None]) -> None:
        """Call this, inside the transaction, when a strategy may work again."""
        self._listeners.append(listener)

    # -- who may work -----------------------------------------------------------

    @property
    def obstacles(self) -> Mapping[str, str]:
        """What may not be begun now, and why: strategies, and kinds of their work."""
        found = {health.label: reason for health, reason in self._obstacles()}
        return {**found, **dict.fromkeys(self.disabled(), DISABLED)}

    def disabled(self) -> Mapping[str, OwnerPause]:
        """Return the strategies that their owner disabled, by name.

        They end what they have claimed, and get nothing new.
        """
        pauses = self.journal.owner_pauses
        if pauses.are_none:
            return {}  # Asked about each task of a listing.
        current = pauses.current(self.clock.now())
        return {name: one for name, one in current.items() if name != ALL_WORK}

    def obstacles_to(self, kind: str) -> Mapping[str, str]:
        """Return who may begin no task of this kind now, and why, by name."""
        found = {
            health.strategy: reason
            for health, reason in self._obstacles()
            if health.part in self._parts(health.strategy, kind)
        }
        return {**found, **dict.fromkeys(self.disabled(), DISABLED)}

    def cannot_work(self) -> Collection[str]:
        """Return the names of those that only a change can help."""
        return [
            health.strategy
            for health in self._unsound()
            if health.condition in ONLY_A_CHANGE_HELPS
        ]

    def may_call(self, strategy: str, fingerprint: str | None = None) -> bool:
        """Return whether anything of a strategy may be called at all.

        `fingerprint` is that of a version which is not active yet.
        """
        health = self._healths.get((strategy, ""))
        if health is None or health.condition is not Condition.STUCK:
            return True
        return fingerprint not in (None, health.fingerprint)

    def may_begin(self, strategy: str, task: Task) -> bool:
        """Return whether a strategy may do this task, which may be its trial run."""
        parts = self._parts(strategy, task.kind)
        is_free = all(self._is_free(part, task.id) for part in parts)
        for part in parts if is_free else ():
            self._begin_trial(part, task.id)
        return is_free

    def contains(self, strategy: str) -> bool:
        """Return whether a strategy is quarantined, or busy with its trial run."""
        return strategy in self.obstacles

    def delays(self, strategy: str, kind: str) -> bool:
        """Return whether a quarantine or a trial run keeps it from tasks of a kind."""
        return strategy in self.obstacles_to(kind)

    def admission(self, running: Collection[TaskId]) -> Callable[[str, str], bool]:
        """Return what lets tasks of a strategy and a kind in, one with each call.

        It does so as far as their windows go; `running` were let in before, whatever
        their states say.
        """
        undecided: Counter[Part] | None = None

        def admits(strategy: str, kind: str) -> bool:
            nonlocal undecided
            part = self._part(strategy, kind)
            window = self._health(part).window
            if window >= WIDE:
                return True
            if undecided is None:
                undecided = self._undecided(running)
            undecided[part] += 1
            return undecided[part] <= window

        return admits

    def _undecided(self, running: Collection[TaskId]) -> Counter[Part]:
        counts: Counter[Part] = Counter()
        found = self.journal.tasks.undecided_by_kind(running)
        for (strategy, kind), count in found.items():
            counts[self._part(strategy, kind)] += count
        return counts

    # -- what they did, noted inside a transaction ------------------------------

    def count_error(
        self, strategy: str, problem: str, task_id: TaskId | None = None
    ) -> None:
        """Count an error or a time-out; too many, and the strategy is quarantined."""
        fault = StrategyFault(at=self._now(), problem=problem, task_id=task_id)
        self._judge(self.rule.after_error(self._health((strategy, "")), fault))
        self.end_trial(strategy)

    def count_success(self, strategy: str) -> None:
        """Release a strategy that succeeded in its trial run.

        Errors of the window still count: one success among many errors proves little.
        """
        part = strategy, ""
        health = self._healths.get(part)
        if health is not None and is_half_open(health, self._now()):
            self._forget(part)
            self._report_release(health, "it has done a task")

    def count_result(self, record: TaskRecord, credits_: int, problem: str) -> None:
        """Count what a result brought, now that it is decided; `problem` if nothing."""
        health = self._health(self._part(record.strategy, record.task.kind))
        gain = credits_ - self._cost_of(record)
        if gain > 0 and health.window >= WIDE and min(health.gains, default=0.0) > 0:
            return  # All is as well as can be, and nothing need be written.
        fault = StrategyFault(
            at=self._now(),
            problem=_in_vain(health, gain, problem),
            task_id=record.task_id,
        )
        after = self.rule.after_result(health, gain, fault)
        self._judge(after)
        if health.condition is not Condition.SOUND is after.condition:
            self._notify(record.strategy)
            self._report_release(health, "its work was accepted")

    def count_cost(self, record: TaskRecord, problem: str) -> None:
        """Count a task that came to nothing, if that has cost anything."""
        if self._cost_of(record):
            self.count_result(record, 0, problem)

    def mark_misconfigured(
        self, strategy: str, problem: str, fix: str, task_id: TaskId | None = None
    ) -> None:
        """Bar a strategy from work until its file or its settings change."""
        self._bar(strategy, Condition.MISCONFIGURED, problem, fix, task_id)

    def mark_stuck(self, strategy: str, problem: str) -> None:
        """Call nothing of a strategy until its file or its settings change."""
        self._bar(strategy, Condition.STUCK, problem, NO_BLOCKING)

    def _bar(
        self,
        strategy: str,
        condition: Condition,
        problem: str,
        fix: str,
        task_id: TaskId | None = None,
    ) -> None:
        self._keep(
            replace(
                self._health((strategy, "")),
                condition=condition,
                since=self._now(),
                problem=problem,
                fix=fix,
                task_id=task_id,
            )
        )
        self.end_trial(strategy)

    def end_trial(self, strategy: str) -> None:
        """Make another task the trial run: this one has shown nothing."""
        self._trials.pop((strategy, ""), None)

    def report(self, strategy: str, kind: str = "") -> None:
        """Log why there is no work for it, of this kind or any, and what would help."""
        health = self._healths[strategy, kind]
        left = health.quarantined_until - self._now()
        self.log.emit(
            events.QUARANTINED,
            strategy=health.strategy,
            kind=health.kind,
            problem=health.problem,
            fix=health.fix,
            task_id=health.task_id,
            errors=len(health.errors),
            retry_in=round(left) if left < float("inf") else None,
        )

    def release(self, strategy: str) -> bool:
        """Release a strategy at its owner's request; False: it was not quarantined."""
        parts = [one.part for one in self._unsound() if one.strategy == strategy]
        self._release(parts, "its owner released it")
        return bool(parts)

    # -- trial runs ---------------------------------------------------------------

    def _is_free(self, part: Part, task_id: TaskId) -> bool:
        health = self._healths.get(part)
        if health is None or health.condition is Condition.SOUND:
            return True
        now = self._now()
        if not is_half_open(health, now):
            return not is_quarantined(health, now)
        return self._trial_of(part) in (None, task_id)

    def _begin_trial(self, part: Part, task_id: TaskId) -> None:
        health = self._healths.get(part)
        if health is None or health.condition is Condition.SOUND:
            return
        if not is_half_open(health, self._now()):
            return
        if self._trials.get(part) != task_id:
            self._trials[part] = task_id
            strategy, kind = part
            event = events.TRIAL_RUN
            self.log.emit(event, strategy=strategy, kind=kind, task_id=task_id)

    def _trial_of(self, part: Part) -> TaskId | None:
        """Return the task of its trial run, if that still goes on."""
        task_id = self._trials.get(part)
        known = self.journal.tasks.last_decision(task_id) if task_id else None
        goes_on = UNDECIDED if part[1] else TRIAL_GOES_ON
        return task_id if known and known[0] in goes_on else None

    # -- keeping and reporting ----------------------------------------------------

    def _obstacles(self) -> list[tuple[Health, str]]:
        unsound = self._unsound()
        if not unsound:
            return []  # Asked thrice about each task of a listing.
        now = self._now()
        found = [(health, self._obstacle(health, now)) for health in unsound]
        return [(health, reason) for health, reason in found if reason]

    def _unsound(self) -> list[Health]:
        if self._ill is None:
            known = self._healths.values()
            self._ill = [h for h in known if h.condition is not Condition.SOUND]
        return self._ill

    def _obstacle(self, health: Health, now: float) -> str:
        if health.condition in ONLY_A_CHANGE_HELPS:
            return "cannot work as it is set up"
        if is_quarantined(health, now):
            if health.kind:
                return f"its work of kind {health.kind!r} has brought nothing"
            return "is in quarantine after errors"
        if is_half_open(health, now) and self._trial_of(health.part) is not None:
            return "is busy with its trial run"
        return ""

    def _parts(self, strategy: str, kind: str) -> tuple[Part, Part]:
        """Return what must be sound for a task: a strategy, and its work of a kind."""
        return (strategy, ""), self._part(strategy, kind)

    def _part(self, strategy: str, kind: str) -> Part:
        """Return what the work on a task of this kind counts for."""
        if not kind or (strategy, kind) in self._healths:
            return strategy, kind or OTHER_KINDS
        told_apart = sum(one.strategy == strategy for one in self._healths.values())
        return strategy, kind if told_apart < MOST_KINDS else OTHER_KINDS

    def _health(self, part: Part) -> Health:
        known = self._healths.get(part)
        if known is not None:
            return known
        strategy, kind = part
        return Health(
            strategy=strategy,
            kind=kind,
            fingerprint=self._fingerprints.get(strategy, ""),
            window=self.rule.batch if kind else 0,
        )

    def _cost_of(self, record: TaskRecord) -> float:
        return self.journal.ledger.cost_of(record.task_id) / MILLIONTHS

    def _judge(self, after: Health) -> None:
        """Keep what is known now; report a quarantine that has begun."""
        before = self._health(after.part)
        self._keep(after)
        if after.since != before.since:
            self.report(*after.part)

    def _keep(self, health: Health) -> None:
        self._healths[health.part], self._ill = health, None
        self.journal.strategy_health.put(health)

    def _release(self, parts: Collection[Part], reason: str) -> None:
        if not parts:
            return
        healths = [self._healths[part] for part in parts]
        with self.journal.tx("strategy released"):
            for part in parts:
                self._forget(part)
        for health in healths:
            if health.condition is not Condition.SOUND:
                self._report_release(health, reason)

    def _forget(self, part: Part) -> None:
        del self._healths[part]
        self._ill = None
        self._trials.pop(part, None)
        self.journal.strategy_health.forget(part)
        self._notify(part[0])

    def _notify(self, strategy: str) -> None:
        for listener in self._listeners:
            listener(strategy)

    def _report_release(self, health: Health, reason: str) -> None:
        strategy, kind = health.part
        self.log.emit(events.RELEASED, strategy=strategy, kind=kind, reason=reason)

    def _now(self) -> float:
        return self.clock.now().timestamp()


def _in_vain(health: Health, gain: float, problem: str) -> str:
    """Return in words that results brought nothing; `problem` is about the last one."""
    gains = (*health.gains, gain)
    return (
        f"its last {len(gains)} results of kind {health.kind!r} brought "
        f"{sum(gains):g} credits, net of their cost; last: {problem}"
    )
