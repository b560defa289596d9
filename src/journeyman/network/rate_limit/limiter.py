"""The rate limiter before every request: it lets it go, or says how long it must wait.

All callers of a network share one, so that what one of them learns counts for all: a
pause, a failing endpoint, a service that is down, a refused token.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from journeyman.domain.clock import Clock, Randomness
from journeyman.network import events
from journeyman.network.endpoints import ENDPOINTS
from journeyman.network.rate_limit import circuit_breaker
from journeyman.network.rate_limit.endpoint import EndpointLimit
from journeyman.network.rate_limit.evidence import Evidence, ServiceHealth
from journeyman.network.rate_limit.pause import Cause, Pause, RateLimits, remaining
from journeyman.observability.events import Log

_ACTIONS = frozenset(one.name for one in ENDPOINTS if one.changes_state)


class TokenStatus(Enum):
    """What the network thinks of our token."""

    ACCEPTED = auto()
    DOUBTED = auto()
    REJECTED = auto()


@dataclass(kw_only=True, eq=False)
class TokenMonitor:
    """The status of one token; all times are on the monotonic clock, in seconds."""

    private: frozenset[str]
    """The endpoints that take the token."""
    options: RateLimits
    status: TokenStatus = field(default=TokenStatus.ACCEPTED, init=False)
    message: str = field(default="", init=False)
    """What the network said when it last refused."""
    _refused_by: set[str] = field(default_factory=set, init=False)
    _is_probing: bool = field(default=False, init=False)
    _wait_until: float = field(default=0.0, init=False)

    def suspect(self, message: str) -> None:
        """Begin with a token that an earlier run found rejected: one request checks."""
        self.status, self.message = TokenStatus.REJECTED, message

    def wait(self, now: float) -> float:
        """Return the seconds until the token may be checked; 0 when it may be now."""
        if self.status is TokenStatus.ACCEPTED:
            return 0.0
        if self._is_probing:
            return self.options.retry.probe_seconds
        return remaining(self._wait_until, now)

    def is_checked_by(self, endpoint: str) -> bool:
        """Return whether an answer of this endpoint shows if the token is accepted.

        A read that has never refused the token does not: it may not look at it.
        """
        return endpoint in self.private and (
            endpoint in _ACTIONS or endpoint in self._refused_by
        )

    def start(self, endpoint: str) -> bool:
        """Note that a request is sent; return whether it is the one that checks."""
        if self.status is TokenStatus.ACCEPTED or not self.is_checked_by(endpoint):
            return False
        self._is_probing = True
        return True

    def record(
        self, endpoint: str, evidence: Evidence, now: float, *, is_probe: bool
    ) -> None:
        """Record an outcome."""
        self.abandon(is_probe=is_probe)
        accepted = evidence.token_accepted
        if accepted is False and endpoint in self.private:
            self.message = evidence.message
            self._refuse(endpoint, now, is_probe=is_probe)
        elif self.status is TokenStatus.ACCEPTED:
            return
        elif accepted and self.is_checked_by(endpoint):
            self.status = TokenStatus.ACCEPTED
            self._refused_by.clear()
        elif is_probe:
            self._pause(now)

    def abandon(self, *, is_probe: bool) -> None:
        """Forget a request whose end nobody saw."""
        if is_probe:
            self._is_probing = False

    def _refuse(self, endpoint: str, now: float, *, is_probe: bool) -> None:
        self._refused_by.add(endpoint)
        if self.status is TokenStatus.ACCEPTED:
            self.status = TokenStatus.DOUBTED
            self._pause(now)
        elif is_probe:
            self.status = TokenStatus.REJECTED
            self._pause(now)

    def _pause(self, now: float) -> None:
        wait = self.options.probe_every
        if self.status is TokenStatus.DOUBTED:
            wait = min(wait, self.options.retry.token_seconds)
        self._wait_until = now + wait


CONSEQUENCES: Mapping[str, str] = {
    "register": "no agent can be registered",
    "create_checkout": "no payment page can be requested",
    "public_marketplace": "the public marketplace cannot be read",
    "public_agents": "the public directory cannot be read",
    "agents_directory": "the directory and its manifests cannot be read",
    "marketplace_tasks": "tasks are read from the public marketplace instead",
    "claim": "no task is claimed",
    "submit": "results are kept and wait",
    "complete": "submitted tasks wait for their completion",
    "post_task": "no task is posted",
}
"""What the daemon does without an endpoint."""

LONGEST_NAP_SECONDS = 1.0
"""A shorter wait is slept through; a longer one would keep a slot for nothing."""


@dataclass(frozen=True, slots=True)
class Permit:
    """Permission to send one request; it is returned with the outcome."""

    endpoint: str
    began: float
    """On the monotonic clock, in seconds."""
    probes_service: bool = False
    probes_token: bool = False
    probes_endpoint: bool = False


@dataclass(kw_only=True, eq=False)
class RateLimiter:
    """Decides when each request to one network may be sent."""

    clock: Clock
    randomness: Randomness
    log: Log
    private: frozenset[str]
    """The names of the endpoints that take the token."""
    options: RateLimits = field(default_factory=RateLimits)
    limits: dict[str, EndpointLimit] = field(init=False)
    """By the endpoint's name."""
    _service: circuit_breaker.CircuitBreaker = field(init=False)
    _token: TokenMonitor = field(init=False)
    _failing: set[str] = field(default_factory=set, init=False)
    _failure: str = field(default="", init=False)
    _token_listeners: list[Callable[[TokenStatus, str], None]] = field(
        default_factory=list, init=False
    )

    def __post_init__(self) -> None:
        self.limits = {
            one.name: EndpointLimit(self.options, self.clock, self.randomness)
            for one in ENDPOINTS
        }
        self._service = circuit_breaker.CircuitBreaker(
            options=self.options, randomness=self.randomness
        )
        self._token = TokenMonitor(private=self.private, options=self.options)

    # -- questions ------------------------------------------------------------

    def general_pause(self) -> Pause | None:
        """Return why nothing may be done on this network at all, or None."""
        now = self.clock.monotonic()
        return self._service_pause(now) or self._rejection_pause(now)

    def pause_for(self, endpoint: str) -> Pause | None:
        """Return why a request to this endpoint must wait; None when it may be sent."""
        limit = self.limits.get(endpoint)
        if limit is None:
            return None
        now = self.clock.monotonic()
        if pause := self._service_pause(now):
            return pause
        if (wait := self._token.wait(now)) and self._token.is_checked_by(endpoint):
            return self._token_pause(wait)
        return limit.pause()

    def pauses(self) -> Iterator[tuple[str, Pause]]:
        """Yield all pauses, each of the `service`, the `token`, or an endpoint."""
        now = self.clock.monotonic()
        if wait := self._service.wait(now):
            yield (
                "service",
                Pause(Cause.DOWN, wait, self._failure),
            )
        if pause := self._rejection_pause(now):
            yield "token", pause
        for name, limit in self.limits.items():
            if pause := limit.pause():
                yield name, pause

    def is_absent(self, endpoint: str) -> bool:
        """Return whether the network lacks this endpoint, as far as we know."""
        return self.limits[endpoint].absence.is_absent

    def token_status(self) -> TokenStatus:
        """Return whether the network accepts our token."""
        return self._token.status

    # -- what an earlier run knew, and what a later one must know -----------------

    def on_token_status(self, listener: Callable[[TokenStatus, str], None]) -> None:
        """Call this when the token is rejected, with what was said, or good again."""
        self._token_listeners.append(listener)

    def suspect_token(self, message: str) -> None:
        """Begin with a token that an earlier run found rejected, with this message."""
        self._token.suspect(message)

    # -- requests ---------------------------------------------------------------

    async def acquire(self, endpoint: str) -> Permit | Pause:
        """Return leave to send a request, after a short wait; else the longer pause."""
        deadline = self.clock.monotonic() + LONGEST_NAP_SECONDS
        while pause := self.pause_for(endpoint):
            if self.clock.monotonic() + pause.seconds > deadline:
                self.log.emit(
                    events.REQUEST_PAUSED,
                    endpoint=endpoint,
                    cause=pause.cause,
                    seconds=round(pause.seconds, 1),
                    message=pause.reason,
                )
                return pause
            await self.clock.sleep(pause.seconds)
        began, limit = self.clock.monotonic(), self.limits.get(endpoint)
        if limit is None:
            return Permit(endpoint, began)
        return Permit(
            endpoint,
            began,
            probes_service=self._service.start(),
            probes_token=self._token.start(endpoint),
            probes_endpoint=limit.start(),
        )

    def release(self, permit: Permit, evidence: Evidence | None, subject: str) -> None:
        """Record the end of a request; no evidence: nobody saw its end.

        `subject` names what the request was about, such as its task.
        """
        limit = self.limits.get(permit.endpoint)
        if limit is None:
            return
        if evidence is None:
            self._service.abandon(is_probe=permit.probes_service)
            self._token.abandon(is_probe=permit.probes_token)
            limit.breaker.abandon(is_probe=permit.probes_endpoint)
        else:
            self._record_service(permit, evidence)
            self._record_token(permit, evidence)
            self._record_endpoint(limit, permit, evidence, subject)
        limit.end()

    def _record_service(self, permit: Permit, evidence: Evidence) -> None:
        if evidence.health is ServiceHealth.BAD:
            self._failing.add(permit.endpoint)
            self._failure = evidence.message
        else:
            self._failing.clear()
        self._record_breaker(
            self._service,
            "service",
            permit.began,
            evidence,
            is_probe=permit.probes_service,
            # One endpoint may fail alone: for that it has a breaker of its own.
            may_open=len(self._failing) > 1,
        )

    def _record_token(self, permit: Permit, evidence: Evidence) -> None:
        before = self._token.status
        now, is_probe = self.clock.monotonic(), permit.probes_token
        self._token.record(permit.endpoint, evidence, now, is_probe=is_probe)
        status = self._token.status
        if TokenStatus.REJECTED not in {before, status} or before is status:
            return
        if status is TokenStatus.REJECTED:
            self.log.emit(
                events.IDENTITY_REJECTED,
                message=evidence.message,
                retry_in=self.options.probe_every,
            )
        else:
            self.log.emit(events.IDENTITY_ACCEPTED, endpoint=permit.endpoint)
        for listener in self._token_listeners:
            listener(status, evidence.message)

    def _record_endpoint(
        self, limit: EndpointLimit, permit: Permit, evidence: Evidence, subject: str
    ) -> None:
        name = permit.endpoint
        was_throttled = limit.is_throttled
        limit.record(evidence, permit.began)
        if limit.is_throttled != was_throttled:
            self._log_throttling(name, limit, evidence)
        now = self.clock.monotonic()
        if limit.absence.record(evidence.presence, subject, now):
            self._log_absence(name, limit.absence.wait(now), evidence)
        self._record_breaker(
            limit.breaker, name, permit.began, evidence, is_probe=permit.probes_endpoint
        )

    def _record_breaker(
        self,
        breaker: circuit_breaker.CircuitBreaker,
        scope: str,
        began: float,
        evidence: Evidence,
        *,
        is_probe: bool,
        may_open: bool = True,
    ) -> None:
        if evidence.health is not ServiceHealth.BAD:
            if breaker.succeed():
                self.log.emit(events.BREAKER_CLOSED, scope=scope)
            return
        now = self.clock.monotonic()
        if breaker.fail(began=began, now=now, is_probe=is_probe, may_open=may_open):
            self.log.emit(
                events.BREAKER_OPENED,
                scope=scope,
                retry_in=round(breaker.wait(now), 1),
                message=evidence.message,
            )

    def _log_throttling(
        self, endpoint: str, limit: EndpointLimit, evidence: Evidence
    ) -> None:
        if not limit.is_throttled:
            self.log.emit(events.THROTTLING_ENDED, endpoint=endpoint)
            return
        pause = limit.pause()
        self.log.emit(
            events.THROTTLED,
            endpoint=endpoint,
            retry_in=round(pause.seconds, 1) if pause else 0.0,
            rate=_rounded(limit.rate.value),
            concurrency=_rounded(limit.concurrency.value),
            message=evidence.message,
        )

    def _log_absence(self, endpoint: str, wait: float, evidence: Evidence) -> None:
        if not wait:
            self.log.emit(events.ENDPOINT_FOUND, endpoint=endpoint)
            return
        self.log.emit(
            events.ENDPOINT_ABSENT,
            endpoint=endpoint,
            consequence=CONSEQUENCES[endpoint],
            check_again_in=round(wait),
            message=evidence.message,
        )

    # -- pauses -------------------------------------------------------------------

    def _service_pause(self, now: float) -> Pause | None:
        wait = self._service.wait(now)
        if not wait:
            return None
        return Pause(Cause.DOWN, wait, f"the network is down ({self._failure})")

    def _rejection_pause(self, now: float) -> Pause | None:
        """Return a pause while the token is rejected and it is too soon to check it."""
        if self._token.status is not TokenStatus.REJECTED:
            return None
        wait = self._token.wait(now)
        return self._token_pause(wait) if wait else None

    def _token_pause(self, wait: float) -> Pause:
        return Pause(Cause.TOKEN, wait, f"token rejected ({self._token.message})")


def _rounded(limit: float | None) -> float | None:
    return None if limit is None else round(limit, 2)
