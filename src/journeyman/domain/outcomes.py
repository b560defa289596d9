"""The four ways in which a request that changes the network can end."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from journeyman.domain.tasks import JSON, Progress

T = TypeVar("T")


class Refusal(StrEnum):
    """What a definite "no" means for us."""

    #: 401 or 403: the token, or this agent's right to act.
    UNAUTHORIZED = "unauthorized"
    #: 404, 405, 410, 501: no such endpoint, or no such task.
    ABSENT = "absent"
    #: 409, 423, or "already": somebody was first, perhaps we ourselves.
    CONFLICT = "conflict"
    #: 400, 413, 415, 422: the network did not understand or like the body.
    INVALID = "invalid"
    #: 425, or words that say so: not yet, what it depends on is under way.
    PENDING = "pending"
    #: 429: not now; nothing was done (RFC 6585, section 4).
    THROTTLED = "throttled"
    #: Words that say so: this agent holds as many tasks as it may at once.
    FULL = "full"
    #: 402, or a text that says so: not enough credits.
    UNAFFORDABLE = "unaffordable"
    #: A 2xx whose body says no, or words that judge the work.
    REJECTED = "rejected"
    #: Any other 4xx.
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Confirmed(Generic[T]):
    """The network said yes; `value` is what we could read of its answer."""

    value: T


@dataclass(frozen=True, slots=True)
class Refused:
    """The network said no, and nothing was done."""

    refusal: Refusal
    message: str
    status: int
    retry_after: float | None = None
    """In seconds, when the network named one; already capped."""
    progress: Progress | None = None
    """Where the task stands, when the answer tells."""
    answer: JSON = field(default=None, compare=False, repr=False)
    """Its body, without secrets; a text where it is not JSON."""
    accepts: tuple[str, ...] = ()
    """The media types that it would take, where it names them."""
    is_there: bool = False
    """Whether its endpoint has judged a body before, so that it is there."""

    @property
    def is_of_method(self) -> bool:
        """Whether nothing is done so at this address, whatever the body says.

        RFC 9110, sections 15.5.6 and 15.6.2.
        """
        return self.status in _OF_METHOD


_OF_METHOD = frozenset({405, 501})


@dataclass(frozen=True, slots=True)
class NotSent:
    """No connection was ever made: nothing was done, repeating is safe."""

    message: str
    retry_after: float | None = None
    """In seconds, when it is known when to try again."""
    paused: bool = False
    """We did not send it because of a pause of our own: it was not an attempt."""
    timed_out: bool = False
    """The other side was too slow to connect, or is not there."""
    not_understood: bool = False
    """The network has refused every shape of it that we know."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """It may have happened: a time-out, a reset, a 5xx, an unreadable answer."""

    message: str
    status: int | None = None
    retry_after: float | None = None
    is_blank_yes: bool = False
    """A 2xx with nothing in it to read: an empty body, or a line of text."""
    timed_out: bool = False
    """No answer came in time."""
    answer: JSON = field(default=None, compare=False, repr=False)
    """Of an error of the service itself, its body as in a refusal."""


Outcome = Confirmed[T] | Refused | NotSent | Unknown
Failure = Refused | NotSent | Unknown
