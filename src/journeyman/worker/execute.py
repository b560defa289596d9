"""Execute a claimed task: run its strategy once, and commit how the run ended."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace

from journeyman.domain.clock import Clock
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import (
    DEADLINE_PASSED,
    Result,
    TaskId,
    TaskState,
    has_passed,
    seconds_left,
)
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle.active import ActiveStrategies
from journeyman.lifecycle.context import StrategyContexts, StrategyMemory
from journeyman.lifecycle.quarantine import Quarantine
from journeyman.observability.events import Event, Log
from journeyman.strategies.api import Decline, Misconfigured, RetryLater
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import RunOutcome, StrategyError, TimedOut
from journeyman.strategies.running.leaks import Leak, LeakScan
from journeyman.strategies.running.runner import Runner
from journeyman.worker import events
from journeyman.worker.intents import about

Note = Callable[[], None]
"""Records what an outcome says about its strategy, inside the task's transaction."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecutionLimits:
    """How much a claimed task may cost before it is given up."""

    timeout_seconds: float
    """The longest that one run may take, where its strategy sets no time."""
    max_attempts: int
    """The most runs that one task is given."""
    max_wait_seconds: float
    """The longest that a task waits for a strategy that is in quarantine."""


@dataclass(kw_only=True, eq=False)
class Execute:
    """CLAIMED or EXECUTING, to SUBMITTING, CLAIMED, DECLINED or FAILED.

    Each outcome is one commit, together with the strategy's state and health.
    """

    active: ActiveStrategies
    quarantine: Quarantine
    memory: StrategyMemory
    contexts: StrategyContexts
    runner: Runner
    leaks: LeakScan
    journal: Journal
    limits: ExecutionLimits
    retry: RetryPolicy
    clock: Clock
    log: Log
    _waiting: dict[TaskId, str] = field(init=False, default_factory=dict)
    """Tasks that wait for their strategy, and its name."""

    def __post_init__(self) -> None:
        self.quarantine.on_release(self._wake)

    async def run(self, record: TaskRecord) -> TaskRecord:
        """Run the strategy once, no longer than until the task's deadline."""
        self._waiting.pop(record.task_id, None)
        if has_passed(record.task, self.clock):
            return await self._fail(record, events.EXPIRED, error=DEADLINE_PASSED)
        is_begun = record.state is TaskState.EXECUTING
        if not is_begun and record.executions >= self.limits.max_attempts:
            error = f"{record.executions} executions did not finish it"
            return await self._fail(record, events.FAILED, error=error)
        loaded = await self.active.find_for(record)
        if loaded is not None:
            return await self._run_strategy(await self._begin(record, loaded), loaded)
        absence = self.active.absence(record)
        if self._may_wait(record):
            return await self._wait(record, absence)
        return await self._fail(record, events.FAILED, error=absence)

    async def _begin(self, record: TaskRecord, loaded: LoadedStrategy) -> TaskRecord:
        is_begun = record.state is TaskState.EXECUTING

        def write() -> TaskRecord:
            named = self.journal.tasks.enrich(record, record.task, loaded.name)
            if is_begun:
                return named
            return self.journal.tasks.move(named, TaskState.EXECUTING)

        if not is_begun or loaded.name != record.strategy:
            record = await self.journal.commit(write)
        self._log(events.EXECUTING, record, execution=record.executions)
        return record

    async def _run_strategy(
        self, record: TaskRecord, loaded: LoadedStrategy
    ) -> TaskRecord:
        context = self.contexts.context(record, self.memory.of(loaded.name))
        with self.active.at_work(loaded):
            began = self.clock.monotonic()
            outcome = await self.runner.run(
                loaded,
                record.task,
                context,
                timeout_seconds=self.limits.timeout_seconds,
                at_most=seconds_left(record.task, self.clock),
            )
            seconds = self.clock.monotonic() - began
        self.contexts.clean_up(record)
        if fault := self.memory.fault(record.strategy):
            outcome = StrategyError(fault)
        is_work = isinstance(outcome, Result | TimedOut)
        if is_work and has_passed(record.task, self.clock):
            return await self._too_late(record)
        if isinstance(outcome, Result):
            if leak := self.leaks.find(outcome, record.task, context.canary):
                return await self._stop_leak(record, leak)
            return await self._result(record, loaded, outcome, seconds)
        return await self._no_result(record, loaded, outcome)

    async def _no_result(
        self, record: TaskRecord, loaded: LoadedStrategy, outcome: RunOutcome
    ) -> TaskRecord:
        match outcome:
            case RetryLater():
                return await self._retry_later(record, outcome)
            case Decline():
                return await self._decline(record, outcome)
            case Misconfigured():
                return await self._misconfigured(record, loaded, outcome)
            case StrategyError():
                return await self._error(record, loaded, outcome)
            case _:
                return await self._error(record, loaded, StrategyError(str(outcome)))

    # -- one method for each way in which a run ends --------------------------------

    async def _result(
        self,
        record: TaskRecord,
        loaded: LoadedStrategy,
        result: Result,
        seconds: float,
    ) -> TaskRecord:
        is_current = self.active.is_current(loaded)

        def write() -> TaskRecord:
            self.memory.save(record.strategy)
            # The result is on disk with this commit, and so is the intent to send it.
            moved = self.journal.tasks.move(
                record,
                TaskState.SUBMITTING,
                through=TaskState.EXECUTED,
                result=result,
                attempts=1,
            )
            if is_current:
                self.quarantine.count_success(loaded.name)
            return moved

        record = await self.journal.commit(write)
        self._log(events.EXECUTED, record, seconds=round(seconds, 3))
        return record

    async def _retry_later(self, record: TaskRecord, later: RetryLater) -> TaskRecord:
        next_at = self.clock.now().timestamp() + later.after
        record = await self._end(record, TaskState.CLAIMED, later.reason, next_at)
        reason, seconds = later.reason, later.after
        self._log(events.RETRY_LATER, record, reason=reason, retry_in=seconds)
        return record

    async def _decline(self, record: TaskRecord, decline: Decline) -> TaskRecord:
        record = await self._end(record, TaskState.DECLINED, str(decline))
        details = {name: str(value) for name, value in decline.details.items()}
        self._log(events.DECLINED, record, reason=decline.reason, details=details)
        return record

    async def _end(
        self, record: TaskRecord, state: TaskState, reason: str, next_at: float = 0.0
    ) -> TaskRecord:
        """Commit an outcome that is neither a result nor an error."""

        def write() -> TaskRecord:
            self.memory.save(record.strategy)
            self.quarantine.end_trial(record.strategy)
            if state is TaskState.DECLINED:
                self.quarantine.count_cost(record, f"declined: {reason}")
            return self.journal.tasks.move(
                record, state, reason=reason, next_at=next_at
            )

        return await self.journal.commit(write)

    async def _misconfigured(
        self, record: TaskRecord, loaded: LoadedStrategy, outcome: Misconfigured
    ) -> TaskRecord:
        problem, fix = outcome.problem, outcome.fix

        def note() -> None:
            if self.active.is_current(loaded):
                self.quarantine.mark_misconfigured(
                    loaded.name, problem, fix, record.task_id
                )

        return await self._fail(
            record, events.MISCONFIGURED, note, problem=problem, fix=fix
        )

    async def _error(
        self, record: TaskRecord, loaded: LoadedStrategy, error: StrategyError
    ) -> TaskRecord:
        """Fail a task by an error of its strategy, which counts against it."""

        def note() -> None:
            # An error of an old generation says nothing about the current one.
            if self.active.is_current(loaded):
                self.quarantine.count_error(loaded.name, str(error), record.task_id)

        return await self._fail(record, events.FAILED, note, **asdict(error))

    async def _too_late(self, record: TaskRecord) -> TaskRecord:
        """Fail a task that was done, or nearly, when its deadline passed."""

        def note() -> None:
            self.quarantine.count_result(record, 0, DEADLINE_PASSED)

        return await self._fail(record, events.EXPIRED, note, error=DEADLINE_PASSED)

    async def _stop_leak(self, record: TaskRecord, leak: Leak) -> TaskRecord:
        """Drop a result with a secret in it; it does not even reach the disk.

        It counts as work in vain of its kind, and not as an error of the strategy: else
        a poster of tasks that coax secrets out of it could stop all its other work.
        """

        def note() -> None:
            self.quarantine.end_trial(record.strategy)
            self.quarantine.count_result(record, 0, str(leak))

        facts = {"error": str(leak), "kind": leak.kind, "where": leak.where}
        return await self._fail(record, events.LEAK_STOPPED, note, **facts)

    async def _fail(
        self, record: TaskRecord, event: Event, note: Note | None = None, **facts: str
    ) -> TaskRecord:
        """End a task as failed; `facts` are the event's, `error` or `problem` first."""
        reason = facts.get("error") or facts.get("problem") or ""

        def write() -> TaskRecord:
            failed = self.journal.tasks.move(record, TaskState.FAILED, reason=reason)
            if note is not None:
                note()
            return failed

        record = await self.journal.commit(write)
        self._log(event, record, **facts)
        return record

    # -- waiting for a strategy that is in quarantine -------------------------------

    def _may_wait(self, record: TaskRecord) -> bool:
        """Return whether waiting may help, and has not been tried for too long."""
        moved_at = self.journal.tasks.history(record.task_id)[-1].at
        waited = (self.clock.now() - moved_at).total_seconds()
        is_in_time = waited < self.limits.max_wait_seconds
        return is_in_time and self.active.is_in_quarantine(record)

    async def _wait(self, record: TaskRecord, reason: str) -> TaskRecord:
        """Keep a claimed task until its strategy, or another one, may do it."""
        self._waiting[record.task_id] = record.strategy
        seconds = self.retry.quarantine_seconds

        def write() -> TaskRecord:
            tasks, next_at = self.journal.tasks, self.clock.now().timestamp() + seconds
            if record.state is TaskState.EXECUTING:
                # It was claimed, and its strategy went into quarantine meanwhile.
                after = TaskState.CLAIMED
                return tasks.move(record, after, reason=reason, next_at=next_at)
            return tasks.postpone(replace(record, reason=reason), next_at)

        waiting = await self.journal.commit(write)
        self._log(events.WAITING, waiting, reason=reason, retry_in=seconds)
        return waiting

    def _wake(self, strategy: str) -> None:
        """Make the tasks of a strategy due at once, inside its release's commit."""
        tasks = self.journal.tasks
        for task_id in [one for one, name in self._waiting.items() if name == strategy]:
            del self._waiting[task_id]
            record = tasks.get(task_id)
            if record.state is TaskState.CLAIMED:
                tasks.postpone(record, next_at=0.0)

    def _log(self, event: Event, record: TaskRecord, **fields: object) -> None:
        self.log.emit(event, **about(record), **fields)
