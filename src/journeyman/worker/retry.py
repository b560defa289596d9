"""How long to wait before the next try."""

from journeyman.domain.clock import Randomness
from journeyman.domain.outcomes import Failure, NotSent, Unknown

BASE_SECONDS = 1.0
CAP_SECONDS = 300.0
SPREAD = 0.1
"""The share of a wait that is added by lot at most."""
SILENCE_CAP_SECONDS = 60.0
"""While nobody answers: the breaker of the network spares it, and work is to resume
within a minute once it answers again."""


class Backoff:
    """Exponential back-off with full jitter, so that agents do not march in step."""

    def __init__(self, randomness: Randomness) -> None:
        self._randomness = randomness

    def spread(self, seconds: float) -> float:
        """Lengthen a wait a little, by lot, so that not all come back at once."""
        return seconds + self._randomness.uniform(0.0, SPREAD * seconds)

    def seconds(self, attempt: int, failure: Failure | None = None) -> float:
        """Give the wait after the given attempt (1 is the first).

        A wait that the network named (`Retry-After`) is a floor.
        """
        is_silence = isinstance(failure, NotSent | Unknown)
        cap = SILENCE_CAP_SECONDS if is_silence else CAP_SECONDS
        ceiling = min(cap, BASE_SECONDS * 2.0 ** min(attempt, 16))
        wait = self._randomness.uniform(BASE_SECONDS / 2, ceiling)
        named = failure.retry_after if failure is not None else None
        return max(wait, named or 0.0)
