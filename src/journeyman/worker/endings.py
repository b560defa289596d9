"""What delivered work brings: a reward that is owed, then earned, or never paid."""

from dataclasses import dataclass

from journeyman.domain.credits import MILLIONTHS
from journeyman.domain.tasks import DEADLINE_PASSED, NOTHING_GIVEN, Given, TaskState
from journeyman.economy.bookkeeping import (
    Answered,
    book_delivery,
    book_earning,
    book_nothing_owed,
)
from journeyman.economy.events import DOUBTED
from journeyman.journal.ledger import Confidence, NewEntry
from journeyman.journal.tasks import TaskRecord, with_given
from journeyman.lifecycle.quarantine import Quarantine
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.intents import ENDPOINTS, Intents, about


@dataclass(kw_only=True, eq=False)
class Endings:
    """Commits what a submission and a completion lead to, with the credits it moves."""

    intents: Intents
    quarantine: Quarantine
    """Counts what the work of a strategy brings."""
    log: Log

    async def delivered(
        self,
        record: TaskRecord,
        request: str,
        *,
        reason: str = "",
        given: Given = NOTHING_GIVEN,
        in_review: bool = False,
    ) -> TaskRecord:
        """Book what a submitted result is owed, and go on to its completion.

        `request` is the key of the submission. The intent of the completion shares the
        commit, which is what a task costs most.
        """
        journal = self.intents.journal

        def write() -> TaskRecord:
            book_delivery(
                journal.ledger,
                record.task_id,
                strategy=record.strategy,
                listed=record.task.reward,
                request=request,
            )
            return journal.tasks.move(
                with_given(record, given),
                TaskState.COMPLETING,
                through=TaskState.SUBMITTED,
                reason=reason,
                attempts=1,
                reviews=int(in_review),
            )

        record = await journal.commit(write)
        self.log.emit(events.SUBMITTED, **about(record))
        return record

    async def earned(
        self,
        record: TaskRecord,
        answered: Answered,
        *,
        through: TaskState | None = None,
        reason: str = "",
        given: Given = NOTHING_GIVEN,
    ) -> TaskRecord:
        """Complete a task and book what it earned, in one commit.

        Where the answer named no amount, the listed one is assumed. One that is not
        plausible books nothing.
        """
        journal = self.intents.journal

        def write() -> tuple[TaskRecord, NewEntry]:
            entry = book_earning(
                journal.ledger,
                record.task_id,
                strategy=record.strategy,
                listed=record.task.reward,
                answered=answered,
                cause="submit" if through else "complete",
            )
            self.quarantine.count_result(
                record, entry.amount, "it was accepted for nothing"
            )
            known = with_given(record, given)
            after = TaskState.COMPLETED
            moved = journal.tasks.move(known, after, through=through, reason=reason)
            return moved, entry

        record, entry = await journal.commit(write)
        self.intents.proof.complete()
        self.log.emit(
            events.COMPLETED,
            **about(record),
            credits=entry.amount,
            cost=journal.ledger.cost_of(record.task_id) / MILLIONTHS,
            seconds=round(self._seconds_since_claim(record), 3),
            balance=journal.ledger.balance(),
            confidence=entry.confidence,
        )
        if entry.confidence is Confidence.DOUBTFUL:
            self.log.emit(DOUBTED, **about(record), message=entry.note)
        return record

    def _seconds_since_claim(self, record: TaskRecord) -> float:
        claimed_at = record.claimed_at
        if claimed_at is None:
            tasks = self.intents.journal.tasks
            claims = tasks.arrivals(record.task_id, TaskState.CLAIMING)
            claimed_at = claims[0].at if claims else record.updated_at
        return max(0.0, (record.updated_at - claimed_at).total_seconds())

    async def reject(self, record: TaskRecord, message: str) -> TaskRecord:
        """End a task whose result or completion was definitely refused."""
        journal = self.intents.journal

        def write() -> TaskRecord:
            self.quarantine.count_result(record, 0, message)
            self._book_unpaid(record, message)
            return journal.tasks.move(record, TaskState.REJECTED, reason=message)

        ended = await journal.commit(write)
        self.log.emit(events.REJECTED, **about(ended), message=message)
        return ended

    async def expire(self, record: TaskRecord) -> TaskRecord:
        """End a task whose result the network does not have in time."""
        journal = self.intents.journal

        def write() -> TaskRecord:
            self._book_unpaid(record, DEADLINE_PASSED)
            return journal.tasks.move(record, TaskState.FAILED, reason=DEADLINE_PASSED)

        ended = await journal.commit(write)
        self.log.emit(events.EXPIRED, **about(ended), error=DEADLINE_PASSED)
        return ended

    def _book_unpaid(self, record: TaskRecord, reason: str) -> None:
        """Book that nothing is owed for a result any more, inside a transaction."""
        book_nothing_owed(
            self.intents.journal.ledger,
            record.task_id,
            strategy=record.strategy,
            cause=ENDPOINTS.get(record.state, "submit"),
            reason=reason,
        )
