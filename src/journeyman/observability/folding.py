"""Folding repeats, so that a lasting trouble does not drown the log."""

from collections import OrderedDict
from collections.abc import Callable

WINDOW_SECONDS = 30.0
MOST_REMEMBERED = 1_000
"""Different lines; beyond that the one not shown for longest is forgotten."""


class RepeatFolder:
    """Lets a line through once in each window, with the number of those held back.

    How often a line came is the sum of 1 + `repeated` over the lines shown. What
    was held back is told by the next such line; if none comes, it is not told.
    """

    def __init__(
        self,
        seconds: Callable[[], float],
        window_seconds: float = WINDOW_SECONDS,
    ) -> None:
        """Take the clock, in seconds, and the length of the window."""
        self._seconds = seconds
        self._window = window_seconds
        self._shown_at: OrderedDict[str, float] = OrderedDict()
        self._held: dict[str, int] = {}

    def offer(self, line: str) -> int | None:
        """Tell whether to show the line: None is no, else how many were held back."""
        now = self._seconds()
        shown_at = self._shown_at.get(line)
        # A clock that was stepped back must not hold a line back for hours.
        if shown_at is not None and 0 <= now - shown_at < self._window:
            self._held[line] = self._held.get(line, 0) + 1
            return None
        self._remember(line, now)
        return self._held.pop(line, 0)

    def _remember(self, line: str, now: float) -> None:
        self._shown_at[line] = now
        self._shown_at.move_to_end(line)
        if len(self._shown_at) > MOST_REMEMBERED:
            oldest, _ = self._shown_at.popitem(last=False)
            self._held.pop(oldest, None)
