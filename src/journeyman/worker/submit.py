"""Submit a result (contract endpoint 8)."""

from dataclasses import dataclass
from datetime import timedelta

from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import Confirmed, Failure
from journeyman.domain.tasks import DEADLINE_PASSED, Result, TaskState, has_passed
from journeyman.journal.tasks import TaskRecord
from journeyman.network.client import NetworkClient
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.intents import Intents, about, is_open, key_for, may_be_done


@dataclass(kw_only=True, eq=False)
class Submit:
    """EXECUTED or SUBMITTING, to SUBMITTED or REJECTED, or FAILED when it is late."""

    network: NetworkClient
    intents: Intents
    result_max_age: timedelta
    clock: Clock
    log: Log

    async def run(self, record: TaskRecord) -> TaskRecord:
        """Send the stored result once; it is the same at each repeat."""
        if record.result is None:
            raise LookupError(f"task {record.task_id} is {record.state}, no result")
        if self._is_too_late(record):
            return await self._expire(record)
        paused = await self.intents.postpone_if_paused(record, TaskState.SUBMITTING)
        return paused or await self._send(record, record.result)

    async def _send(self, record: TaskRecord, result: Result) -> TaskRecord:
        key = key_for(record, "submit")
        record, uncertain = await self.intents.open(record, TaskState.SUBMITTING)
        outcome = await self.network.submit(record.task_id, result, key)
        if isinstance(outcome, Confirmed):
            return await self._accepted(record, "")
        if self._is_open(record, outcome):
            return await self.intents.keep(record, outcome, uncertain=uncertain)
        if uncertain and may_be_done(outcome):
            # An earlier attempt may have arrived: the completion decides.
            return await self._accepted(
                record, "already there, perhaps by our own earlier submission"
            )
        return await reject(self.intents, self.log, record, outcome.message)

    def _is_too_late(self, record: TaskRecord) -> bool:
        """Return whether a result that was never sent has missed its deadline.

        One that may have been sent is followed all the same: it may be in time.
        """
        was_sent = record.maybe_sent and not record.unsent
        return not was_sent and has_passed(record.task, self.clock)

    async def _expire(self, record: TaskRecord) -> TaskRecord:
        record = await self.intents.close(record, TaskState.FAILED, DEADLINE_PASSED)
        self.log.emit(events.EXPIRED, **about(record), error=DEADLINE_PASSED)
        return record

    def _is_open(self, record: TaskRecord, failure: Failure) -> bool:
        """Return whether the submission is worth repeating."""
        if is_open(failure) or self.intents.may_be_mistaken(record, failure):
            age = self.intents.age_since(record, TaskState.EXECUTED)
            return age <= self.result_max_age
        return False

    async def _accepted(self, record: TaskRecord, reason: str) -> TaskRecord:
        record = await self.intents.close(
            record,
            TaskState.SUBMITTED,
            reason,
            then=TaskState.COMPLETING,
        )
        self.log.emit(events.SUBMITTED, **about(record))
        return record


async def reject(
    intents: Intents,
    log: Log,
    record: TaskRecord,
    message: str,
) -> TaskRecord:
    """End a task whose result or completion was definitely refused."""
    record = await intents.close(record, TaskState.REJECTED, message)
    log.emit(events.REJECTED, **about(record), message=message)
    return record
