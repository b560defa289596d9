"""The guard before every request: lets it go, or says how long it must wait.

It stands in front of all callers of a network, so that what one of them was told holds
for all: a pause, a broken endpoint, a dead service, a refused token.
"""

from collections.abc import Callable, Iterator
from types import MappingProxyType, TracebackType
from typing import Self

from journeyman.domain.clock import Clock, Randomness
from journeyman.network import events
from journeyman.network.endpoints import ENDPOINTS
from journeyman.network.rate_limit.circuit_breaker import CircuitBreaker
from journeyman.network.rate_limit.endpoint import Absence, EndpointLimit
from journeyman.network.rate_limit.evidence import Evidence, Strength
from journeyman.network.rate_limit.pause import Cause, Pause, RateLimits
from journeyman.network.rate_limit.token import TokenStanding, Trust
from journeyman.observability.events import Log

CONSEQUENCES = MappingProxyType(
    {
        "register": "no agent can be made here",
        "create_checkout": "no payment page can be asked for",
        "public_marketplace": "the public marketplace cannot be read",
        "public_agents": "the public directory cannot be read",
        "agents_directory": "the directory and its manifests cannot be read",
        "marketplace_tasks": "tasks are looked for in the public marketplace instead",
        "claim": "no task is claimed",
        "submit": "results are kept and wait",
        "complete": "submitted tasks wait for their completion",
        "post_task": "no task is posted",
    },
)
"""What the daemon does without an endpoint."""


class Reporter:
    """Writes pressure to a log."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def held(self, endpoint: str, held: Pause) -> None:
        """Tell of a request that was not let go."""
        self._log.emit(
            events.HELD,
            endpoint=endpoint,
            cause=held.cause,
            seconds=round(held.seconds, 1),
            message=held.reason,
        )

    def pace(
        self, endpoint: str, lane: EndpointLimit, held: Pause | None, sign: Evidence
    ) -> None:
        """Tell that an endpoint was slowed down, or is at its usual pace again."""
        if not lane.is_slowed:
            self._log.emit(events.EASED, endpoint=endpoint)
            return
        self._log.emit(
            events.THROTTLED,
            endpoint=endpoint,
            retry_in=round(held.seconds, 1) if held else 0.0,
            rate=_rounded(lane.rate.value),
            width=_rounded(lane.width.value),
            message=sign.message,
        )

    def opened(self, scope: str, wait: float, sign: Evidence) -> None:
        """Tell that a breaker has opened."""
        self._log.emit(
            events.BREAKER_OPENED,
            scope=scope,
            retry_in=round(wait, 1),
            message=sign.message,
        )

    def closed(self, scope: str) -> None:
        """Tell that a breaker has closed."""
        self._log.emit(events.BREAKER_CLOSED, scope=scope)

    def presence(
        self, endpoint: str, absence: Absence, now: float, sign: Evidence
    ) -> None:
        """Tell that an endpoint is gone, or there again."""
        if not absence.is_absent:
            self._log.emit(events.ENDPOINT_FOUND, endpoint=endpoint)
            return
        self._log.emit(
            events.ENDPOINT_ABSENT,
            endpoint=endpoint,
            consequence=CONSEQUENCES[endpoint],
            look_again_in=round(absence.wait(now)),
            message=sign.message,
        )

    def rejected(self, message: str, retry_in: float) -> None:
        """Tell that the network does not accept our token."""
        self._log.emit(events.IDENTITY_REJECTED, message=message, retry_in=retry_in)

    def accepted(self, endpoint: str) -> None:
        """Tell that it does again."""
        self._log.emit(events.IDENTITY_ACCEPTED, endpoint=endpoint)


def _rounded(limit: float | None) -> float | None:
    return None if limit is None else round(limit, 2)


LONGEST_NAP_SECONDS = 1.0
"""A shorter wait is slept through; a longer one would hold a slot for nothing."""

_ACTIONS = frozenset(one.name for one in ENDPOINTS if one.changes_state)
_DEFAULT_OPTIONS = RateLimits()


class RateLimiter:
    """What is let go to one network, and what is held back."""

    def __init__(
        self,
        *,
        clock: Clock,
        randomness: Randomness,
        log: Log,
        private: frozenset[str],
        options: RateLimits = _DEFAULT_OPTIONS,
    ) -> None:
        """Begin with a network about which nothing is known.

        Args:
            clock: for every wait.
            randomness: for jitter.
            log: hears when pressure begins and ends.
            private: the names of the endpoints that take the token.
            options: the figures that an owner may choose.
        """
        self._clock = clock
        self._options = options
        self._private = private
        self._lanes = {
            one.name: EndpointLimit(options, clock, randomness) for one in ENDPOINTS
        }
        self._service = CircuitBreaker(
            failures=options.failures,
            probe_every=options.probe_every,
            randomness=randomness,
        )
        self._failing: set[str] = set()
        self._failure = ""
        self._token = TokenStanding(options.probe_every)
        self._report = Reporter(log)
        self._on_trust: list[Callable[[Trust, str], None]] = []

    # -- questions ------------------------------------------------------------

    def stopped(self) -> Pause | None:
        """Say why nothing at all may be done; None when something may."""
        now = self._clock.monotonic()
        if wait := self._service.wait(now):
            return Pause(Cause.DOWN, wait, f"the network is down ({self._failure})")
        return self._rejected(now)

    def held(self, endpoint: str) -> Pause | None:
        """Say why a request to this endpoint must wait; None when it may go."""
        lane = self._lanes.get(endpoint)
        if lane is None:
            return None
        now = self._clock.monotonic()
        if wait := self._service.wait(now):
            return Pause(Cause.DOWN, wait, f"the network is down ({self._failure})")
        return self._doubted(endpoint, now) or lane.held()

    def is_absent(self, endpoint: str) -> bool:
        """Tell whether the network lacks this endpoint, as far as we know."""
        return self._lanes[endpoint].absence.is_absent

    def all_held(self) -> Iterator[tuple[str, Pause]]:
        """Give all that is held back now: `service`, `token`, or an endpoint's name."""
        now = self._clock.monotonic()
        if wait := self._service.wait(now):
            yield "service", Pause(Cause.DOWN, wait, self._failure)
        if held := self._rejected(now):
            yield "token", held
        for name, lane in self._lanes.items():
            if held := lane.held():
                yield name, held

    def trust(self) -> Trust:
        """Tell how our token stands with the network."""
        return self._token.trust

    # -- what an earlier run knew, and what a later one must know -----------------

    def on_trust(self, listener: Callable[[Trust, str], None]) -> None:
        """Call this when the token is rejected, with what was said, or good again."""
        self._on_trust.append(listener)

    def report_to(self, log: Log) -> None:
        """Write to this log from now on, such as to one that names our agent."""
        self._report = Reporter(log)

    def suspect_token(self, message: str) -> None:
        """Begin with a token that an earlier run found rejected, with this message."""
        self._token.suspect(message)

    # -- requests ---------------------------------------------------------------

    async def admit(self, endpoint: str) -> "Pass | Pause":
        """Let a request go, after a nap where that is enough; else say why not."""
        naps_until = self._clock.monotonic() + LONGEST_NAP_SECONDS
        while held := self.held(endpoint):
            if self._clock.monotonic() + held.seconds > naps_until:
                self._report.held(endpoint, held)
                return held
            await self._clock.sleep(held.seconds)
        return self._let_go(endpoint)

    def _let_go(self, endpoint: str) -> "Pass":
        lane = self._lanes.get(endpoint)
        is_action = endpoint in _ACTIONS
        private = endpoint in self._private
        return Pass(
            self,
            endpoint,
            began=self._clock.monotonic(),
            probes_service=lane is not None and self._service.start(),
            probes_token=private and self._token.start(endpoint, is_action=is_action),
            probes_lane=lane is not None and lane.start(),
        )

    def end(self, passed: "Pass", sign: Evidence | None, subject: str) -> None:
        """Take the end of a request into account; no sign: nobody saw how it ended."""
        lane = self._lanes.get(passed.endpoint)
        if lane is None:
            return
        if sign is None:
            self._service.abandon(is_probe=passed.probes_service)
            self._token.abandon(is_probe=passed.probes_token)
            lane.breaker.abandon(is_probe=passed.probes_lane)
        else:
            self._note_service(passed, sign)
            self._note_token(passed, sign)
            self._note_lane(lane, passed, sign, subject)
        lane.end()

    def _note_service(self, passed: "Pass", sign: Evidence) -> None:
        if sign.health is not Strength.BAD:
            self._failing.clear()
            if self._service.succeed():
                self._report.closed("service")
            return
        self._failing.add(passed.endpoint)
        self._failure = sign.message
        now = self._clock.monotonic()
        opened = self._service.fail(
            began=passed.began,
            now=now,
            is_probe=passed.probes_service,
            # One endpoint may fail alone: for that it has a breaker of its own.
            may_open=len(self._failing) > 1,
        )
        if opened:
            self._report.opened("service", self._service.wait(now), sign)

    def _note_token(self, passed: "Pass", sign: Evidence) -> None:
        if passed.endpoint not in self._private:
            return
        before = self._token.trust
        if sign.token is False:
            self._token.message = sign.message
        trust = self._token.note(
            passed.endpoint,
            accepted=sign.token,
            now=self._clock.monotonic(),
            is_probe=passed.probes_token,
            is_action=passed.endpoint in _ACTIONS,
        )
        if Trust.REJECTED not in {before, trust} or before is trust:
            return
        if trust is Trust.REJECTED:
            self._report.rejected(sign.message, self._options.probe_every)
        else:
            self._report.accepted(passed.endpoint)
        for listener in self._on_trust:
            listener(trust, sign.message)

    def _note_lane(
        self, lane: EndpointLimit, passed: "Pass", sign: Evidence, subject: str
    ) -> None:
        name, now = passed.endpoint, self._clock.monotonic()
        was_slowed = lane.is_slowed
        lane.note(sign, passed.began)
        if lane.is_slowed != was_slowed:
            self._report.pace(name, lane, lane.held(), sign)
        if lane.absence.note(sign, subject, now):
            self._report.presence(name, lane.absence, now, sign)
        if sign.health is not Strength.BAD:
            if lane.breaker.succeed():
                self._report.closed(name)
        elif lane.breaker.fail(
            began=passed.began, now=now, is_probe=passed.probes_lane
        ):
            self._report.opened(name, lane.breaker.wait(now), sign)

    def _rejected(self, now: float) -> Pause | None:
        """Say that nobody may act: the token is rejected, and it is not time to ask."""
        if self._token.trust is not Trust.REJECTED:
            return None
        wait = self._token.wait("", now, is_action=True)
        return self._held_for_token(wait)

    def _doubted(self, endpoint: str, now: float) -> Pause | None:
        if endpoint not in self._private:
            return None
        is_action = endpoint in _ACTIONS
        return self._held_for_token(
            self._token.wait(endpoint, now, is_action=is_action)
        )

    def _held_for_token(self, wait: float) -> Pause | None:
        if not wait:
            return None
        return Pause(Cause.TOKEN, wait, f"token rejected ({self._token.message})")


class Pass:
    """One request that was let go; leave its block with a sign, or it tells nothing."""

    def __init__(
        self,
        rate_limiter: RateLimiter,
        endpoint: str,
        *,
        began: float,
        probes_service: bool,
        probes_token: bool,
        probes_lane: bool,
    ) -> None:
        self._rate_limiter = rate_limiter
        self._sign: Evidence | None = None
        self._subject = ""
        self.endpoint = endpoint
        self.began = began
        """On the monotonic clock, in seconds."""
        self.probes_service = probes_service
        self.probes_token = probes_token
        self.probes_lane = probes_lane

    def tell(self, sign: Evidence, subject: str) -> None:
        """Say how the request ended, and what it was about."""
        self._sign, self._subject = sign, subject

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._rate_limiter.end(self, self._sign, self._subject)
