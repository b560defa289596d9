"""Submit a result (contract endpoint 8)."""

from datetime import timedelta

from journeyman.domain import Clock, Confirmed, Refusal, TaskState
from journeyman.domain.outcome import Failure
from journeyman.journal import TaskRecord
from journeyman.loop import events
from journeyman.loop.intent import (
    Intents,
    is_doubtful,
    is_refused_as,
    key_for,
    must_wait,
)
from journeyman.loop.ports import Market
from journeyman.observability import Log


class Submit:
    """EXECUTED or SUBMITTING, to SUBMITTED or REJECTED."""

    def __init__(
        self,
        *,
        market: Market,
        intents: Intents,
        result_max_age: timedelta,
        clock: Clock,
        log: Log,
    ) -> None:
        self._market = market
        self._intents = intents
        self._result_max_age = result_max_age
        self._clock = clock
        self._log = log

    async def __call__(self, record: TaskRecord) -> TaskRecord:
        """Send the stored result once; it is the same at each repeat."""
        if record.result is None:
            raise LookupError(f"task {record.task_id} is {record.state}, no result")
        result, key = record.result, key_for(record, "submit")
        record, uncertain = await self._intents.open(record, TaskState.SUBMITTING)
        outcome = await self._market.submit(record.task_id, result, key)
        if isinstance(outcome, Confirmed):
            return await self._accepted(record, "")
        if self._is_open(record, outcome):
            return await self._intents.keep(record, outcome, uncertain=uncertain)
        if uncertain and is_refused_as(outcome, Refusal.CONFLICT):
            # An earlier try may have arrived: the completion decides.
            return await self._accepted(record, "already there, perhaps by our own try")
        return await reject(self._intents, self._log, record, outcome.message)

    def _is_open(self, record: TaskRecord, failure: Failure) -> bool:
        age = self._clock.now() - record.seen_at
        if age > self._result_max_age:
            return False
        return must_wait(failure) or is_doubtful(record, failure)

    async def _accepted(self, record: TaskRecord, reason: str) -> TaskRecord:
        record = await self._intents.settle(
            record,
            TaskState.SUBMITTED,
            reason,
            then=TaskState.COMPLETING,
        )
        self._log.emit(
            events.SUBMITTED,
            task_id=record.task_id,
            strategy=record.strategy,
        )
        return record


async def reject(
    intents: Intents,
    log: Log,
    record: TaskRecord,
    message: str,
) -> TaskRecord:
    """End a task whose result or completion was definitely refused."""
    record = await intents.settle(record, TaskState.REJECTED, message)
    log.emit(
        events.REJECTED,
        task_id=record.task_id,
        strategy=record.strategy,
        message=message,
    )
    return record
