"""Execute a claimed task: hand it to its strategy, and keep what comes of it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from journeyman.domain.clock import Clock
from journeyman.domain.tasks import (
    JSON,
    PASSED,
    TaskId,
    TaskState,
    has_passed,
    seconds_left,
)
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle.active import ActiveStrategies
from journeyman.lifecycle.context import StrategyMemory
from journeyman.lifecycle.quarantine import Quarantine
from journeyman.observability.events import Event, Log
from journeyman.strategies.api.context import Context
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import (
    Broken,
    Crashed,
    Declined,
    Ended,
    Finished,
    Later,
    TimedOut,
)
from journeyman.strategies.running.leaks import Leak, LeakScan
from journeyman.strategies.running.runner import Runner
from journeyman.worker import events

Note = Callable[[], None]
"""Writes down what an end says about a strategy, inside the transaction of the end."""


class RunOutcomes:
    """EXECUTING, to SUBMITTING, CLAIMED, DECLINED or FAILED.

    Each end is one commit, in which the strategy's memory and health are as well.
    """

    def __init__(
        self,
        *,
        active: ActiveStrategies,
        quarantine: Quarantine,
        memory: StrategyMemory,
        journal: Journal,
        leaks: LeakScan,
        clock: Clock,
        log: Log,
    ) -> None:
        self._active = active
        self._quarantine = quarantine
        self.memory = memory
        """What strategies remember; saved with the end of each run."""
        self._journal = journal
        self._leaks = leaks
        self._clock = clock
        self._log = log

    async def record(
        self, record: TaskRecord, loaded: LoadedStrategy, ended: Ended, canary: str = ""
    ) -> TaskRecord:
        """Write down how a run of `loaded` on a task ended; `canary` is the run's."""
        fault = self.memory.fault(record.strategy)
        if fault:
            return await self._err(record, loaded, error=fault)
        is_work = isinstance(ended, Finished | TimedOut)
        if is_work and has_passed(record.task, self._clock):
            return await self.fail(record, events.EXPIRED, error=PASSED)
        if isinstance(ended, Finished):
            leak = self._leaks.find(ended.result, record.task, canary)
            if leak is not None:
                return await self._stop(record, leak)
        return await self._by_kind(record, loaded, ended)

    async def _by_kind(
        self, record: TaskRecord, loaded: LoadedStrategy, ended: Ended
    ) -> TaskRecord:
        match ended:
            case Finished():
                record = await self._finish(record, loaded, ended)
            case Later():
                record = await self._put_off(record, ended)
            case Declined(reason):
                record = await self._decline(record, reason)
            case Broken(problem, fix):
                record = await self._bar(record, loaded, problem=problem, fix=fix)
            case Crashed(error, where, trace):
                facts = {"error": error, "where": where, "traceback": trace}
                record = await self._err(record, loaded, **facts)
            case TimedOut(seconds):
                error = f"not done within {seconds:g} s"
                record = await self._err(record, loaded, error=error)
        return record

    async def fail(
        self, record: TaskRecord, event: Event, note: Note | None = None, **facts: str
    ) -> TaskRecord:
        """End a task as failed; `facts` are the event's, `error` or `problem` first."""
        reason = facts.get("error") or facts.get("problem") or ""

        def write() -> TaskRecord:
            failed = self._journal.tasks.move(record, TaskState.FAILED, reason=reason)
            if note is not None:
                note()
            return failed

        record = await self._journal.commit(write)
        self._log.emit(event, task_id=record.task_id, strategy=record.strategy, **facts)
        return record

    async def _err(
        self, record: TaskRecord, loaded: LoadedStrategy, **facts: str
    ) -> TaskRecord:
        """Fail a task by an error of its strategy, which counts against it."""
        count = partial(
            self._quarantine.count_error,
            loaded.name,
            " at ".join(filter(None, (facts["error"], facts.get("where", "")))),
            record.task_id,
        )
        note = self._of(loaded, count)
        return await self.fail(record, events.FAILED, note, **facts)

    async def _bar(
        self, record: TaskRecord, loaded: LoadedStrategy, *, problem: str, fix: str
    ) -> TaskRecord:
        bar = partial(self._quarantine.bar, loaded.name, problem, fix, record.task_id)
        note, event = self._of(loaded, bar), events.MISCONFIGURED
        return await self.fail(record, event, note, problem=problem, fix=fix)

    async def _stop(self, record: TaskRecord, leak: Leak) -> TaskRecord:
        """Let a result with a secret in it go nowhere, not even to disk.

        It does not count against the strategy: else a poster of tasks that coax
        secrets out of it could put it into quarantine.
        """
        note = partial(self._quarantine.end_trial, record.strategy)
        facts = {"error": str(leak), "kind": leak.kind, "where": leak.where}
        return await self.fail(record, events.LEAK_STOPPED, note, **facts)

    def _of(self, loaded: LoadedStrategy, note: Note) -> Note | None:
        """Let an old generation's end say nothing about the one in force."""
        return note if self._active.is_current(loaded) else None

    async def _finish(
        self, record: TaskRecord, loaded: LoadedStrategy, finished: Finished
    ) -> TaskRecord:
        note = self._of(loaded, partial(self._quarantine.count_success, loaded.name))

        def write() -> TaskRecord:
            self.memory.save(record.strategy)
            # The result is on disk with this commit, and so is the intent to send it.
            moved = self._journal.tasks.move(
                record,
                TaskState.SUBMITTING,
                through=TaskState.EXECUTED,
                result=finished.result,
                attempts=1,
            )
            if note is not None:
                note()
            return moved

        record = await self._journal.commit(write)
        self._log.emit(
            events.EXECUTED,
            task_id=record.task_id,
            strategy=record.strategy,
            seconds=round(finished.seconds, 3),
        )
        return record

    async def _put_off(self, record: TaskRecord, later: Later) -> TaskRecord:
        next_at = self._clock.now().timestamp() + later.after
        move = partial(
            self._journal.tasks.move,
            record,
            TaskState.CLAIMED,
            reason=later.reason,
            next_at=next_at,
        )
        record = await self._end(record, move)
        self._log.emit(
            events.PUT_OFF,
            task_id=record.task_id,
            strategy=record.strategy,
            reason=later.reason,
            retry_in=later.after,
        )
        return record

    async def _decline(self, record: TaskRecord, reason: str) -> TaskRecord:
        move = partial(
            self._journal.tasks.move, record, TaskState.DECLINED, reason=reason
        )
        record = await self._end(record, move)
        self._log.emit(
            events.DECLINED,
            task_id=record.task_id,
            strategy=record.strategy,
            reason=reason,
        )
        return record

    async def _end(
        self, record: TaskRecord, move: Callable[[], TaskRecord]
    ) -> TaskRecord:
        """Commit an end that is no work done, and no error either."""

        def write() -> TaskRecord:
            self.memory.save(record.strategy)
            self._quarantine.end_trial(record.strategy)
            return move()

        return await self._journal.commit(write)


HELD_SECONDS: Final = 60.0
"""How often to look again, should nobody be released meanwhile: a rest may be over, or
a reload may have brought another strategy that wants the task."""


class StrategyWait:
    """Keeps claimed tasks waiting; a release of their strategy wakes them."""

    def __init__(
        self,
        *,
        active: ActiveStrategies,
        quarantine: Quarantine,
        journal: Journal,
        longest_seconds: float,
        clock: Clock,
        log: Log,
    ) -> None:
        """Hold a task for `longest_seconds` at most."""
        self._active = active
        self._journal = journal
        self._longest_seconds = longest_seconds
        self._clock = clock
        self._log = log
        self._held: dict[TaskId, str] = {}
        quarantine.on_release(self._wake)

    def may_help(self, record: TaskRecord) -> bool:
        """Tell whether waiting may help, and was not tried for too long."""
        moved_at = self._journal.tasks.history(record.task_id)[-1].at
        waited = (self._clock.now() - moved_at).total_seconds()
        is_in_time = waited < self._longest_seconds
        return is_in_time and self._active.is_held(record.strategy)

    def let_go(self, record: TaskRecord) -> None:
        """Forget that a task was held: it is looked at again, whatever comes of it."""
        self._held.pop(record.task_id, None)

    async def wait(self, record: TaskRecord) -> TaskRecord:
        """Let a task wait for its strategy."""
        self._held[record.task_id] = record.strategy
        reason = self._active.absence(record.strategy)
        record = await self._journal.commit(partial(self._put_off, record, reason))
        self._log.emit(
            events.HELD,
            task_id=record.task_id,
            strategy=record.strategy,
            reason=reason,
            retry_in=HELD_SECONDS,
        )
        return record

    def _put_off(self, record: TaskRecord, reason: str) -> TaskRecord:
        tasks = self._journal.tasks
        next_at = self._clock.now().timestamp() + HELD_SECONDS
        if record.state is TaskState.EXECUTING:
            # It was claimed, and its strategy went into quarantine meanwhile.
            after = TaskState.CLAIMED
            return tasks.move(record, after, reason=reason, next_at=next_at)
        return tasks.postpone(
            record, next_at=next_at, attempts=0, reason=reason, maybe_sent=False
        )

    def _wake(self, strategy: str) -> None:
        """Let the tasks of a strategy be due at once, inside its release's commit."""
        tasks = self._journal.tasks
        waiting = [one for one, name in self._held.items() if name == strategy]
        for task_id in waiting:
            del self._held[task_id]
            record = tasks.get(task_id)
            if record.state is TaskState.CLAIMED:
                tasks.postpone(
                    record,
                    next_at=0.0,
                    attempts=0,
                    reason=record.reason,
                    maybe_sent=False,
                )


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How much a claimed task may cost before it is given up."""

    timeout_seconds: float
    """The longest that one run may take, where its strategy names no time."""
    max_attempts: int
    """The most runs that one task is given."""


class ContextFactory(Protocol):
    """Makes what a strategy is given beside its task."""

    def context(self, record: TaskRecord, state: dict[str, JSON]) -> Context:
        """Give the context of one run."""
        ...

    def clean_up(self, record: TaskRecord) -> None:
        """Remove the workspace of a run that ended."""
        ...


class Execute:
    """CLAIMED or EXECUTING, to SUBMITTING, DECLINED or FAILED."""

    def __init__(
        self,
        *,
        active: ActiveStrategies,
        runner: Runner,
        contexts: ContextFactory,
        outcomes: RunOutcomes,
        strategy_wait: StrategyWait,
        journal: Journal,
        patience: Patience,
        clock: Clock,
        log: Log,
    ) -> None:
        self._active = active
        self._runner = runner
        self._contexts = contexts
        self._outcomes = outcomes
        self._strategy_wait = strategy_wait
        self._journal = journal
        self._patience = patience
        self._clock = clock
        self._log = log

    async def run(self, record: TaskRecord) -> TaskRecord:
        """Run the strategy once, no longer than until the task's deadline."""
        self._strategy_wait.let_go(record)
        if has_passed(record.task, self._clock):
            return await self._outcomes.fail(record, events.EXPIRED, error=PASSED)
        if record.state is TaskState.CLAIMED and self._is_poison(record):
            tries = f"{record.executions} executions did not end it"
            return await self._outcomes.fail(record, events.FAILED, error=tries)
        loaded = self._active.find_for(record)
        if loaded is None and self._strategy_wait.may_help(record):
            return await self._strategy_wait.wait(record)
        if loaded is None:
            absence = self._active.absence(record.strategy)
            return await self._outcomes.fail(record, events.FAILED, error=absence)
        record = await self._begin(record, loaded)
        state = self._outcomes.memory.of(loaded.name)
        context = self._contexts.context(record, state)
        with self._active.at_work(loaded):
            ended = await self._runner.run(
                loaded,
                record.task,
                context,
                timeout_seconds=self._patience.timeout_seconds,
                at_most=seconds_left(record.task, self._clock),
            )
        self._contexts.clean_up(record)
        return await self._outcomes.record(record, loaded, ended, context.canary)

    def _is_poison(self, record: TaskRecord) -> bool:
        return record.executions >= self._patience.max_attempts

    async def _begin(self, record: TaskRecord, loaded: LoadedStrategy) -> TaskRecord:
        if record.state is TaskState.CLAIMED or loaded.name != record.strategy:
            write = partial(self._start, record, loaded.name)
            record = await self._journal.commit(write)
        self._log.emit(
            events.EXECUTING,
            task_id=record.task_id,
            strategy=record.strategy,
            execution=record.executions,
        )
        return record

    def _start(self, record: TaskRecord, strategy: str) -> TaskRecord:
        record = self._journal.tasks.enrich(record, record.task, strategy)
        if record.state is TaskState.EXECUTING:
            return record
        return self._journal.tasks.move(record, TaskState.EXECUTING)
