"""One endpoint's lane: its pauses, its pace, its breaker, whether it exists."""

from collections import deque

from journeyman.domain import Clock, Randomness
from journeyman.network.pressure.absence import Absence
from journeyman.network.pressure.adaptive import Adaptive
from journeyman.network.pressure.breaker import Breaker
from journeyman.network.pressure.held import Cause, Held, remaining
from journeyman.network.pressure.options import PressureOptions
from journeyman.network.pressure.sign import Health, Sign

SLOWEST_RATE = 1 / 30
"""In requests a second: a pause that is longer is asked for, not guessed."""
WINDOW_SECONDS = 10.0
"""The time over which our own rate is measured."""
LONGEST_PAUSE_SECONDS = 60.0
"""Of those that no network has named."""
JITTER = 0.1
"""The share of a pause that is added by lot, so that not all come back at once."""
LONGEST_JITTER_SECONDS = 30.0
BUSY_SECONDS = 1.0
"""How long to wait for another request to end."""
FORGET_SECONDS = 600.0
"""A limit that nothing has confirmed for so long is dropped."""


class Lane:
    """The state of one endpoint; all times are on the monotonic clock, in seconds."""

    def __init__(
        self, options: PressureOptions, clock: Clock, randomness: Randomness
    ) -> None:
        self._options = options
        self._clock = clock
        self._randomness = randomness
        self._starts: deque[float] = deque(maxlen=1000)
        self._pause_until = 0.0
        self._pauses = 0
        self._lowered_at = float("-inf")
        self._message = ""
        self._in_flight = 0
        self.rate = Adaptive(SLOWEST_RATE)
        """In requests a second."""
        self.width = Adaptive(1.0)
        """In requests at once."""
        self.breaker = Breaker(
            failures=options.failures,
            probe_every=options.probe_every,
            randomness=randomness,
        )
        self.absence = Absence(options.absent_recheck)

    @property
    def is_slowed(self) -> bool:
        """Fewer requests than usual are let go."""
        is_limited = self.rate.value is not None or self.width.value is not None
        return is_limited or bool(self._pauses)

    def held(self) -> Held | None:
        """Say why a request must wait; None when it may go."""
        now, said = self._clock.monotonic(), self._message
        waits = (
            (Cause.ABSENT, self.absence.wait(now), f"no such endpoint ({said})"),
            (
                Cause.THROTTLED,
                remaining(self._pause_until, now),
                f"asked to wait ({said})",
            ),
            (Cause.BROKEN, self.breaker.wait(now), f"it keeps failing ({said})"),
            (Cause.PACED, self._pace(now), f"slowed down ({said})"),
        )
        return next(
            (Held(cause, wait, why) for cause, wait, why in waits if wait > 0), None
        )

    def start(self) -> bool:
        """Let a request go; tell whether it is the breaker's probe."""
        self._starts.append(self._clock.monotonic())
        self._in_flight += 1
        return self.breaker.start()

    def end(self) -> None:
        """Note that a request is over, however it ended."""
        self._in_flight -= 1

    def note(self, sign: Sign, began: float) -> None:
        """Take a sign into account; `began` is when its request was sent."""
        self._message = sign.message or self._message
        if self._is_stale(self._clock.monotonic()):
            self.rate.value = self.width.value = None
        if sign.slows and began >= self._lowered_at:
            # Those that were under way when it was lowered tell the same once more.
            self._lower()
        if sign.asks_for_pause:
            self._pause(sign.wait)
        elif sign.health is Health.GOOD:
            self._pauses = 0
            self.rate.grow()
            self.width.grow()

    def _lower(self) -> None:
        now = self._clock.monotonic()
        recent = sum(1 for start in self._starts if start > now - WINDOW_SECONDS)
        self.rate.lower(max(recent, 1) / WINDOW_SECONDS)
        self.width.lower(self._in_flight)
        self._lowered_at = now

    def _pause(self, named: float | None) -> None:
        """Let nothing go for as long as was asked, or as seems wise."""
        self._pauses += 1
        if named is None:
            longest = min(LONGEST_PAUSE_SECONDS, 2.0 ** min(self._pauses, 10))
            wait = self._randomness.uniform(0.5, longest)
        else:
            named = min(named, self._options.max_retry_after)
            spread = min(JITTER * named, LONGEST_JITTER_SECONDS)
            wait = named + self._randomness.uniform(0.0, spread)
        until = self._clock.monotonic() + wait
        self._pause_until = max(self._pause_until, until)

    def _pace(self, now: float) -> float:
        """Give the wait for the next place in the row, at the present limits."""
        if self._is_stale(now):
            return 0.0
        if self.width.value is not None and self._in_flight >= self.width.value:
            return BUSY_SECONDS
        if self.rate.value is None or not self._starts:
            return 0.0
        return remaining(self._starts[-1] + 1 / self.rate.value, now)

    def _is_stale(self, now: float) -> bool:
        """Tell whether the limits are from too long ago; the next answer drops them."""
        return now - self._lowered_at > FORGET_SECONDS
