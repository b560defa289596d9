"""Circuit breakers: what stops requests until a probe shows that they are of use again.

Closed, one lets all requests go. Open, it lets none go until its time is over. Then it
is half open: one request is sent as the probe; its end closes the breaker or opens it
again. Four things are watched in this way: whether the service answers, whether an
endpoint works, whether it exists, and whether our token is accepted.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from math import inf

from journeyman.domain.clock import Randomness
from journeyman.domain.outcomes import Confirmed, NotSent, Refusal, Refused, Unknown
from journeyman.network import events
from journeyman.network.endpoints import CLAIM, ENDPOINTS
from journeyman.network.rate_limit.pause import (
    AnyOutcome,
    Cause,
    Pause,
    Permit,
    RateLimits,
    remaining,
)
from journeyman.observability.events import Log

_CLAUSES = {
    Cause.DOWN: "the network is down",
    Cause.FAILING: "it keeps failing",
    Cause.ABSENT: "no such endpoint",
    Cause.TOKEN: "token rejected",
}


@dataclass(kw_only=True, eq=False)
class CircuitBreaker(ABC):
    """One breaker; all times are on the monotonic clock, in seconds."""

    name: str
    """What it watches: `service`, `token`, or an endpoint."""
    cause: Cause
    options: RateLimits
    is_open: bool = field(default=False, init=False)
    """Open or half open: all is not well."""
    probe: Permit | None = field(default=None, init=False)
    """The one request that is under way while it is half open."""
    message: str = field(default="", init=False)
    """What the network said last of it, for people."""
    open_until: float = field(default=0.0, init=False)

    def pause(self, now: float) -> Pause | None:
        """Return why a request must wait; None when it may be sent now."""
        if not self.is_open:
            return None
        wait = remaining(self.open_until, now)
        if self.probe:
            wait = self.options.retry.probe_seconds
        if not wait:
            return None
        return Pause(self.cause, wait, f"{_CLAUSES[self.cause]} ({self.message})")

    def concerns(self, _endpoint: str) -> bool:
        """Return whether it stops requests to this endpoint, which then probe it."""
        return True

    @abstractmethod
    def record(self, permit: Permit, outcome: AnyOutcome, now: float, log: Log) -> None:
        """Record how a request ended, and log if that opens or closes the breaker."""


@dataclass(kw_only=True, eq=False)
class FailureBreaker(CircuitBreaker):
    """Opens after failures in a row, of one endpoint or of the service."""

    cause: Cause = Cause.FAILING
    randomness: Randomness
    least_endpoints: int = 1
    """So many must fail: one that fails alone has a breaker of its own."""
    _failing: set[str] = field(default_factory=set, init=False)
    _in_a_row: int = field(default=0, init=False)
    _last_failure: float = field(default=-inf, init=False)
    """When the end of the last failed request was known."""

    def record(self, permit: Permit, outcome: AnyOutcome, now: float, log: Log) -> None:
        if not isinstance(outcome, NotSent | Unknown):
            if self.is_open:
                log.emit(events.BREAKER_CLOSED, scope=self.name)
            self.is_open, self._in_a_row = False, 0
            self._failing.clear()
            return
        self.message = outcome.message
        self._failing.add(permit.endpoint)
        # Requests that were under way together count as one failure: eight that met
        # the same moment of silence are not eight in a row.
        if permit.began >= self._last_failure:
            self._in_a_row, self._last_failure = self._in_a_row + 1, now
        longest = self.options.probe_every
        if permit is self.probe:
            # Counted from its start, so that a slow probe delays nothing; one that took
            # as long as the whole pause is not repeated at once.
            soonest = now + self.options.retry.probe_seconds
            self.open_until = max(permit.began + longest, soonest)
        is_enough = self._in_a_row >= self.options.failures
        if self.is_open or not is_enough or len(self._failing) < self.least_endpoints:
            return
        # At random, so that a thousand agents do not probe at once.
        wait = self.randomness.uniform(longest / 2, longest)
        self.is_open, self.open_until = True, now + wait
        log.emit(
            events.BREAKER_OPENED,
            scope=self.name,
            retry_in=round(wait, 1),
            message=self.message,
        )


# -- whether an endpoint exists ------------------------------------------------------

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

_MAYBE_OF_THE_TASK = frozenset({404, 410})
_NO_ENDPOINT = re.compile(
    r"\b(?:function|route|endpoint|path|url|method|handler|resource path)s?\b"
    r"|\bpage not found\b|\bcannot (?:get|post|put)\b|\bnot implemented\b",
)
"""Words of gateways and frameworks for "nothing is at this address"."""
_NO_TASK = re.compile(
    r"(?<![-/])\b(?:task|job|claim|listing|record|row|item|entity|object|document"
    r"|model|order|ticket|assignment|submission|id)s?\b(?![-/])"
)
"""Words of a service for "I looked, and there is none of this id"."""


class Presence(Enum):
    """What an answer says about whether the endpoint exists."""

    #: Nothing.
    UNKNOWN = auto()
    #: It exists: it did something, or refused for a reason of its own.
    PRESENT = auto()
    #: It does not, in so many words.
    ABSENT = auto()
    #: 404 without a word: the endpoint, or the task, is not there.
    UNCLEAR = auto()


def presence_of(outcome: AnyOutcome, task_id: str) -> Presence:
    """Return what an outcome of a request about a task says about its endpoint."""
    if isinstance(outcome, Confirmed):
        return Presence.PRESENT
    # A gateway asks for the token, or for patience, before it looks.
    silent = {Refusal.UNAUTHORIZED, Refusal.THROTTLED}
    if not isinstance(outcome, Refused) or outcome.refusal in silent:
        return Presence.UNKNOWN
    if outcome.refusal is not Refusal.ABSENT or outcome.is_there:
        return Presence.PRESENT
    said = outcome.message.partition(": ")[2].lower().replace("_", " ")
    if outcome.is_of_method or _NO_ENDPOINT.search(said):
        return Presence.ABSENT
    is_of_task = _NO_TASK.search(said) or _says_word(said, task_id)
    is_unclear = outcome.status in _MAYBE_OF_THE_TASK and not is_of_task
    return Presence.UNCLEAR if is_unclear else Presence.PRESENT


def _says_word(said: str, task_id: str) -> bool:
    """Return whether a message has a task's id: a router knows nothing of bodies."""
    name = re.escape(task_id.lower().replace("_", " "))
    return bool(name) and re.search(rf"(?<!\w){name}(?!\w)", said) is not None


CLEAR_ANSWERS = 2
"""So many answers in a row that say it in words, or by 405 or 501."""
NEVER_SEEN = 3
"""So many bare 404 in a row, for different tasks, of an endpoint that never worked."""
SEEN_BEFORE = 12
"""And of one that has worked in this run: tasks do vanish, one after the other."""
SOON_SECONDS = 300.0
"""The longest time between two checks where the endpoint has worked, or where only bare
answers say that it is absent."""


@dataclass(kw_only=True, eq=False)
class AbsenceBreaker(CircuitBreaker):
    """Opens when answers prove that the network lacks an endpoint (decision 0029)."""

    cause: Cause = Cause.ABSENT
    _has_worked: bool = field(default=False, init=False)
    _clear_answers: int = field(default=0, init=False)
    _subjects: set[str] = field(default_factory=set, init=False)
    _checks: int = field(default=0, init=False)

    def record(self, permit: Permit, outcome: AnyOutcome, now: float, log: Log) -> None:
        presence = presence_of(outcome, permit.task_id)
        if presence is Presence.PRESENT:
            if self.is_open:
                log.emit(events.ENDPOINT_FOUND, endpoint=self.name)
            self.is_open, self._has_worked = False, True
            self._clear_answers = self._checks = 0
            self._subjects.clear()
        elif presence is not Presence.UNKNOWN and isinstance(outcome, Refused):
            self.message = outcome.message
            self._clear_answers += presence is Presence.ABSENT
            # Only a task that is not ours yet may be gone; else each answer counts.
            is_claim = permit.endpoint == CLAIM.name
            self._subjects.add(permit.task_id if is_claim else str(permit.began))
            self._judge(now, log)

    def _judge(self, now: float, log: Log) -> None:
        needed = SEEN_BEFORE if self._has_worked else NEVER_SEEN
        is_clear = self._clear_answers >= CLEAR_ANSWERS
        was_open = self.is_open
        self.is_open = was_open or is_clear or len(self._subjects) >= needed
        if not self.is_open:
            return
        # It may be a service that is being replaced: the first check comes soon.
        longest, is_sure = (
            self.options.absent_recheck,
            is_clear and not self._has_worked,
        )
        wait = self.options.retry.absent_seconds * 10.0**self._checks
        wait = min(wait, longest if is_sure else SOON_SECONDS, longest)
        self.open_until, self._checks = now + wait, min(self._checks + 1, 3)
        if not was_open:
            log.emit(
                events.ENDPOINT_ABSENT,
                endpoint=self.name,
                consequence=CONSEQUENCES[self.name],
                check_again_in=round(wait),
                message=self.message,
            )


# -- whether our token is accepted ---------------------------------------------------

_UNAUTHORIZED = 401
_ACTIONS = frozenset(one.name for one in ENDPOINTS if one.changes_state)
IMPLIES_TOKEN_ACCEPTED = frozenset(
    {Refusal.CONFLICT, Refusal.REJECTED, Refusal.UNAFFORDABLE}
)
"""Refusals that only a service can give which has read the token."""


class TokenStatus(Enum):
    """What the network thinks of our token."""

    ACCEPTED = auto()
    DOUBTED = auto()
    REJECTED = auto()


@dataclass(kw_only=True, eq=False)
class TokenBreaker(CircuitBreaker):
    """Opens when our token is refused: one refusal is a doubt, a second confirms it."""

    name: str = "token"
    cause: Cause = Cause.TOKEN
    private: frozenset[str]
    """The endpoints that take the token."""
    status: TokenStatus = field(default=TokenStatus.ACCEPTED, init=False)
    listeners: list[Callable[[TokenStatus, str], None]] = field(
        default_factory=list, init=False
    )
    """Called when it is rejected, with what was said, or accepted again."""
    _refused_by: set[str] = field(default_factory=set, init=False)

    def suspect(self, message: str) -> None:
        """Begin with a token that an earlier run found rejected: one request checks."""
        self.is_open, self.status = True, TokenStatus.REJECTED
        self.message = message

    def concerns(self, endpoint: str) -> bool:
        # A read that has never refused the token shows nothing: it may not look at it.
        looks_at_token = endpoint in _ACTIONS or endpoint in self._refused_by
        return looks_at_token and endpoint in self.private

    def record(self, permit: Permit, outcome: AnyOutcome, now: float, log: Log) -> None:
        accepted, is_probe = (
            _is_accepted(outcome, permit.endpoint),
            permit is self.probe,
        )
        is_ours = permit.endpoint in self.private and accepted is False
        if is_ours and isinstance(outcome, Refused):
            self.message = outcome.message
            self._refused_by.add(permit.endpoint)
            if not self.is_open:
                self._become(TokenStatus.DOUBTED, permit, now, log)
            elif is_probe:
                self._become(TokenStatus.REJECTED, permit, now, log)
        elif self.is_open and accepted and self.concerns(permit.endpoint):
            self._refused_by.clear()
            self._become(TokenStatus.ACCEPTED, permit, now, log)
        elif is_probe:
            self._become(self.status, permit, now, log)

    def _become(
        self, status: TokenStatus, permit: Permit, now: float, log: Log
    ) -> None:
        before, self.status = self.status, status
        self.is_open = status is not TokenStatus.ACCEPTED
        wait = self.options.probe_every
        if status is TokenStatus.DOUBTED:
            wait = min(wait, self.options.retry.token_seconds)
        self.open_until = now + wait
        if before is status or TokenStatus.REJECTED not in {before, status}:
            return
        if self.is_open:
            log.emit(events.IDENTITY_REJECTED, message=self.message, retry_in=wait)
        else:
            log.emit(events.IDENTITY_ACCEPTED, endpoint=permit.endpoint)
        for listener in self.listeners:
            listener(status, self.message)


def _is_accepted(outcome: AnyOutcome, endpoint: str) -> bool | None:
    """Return whether the token was accepted; None where that is not clear."""
    if isinstance(outcome, Confirmed):
        return True
    if not isinstance(outcome, Refused):
        return None
    if outcome.refusal is Refusal.UNAUTHORIZED:
        # A 403 to a read is about the token (decision 0021), since there is no task
        # that it could be about.
        is_about_token = outcome.status == _UNAUTHORIZED or endpoint not in _ACTIONS
        return False if is_about_token else None
    return True if outcome.refusal in IMPLIES_TOKEN_ACCEPTED else None
