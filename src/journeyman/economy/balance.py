"""The ledger beside the balances that the network happens to show.

No endpoint shows a balance, but some answers carry one. Such a figure can only be
compared with the ledger when nothing else moved credits while it was on its way, and
when no payment may have arrived that is not booked yet.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from journeyman.domain.tasks import TaskState
from journeyman.economy import events
from journeyman.economy.bookkeeping import book_adjustment, book_post, book_top_up
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence
from journeyman.journal.spends import Spend, SpendKind, SpendState
from journeyman.observability.events import Log

PAYABLE = frozenset({TaskState.SUBMITTING, TaskState.SUBMITTED, TaskState.COMPLETING})
"""A task in one of these may have been paid for without our knowing it: a balance that
has its reward would be booked as an adjustment, and the reward once more later."""


@dataclass(eq=False)
class BalanceWindow:
    """The time between sending one request that moves credits and booking it."""

    alone: bool
    """No other such request overlapped this one."""


@dataclass(eq=False)
class BalanceWatch:
    """Compares shown balances with the ledger, and books what explains a difference."""

    journal: Journal
    log: Log
    open_windows: list[BalanceWindow] = field(init=False, default_factory=list)

    @contextmanager
    def window(self) -> Iterator[BalanceWindow]:
        """Mark a request that moves credits, from before it leaves until it is booked.

        Two windows that overlap spoil each other: either balance may or may not
        contain the other's effect.
        """
        window = BalanceWindow(alone=not self.open_windows)
        for other in self.open_windows:
            other.alone = False
        self.open_windows.append(window)
        try:
            yield window
        finally:
            self.open_windows.remove(window)

    def observe(self, window: BalanceWindow, shown: int | None) -> None:
        """Compare a balance with the ledger, after the window's own effect was booked.

        A difference is explained, in this order, by an open top-up that was paid, by
        a post of unknown outcome that was taken, or booked as an adjustment.
        """
        if shown is None or not window.alone:
            return
        if self.journal.tasks.count_in(PAYABLE):
            return
        difference = shown - self.journal.ledger.balance()
        if difference == 0:
            return
        paid = self._matching(SpendKind.TOP_UP, SpendState.OPEN, difference)
        taken = self._matching(SpendKind.POST, SpendState.UNKNOWN, -difference)
        if paid:
            settle_top_up(self.journal, self.log, paid, "its credits were seen")
        elif taken:
            self._settle_post(taken)
        else:
            self._adjust(difference, shown)

    def _settle_post(self, spend: Spend) -> None:
        reason = "its credits have left the shown balance"
        with self.journal.tx("post observed"):
            book_post(self.journal.ledger, spend, Confidence.OBSERVED)
            self.journal.spends.move(spend.spend_id, SpendState.SETTLED, reason=reason)

    def _adjust(self, difference: int, shown: int) -> None:
        # The key names the last entry, so that no difference is booked twice.
        last = self.journal.ledger.recent(1)
        key = f"{last[-1].entry_id if last else 0}:{shown}"
        with self.journal.tx("adjustment"):
            book_adjustment(self.journal.ledger, difference, key)
        self.log.emit(events.ADJUSTED, amount=difference, balance=shown)

    def _matching(
        self, kind: SpendKind, state: SpendState, credits_: int
    ) -> Spend | None:
        candidates = (
            spend
            for spend in self.journal.spends.in_state(state)
            if spend.kind is kind and spend.credits == credits_
        )
        return next(candidates, None)


def settle_top_up(journal: Journal, log: Log, spend: Spend, note: str) -> None:
    """Book a top-up that was paid, and close it."""
    with journal.tx("top-up paid"):
        book_top_up(journal.ledger, spend, note)
        journal.spends.move(spend.spend_id, SpendState.SETTLED, reason=note)
    log.emit(
        events.TOP_UP_BOOKED,
        spend_id=spend.spend_id,
        credits=spend.credits,
        balance=journal.ledger.balance(),
        confidence=Confidence.OBSERVED,
    )
