"""Claim a task (contract endpoint 7)."""

from dataclasses import replace

from journeyman.domain import Confirmed, Refusal, Refused, Task, TaskState
from journeyman.domain.outcome import Failure
from journeyman.journal import TaskRecord
from journeyman.loop import events
from journeyman.loop.intent import (
    DOUBTFUL_TRIES,
    TOKEN_REFUSED,
    Intents,
    is_doubtful,
    is_refused_as,
    key_for,
    must_wait,
)
from journeyman.loop.ports import Market
from journeyman.observability import Log


class Claim:
    """WANTED or CLAIMING, to EXECUTING or LOST."""

    def __init__(self, market: Market, intents: Intents, log: Log) -> None:
        self._market = market
        self._intents = intents
        self._log = log

    async def __call__(self, record: TaskRecord) -> TaskRecord:
        """Claim once."""
        record, uncertain = await self._intents.open(record, TaskState.CLAIMING)
        outcome = await self._market.claim(record.task_id, key_for(record, "claim"))
        if isinstance(outcome, Confirmed):
            return await self._won(record, "", outcome.value.task)
        if _is_open(record, outcome):
            return await self._intents.keep(
                record,
                outcome,
                uncertain=uncertain,
                back_to=TaskState.WANTED,
            )
        if uncertain and is_refused_as(outcome, Refusal.CONFLICT):
            # The agent that has it may be us: an earlier claim may have arrived.
            # Working in vain costs less than a claim that we forgot, so it is
            # treated as ours, and the submission decides.
            return await self._won(
                record, "taken, perhaps by our own earlier claim", None
            )
        return await self._lost(record, outcome)

    async def _won(
        self,
        record: TaskRecord,
        reason: str,
        shown: Task | None,
    ) -> TaskRecord:
        tasks = self._intents.journal.tasks

        def write() -> TaskRecord:
            task = fuller(record.task, shown) if shown else record.task
            told = tasks.enrich(record, task, record.strategy)
            claimed = tasks.move(told, TaskState.CLAIMED, reason=reason)
            # Work begins at once, since a slot is held: one commit for both.
            return tasks.move(claimed, TaskState.EXECUTING)

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
    if is_refused_as(failure, Refusal.UNAUTHORIZED):
        forbidden = isinstance(failure, Refused) and failure.status != TOKEN_REFUSED
        return not forbidden or record.attempts < DOUBTFUL_TRIES
    return must_wait(failure) or is_doubtful(record, failure)


def fuller(listed: Task, shown: Task) -> Task:
    """Take the work from the claim's answer where the listing had left it away."""
    return replace(
        listed,
        description=listed.description or shown.description,
        text=listed.text or shown.text,
        input=shown.input if listed.input is None else listed.input,
        deadline=shown.deadline or listed.deadline,
    )
