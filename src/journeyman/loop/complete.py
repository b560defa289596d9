"""Complete a task and book what it earned (contract endpoint 9)."""

from journeyman.domain import Confirmed, TaskState
from journeyman.economy import BalanceWatch, book_earning
from journeyman.journal import Confidence, TaskRecord
from journeyman.loop import events
from journeyman.loop.intent import (
    RESULT_DOUBTFUL_TRIES,
    Intents,
    is_doubtful,
    key_for,
    may_be_done,
    must_wait,
)
from journeyman.loop.ports import Market
from journeyman.loop.submit import reject
from journeyman.observability import Log


class Complete:
    """SUBMITTED or COMPLETING, to COMPLETED or REJECTED."""

    def __init__(
        self,
        *,
        market: Market,
        intents: Intents,
        watch: BalanceWatch,
        log: Log,
    ) -> None:
        self._market = market
        self._intents = intents
        self._watch = watch
        self._log = log

    async def __call__(self, record: TaskRecord) -> TaskRecord:
        """Ask for the completion once."""
        record, uncertain = await self._intents.open(record, TaskState.COMPLETING)
        with self._watch.window() as window:
            key = key_for(record, "complete")
            outcome = await self._market.complete(record.task_id, key)
            if isinstance(outcome, Confirmed):
                record = await self._earned(record, outcome.value.credits_earned)
                self._watch.observe(window, outcome.value.balance)
                return record
        doubtful = is_doubtful(record, outcome, RESULT_DOUBTFUL_TRIES)
        if must_wait(outcome) or doubtful:
            return await self._intents.keep(record, outcome, uncertain=uncertain)
        if uncertain and may_be_done(outcome):
            # Completed by an earlier try whose answer was lost.
            return await self._earned(record, None)
        return await reject(self._intents, self._log, record, outcome.message)

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
