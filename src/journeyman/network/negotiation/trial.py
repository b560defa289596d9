"""One shape that was tried, and whether its refusal is about the shape."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from journeyman.domain import (
    JSON,
    Confirmed,
    IdempotencyKey,
    Outcome,
    Refusal,
    Refused,
)
from journeyman.network.dialects import ActionShape, Candidate, Complaint

T = TypeVar("T")

BODY_STATUSES = frozenset({400, 422})
"""Statuses by which services say that they do not understand a body."""
_UNDERSTOOD = frozenset({Refusal.CONFLICT, Refusal.UNAFFORDABLE, Refusal.REJECTED})
"""Refusals of a request whose body was understood: it is about its task."""


@dataclass(frozen=True, slots=True)
class Sent(Generic[T]):
    """A request that was sent, and what came of it."""

    outcome: Outcome[T]
    body: JSON
    """Of a refusal; None when it was not JSON."""
    is_final: bool = False
    """Whether the answer leaves a doubt that nothing was done."""


Send = Callable[[ActionShape, IdempotencyKey], Awaitable[Sent[T]]]
"""Sends an action in one shape, under this key."""


@dataclass(frozen=True, slots=True)
class Trial(Generic[T]):
    """One shape that was tried."""

    candidate: Candidate
    outcome: Outcome[T]
    complaint: Complaint
    is_about_shape: bool

    @property
    def was_understood(self) -> bool:
        """Whether the network knew what was asked, whatever it said to it."""
        if isinstance(self.outcome, Refused) and not self.is_about_shape:
            return self.outcome.refusal in _UNDERSTOOD
        return isinstance(self.outcome, Confirmed)


def is_about_shape(sent: Sent[T], complaint: Complaint, shape: ActionShape) -> bool:
    """Tell whether a request was refused for the shape of its body.

    Never for a judgement of the work, nor of a value in a field that was understood.
    """
    refused = sent.outcome
    if not isinstance(refused, Refused) or sent.is_final:
        return False
    if refused.status in BODY_STATUSES:
        is_body = refused.refusal is Refusal.INVALID
        return is_body and not _is_about_values(complaint, shape)
    # A no in a 2xx is about the shape only if it says so in as many words.
    in_yes = 200 <= refused.status < 300  # noqa: PLR2004  # the class of a status
    may_be = refused.refusal in {Refusal.INVALID, Refusal.REJECTED}
    return in_yes and may_be and _contradicts(complaint, shape)


def _is_about_values(complaint: Complaint, shape: ActionShape) -> bool:
    """Tell whether a complaint names nothing but what was there, and understood."""
    if _contradicts(complaint, shape):
        return False
    named = (*complaint.missing, *complaint.wrong)
    return bool(named) and all(shape.value_at(place) for place in named)


def _contradicts(complaint: Complaint, shape: ActionShape) -> bool:
    """Tell whether a complaint can be about this shape: it lacks, or has, the field."""
    lacks = any(not shape.says(place) for place in complaint.missing)
    return lacks or any(shape.has(place) for place in complaint.unknown)
