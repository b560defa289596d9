"""A pause: why requests wait, and for how long; and the figures that an owner sets."""

from dataclasses import dataclass, field, replace
from enum import StrEnum

from journeyman.domain.outcomes import Failure
from journeyman.domain.retry import RetryPolicy

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
