"""Pauses: why requests wait, and for how long; and where answers ask for them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from journeyman.domain.outcomes import Failure, Outcome
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import JSON
from journeyman.network.service_model.reading import as_moment, objects_in

AnyOutcome = Outcome[Any]
"""How a request ended: for a limit it is all the same what a success gave."""

TICK_SECONDS = 0.001
"""The shortest wait: one that is lost in the rounding of a clock would never end."""


def remaining(until: float, now: float) -> float:
    """Return the seconds from `now` to `until`: 0, or at least `TICK_SECONDS`."""
    return max(until - now, TICK_SECONDS) if until > now else 0.0


class Cause(StrEnum):
    """Why a request is not sent now."""

    #: The whole service does not answer.
    DOWN = "down"
    #: The service does not accept our token.
    TOKEN = "token"  # noqa: S105 - the word, not a token
    #: The network has no such endpoint.
    ABSENT = "absent"
    #: The network asked for a pause.
    THROTTLED = "throttled"
    #: This endpoint fails again and again.
    FAILING = "failing"
    #: So many requests at once, or in a time, were too many a short while ago.
    LIMITED = "limited"


@dataclass(frozen=True, slots=True)
class Pause:
    """A request must wait."""

    cause: Cause
    seconds: float
    """Until it may be tried again; above 0."""
    reason: str
    """For people: a clause without a full stop."""


def longer(one: Pause | None, other: Pause | None) -> Pause | None:
    """Return the one of two pauses that ends later."""
    if one and other:
        return max(one, other, key=lambda pause: pause.seconds)
    return one or other


@dataclass(frozen=True, eq=False, slots=True)
class Permit:
    """Permission to send one request; it is returned with the outcome."""

    endpoint: str
    began: float
    """On the monotonic clock, in seconds."""
    task_id: str = ""
    """The task that it is about, if any."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RateLimits:
    """How a network is spared; all times in seconds."""

    max_retry_after: float = 3600.0
    """The longest wait that a network may ask for."""
    failures: int = 5
    """So many failures in a row open a circuit breaker."""
    probe_every: float = 60.0
    """Between two probes of what is failing, or of a token that is refused."""
    absent_recheck: float = 3600.0
    """The longest time between two checks for an absent endpoint."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def cap(self, failure: Failure) -> Failure:
        """Return a failure whose `Retry-After` is no longer than the owner allows."""
        if failure.retry_after is None:
            return failure
        return replace(
            failure, retry_after=min(failure.retry_after, self.max_retry_after)
        )


# -- in answers -----------------------------------------------------------------

UNAVAILABLE = 503
"""A status that asks for a pause, also where it names none (RFC 9110, 15.6.4)."""

_NAMES = frozenset(
    {
        *("retryafter", "retryafterseconds", "retryafterms", "retryaftersecs"),
        *("retryin", "retryinseconds", "retryafterinseconds", "waitseconds"),
        *("resetafter", "xratelimitresetafter", "xrateresetafter"),
        *("ratelimitreset", "xratelimitreset"),
    }
)
"""Of headers and fields: a duration, in seconds or as its name says, or an epoch."""
_LARGEST = 1e15
"""Beyond it, nothing is an epoch."""
_LONGEST = 86_400.0
"""In seconds; what is longer was not meant as a wait."""
_NUMBER = re.compile(r"\s*(\d{1,15}(?:\.\d{1,9})?)s?\s*")
_POLICY = re.compile(r"(?:^|[;,])\s*(?:t|reset)=(\d{1,9})")
"""In a `RateLimit` header, by its drafts."""
_WORDS = re.compile(
    r"\b(?:in|after|wait(?: for)?|for)\s+(?:another\s+)?(\d{1,9}(?:\.\d{1,9})?)\s*"
    r"(?:(ms|milliseconds?)|(s|secs?|seconds?)|(m|mins?|minutes?)|(h|hours?))\b",
)
_UNITS = (0.001, 1.0, 60.0, 3600.0)
"""Of the groups of `_WORDS`, in seconds."""


def retry_after(value: str | None, now: datetime) -> float | None:
    """Read a Retry-After header: seconds or a date (RFC 9110, section 10.2.3).

    Returns seconds from `now`, which is in UTC; None for anything that is neither, or
    that lies in the past.
    """
    if value is None:
        return None
    value = value.strip()
    if re.fullmatch(r"[0-9]{1,300}(?:\.[0-9]{1,300})?", value):
        return float(value)
    moment = as_moment(value)
    return (moment - now).total_seconds() if moment and moment >= now else None


def named_pause(
    headers: Mapping[str, str], body: JSON, said: str, now: datetime
) -> float | None:
    """Return the pause that a refusal names elsewhere, in seconds, or None.

    Many services do: in a header of their rate limiter, in a field of the body, or in
    words ("try again in 30 seconds").
    """
    found = (
        *_from_fields(dict(headers), now.timestamp()),
        *map(float, _POLICY.findall(headers.get("ratelimit", ""))),
        *_from_fields(body, now.timestamp()),
        *(
            float(number)
            * next(scale for unit, scale in zip(units, _UNITS, strict=True) if unit)
            for number, *units in _WORDS.findall(said.lower())
        ),
    )
    return next((wait for wait in found if 0 <= wait <= _LONGEST), None)


def _from_fields(value: JSON, now: float) -> Iterator[float]:
    for one in objects_in(value):
        for name, inner in one.fields.items():
            number = _number(inner) if name in _NAMES else None
            if number is not None:
                moment = as_moment(number)  # a smaller number is a duration itself
                wait = moment.timestamp() - now if moment else number
                yield number / 1000 if name.endswith("ms") else wait


def _number(value: JSON) -> float | None:
    if isinstance(value, str):
        found = _NUMBER.fullmatch(value)
        return float(found[1]) if found else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < _LARGEST else None
