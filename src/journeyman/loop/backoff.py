"""How long to wait before the next try."""

from journeyman.domain import Randomness
from journeyman.domain.outcome import Failure, NotSent

BASE_SECONDS = 1.0
CAP_SECONDS = 300.0


class Backoff:
    """Exponential back-off with full jitter, so that agents do not march in step."""

    def __init__(self, randomness: Randomness) -> None:
        self._randomness = randomness

    def seconds(self, attempt: int, failure: Failure | None = None) -> float:
        """Give the wait after the given attempt (1 is the first).

        A wait that the network named (`Retry-After`) is a floor.
        """
        ceiling = min(CAP_SECONDS, BASE_SECONDS * 2.0 ** min(attempt, 16))
        wait = self._randomness.uniform(BASE_SECONDS / 2, ceiling)
        if failure is None or isinstance(failure, NotSent):
            return wait
        return max(wait, failure.retry_after or 0.0)
