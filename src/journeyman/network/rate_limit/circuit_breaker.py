"""A breaker: after failures in a row nothing is sent but a probe now and then.

Closed, all requests go. Open, none goes until its time is over. Then it is half open:
one request goes as the probe, and its end closes the breaker or opens it again.
"""

from math import inf

from journeyman.domain.clock import Randomness
from journeyman.network.rate_limit.pause import remaining

PROBE_WAIT_SECONDS = 5.0
"""How long those wait who come while a probe is on its way."""
SOONEST_SECONDS = 5.0
"""A probe that took as long as the whole pause is not repeated at once."""


class CircuitBreaker:
    """One breaker; all times are on the monotonic clock, in seconds."""

    def __init__(
        self, *, failures: int, probe_every: float, randomness: Randomness
    ) -> None:
        self._failures = failures
        self._probe_every = probe_every
        self._randomness = randomness
        self._streak = 0
        self._counted_at = -inf
        """When the last failure of the streak was known."""
        self._probing = False
        self._until = 0.0
        self.is_open = False
        """Open or half open: all is not well."""

    def wait(self, now: float) -> float:
        """Give the seconds until a request may go; 0 when it may now."""
        if not self.is_open:
            return 0.0
        if self._probing:
            return PROBE_WAIT_SECONDS
        return remaining(self._until, now)

    def start(self) -> bool:
        """Let a request go; tell whether it is the probe."""
        self._probing = self.is_open
        return self._probing

    def succeed(self) -> bool:
        """Note a good end; tell whether that has closed the breaker."""
        was_open, self.is_open = self.is_open, False
        self._streak, self._probing = 0, False
        return was_open

    def fail(
        self, *, began: float, now: float, is_probe: bool, may_open: bool = True
    ) -> bool:
        """Note a bad end; tell whether that has opened the breaker.

        `began` is when the request was sent: the next probe is counted from there, so
        that one which takes long delays nothing. The first pause is drawn by lot, so
        that a thousand agents do not probe at once.

        Requests that were on their way together count as one: eight that a moment of
        silence has met are no eight in a row.
        """
        if began >= self._counted_at:
            self._streak += 1
            self._counted_at = now
        if is_probe:
            self._probing = False
            self._until = max(began + self._probe_every, now + SOONEST_SECONDS)
            return False
        if self.is_open or self._streak < self._failures or not may_open:
            return False
        self.is_open = True
        half = self._probe_every / 2
        self._until = now + self._randomness.uniform(half, self._probe_every)
        return True

    def abandon(self, *, is_probe: bool) -> None:
        """Forget a request that nobody waits for any more: the next one probes."""
        if is_probe:
            self._probing = False
