"""How a task ends: completed with its credits booked, or rejected."""

from dataclasses import dataclass

from journeyman.domain.credits import MILLIONTHS
from journeyman.domain.tasks import NOTHING_GIVEN, Given, TaskState
from journeyman.economy.bookkeeping import book_earning
from journeyman.economy.events import DOUBTED
from journeyman.journal.ledger import Confidence, NewEntry
from journeyman.journal.tasks import TaskRecord, with_given
from journeyman.lifecycle.quarantine import Quarantine
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.intents import Intents, about


@dataclass(kw_only=True, eq=False)
class Endings:
    """Commits the ends to which a submission and a completion lead."""

    intents: Intents
    quarantine: Quarantine
    """Counts what the work of a strategy brings."""
    log: Log

    async def earned(
        self,
        record: TaskRecord,
        shown: int | None,
        *,
        through: TaskState | None = None,
        reason: str = "",
        given: Given = NOTHING_GIVEN,
    ) -> TaskRecord:
        """Complete a task and book what it earned, in one commit.

        `shown` is the amount that the network named; without it, the listed one is
        assumed. One that is not plausible books nothing.
        """
        journal = self.intents.journal

        def write() -> tuple[TaskRecord, NewEntry]:
            entry = book_earning(
                journal.ledger,
                record.task_id,
                strategy=record.strategy,
                listed=record.task.reward,
                shown=shown,
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
        history = self.intents.journal.tasks.history(record.task_id)
        claims = [one.at for one in history if one.after == TaskState.CLAIMING]
        if not claims:
            return 0.0
        return max(0.0, (history[-1].at - claims[0]).total_seconds())

    async def reject(self, record: TaskRecord, message: str) -> TaskRecord:
        """End a task whose result or completion was definitely refused."""
        journal = self.intents.journal

        def write() -> TaskRecord:
            self.quarantine.count_result(record, 0, message)
            return journal.tasks.move(record, TaskState.REJECTED, reason=message)

        ended = await journal.commit(write)
        self.log.emit(events.REJECTED, **about(ended), message=message)
        return ended
