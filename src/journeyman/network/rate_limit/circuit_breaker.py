"""A circuit breaker: after failures in a row only a probe is sent now and then.

Closed, all requests are sent. Open, none is until its time is over. Then it is half
open: one request is sent as the probe; its end closes the breaker or opens it again.
"""

from dataclasses import dataclass, field
from math import inf

from journeyman.domain.clock import Randomness
from journeyman.network.rate_limit.pause import RateLimits, remaining


@dataclass(kw_only=True, eq=False)
class CircuitBreaker:
    """One breaker; all times are on the monotonic clock, in seconds."""

    options: RateLimits
    randomness: Randomness
    is_open: bool = field(default=False, init=False)
    """Open or half open: all is not well."""
    _in_a_row: int = field(default=0, init=False)
    _last_failure: float = field(default=-inf, init=False)
    """When the end of the last failed request was known."""
    _is_probing: bool = field(default=False, init=False)
    _open_until: float = field(default=0.0, init=False)

    def wait(self, now: float) -> float:
        """Return the seconds until a request may be sent; 0 when it may be now."""
        if not self.is_open:
            return 0.0
        if self._is_probing:
            return self.options.retry.probe_seconds
        return remaining(self._open_until, now)

    def start(self) -> bool:
        """Note that a request is sent; return whether it is the probe."""
        self._is_probing = self.is_open
        return self._is_probing

    def succeed(self) -> bool:
        """Note a success; return whether it has closed the breaker."""
        was_open, self.is_open = self.is_open, False
        self._in_a_row, self._is_probing = 0, False
        return was_open

    def fail(
        self, *, began: float, now: float, is_probe: bool, may_open: bool = True
    ) -> bool:
        """Note a failure; return whether it has opened the breaker.

        `began` is when the request was sent: the next probe is counted from there, so
        that a slow one delays nothing. The first pause is random, so that a thousand
        agents do not probe at once.

        Requests that were under way together count as one failure: eight that met the
        same moment of silence are not eight in a row.
        """
        if began >= self._last_failure:
            self._in_a_row += 1
            self._last_failure = now
        if is_probe:
            self._is_probing = False
            # One that took as long as the whole pause is not repeated at once.
            soonest = now + self.options.retry.probe_seconds
            self._open_until = max(began + self.options.probe_every, soonest)
            return False
        if self.is_open or self._in_a_row < self.options.failures or not may_open:
            return False
        self.is_open = True
        longest = self.options.probe_every
        self._open_until = now + self.randomness.uniform(longest / 2, longest)
        return True

    def abandon(self, *, is_probe: bool) -> None:
        """Forget a request whose end nobody saw: the next one is the probe."""
        if is_probe:
            self._is_probing = False
