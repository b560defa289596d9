"""Execute a claimed task: hand it to its strategy, and keep what comes of it."""

from dataclasses import dataclass
from functools import partial
from typing import Protocol

from journeyman.domain import JSON, Clock, TaskState
from journeyman.journal import Journal, TaskRecord
from journeyman.loop import events
from journeyman.loop.conclude import Conclude
from journeyman.loop.crew import Crew
from journeyman.loop.deadline import PASSED, has_passed, seconds_left
from journeyman.loop.hold import Hold
from journeyman.observability import Log
from journeyman.strategies import Context
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.runners import Runner


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How much a claimed task may cost before it is given up."""

    timeout_seconds: float
    """The longest that one run may take, where its strategy names no time."""
    max_attempts: int
    """The most runs that one task is given."""


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
        conclude: Conclude,
        hold: Hold,
        journal: Journal,
        patience: Patience,
        clock: Clock,
        log: Log,
    ) -> None:
        self._crew = crew
        self._runner = runner
        self._surroundings = surroundings
        self._conclude = conclude
        self._hold = hold
        self._journal = journal
        self._patience = patience
        self._clock = clock
        self._log = log

    async def __call__(self, record: TaskRecord) -> TaskRecord:
        """Run the strategy once, no longer than until the task's deadline."""
        self._hold.let_go(record)
        if has_passed(record.task, self._clock):
            return await self._conclude.fail(record, events.EXPIRED, error=PASSED)
        if record.state is TaskState.CLAIMED and self._is_poison(record):
            tries = f"{record.executions} executions did not end it"
            return await self._conclude.fail(record, events.FAILED, error=tries)
        loaded = self._crew.find_for(record)
        if loaded is None and self._hold.may_help(record):
            return await self._hold(record)
        if loaded is None:
            absence = self._crew.absence(record.strategy)
            return await self._conclude.fail(record, events.FAILED, error=absence)
        record = await self._begin(record, loaded)
        state = self._conclude.memory.of(loaded.name)
        context = self._surroundings.context(record, state)
        with self._crew.at_work(loaded):
            ended = await self._runner.run(
                loaded,
                record.task,
                context,
                timeout_seconds=self._patience.timeout_seconds,
                at_most=seconds_left(record.task, self._clock),
            )
        self._surroundings.clean_up(record)
        return await self._conclude(record, loaded, ended, context.canary)

    def _is_poison(self, record: TaskRecord) -> bool:
        return record.executions >= self._patience.max_attempts

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
