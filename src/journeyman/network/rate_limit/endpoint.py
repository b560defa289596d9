"""The limits of one endpoint: its pauses, its rate, its breaker, whether it exists."""

from collections import deque
from dataclasses import dataclass, field
from math import inf

from journeyman.domain.clock import Clock, Randomness
from journeyman.network.rate_limit import circuit_breaker
from journeyman.network.rate_limit.evidence import Evidence, Presence, ServiceHealth
from journeyman.network.rate_limit.pause import Cause, Pause, RateLimits, remaining

STEPS_BACK = 8
"""So many good answers bring a limit back to where it was first needed."""


@dataclass(eq=False)
class AdaptiveLimit:
    """A limit on a quantity; none until the network asks for less of it."""

    floor: float
    """It never falls below this, in the quantity's own unit."""
    value: float | None = field(default=None, init=False)
    """The limit; None means any."""
    _normal: float = field(default=0.0, init=False)

    def decrease(self, used: float) -> None:
        """Halve it, from what was used when the network asked for less.

        The first time shows how much is normal here: there the way back leads, however
        often it is halved meanwhile.
        """
        if self.value is None:
            self._normal = max(used, self.floor)
        current = used if self.value is None else min(used, self.value)
        self.value = max(self.floor, current / 2)

    def increase(self) -> None:
        """Take one step back; twice the old normal is as good as no limit."""
        if self.value is None:
            return
        self.value += self._normal / STEPS_BACK
        if self.value >= 2 * self._normal:
            self.value = None


CLEAR_ANSWERS = 2
"""So many answers in a row that say it in words, or by 405 or 501."""
NEVER_SEEN = 2
"""So many 404 in a row, for different tasks, of an endpoint that never worked."""
SEEN_BEFORE = 6
"""And of one that has worked in this run: tasks do vanish, one after the other."""


@dataclass(eq=False)
class Absence:
    """What is known about whether one endpoint exists; at first, that it does."""

    options: RateLimits
    is_absent: bool = field(default=False, init=False)
    _has_worked: bool = field(default=False, init=False)
    _clear_answers: int = field(default=0, init=False)
    _subjects: set[str] = field(default_factory=set, init=False)
    _checks: int = field(default=0, init=False)
    _check_at: float = field(default=0.0, init=False)

    def wait(self, now: float) -> float:
        """Return the seconds until it is checked again; 0 when it may be used."""
        return remaining(self._check_at, now) if self.is_absent else 0.0

    def record(self, presence: Presence, subject: str, now: float) -> bool:
        """Record an answer; return whether that has changed the verdict.

        `subject` names what the request was about, such as its task.
        """
        if presence is Presence.UNKNOWN:
            return False
        if presence is Presence.PRESENT:
            was_absent, self.is_absent = self.is_absent, False
            self._has_worked = True
            self._clear_answers = self._checks = 0
            self._subjects.clear()
            return was_absent
        if self.is_absent:
            self._check_later(now)
            return False
        if presence is Presence.ABSENT:
            self._clear_answers += 1
        self._subjects.add(subject)
        needed = SEEN_BEFORE if self._has_worked else NEVER_SEEN
        if self._clear_answers < CLEAR_ANSWERS and len(self._subjects) < needed:
            return False
        self.is_absent = True
        self._check_later(now)
        return True

    def _check_later(self, now: float) -> None:
        # It may be a service that is being replaced: the first check comes soon.
        wait = self.options.retry.absent_seconds * 10.0**self._checks
        self._check_at = now + min(wait, self.options.absent_recheck)
        self._checks = min(self._checks + 1, 3)


SLOWEST_RATE = 1 / 30
"""In requests a second: a pause that is longer is asked for, not guessed."""
WINDOW_SECONDS = 10.0
"""The time over which our own rate is measured."""
BUSY_SECONDS = 1.0
"""How long to wait for another request to end."""
FORGET_SECONDS = 600.0
"""A limit that nothing has confirmed for so long is dropped."""


@dataclass(eq=False)
class EndpointLimit:
    """The state of one endpoint; all times are on the monotonic clock, in seconds."""

    options: RateLimits
    clock: Clock
    randomness: Randomness
    rate: AdaptiveLimit = field(default_factory=lambda: AdaptiveLimit(SLOWEST_RATE))
    """In requests a second."""
    concurrency: AdaptiveLimit = field(default_factory=lambda: AdaptiveLimit(1.0))
    """In requests at once."""
    breaker: circuit_breaker.CircuitBreaker = field(init=False)
    absence: Absence = field(init=False)
    _starts: deque[float] = field(default_factory=lambda: deque(maxlen=1000))
    _in_flight: int = 0
    _pause_until: float = 0.0
    _pauses: int = 0
    _decreased_at: float = -inf
    _message: str = ""

    def __post_init__(self) -> None:
        self.breaker = circuit_breaker.CircuitBreaker(
            options=self.options, randomness=self.randomness
        )
        self.absence = Absence(self.options)

    @property
    def is_throttled(self) -> bool:
        """Whether fewer requests than usual are sent."""
        is_limited = self.rate.value is not None or self.concurrency.value is not None
        return is_limited or bool(self._pauses)

    def pause(self) -> Pause | None:
        """Return why a request must wait; None when it may be sent now."""
        now, said = self.clock.monotonic(), self._message
        if wait := self.absence.wait(now):
            return Pause(Cause.ABSENT, wait, f"no such endpoint ({said})")
        if self._pause_until > now:
            wait = remaining(self._pause_until, now)
            return Pause(Cause.THROTTLED, wait, f"asked to wait ({said})")
        if wait := self.breaker.wait(now):
            return Pause(Cause.FAILING, wait, f"it keeps failing ({said})")
        if wait := self._wait_for_limits(now):
            return Pause(Cause.LIMITED, wait, f"slowed down ({said})")
        return None

    def start(self) -> bool:
        """Note that a request is sent; return whether it is the breaker's probe."""
        self._starts.append(self.clock.monotonic())
        self._in_flight += 1
        return self.breaker.start()

    def end(self) -> None:
        """Note that a request is over, however it ended."""
        self._in_flight -= 1

    def record(self, evidence: Evidence, began: float) -> None:
        """Record an outcome; `began` is when its request was sent."""
        self._message = evidence.message or self._message
        if self._is_stale(self.clock.monotonic()):
            self.rate.value = self.concurrency.value = None
        if evidence.slows and began >= self._decreased_at:
            # Requests that were under way at the last decrease show nothing new.
            self._decrease()
        if evidence.asks_for_pause:
            self._pause(evidence.wait)
        elif evidence.health is ServiceHealth.GOOD:
            self._pauses = 0
            self.rate.increase()
            self.concurrency.increase()

    def _decrease(self) -> None:
        now = self.clock.monotonic()
        recent = sum(1 for start in self._starts if start > now - WINDOW_SECONDS)
        self.rate.decrease(max(recent, 1) / WINDOW_SECONDS)
        self.concurrency.decrease(self._in_flight)
        self._decreased_at = now

    def _pause(self, named: float | None) -> None:
        """Pause for as long as was asked, or as seems wise."""
        self._pauses += 1
        retry = self.options.retry
        if named is None:
            longest = retry.max_unreachable_seconds
            wait = retry.backoff(self._pauses, self.randomness, longest)
        else:
            wait = retry.with_jitter(named, self.randomness)
        until = self.clock.monotonic() + wait
        self._pause_until = max(self._pause_until, until)

    def _wait_for_limits(self, now: float) -> float:
        """Return the seconds until the present limits allow a request."""
        if self._is_stale(now):
            return 0.0
        allowed = self.concurrency.value
        if allowed is not None and self._in_flight >= allowed:
            return BUSY_SECONDS
        if self.rate.value is None or not self._starts:
            return 0.0
        return remaining(self._starts[-1] + 1 / self.rate.value, now)

    def _is_stale(self, now: float) -> bool:
        """Return whether the limits are too old; the next answer drops them."""
        return now - self._decreased_at > FORGET_SECONDS
