"""What is held back, why, and for how long."""

from dataclasses import dataclass
from enum import StrEnum

TICK_SECONDS = 0.001
"""The shortest wait: one that is lost in the rounding of a clock would never end."""


def remaining(until: float, now: float) -> float:
    """Give the seconds from `now` to `until`: 0, or at least `TICK_SECONDS`."""
    return max(until - now, TICK_SECONDS) if until > now else 0.0


class Cause(StrEnum):
    """Why a request is not let go."""

    #: The whole service does not answer.
    DOWN = "down"
    #: The service does not accept our token.
    TOKEN = "token"  # noqa: S105 - the word, not a token
    #: The network has no such endpoint.
    ABSENT = "absent"
    #: The network asked for a pause.
    THROTTLED = "throttled"
    #: This endpoint fails again and again.
    BROKEN = "broken"
    #: So many requests at once, or in a time, were too many a short while ago.
    PACED = "paced"


@dataclass(frozen=True, slots=True)
class Held:
    """A request must wait."""

    cause: Cause
    seconds: float
    """Until it may be tried again; above 0."""
    reason: str
    """For people: a clause without a full stop."""
