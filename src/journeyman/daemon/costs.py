"""What strategies cost outside of the network: booked at once, whatever comes after."""

from collections import deque
from typing import Final

from journeyman.daemon.events import COST_BOOKED, COST_WAITS
from journeyman.domain import Clock, Randomness, millionths_of
from journeyman.domain.errors import StateError
from journeyman.economy import book_cost, cost_today
from journeyman.journal import Journal
from journeyman.observability import Log

LONGEST_NOTE: Final = 200
"""Characters of a note that are kept."""

_Entry = tuple[str, int, str, str, str]
"""A key, millionths of a credit, the strategy, the task, the note."""


class Costs:
    """Books what strategies report by `ctx.report_cost`.

    A cost that a full disk refuses is kept, and booked together with the next one.
    """

    def __init__(
        self, *, journal: Journal, clock: Clock, randomness: Randomness, log: Log
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._randomness = randomness
        self._log = log
        self._waiting: deque[_Entry] = deque()

    def book(self, strategy: str, subject: str, credits_: float, note: str) -> None:
        """Book a cost in credits; `subject` is the task that it arose from, if any."""
        if credits_ == 0:
            return
        key, note = self._randomness.new_id("cost"), note[:LONGEST_NOTE]
        entry = (key, millionths_of(credits_), strategy, subject, note)
        self._waiting.append(entry)
        about = {"task_id": subject or None, "strategy": strategy, "credits": credits_}
        try:
            self._write()
        except StateError as error:
            self._log.emit(COST_WAITS, **about, error=str(error))
        else:
            self._log.emit(COST_BOOKED, **about, note=note)

    def today(self, strategy: str) -> float:
        """Give what a strategy has cost today (UTC), in credits."""
        return cost_today(self._journal.ledger, strategy, self._clock.now())

    def _write(self) -> None:
        with self._journal.tx("cost of a strategy"):
            for key, cost, strategy, subject, note in self._waiting:
                book_cost(
                    self._journal.ledger,
                    *(key, cost),
                    strategy=strategy,
                    subject=subject,
                    note=note,
                )
        self._waiting.clear()
