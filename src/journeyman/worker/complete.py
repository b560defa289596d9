"""Complete a task and book what it earned (contract endpoint 9)."""

from datetime import timedelta

from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import Confirmed, Failure
from journeyman.domain.tasks import TaskState
from journeyman.economy.balance import BalanceWatch
from journeyman.economy.bookkeeping import book_earning
from journeyman.journal.ledger import Confidence
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
from journeyman.worker.submit import reject
from journeyman.worker.token import age_since


class Complete:
    """SUBMITTED or COMPLETING, to COMPLETED or REJECTED."""

    def __init__(
        self,
        *,
        network: NetworkClient,
        intents: Intents,
        watch: BalanceWatch,
        result_max_age: timedelta,
        clock: Clock,
        log: Log,
    ) -> None:
        """Make the step; `result_max_age` limits how long an answer is waited for."""
        self._network = network
        self._intents = intents
        self._watch = watch
        self._result_max_age = result_max_age
        self._clock = clock
        self._log = log

    async def run(self, record: TaskRecord) -> TaskRecord:
        """Ask for the completion once."""
        if held := await self._intents.hold_back(record, TaskState.COMPLETING):
            return held
        record, uncertain = await self._intents.open(record, TaskState.COMPLETING)
        with self._watch.window() as window:
            key = key_for(record, "complete")
            outcome = await self._network.complete(record.task_id, key)
            if isinstance(outcome, Confirmed):
                record = await self._earned(record, outcome.value.credits_earned)
                # A repeat may be answered by what was said the first time, word for
                # word: its balance would undo all that was paid in between.
                balance = None if uncertain else outcome.value.balance
                self._watch.observe(window, balance)
                return record
        doubtful = is_doubtful(record, outcome, RESULT_DOUBTFUL_TRIES)
        if must_wait(outcome) or doubtful:
            return await self._wait_or_give_up(record, outcome, uncertain=uncertain)
        if uncertain and may_be_done(outcome):
            # Completed by an earlier try whose answer was lost.
            return await self._earned(record, None)
        return await reject(self._intents, self._log, record, outcome.message)

    async def _wait_or_give_up(
        self, record: TaskRecord, failure: Failure, *, uncertain: bool
    ) -> TaskRecord:
        now, journal = self._clock.now(), self._intents.journal
        age = age_since(journal, record, TaskState.SUBMITTED, now)
        if age > self._result_max_age:
            return await self._give_up(record, failure)
        return await self._intents.keep(record, failure, uncertain=uncertain)

    async def _give_up(self, record: TaskRecord, failure: Failure) -> TaskRecord:
        """End a task of which nobody says whether it was paid; nothing is booked.

        If it was, a balance that the network shows corrects the ledger.
        """
        days = self._result_max_age / timedelta(days=1)
        reason = f"no clear answer in {days:g} days, so perhaps paid: {failure.message}"
        record = await self._intents.settle(record, TaskState.REJECTED, reason)
        self._log.emit(
            events.UNSETTLED,
            task_id=record.task_id,
            strategy=record.strategy,
            reward=record.task.reward,
            message=failure.message,
        )
        return record

    async def _earned(self, record: TaskRecord, shown: int | None) -> TaskRecord:
        journal = self._intents.journal

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
        self._log.emit(
            events.COMPLETED,
            task_id=record.task_id,
            strategy=record.strategy,
            credits=amount,
            balance=journal.ledger.balance(),
            confidence=confidence,
        )
        return record
