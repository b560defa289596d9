"""Execute a claimed task: hand it to its strategy, and keep what comes of it."""

from typing import Protocol

from journeyman.domain import JSON, Clock, TaskState
from journeyman.domain.errors import ConfigurationError
from journeyman.journal import Journal, TaskRecord
from journeyman.loop import events
from journeyman.observability import Event, Log
from journeyman.strategies import Context
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.registry import Registry
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
        registry: Registry,
        runner: Runner,
        surroundings: Surroundings,
        journal: Journal,
        timeout_seconds: float,
        max_attempts: int,
        clock: Clock,
        log: Log,
    ) -> None:
        self._registry = registry
        self._runner = runner
        self._surroundings = surroundings
        self._journal = journal
        self._timeout_seconds = timeout_seconds
        self._max_attempts = max_attempts
        self._clock = clock
        self._log = log

    async def __call__(self, record: TaskRecord) -> TaskRecord:
        """Run the strategy once."""
        if record.state is TaskState.CLAIMED and self._is_poison(record):
            tries = f"{record.executions} executions did not end it"
            return self._fail(record, events.FAILED, error=tries)
        loaded = self._strategy_for(record)
        if loaded is None:
            gone = f"no strategy {record.strategy!r} is loaded, and no other wants it"
            return self._fail(record, events.FAILED, error=gone)
        record = self._begin(record, loaded)
        state = self._journal.strategy_states.get(loaded.name)
        ended = await self._runner.run(
            loaded,
            record.task,
            self._surroundings.context(record, state),
            timeout_seconds=self._timeout_seconds,
        )
        self._surroundings.clean_up(record)
        return self._end(record, ended, state)

    def _is_poison(self, record: TaskRecord) -> bool:
        return record.executions >= self._max_attempts

    def _strategy_for(self, record: TaskRecord) -> Loaded | None:
        """Find its strategy; a file may have been renamed since the claim."""
        try:
            return self._registry.find(record.strategy)
        except ConfigurationError:
            return self._registry.choose(record.task).strategy

    def _begin(self, record: TaskRecord, loaded: Loaded) -> TaskRecord:
        if record.state is TaskState.CLAIMED or loaded.name != record.strategy:
            tasks = self._journal.tasks
            with self._journal.tx("executing"):
                record = tasks.enrich(record, record.task, loaded.name)
                if record.state is TaskState.CLAIMED:
                    record = tasks.move(record, TaskState.EXECUTING)
        self._log.emit(
            events.EXECUTING,
            task_id=record.task_id,
            strategy=record.strategy,
            execution=record.executions,
        )
        return record

    def _end(
        self,
        record: TaskRecord,
        ended: Ended,
        state: dict[str, JSON],
    ) -> TaskRecord:
        match ended:
            case Finished():
                record = self._finish(record, ended, state)
            case Later():
                record = self._put_off(record, ended, state)
            case Declined(reason):
                record = self._decline(record, reason, state)
            case Broken(problem, fix):
                event = events.MISCONFIGURED
                record = self._fail(record, event, problem=problem, fix=fix)
            case Crashed(error, where, trace):
                facts = {"error": error, "where": where, "traceback": trace}
                record = self._fail(record, events.FAILED, **facts)
            case TimedOut(seconds):
                error = f"not done within {seconds:g} s"
                record = self._fail(record, events.FAILED, error=error)
        return record

    def _finish(
        self,
        record: TaskRecord,
        finished: Finished,
        state: dict[str, JSON],
    ) -> TaskRecord:
        tasks = self._journal.tasks
        with self._journal.tx("executed"):
            self._remember(record, state)
            record = tasks.move(record, TaskState.EXECUTED, result=finished.result)
            # The result is on disk with this commit, and so is the intent to send it.
            record = tasks.move(record, TaskState.SUBMITTING, attempts=1)
        self._log.emit(
            events.EXECUTED,
            task_id=record.task_id,
            strategy=record.strategy,
            seconds=round(finished.seconds, 3),
        )
        return record

    def _put_off(
        self,
        record: TaskRecord,
        later: Later,
        state: dict[str, JSON],
    ) -> TaskRecord:
        next_at = self._clock.now().timestamp() + later.after
        with self._journal.tx("put off"):
            self._remember(record, state)
            record = self._journal.tasks.move(
                record,
                TaskState.CLAIMED,
                reason=later.reason,
                next_at=next_at,
            )
        self._log.emit(
            events.PUT_OFF,
            task_id=record.task_id,
            strategy=record.strategy,
            reason=later.reason,
            retry_in=later.after,
        )
        return record

    def _decline(
        self,
        record: TaskRecord,
        reason: str,
        state: dict[str, JSON],
    ) -> TaskRecord:
        with self._journal.tx("declined"):
            self._remember(record, state)
            record = self._journal.tasks.move(
                record,
                TaskState.DECLINED,
                reason=reason,
            )
        self._log.emit(
            events.DECLINED,
            task_id=record.task_id,
            strategy=record.strategy,
            reason=reason,
        )
        return record

    def _remember(self, record: TaskRecord, state: dict[str, JSON]) -> None:
        """Keep what the strategy wants to remember, with the end that it belongs to."""
        if state != self._journal.strategy_states.get(record.strategy):
            self._journal.strategy_states.put(record.strategy, state)

    def _fail(self, record: TaskRecord, event: Event, **facts: str) -> TaskRecord:
        reason = facts.get("error") or facts.get("problem") or ""
        with self._journal.tx("failed"):
            record = self._journal.tasks.move(
                record,
                TaskState.FAILED,
                reason=reason,
            )
        self._log.emit(
            event,
            task_id=record.task_id,
            strategy=record.strategy,
            **facts,
        )
        return record
