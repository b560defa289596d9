"""Claim a task (contract endpoint 7)."""

from dataclasses import replace

from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import Confirmed, Failure
from journeyman.domain.tasks import Task, TaskState, earlier, has_passed
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle.active import ActiveStrategies
from journeyman.network.client import NetworkClient
from journeyman.network.receipts import Claimed
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.intents import (
    Intents,
    is_doubt,
    is_doubtful,
    key_for,
    may_be_done,
    must_wait,
)


class Claim:
    """WANTED or CLAIMING, to EXECUTING, LOST or SKIPPED."""

    def __init__(
        self,
        *,
        network: NetworkClient,
        intents: Intents,
        active: ActiveStrategies,
        clock: Clock,
        log: Log,
    ) -> None:
        self._network = network
        self._intents = intents
        self._active = active
        self._clock = clock
        self._log = log

    async def run(self, record: TaskRecord) -> TaskRecord:
        """Claim once, if the task is still worth it."""
        if record.state is TaskState.WANTED and (obstacle := self._obstacle(record)):
            return await self._pass_over(record, obstacle)
        held = await self._intents.hold_back(record, TaskState.CLAIMING)
        return held or await self._claim(record)

    async def _claim(self, record: TaskRecord) -> TaskRecord:
        record, uncertain = await self._intents.open(record, TaskState.CLAIMING)
        outcome = await self._network.claim(record.task_id, key_for(record, "claim"))
        if isinstance(outcome, Confirmed):
            return await self._won(record, "", outcome.value)
        if _is_open(record, outcome):
            return await self._intents.keep(
                record,
                outcome,
                uncertain=uncertain,
                back_to=TaskState.WANTED,
            )
        if uncertain and (may_be_done(outcome) or is_doubt(outcome)):
            # The agent that has it may be us: an earlier claim may have arrived.
            # Working in vain costs less than a claim that we forgot, so it is
            # treated as ours, and the submission decides.
            return await self._won(
                record, "taken, perhaps by our own earlier claim", None
            )
        return await self._lost(record, outcome)

    def _obstacle(self, record: TaskRecord) -> str:
        """Say what has changed since the task was wanted; empty when nothing has."""
        if has_passed(record.task, self._clock):
            return "past its deadline"
        if self._active.find_for(record) is None:
            return self._active.absence(record.strategy)
        return ""

    async def _pass_over(self, record: TaskRecord, reason: str) -> TaskRecord:
        record = await self._intents.settle(record, TaskState.SKIPPED, reason)
        self._log.emit(events.SKIPPED, task_id=record.task_id, reason=reason)
        return record

    async def _won(
        self,
        record: TaskRecord,
        reason: str,
        claimed: Claimed | None,
    ) -> TaskRecord:
        tasks = self._intents.journal.tasks

        def write() -> TaskRecord:
            task = as_claimed(record.task, claimed) if claimed else record.task
            told = tasks.enrich(record, task, record.strategy)
            # Work begins at once, since a slot is held: one commit for both.
            begun, through = TaskState.EXECUTING, TaskState.CLAIMED
            return tasks.move(told, begun, through=through, reason=reason)

        record = await self._intents.journal.commit(write)
        self._log.emit(
            events.CLAIMED,
            task_id=record.task_id,
            strategy=record.strategy,
            reward=record.task.reward,
        )
        return record

    async def _lost(self, record: TaskRecord, failure: Failure) -> TaskRecord:
        record = await self._intents.settle(record, TaskState.LOST, failure.message)
        self._log.emit(events.LOST, task_id=record.task_id, message=failure.message)
        return record


def _is_open(record: TaskRecord, failure: Failure) -> bool:
    """Tell whether a claim is worth repeating."""
    if is_doubt(failure):
        return is_doubtful(record, failure)
    return must_wait(failure)


def as_claimed(listed: Task, claimed: Claimed) -> Task:
    """Add what the claim's answer tells: the work, and how long the claim holds."""
    task = fuller(listed, claimed.task) if claimed.task else listed
    return replace(task, deadline=earlier(task.deadline, claimed.lease_until))


def fuller(listed: Task, shown: Task) -> Task:
    """Take the work from the claim's answer where the listing had left it away."""
    return replace(
        listed,
        description=listed.description or shown.description,
        text=listed.text or shown.text,
        input=shown.input if listed.input is None else listed.input,
        deadline=shown.deadline or listed.deadline,
    )
