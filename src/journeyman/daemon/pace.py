"""The pace of looking for tasks: by lot, so that many agents never march in step.

A thousand agents that a data centre starts together look at their market together
once, and never again: `tests/daemon/test_pace.py` shows it.
"""

from journeyman.domain import Randomness
from journeyman.loop import Poll

SHORTEST_SHARE = 0.1
"""Of the usual pause: no two idle looks come closer together."""


class Pace:
    """Draws the pauses between two looks; all times in seconds."""

    def __init__(self, *, usual: float, longest: float, randomness: Randomness) -> None:
        """Pause for `usual` on average while busy, and at most for `longest`."""
        self._usual = usual
        self._longest = max(usual, longest)
        self._randomness = randomness
        self._ceiling = 0.0
        self.reset()

    def reset(self) -> None:
        """Look as often as usual again."""
        # Twice the usual, because a lot drawn evenly is half of it on average.
        self._ceiling = min(2 * self._usual, self._longest)

    def next_wait(self, poll: Poll | None, *, is_hungry: bool, is_busy: bool) -> float:
        """Give the pause after a look; 0 asks to look again at once.

        Args:
            poll: how the look went; None when there was none.
            is_hungry: more tasks could be worked on than wait.
            is_busy: tasks are being worked on.
        """
        if poll is not None and poll.productive:
            self.reset()
            return 0.0 if is_hungry else self._drawn()
        if poll is not None and poll.retry_in is not None:
            return poll.retry_in
        if is_busy:
            self.reset()
        wait = self._drawn()
        self._ceiling = min(2 * self._ceiling, self._longest)
        return wait

    def _drawn(self) -> float:
        """Draw a pause evenly up to the ceiling: full jitter."""
        shortest = SHORTEST_SHARE * self._usual
        return self._randomness.uniform(shortest, self._ceiling)
