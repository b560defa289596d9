"""Conclude a run: what its end means for the task, and for the strategy's health."""

from collections.abc import Callable
from functools import partial

from journeyman.domain import Clock, TaskState
from journeyman.journal import Journal, TaskRecord
from journeyman.loop import events
from journeyman.loop.crew import Crew
from journeyman.loop.deadline import PASSED, has_passed
from journeyman.loop.memory import StrategyMemory
from journeyman.loop.quarantine import Quarantine
from journeyman.observability import Event, Log
from journeyman.strategies.leaks import Leak, LeakScan
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.runners import (
    Broken,
    Crashed,
    Declined,
    Ended,
    Finished,
    Later,
    TimedOut,
)

Note = Callable[[], None]
"""Writes down what an end says about a strategy, inside the transaction of the end."""


class Conclude:
    """EXECUTING, to SUBMITTING, CLAIMED, DECLINED or FAILED.

    Each end is one commit, in which the strategy's memory and health are as well.
    """

    def __init__(
        self,
        *,
        crew: Crew,
        quarantine: Quarantine,
        memory: StrategyMemory,
        journal: Journal,
        leaks: LeakScan,
        clock: Clock,
        log: Log,
    ) -> None:
        self._crew = crew
        self._quarantine = quarantine
        self.memory = memory
        """What strategies remember; saved with the end of each run."""
        self._journal = journal
        self._leaks = leaks
        self._clock = clock
        self._log = log

    async def __call__(
        self, record: TaskRecord, loaded: Loaded, ended: Ended, canary: str = ""
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
        self, record: TaskRecord, loaded: Loaded, ended: Ended
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
        self, record: TaskRecord, loaded: Loaded, **facts: str
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
        self, record: TaskRecord, loaded: Loaded, *, problem: str, fix: str
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

    def _of(self, loaded: Loaded, note: Note) -> Note | None:
        """Let an old generation's end say nothing about the one in force."""
        return note if self._crew.is_current(loaded) else None

    async def _finish(
        self, record: TaskRecord, loaded: Loaded, finished: Finished
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
