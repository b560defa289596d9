"""What one outcome shows about the network: its health, its endpoints, our token."""

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeVar

from journeyman.domain import outcomes

T = TypeVar("T")

UNAUTHORIZED, NOT_FOUND, METHOD_NOT_ALLOWED, GONE = 401, 404, 405, 410
NOT_IMPLEMENTED, UNAVAILABLE = 501, 503

_NO_ENDPOINT = re.compile(
    r"\b(?:function|route|endpoint|path|url|method|handler|resource path)s?\b"
    r"|\bpage not found\b|\bcannot (?:get|post|put)\b|\bnot implemented\b",
)
"""Words of gateways and frameworks for "nothing is at this address"."""
_NO_TASK = re.compile(r"\b(?:task|job|claim|listing|record|row)s?\b(?!-)")
"""Words of a service for "I looked, and there is none of this id"."""

IMPLIES_TOKEN_ACCEPTED = frozenset(
    {
        outcomes.Refusal.CONFLICT,
        outcomes.Refusal.REJECTED,
        outcomes.Refusal.UNAFFORDABLE,
    },
)
"""Refusals that only a service can give which has read the token."""


class ServiceHealth(Enum):
    """How well the service dealt with a request."""

    #: It answered sensibly, be it with a no.
    GOOD = auto()
    #: It answered, and asked for fewer requests.
    OVERLOADED = auto()
    #: No answer, an error of its own, or nothing that can be read.
    BAD = auto()


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What one outcome shows."""

    health: ServiceHealth
    presence: Presence = Presence.UNKNOWN
    slows: bool = False
    """Fewer requests would help: 429, 503, or no answer in time."""
    wait: float | None = None
    """The pause that the network named, in seconds."""
    asks_for_pause: bool = False
    """429 or 503: a pause is due, named or not."""
    token_accepted: bool | None = None
    """Whether the token was accepted; None when that is not clear."""
    message: str = ""


def read_evidence(
    outcome: outcomes.Outcome[T], *, timed_out: bool = False, is_read: bool = False
) -> Evidence:
    """Return what an outcome shows.

    Args:
        outcome: how the request ended.
        timed_out: there was no answer in time.
        is_read: it changes nothing; a 403 to such a request is about the token
            (decision 0021), since there is no task that it could be about.
    """
    match outcome:
        case outcomes.Confirmed():
            return Evidence(
                health=ServiceHealth.GOOD,
                presence=Presence.PRESENT,
                token_accepted=True,
            )
        case outcomes.Refused():
            return _of_refusal(outcome, is_read=is_read)
        case outcomes.NotSent(message):
            return Evidence(health=ServiceHealth.BAD, message=message, slows=timed_out)
        case outcomes.Unknown(message, status, wait):
            away = status == UNAVAILABLE
            return Evidence(
                health=ServiceHealth.BAD,
                slows=away or timed_out,
                wait=wait,
                asks_for_pause=away,
                message=message,
            )


def _of_refusal(refused: outcomes.Refused, *, is_read: bool) -> Evidence:
    if refused.refusal is outcomes.Refusal.THROTTLED:
        return Evidence(
            health=ServiceHealth.OVERLOADED,
            slows=True,
            wait=refused.retry_after,
            asks_for_pause=True,
            message=refused.message,
        )
    return Evidence(
        health=ServiceHealth.GOOD,
        presence=_presence(refused),
        token_accepted=_token_accepted(refused, is_read=is_read),
        message=refused.message,
    )


def _token_accepted(refused: outcomes.Refused, *, is_read: bool) -> bool | None:
    if refused.refusal is outcomes.Refusal.UNAUTHORIZED:
        is_about_token = refused.status == UNAUTHORIZED or is_read
        return False if is_about_token else None
    return True if refused.refusal in IMPLIES_TOKEN_ACCEPTED else None


def _presence(refused: outcomes.Refused) -> Presence:
    if refused.refusal is outcomes.Refusal.UNAUTHORIZED:
        return Presence.UNKNOWN  # a gateway asks for the token before it looks
    if refused.refusal is not outcomes.Refusal.ABSENT:
        return Presence.PRESENT
    said = refused.message.partition(": ")[2].lower().replace("_", " ")
    by_status = refused.status in {METHOD_NOT_ALLOWED, NOT_IMPLEMENTED}
    if by_status or _NO_ENDPOINT.search(said):
        return Presence.ABSENT
    is_unclear = refused.status in {NOT_FOUND, GONE} and not _NO_TASK.search(said)
    return Presence.UNCLEAR if is_unclear else Presence.PRESENT
