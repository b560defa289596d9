"""Execute a claimed task: hand it to its strategy, and keep what comes of it."""

from functools import partial
from typing import Protocol

from journeyman.domain import JSON, Clock, TaskState
from journeyman.journal import Journal, TaskRecord
from journeyman.loop import events
from journeyman.loop.crew import Crew
from journeyman.loop.deadline import PASSED, has_passed, seconds_left
from journeyman.loop.memory import StrategyMemory
from journeyman.observability import Event, Log
from journeyman.strategies import Context
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.runners import (
    Broken,
    Crashed,
    Declined,
    Ended,
    Finished,
    Later,
    Runner,
    TimedOut,
)


class Surroundings(Protocol):
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
        crew: Crew,
        runner: Runner,
        surroundings: Surroundings,
        journal: Journal,
        timeout_seconds: float,
        max_attempts: int,
        clock: Clock,
        log: Log,
    ) -> None:
        self._crew = crew
        self._runner = runner
        self._surroundings = surroundings
        self._journal = journal
        self._memory = StrategyMemory(journal)
        self._timeout_seconds = timeout_seconds
        self._max_attempts = max_attempts
        self._clock = clock
        self._log = log

    async def __call__(self, record: TaskRecord) -> TaskRecord:
        """Run the strategy once, no longer than until the task's deadline."""
        if has_passed(record.task, self._clock):
            return await self._fail(record, events.EXPIRED, error=PASSED)
        if record.state is TaskState.CLAIMED and self._is_poison(record):
            tries = f"{record.executions} executions did not end it"
            return await self._fail(record, events.FAILED, error=tries)
        loaded = self._crew.find_for(record)
        if loaded is None:
            gone = f"no strategy {record.strategy!r} is loaded, and no other wants it"
            return await self._fail(record, events.FAILED, error=gone)
        record = await self._begin(record, loaded)
        ended = await self._runner.run(
            loaded,
            record.task,
            self._surroundings.context(record, self._memory.of(loaded.name)),
            timeout_seconds=self._timeout_seconds,
            at_most=seconds_left(record.task, self._clock),
        )
        self._surroundings.clean_up(record)
        return await self._end(record, ended)

    def _is_poison(self, record: TaskRecord) -> bool:
        return record.executions >= self._max_attempts

    async def _begin(self, record: TaskRecord, loaded: Loaded) -> TaskRecord:
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

    async def _end(
        self,
        record: TaskRecord,
        ended: Ended,
    ) -> TaskRecord:
        fault = self._memory.fault(record.strategy)
        if fault:
            return await self._fail(record, events.FAILED, error=fault)
        is_work = isinstance(ended, Finished | TimedOut)
        if is_work and has_passed(record.task, self._clock):
            return await self._fail(record, events.EXPIRED, error=PASSED)
        return await self._conclude(record, ended)

    async def _conclude(self, record: TaskRecord, ended: Ended) -> TaskRecord:
        match ended:
            case Finished():
                record = await self._finish(record, ended)
            case Later():
                record = await self._put_off(record, ended)
            case Declined(reason):
                record = await self._decline(record, reason)
            case Broken(problem, fix):
                self._crew.bench(record.strategy)
                event = events.MISCONFIGURED
                record = await self._fail(record, event, problem=problem, fix=fix)
            case Crashed(error, where, trace):
                facts = {"error": error, "where": where, "traceback": trace}
                record = await self._fail(record, events.FAILED, **facts)
            case TimedOut(seconds):
                error = f"not done within {seconds:g} s"
                record = await self._fail(record, events.FAILED, error=error)
        return record

    async def _finish(
        self,
        record: TaskRecord,
        finished: Finished,
    ) -> TaskRecord:
        def write() -> TaskRecord:
            self._memory.save(record.strategy)
            # The result is on disk with this commit, and so is the intent to send it.
            return self._journal.tasks.move(
                record,
                TaskState.SUBMITTING,
                through=TaskState.EXECUTED,
                result=finished.result,
                attempts=1,
            )

        record = await self._journal.commit(write)
        self._log.emit(
            events.EXECUTED,
            task_id=record.task_id,
            strategy=record.strategy,
            seconds=round(finished.seconds, 3),
        )
        return record

    async def _put_off(
        self,
        record: TaskRecord,
        later: Later,
    ) -> TaskRecord:
        next_at = self._clock.now().timestamp() + later.after

        def write() -> TaskRecord:
            self._memory.save(record.strategy)
            return self._journal.tasks.move(
                record,
                TaskState.CLAIMED,
                reason=later.reason,
                next_at=next_at,
            )

        record = await self._journal.commit(write)
        self._log.emit(
            events.PUT_OFF,
            task_id=record.task_id,
            strategy=record.strategy,
            reason=later.reason,
            retry_in=later.after,
        )
        return record

    async def _decline(
        self,
        record: TaskRecord,
        reason: str,
    ) -> TaskRecord:
        def write() -> TaskRecord:
            self._memory.save(record.strategy)
            return self._journal.tasks.move(record, TaskState.DECLINED, reason=reason)

        record = await self._journal.commit(write)
        self._log.emit(
            events.DECLINED,
            task_id=record.task_id,
            strategy=record.strategy,
            reason=reason,
        )
        return record

    async def _fail(self, record: TaskRecord, event: Event, **facts: str) -> TaskRecord:
        reason = facts.get("error") or facts.get("problem") or ""
        tasks = self._journal.tasks
        record = await self._journal.commit(
            partial(tasks.move, record, TaskState.FAILED, reason=reason),
        )
        self._log.emit(
            event,
            task_id=record.task_id,
            strategy=record.strategy,
            **facts,
        )
        return record
