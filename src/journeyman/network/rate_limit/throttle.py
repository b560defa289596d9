"""Throttles: the pauses that a network asks for, and the gentle way back to speed.

After a pause one request goes first. While all is well, the rate and the number of
requests at once then grow by an eighth of what was too much with each good answer, and
twice that is as good as no limit (additive increase, multiplicative decrease: RFC
5681).
"""

import re
from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import TypeGuard

from journeyman.domain.clock import Randomness
from journeyman.domain.outcomes import Failure, NotSent, Refusal, Refused, Unknown
from journeyman.network import events
from journeyman.network.endpoints import ENDPOINTS
from journeyman.network.rate_limit.pause import (
    UNAVAILABLE,
    AnyOutcome,
    Cause,
    Pause,
    Permit,
    RateLimits,
    longer,
    remaining,
)
from journeyman.observability.events import Log


def asks_for_pause(outcome: AnyOutcome) -> TypeGuard[Failure]:
    """Return whether fewer requests are wanted: 429, 503, or a 5xx with a pause."""
    if isinstance(outcome, Unknown):
        return outcome.status == UNAVAILABLE or outcome.retry_after is not None
    return isinstance(outcome, Refused) and outcome.refusal is Refusal.THROTTLED


STEPS_BACK = 8
"""So many good answers add as much as was in use when the network asked for less."""


@dataclass(eq=False)
class AdaptiveLimit:
    """A limit on a quantity; none until the network asks for less of it."""

    floor: float
    """It never falls below this, in the quantity's own unit."""
    value: float | None = field(default=None, init=False)
    """The limit; None means any."""
    _too_much: float = field(default=0.0, init=False)

    def decrease(self, used: float) -> None:
        """Halve it, from what was used when the network asked for less."""
        current = used if self.value is None else min(used, self.value)
        self._too_much = max(current, self.floor)
        self.value = max(self.floor, current / 2)

    def increase(self) -> None:
        """Take one step back; twice what was too much is as good as no limit."""
        if self.value is None:
            return
        self.value += self._too_much / STEPS_BACK
        if self.value >= 2 * self._too_much:
            self.value = None


SLOWEST_RATE = 0.25
"""In requests a second: a pause that is longer is asked for, not guessed."""
WINDOW_SECONDS = 10.0
"""The time over which our own rate is measured."""
LONGEST_GAP_SECONDS = 1.0
"""Between two requests; what is longer was idle, and does not count as used."""
BUSY_SECONDS = 0.1
"""How long to wait for another request to end."""
FORGET_SECONDS = 60.0
"""A limit that nothing has confirmed for so long is dropped."""


@dataclass(kw_only=True, eq=False)
class Throttle:
    """How fast the requests to the service, or to one endpoint, may go.

    All times are on the monotonic clock, in seconds.
    """

    name: str
    options: RateLimits
    randomness: Randomness
    sent: deque[Permit] = field(default_factory=lambda: deque(maxlen=1000), init=False)
    """The latest last."""
    under_way: set[Permit] = field(default_factory=set, init=False)
    is_active: bool = field(default=False, init=False)
    """Whether fewer requests than usual are sent."""
    asked_at: float = field(default=-inf, init=False)
    """When the network last asked for a pause."""
    pause_until: float = field(default=-inf, init=False)
    _pauses: int = field(default=0, init=False)
    _decreased_at: float = field(default=-inf, init=False)
    _rate: AdaptiveLimit = field(default_factory=lambda: AdaptiveLimit(SLOWEST_RATE))
    """In requests a second."""
    _concurrency: AdaptiveLimit = field(default_factory=lambda: AdaptiveLimit(1.0))
    """In requests at once."""
    _message: str = field(default="", init=False)
    """What the network said last when it asked for less, for people."""

    def asked_pause(self, now: float) -> Pause | None:
        """Return the pause that the network has asked for; None when it is over."""
        wait = remaining(self.pause_until, now)
        reason = f"asked to wait ({self._message})"
        return Pause(Cause.THROTTLED, wait, reason) if wait else None

    def pause(self, now: float) -> Pause | None:
        """Return why a request must wait; None when it may be sent now."""
        if not self.is_active:
            return None
        if pause := self.asked_pause(now):
            return pause
        wait = 0.0 if self._is_stale(now) else self._wait_for_limits(now)
        reason = f"slowed down ({self._message})"
        return Pause(Cause.LIMITED, wait, reason) if wait else None

    def _wait_for_limits(self, now: float) -> float:
        allowed, rate = self._concurrency.value, self._rate.value
        if allowed is not None and len(self.under_way) >= allowed:
            return BUSY_SECONDS
        if rate is None or not self.sent:
            return 0.0
        return remaining(self.sent[-1].began + 1 / rate, now)

    def _is_stale(self, now: float) -> bool:
        """Return whether the limits are too old; the next answer drops them."""
        return now - max(self._decreased_at, self.pause_until) > FORGET_SECONDS

    def record(self, permit: Permit, outcome: AnyOutcome, now: float, log: Log) -> None:
        """Record how a request ended, and log where that changes `is_active`."""
        was_active = self.is_active
        if self._is_stale(now):
            self._rate.value = self._concurrency.value = None
        # What was under way when the network asked for less shows nothing new.
        if asks_for_pause(outcome):
            self._pause(permit, outcome, now)
        elif isinstance(outcome, NotSent | Unknown):
            if outcome.timed_out and permit.began >= self._decreased_at:
                self._message = outcome.message
                self._decrease(now)
                self._concurrency.decrease(len(self.under_way))
        elif permit.began > self.asked_at:
            self._pauses = 0
            self._rate.increase()
            self._concurrency.increase()
        limits = (self._rate.value, self._concurrency.value)
        self.is_active = limits != (None, None) or self._pauses > 0
        if self.is_active is not was_active:
            self._tell(log, now)

    def _pause(self, permit: Permit, failure: Failure, now: float) -> None:
        """Pause for as long as was asked, or as seems wise."""
        self._message = failure.message
        named, retry = failure.retry_after, self.options.retry
        is_new = permit.began > self.asked_at
        if is_new:
            self._slow_down(permit, now)
            self.asked_at = now
            self._pauses += 1
        if named is not None:
            wait = retry.with_jitter(named, self.randomness)
        elif is_new:
            longest = retry.max_unreachable_seconds
            wait = retry.backoff(self._pauses, self.randomness, longest)
        else:
            return
        self.pause_until = max(self.pause_until, now + wait)

    def _slow_down(self, permit: Permit, now: float) -> None:
        """Allow one request at a time after the pause, and all of them slower.

        That the first one after a pause is refused says that the pause was too short,
        and nothing of the rate.
        """
        first = next((one for one in self.sent if one.began > self.asked_at), None)
        if permit is not first:
            self._decrease(now)
        self._concurrency.decrease(len(self.under_way))
        self._concurrency.value = self._concurrency.floor

    def _decrease(self, now: float) -> None:
        self._decreased_at = now
        self._rate.decrease(self._used_rate(now))

    def _used_rate(self, now: float) -> float:
        """Measure our own rate over the time that was really used."""
        starts = [one.began for one in self.sent if one.began > now - WINDOW_SECONDS]
        gaps = (later - start for start, later in pairwise([*starts, now]))
        used = sum(min(gap, LONGEST_GAP_SECONDS) for gap in gaps)
        return max(len(starts), 1) / max(used, LONGEST_GAP_SECONDS)

    def adopt(self, other: "Throttle", now: float, log: Log) -> None:
        """Take over another's pause, which was meant for this one."""
        self._message, self.asked_at = other._message, now
        self.pause_until = max(self.pause_until, other.pause_until)
        self._pauses, self.is_active, other.pause_until = 1, True, -inf
        self._tell(log, now)

    def _tell(self, log: Log, now: float) -> None:
        if not self.is_active:
            log.emit(events.THROTTLING_ENDED, endpoint=self.name)
            return
        rate, allowed = self._rate.value, self._concurrency.value
        log.emit(
            events.THROTTLED,
            endpoint=self.name,
            retry_in=round(max(self.pause_until - now, 0.0), 1),
            rate=None if rate is None else round(rate, 2),
            concurrency=None if allowed is None else round(allowed, 2),
            message=self._message,
        )


SERVICE = "service"
"""The name of the throttle that holds for all requests."""
SHARED_SECONDS = 600.0
"""How long a pause that was seen to be the whole service's is not doubted again."""
IN_A_ROW = 2
"""So many pauses that one endpoint asks for, and no other, raise the doubt."""

_THIS_ENDPOINT = re.compile(
    r"\b(?:this|per|each) (?:endpoint|route|path|function|method)\b"
)
_LAST_PARTS = {one.name: one.path.rpartition("/")[2] for one in ENDPOINTS}


class Throttling:
    """The throttles of a service and of its endpoints, and which a pause is for.

    - A pause holds for the whole service, unless the refusal's words name its endpoint.
    - If the same endpoint asks for the next pause too, one request of another endpoint
      may be sent while that one holds, as a test. If it is answered well, the pause was
      the first endpoint's alone, and so are its next ones.
    - If the test is asked to wait too, or if any endpoint asks for a pause while
      another has one of its own, pauses are the service's, and nothing is tested for a
      while.
    """

    def __init__(self, options: RateLimits, randomness: Randomness) -> None:
        """Begin with no pause."""
        self.throttles = {
            name: Throttle(name=name, options=options, randomness=randomness)
            for name in (SERVICE, *_LAST_PARTS)
        }
        self._service = self.throttles[SERVICE]
        self._own: set[str] = set()
        """Endpoints whose pauses were seen to be theirs alone."""
        self._asked_by = ""
        """The endpoint that asked for the last pause of the service."""
        self._in_a_row = 0
        """How many of its pauses it asked for, with no other between."""
        self._test: Permit | None = None
        self._shared_until = -inf

    def pause(self, endpoint: str, now: float) -> Pause | None:
        """Return why a request must wait; None when it may be sent now.

        What is no endpoint, such as a document, waits only for a pause of the service.
        """
        own = self.throttles.get(endpoint)
        if own is None:
            return self._service.asked_pause(now)
        if not (self._service.is_active or own.is_active):
            return None
        may_test = self._may_test(endpoint, now)
        return longer(None if may_test else self._service.pause(now), own.pause(now))

    def start(self, permit: Permit) -> None:
        """Note that a request is sent."""
        if self._may_test(permit.endpoint, permit.began):
            self._test, self._in_a_row = permit, 1
        for throttle in (self._service, self.throttles[permit.endpoint]):
            throttle.sent.append(permit)
            throttle.under_way.add(permit)

    def end(self, permit: Permit) -> None:
        """Note that a request is over, however it ended."""
        for throttle in (self._service, self.throttles[permit.endpoint]):
            throttle.under_way.discard(permit)

    def record(self, permit: Permit, outcome: AnyOutcome, now: float, log: Log) -> None:
        """Record an outcome."""
        if permit is self._test:
            self._end_test(outcome, now, log)
        own, is_good = self.throttles[permit.endpoint], False
        if asks_for_pause(outcome):
            concerned = [own if self._is_own(permit, outcome, now) else self._service]
        elif isinstance(outcome, NotSent | Unknown):
            concerned = [own]
        else:
            concerned, is_good = [self._service, own], True
        for throttle in concerned:
            if throttle.is_active or not is_good:
                throttle.record(permit, outcome, now, log)

    def _may_test(self, endpoint: str, now: float) -> bool:
        """Return whether a request may be sent in a pause of the service, as a test."""
        is_paused = self._service.pause_until > now >= self._shared_until
        return is_paused and self._in_a_row >= IN_A_ROW and endpoint != self._asked_by

    def _end_test(self, outcome: AnyOutcome, now: float, log: Log) -> None:
        """Learn whose the pause is."""
        if asks_for_pause(outcome):
            self._share(now)
        elif not isinstance(outcome, NotSent | Unknown):
            self._own.add(self._asked_by)
            if self._service.pause_until > now:
                self.throttles[self._asked_by].adopt(self._service, now, log)

    def _is_own(self, permit: Permit, failure: Failure, now: float) -> bool:
        """Return whether the pause that an endpoint asks for is its own."""
        endpoint = permit.endpoint
        others = (one for one in self.throttles if one not in {SERVICE, endpoint})
        if any(self.throttles[one].pause_until > now for one in others):
            self._share(now)
        is_doubted = now >= self._shared_until
        if endpoint in self._own or (is_doubted and _names(failure.message, endpoint)):
            return True
        is_same = endpoint == self._asked_by
        if not is_same or permit.began > self._service.asked_at:
            self._in_a_row = self._in_a_row + 1 if is_same else 1
            self._asked_by = endpoint
        return False

    def _share(self, now: float) -> None:
        self._own.clear()
        self._in_a_row = 0
        self._shared_until = now + SHARED_SECONDS


def _names(message: str, endpoint: str) -> bool:
    """Return whether a refusal says that it is about this endpoint, not the service."""
    said = message.lower()
    return _LAST_PARTS[endpoint] in said or bool(_THIS_ENDPOINT.search(said))
