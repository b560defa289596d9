"""The rate limiter before every request: it lets it go, or says how long it must wait.

All callers of a network share one, so that what one of them learns counts for all: a
pause, a failing endpoint, a service that is down, a refused token.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from journeyman.domain.clock import Clock, Randomness
from journeyman.network.endpoints import ENDPOINTS
from journeyman.network.events import REQUEST_PAUSED
from journeyman.network.rate_limit.circuit_breaker import (
    AbsenceBreaker,
    CircuitBreaker,
    FailureBreaker,
    TokenBreaker,
    TokenStatus,
)
from journeyman.network.rate_limit.pause import (
    AnyOutcome,
    Cause,
    Pause,
    Permit,
    RateLimits,
    longer,
)
from journeyman.network.rate_limit.throttle import SERVICE, Throttle, Throttling
from journeyman.observability.events import Log

LONGEST_NAP_SECONDS = 1.0
"""A shorter wait is slept through; a longer one would keep a slot for nothing."""


@dataclass(kw_only=True, eq=False)
class RateLimiter:
    """Decides when each request to one network may be sent."""

    clock: Clock
    randomness: Randomness
    log: Log
    private: frozenset[str]
    """The names of the endpoints that take the token."""
    options: RateLimits = field(default_factory=RateLimits)
    _service: FailureBreaker = field(init=False)
    token: TokenBreaker = field(init=False)
    """What is thought of our token; it may be listened to, and suspected."""
    _absent: dict[str, AbsenceBreaker] = field(init=False)
    """By the endpoint's name."""
    _breakers: dict[str, tuple[CircuitBreaker, ...]] = field(init=False)
    """What may stop a request, by the endpoint's name: nothing does for a document."""
    _throttling: Throttling = field(init=False)

    def __post_init__(self) -> None:
        options, randomness = self.options, self.randomness
        self._service = FailureBreaker(
            name=SERVICE,
            cause=Cause.DOWN,
            options=options,
            randomness=randomness,
            least_endpoints=2,
        )
        self.token = TokenBreaker(options=options, private=self.private)
        self._absent, self._breakers = {}, {}
        for name in (one.name for one in ENDPOINTS):
            failures = FailureBreaker(name=name, options=options, randomness=randomness)
            absence = AbsenceBreaker(name=name, options=options)
            self._absent[name] = absence
            self._breakers[name] = (self._service, self.token, absence, failures)
        self._throttling = Throttling(options, randomness)

    # -- questions ------------------------------------------------------------

    def general_pause(self) -> Pause | None:
        """Return why nothing may be done on this network at all, or None."""
        if not (self._service.is_open or self.token.is_open):
            return None
        now = self.clock.monotonic()
        is_rejected = self.token.status is TokenStatus.REJECTED
        rejection = self.token.pause(now) if is_rejected else None
        return self._service.pause(now) or rejection

    def pause_for(self, endpoint: str) -> Pause | None:
        """Return why a request to this endpoint must wait; None when it may be sent.

        A wait so short that `acquire` sleeps through it is none.
        """
        pause = self._pause(endpoint, self.clock.monotonic())
        return pause if pause and pause.seconds > LONGEST_NAP_SECONDS else None

    def pauses(self) -> Iterator[tuple[str, Pause]]:
        """Yield all pauses, each of the `service`, the `token`, or an endpoint."""
        now = self.clock.monotonic()
        breakers = dict.fromkeys(chain(*self._breakers.values()))
        limits: list[CircuitBreaker | Throttle] = [*breakers]
        limits += self._throttling.throttles.values()
        for one in limits:
            if pause := one.pause(now):
                yield one.name, pause

    def is_absent(self, endpoint: str) -> bool:
        """Return whether the network lacks this endpoint, as far as we know."""
        return self._absent[endpoint].is_open

    def _pause(self, endpoint: str, now: float) -> Pause | None:
        """Return the longest of the pauses that a request must wait for."""
        longest = self._throttling.pause(endpoint, now)
        for breaker in self._breakers.get(endpoint, ()):
            if breaker.is_open and breaker.concerns(endpoint):
                longest = longer(longest, breaker.pause(now))
        return longest

    # -- requests ---------------------------------------------------------------

    async def acquire(self, endpoint: str, task_id: str = "") -> Permit | Pause:
        """Return leave to send a request, after a short wait; else the longer pause.

        `task_id` names the task that the request is about, if any.
        """
        now = self.clock.monotonic()
        deadline = now + LONGEST_NAP_SECONDS
        while pause := self._pause(endpoint, now):
            if now + pause.seconds > deadline:
                self.log.emit(
                    REQUEST_PAUSED,
                    endpoint=endpoint,
                    cause=pause.cause,
                    seconds=round(pause.seconds, 1),
                    message=pause.reason,
                )
                return pause
            await self.clock.sleep(pause.seconds)
            now = self.clock.monotonic()
        permit = Permit(endpoint, now, task_id)
        breakers = self._breakers.get(endpoint, ())
        for breaker in breakers:
            if breaker.is_open and breaker.concerns(endpoint):
                breaker.probe = permit
        if breakers:
            self._throttling.start(permit)
        return permit

    def release(self, permit: Permit, outcome: AnyOutcome | None) -> None:
        """Record the end of a request; no outcome: nobody saw its end."""
        breakers = self._breakers.get(permit.endpoint, ())
        if not breakers:
            return
        if outcome is not None:
            now = self.clock.monotonic()
            for breaker in breakers:
                breaker.record(permit, outcome, now, self.log)
            self._throttling.record(permit, outcome, now, self.log)
        for breaker in breakers:
            if breaker.probe is permit:
                breaker.probe = None
        self._throttling.end(permit)
