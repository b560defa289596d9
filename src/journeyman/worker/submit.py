"""Submit a result (contract endpoint 8)."""

from dataclasses import dataclass
from datetime import timedelta

from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import Confirmed, Failure, Refusal, Refused
from journeyman.domain.tasks import (
    IdempotencyKey,
    Progress,
    Result,
    TaskState,
    has_passed,
)
from journeyman.economy.bookkeeping import Answered
from journeyman.journal.tasks import TaskRecord
from journeyman.network.answers import Receipt
from journeyman.network.client import NetworkClient
from journeyman.worker.endings import Endings
from journeyman.worker.intents import (
    NOT_NOW,
    Intents,
    is_open,
    key_for,
    may_be_done,
    names_a_time,
)
from journeyman.worker.proof import Proof

BLANK_YES = "the network says yes, and nothing more"
UNSURE = "already there, perhaps by our own earlier submission"
"""Why a result that may not have arrived counts as submitted until the network says."""
SAID_DONE = "the answer to the result says: done"
"""Why nothing more may be asked of us."""
UNDER_REVIEW = "the answer to the result says: under review"
"""Why it is not paid yet, even where the network has no completions."""


async def complete_paid(
    network: NetworkClient, proof: Proof, record: TaskRecord
) -> None:
    """Complete a task that was paid for its result, and counts as held until then.

    All is booked, so that nothing depends on the answer. What is lost on the way is
    asked for again by the next claim that is refused.
    """
    key = key_for(record, "complete")
    outcome = await network.complete(record.task, key, record.given)
    is_no = isinstance(outcome, Refused) and outcome.refusal not in NOT_NOW
    if is_no or isinstance(outcome, Confirmed):
        proof.note_released(record.task_id)


@dataclass(kw_only=True, eq=False)
class Submit:
    """EXECUTED or SUBMITTING, to COMPLETING, COMPLETED, REJECTED, or FAILED if late."""

    network: NetworkClient
    intents: Intents
    endings: Endings
    result_max_age: timedelta
    clock: Clock

    async def run(self, record: TaskRecord) -> TaskRecord:
        """Send the stored result once; it is the same at each repeat."""
        if record.result is None:
            raise LookupError(f"task {record.task_id} is {record.state}, no result")
        if self._is_too_late(record):
            return await self.endings.expire(record)
        paused = await self.intents.postpone_if_paused(record, TaskState.SUBMITTING)
        return paused or await self._send(record, record.result)

    async def _send(self, record: TaskRecord, result: Result) -> TaskRecord:
        record, uncertain = await self.intents.open(record, TaskState.SUBMITTING)
        key = key_for(record, "submit", uncertain=uncertain)
        if uncertain and self.intents.proof.ignores_keys:
            # Sent again it would count twice; the completion tells if it arrived.
            return await self.endings.delivered(record, key, reason=UNSURE)
        outcome = await self.network.submit(record.task, result, key, record.given)
        if self.intents.is_blank_yes(record, outcome):
            self.intents.proof.confirm("submit")
            return await self.endings.delivered(record, key, reason=BLANK_YES)
        if isinstance(outcome, Confirmed):
            return await self._confirmed(record, outcome.value, key)
        return await self._failed(record, outcome, key, uncertain=uncertain)

    async def _confirmed(
        self, record: TaskRecord, answer: Receipt, key: IdempotencyKey
    ) -> TaskRecord:
        self.intents.proof.confirm("submit")
        if answer.progress is Progress.PAID:
            record = await self.endings.earned(
                record,
                Answered(request=key, credits=answer.credits_earned),
                through=TaskState.SUBMITTED,
                given=answer.given,
            )
            if self.intents.proof.holds_paid:
                await complete_paid(self.network, self.intents.proof, record)
            return record
        if answer.progress is Progress.REJECTED:
            return await self.endings.reject(record, "the answer says: rejected")
        in_review = answer.progress is Progress.IN_REVIEW
        said = SAID_DONE if answer.progress is Progress.DONE else ""
        said = UNDER_REVIEW if in_review else said
        return await self.endings.delivered(
            record, key, reason=said, given=answer.given, in_review=in_review
        )

    async def _failed(
        self,
        record: TaskRecord,
        failure: Failure,
        key: IdempotencyKey,
        *,
        uncertain: bool,
    ) -> TaskRecord:
        if isinstance(failure, Refused):
            if self._is_there(failure):
                return await self.endings.delivered(record, key, reason=failure.message)
            if failure.progress is Progress.REJECTED:
                return await self.endings.reject(record, failure.message)
            if uncertain and may_be_done(failure) and not names_a_time(failure):
                # An earlier attempt may have arrived: the completion decides.
                self.intents.proof.note_ignored_key()
                return await self.endings.delivered(record, key, reason=UNSURE)
            if self.intents.is_contradiction(record, failure):
                self.intents.proof.refuse("submit", record, failure)
        if self._is_open(record, failure):
            return await self._wait(record, failure, uncertain=uncertain)
        return await self.endings.reject(record, failure.message)

    def _is_there(self, refused: Refused) -> bool:
        """Return whether the network says that it has the result already."""
        if refused.progress is Progress.IN_REVIEW:
            return "already" in refused.message.lower()
        return refused.progress in {Progress.DONE, Progress.PAID}

    async def _wait(
        self, record: TaskRecord, failure: Failure, *, uncertain: bool
    ) -> TaskRecord:
        if isinstance(failure, Refused) and failure.refusal is Refusal.PENDING:
            said, wait = failure.message, failure.retry_after
            return await self.intents.follow_review(record, said, wait)
        return await self.intents.keep(record, failure, uncertain=uncertain)

    def _is_too_late(self, record: TaskRecord) -> bool:
        """Return whether a result that was never sent has missed its deadline.

        One that may have been sent is followed all the same: it may be in time.
        """
        was_sent = record.maybe_sent and not record.unsent
        return not was_sent and has_passed(record.task, self.clock)

    def _is_open(self, record: TaskRecord, failure: Failure) -> bool:
        """Return whether the submission is worth repeating."""
        may_change = is_open(failure) or names_a_time(failure)
        if may_change or self.intents.may_be_mistaken(record, failure):
            age = self.intents.age_since(record, TaskState.EXECUTED)
            return age <= self.result_max_age
        return False
