"""One endpoint's lane: its pauses, its pace, its breaker, whether it exists."""

from collections import deque

from journeyman.domain.clock import Clock, Randomness
from journeyman.network.rate_limit.circuit_breaker import CircuitBreaker
from journeyman.network.rate_limit.evidence import Evidence, Presence, Strength
from journeyman.network.rate_limit.pause import Cause, Pause, RateLimits, remaining

STEPS_BACK = 8
"""So many good answers bring a limit back to where pressure was first met."""


class Adaptive:
    """A limit on a quantity; none until pressure is met."""

    def __init__(self, floor: float) -> None:
        """Make one that is never below `floor`, in the quantity's own unit."""
        self._floor = floor
        self._knee = 0.0
        self.value: float | None = None
        """The limit; None means any."""

    def lower(self, used: float) -> None:
        """Halve it, from what was used when pressure was met.

        The first time tells how much is normal here: there the way back leads, however
        often it is halved meanwhile.
        """
        if self.value is None:
            self._knee = max(used, self._floor)
        current = used if self.value is None else min(used, self.value)
        self.value = max(self._floor, current / 2)

    def grow(self) -> None:
        """Take one step back; twice the old normal is as good as no limit."""
        if self.value is None:
            return
        self.value += self._knee / STEPS_BACK
        if self.value >= 2 * self._knee:
            self.value = None


PLAIN_WORDS = 2
"""So many answers in a row that say it in words, or by 405 or 501."""
NEVER_SEEN = 2
"""So many 404 in a row, for different tasks, of an endpoint that never worked."""
SEEN_BEFORE = 6
"""And of one that has worked in this run: tasks do vanish, one after the other."""
FIRST_RECHECK_SECONDS = 60.0
"""An absence may be a service that is being replaced: the first look comes soon, and
each later one ten times as late, up to the longest."""


class Absence:
    """What is known about one endpoint's existence."""

    def __init__(self, recheck: float) -> None:
        """Begin with "it exists"; `recheck` is the longest time between two looks."""
        self._recheck = recheck
        self._has_worked = False
        self._words = 0
        self._subjects: set[str] = set()
        self._looks = 0
        self._until = 0.0
        self.is_absent = False

    def wait(self, now: float) -> float:
        """Give the seconds until it is looked for again; 0 when it may be used."""
        return remaining(self._until, now) if self.is_absent else 0.0

    def note(self, sign: Evidence, subject: str, now: float) -> bool:
        """Take an answer into account; tell whether that has changed the verdict.

        `subject` names what the request was about, such as its task.
        """
        if sign.presence is Presence.SILENT:
            return False
        if sign.presence is Presence.THERE:
            return self._found()
        if self.is_absent:
            self._look_later(now)
            return False
        if sign.presence is Presence.NOT_THERE:
            self._words += 1
        self._subjects.add(subject)
        needed = SEEN_BEFORE if self._has_worked else NEVER_SEEN
        if self._words < PLAIN_WORDS and len(self._subjects) < needed:
            return False
        self.is_absent = True
        self._look_later(now)
        return True

    def _found(self) -> bool:
        was_absent, self.is_absent = self.is_absent, False
        self._has_worked = True
        self._words = self._looks = 0
        self._subjects.clear()
        return was_absent

    def _look_later(self, now: float) -> None:
        wait = FIRST_RECHECK_SECONDS * 10.0**self._looks
        self._until = now + min(wait, self._recheck)
        self._looks = min(self._looks + 1, 3)


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


class EndpointLimit:
    """The state of one endpoint; all times are on the monotonic clock, in seconds."""

    def __init__(
        self, options: RateLimits, clock: Clock, randomness: Randomness
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
        self.breaker = CircuitBreaker(
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

    def held(self) -> Pause | None:
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
            (Pause(cause, wait, why) for cause, wait, why in waits if wait > 0), None
        )

    def start(self) -> bool:
        """Let a request go; tell whether it is the breaker's probe."""
        self._starts.append(self._clock.monotonic())
        self._in_flight += 1
        return self.breaker.start()

    def end(self) -> None:
        """Note that a request is over, however it ended."""
        self._in_flight -= 1

    def note(self, sign: Evidence, began: float) -> None:
        """Take a sign into account; `began` is when its request was sent."""
        self._message = sign.message or self._message
        if self._is_stale(self._clock.monotonic()):
            self.rate.value = self.width.value = None
        if sign.slows and began >= self._lowered_at:
            # Those that were under way when it was lowered tell the same once more.
            self._lower()
        if sign.asks_for_pause:
            self._pause(sign.wait)
        elif sign.health is Strength.GOOD:
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
