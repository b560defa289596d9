"""Complete a task and book what it earned (contract endpoint 9)."""

from dataclasses import dataclass
from datetime import timedelta

from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import Confirmed, Failure
from journeyman.domain.tasks import TaskState
from journeyman.economy.bookkeeping import BalanceWatch, book_earning
from journeyman.journal.ledger import Confidence
from journeyman.journal.tasks import TaskRecord
from journeyman.network.client import NetworkClient
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.intents import Intents, about, is_open, key_for, may_be_done
from journeyman.worker.submit import reject


@dataclass(kw_only=True, eq=False)
class Complete:
    """SUBMITTED or COMPLETING, to COMPLETED or REJECTED."""

    network: NetworkClient
    intents: Intents
    watch: BalanceWatch
    result_max_age: timedelta
    """How long a clear answer is waited for."""
    clock: Clock
    log: Log

    async def run(self, record: TaskRecord) -> TaskRecord:
        """Ask for the completion once."""
        if paused := await self.intents.postpone_if_paused(
            record, TaskState.COMPLETING
        ):
            return paused
        record, uncertain = await self.intents.open(record, TaskState.COMPLETING)
        with self.watch.window() as window:
            key = key_for(record, "complete")
            outcome = await self.network.complete(record.task_id, key)
            if isinstance(outcome, Confirmed):
                record = await self._earned(record, outcome.value.credits_earned)
                # A repeat may be answered by what was said the first time, word for
                # word: its balance would undo all that was paid in between.
                balance = None if uncertain else outcome.value.balance
                self.watch.observe(window, balance)
                return record
        if is_open(outcome) or self.intents.may_be_mistaken(record, outcome):
            return await self._wait_or_give_up(record, outcome, uncertain=uncertain)
        if uncertain and may_be_done(outcome):
            # Completed by an earlier attempt whose answer was lost.
            return await self._earned(record, None)
        return await reject(self.intents, self.log, record, outcome.message)

    async def _wait_or_give_up(
        self, record: TaskRecord, failure: Failure, *, uncertain: bool
    ) -> TaskRecord:
        age = self.intents.age_since(record, TaskState.SUBMITTED)
        if age > self.result_max_age:
            return await self._give_up(record, failure)
        return await self.intents.keep(record, failure, uncertain=uncertain)

    async def _give_up(self, record: TaskRecord, failure: Failure) -> TaskRecord:
        """End a task of which nobody says whether it was paid; nothing is booked.

        If it was, a balance that the network shows corrects the ledger.
        """
        days = self.result_max_age / timedelta(days=1)
        reason = f"no clear answer in {days:g} days, so perhaps paid: {failure.message}"
        record = await self.intents.close(record, TaskState.REJECTED, reason)
        self.log.emit(
            events.UNSETTLED,
            **about(record),
            reward=record.task.reward,
            message=failure.message,
        )
        return record

    async def _earned(self, record: TaskRecord, shown: int | None) -> TaskRecord:
        journal = self.intents.journal

        def write() -> tuple[TaskRecord, int, Confidence]:
            amount, confidence = book_earning(
                journal.ledger,
                record.task_id,
                strategy=record.strategy,
                listed=record.task.reward,
                shown=shown,
            )
            return journal.tasks.move(record, TaskState.COMPLETED), amount, confidence

        record, amount, confidence = await journal.commit(write)
        self.log.emit(
            events.COMPLETED,
            **about(record),
            credits=amount,
            balance=journal.ledger.balance(),
            confidence=confidence,
        )
        return record
