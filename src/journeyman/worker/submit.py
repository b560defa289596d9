"""Submit a result (contract endpoint 8)."""

from datetime import timedelta

from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import Confirmed, Failure
from journeyman.domain.tasks import PASSED, Result, TaskState, has_passed
from journeyman.journal.tasks import TaskRecord
from journeyman.network.client import NetworkClient
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.intents import (
    RESULT_DOUBTFUL_TRIES,
    Intents,
    is_doubtful,
    key_for,
    may_be_done,
    must_wait,
)
from journeyman.worker.token import age_since


class Submit:
    """EXECUTED or SUBMITTING, to SUBMITTED or REJECTED, or FAILED when it is late."""

    def __init__(
        self,
        *,
        network: NetworkClient,
        intents: Intents,
        result_max_age: timedelta,
        clock: Clock,
        log: Log,
    ) -> None:
        self._network = network
        self._intents = intents
        self._result_max_age = result_max_age
        self._clock = clock
        self._log = log

    async def run(self, record: TaskRecord) -> TaskRecord:
        """Send the stored result once; it is the same at each repeat."""
        if record.result is None:
            raise LookupError(f"task {record.task_id} is {record.state}, no result")
        if self._is_too_late(record):
            return await self._give_up(record)
        held = await self._intents.hold_back(record, TaskState.SUBMITTING)
        return held or await self._send(record, record.result)

    async def _send(self, record: TaskRecord, result: Result) -> TaskRecord:
        key = key_for(record, "submit")
        record, uncertain = await self._intents.open(record, TaskState.SUBMITTING)
        outcome = await self._network.submit(record.task_id, result, key)
        if isinstance(outcome, Confirmed):
            return await self._accepted(record, "")
        if self._is_open(record, outcome):
            return await self._intents.keep(record, outcome, uncertain=uncertain)
        if uncertain and may_be_done(outcome):
            # An earlier try may have arrived: the completion decides.
            return await self._accepted(record, "already there, perhaps by our own try")
        return await reject(self._intents, self._log, record, outcome.message)

    def _is_too_late(self, record: TaskRecord) -> bool:
        """Tell whether a result that was never sent has missed its deadline.

        One that may have been sent is followed all the same: it may be in time.
        """
        was_sent = record.maybe_sent and not record.unsent
        return not was_sent and has_passed(record.task, self._clock)

    async def _give_up(self, record: TaskRecord) -> TaskRecord:
        record = await self._intents.settle(record, TaskState.FAILED, PASSED)
        self._log.emit(
            events.EXPIRED,
            task_id=record.task_id,
            strategy=record.strategy,
            error=PASSED,
        )
        return record

    def _is_open(self, record: TaskRecord, failure: Failure) -> bool:
        if must_wait(failure) or is_doubtful(record, failure, RESULT_DOUBTFUL_TRIES):
            now, journal = self._clock.now(), self._intents.journal
            age = age_since(journal, record, TaskState.EXECUTED, now)
            return age <= self._result_max_age
        return False

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
