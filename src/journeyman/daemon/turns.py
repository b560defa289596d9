"""How long the turns of the event loop take: during one, the daemon answers nobody.

A timer that comes late shows only what holds the loop just then, and would wake it for
that. So the selector is asked, which is where each turn ends and where the next begins.
"""

import asyncio
import math
import selectors
from collections import deque
from dataclasses import dataclass, field

from journeyman.domain.clock import Clock

PERIODS, PERIOD_SECONDS = 5, 60.0
WITHIN_SECONDS = PERIODS * PERIOD_SECONDS
"""What is older is forgotten, by the minute."""


@dataclass(eq=False)
class LoopTurns:
    """Knows the longest turn of the last minutes, of the loop that it has made."""

    clock: Clock
    _began: float = field(init=False, default=math.inf)
    _longest: float = field(init=False, default=0.0)
    """Of the period that goes on."""
    _ends_at: float = field(init=False, default=-math.inf)
    _past: deque[tuple[float, float]] = field(
        init=False, default_factory=lambda: deque(maxlen=PERIODS)
    )
    """When earlier periods ended, and their longest turns."""

    def new_loop(self) -> asyncio.AbstractEventLoop:
        """Return an event loop whose turns are measured."""
        return asyncio.SelectorEventLoop(_TimedSelector(self))

    @property
    def longest_seconds(self) -> float:
        """The longest turn in the last minutes, without the one that goes on."""
        since = self.clock.monotonic() - WITHIN_SECONDS
        periods = [*self._past, (self._ends_at, self._longest)]
        return max((most for end, most in periods if end > since), default=0.0)

    def forget(self) -> None:
        """Begin anew: nobody waits for answers while the daemon starts."""
        self._past.clear()
        self._longest = 0.0
        self.begin()

    def begin(self) -> None:
        """Note that a turn begins."""
        self._began = self.clock.monotonic()

    def end(self) -> None:
        """Note that the turn has ended; the loop sleeps now, or turns again."""
        now = self.clock.monotonic()
        if now >= self._ends_at:
            self._past.append((self._ends_at, self._longest))
            self._longest, self._ends_at = 0.0, now + PERIOD_SECONDS
        self._longest = max(self._longest, now - self._began)


class _TimedSelector(selectors.DefaultSelector):
    """Tells when the loop goes to sleep, and when it wakes."""

    def __init__(self, turns: LoopTurns) -> None:
        super().__init__()
        self._turns = turns

    def select(
        self, timeout: float | None = None
    ) -> list[tuple[selectors.SelectorKey, int]]:
        self._turns.end()
        try:
            return super().select(timeout)
        finally:
            self._turns.begin()
