"""What an outcome tells about the network's strength: a sign, read off once."""

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeVar

from journeyman.domain.outcomes import (
    Confirmed,
    NotSent,
    Outcome,
    Refusal,
    Refused,
    Unknown,
)

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

PASSED_THE_DOOR = frozenset(
    {Refusal.CONFLICT, Refusal.REJECTED, Refusal.UNAFFORDABLE},
)
"""Refusals that only a service can give which has read the token."""


class Strength(Enum):
    """How the service took a request."""

    #: It answered sensibly, be it with a no.
    GOOD = auto()
    #: It answered, and asked for fewer requests.
    PRESSED = auto()
    #: No answer, an error of its own, or nothing that can be read.
    BAD = auto()


class Presence(Enum):
    """What an answer says about whether the endpoint exists."""

    #: Nothing.
    SILENT = auto()
    #: It exists: it did something, or refused for a reason of its own.
    THERE = auto()
    #: It does not, in so many words.
    NOT_THERE = auto()
    #: 404 without a word: the endpoint, or the task, is not there.
    UNCLEAR = auto()


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What one outcome tells."""

    health: Strength
    presence: Presence = Presence.SILENT
    slows: bool = False
    """Fewer requests would help: 429, 503, or no answer in time."""
    wait: float | None = None
    """The pause that the network named, in seconds."""
    asks_for_pause: bool = False
    """429 or 503: a pause is due, named or not."""
    token: bool | None = None
    """Whether the token was accepted; None when the outcome does not tell."""
    message: str = ""


def read_evidence(
    outcome: Outcome[T], *, timed_out: bool = False, is_read: bool = False
) -> Evidence:
    """Read a sign off an outcome.

    Args:
        outcome: how the request ended.
        timed_out: there was no answer in time.
        is_read: it changes nothing; a 403 to such a request is about the token
            (decision 0021), since there is no task that it could be about.
    """
    match outcome:
        case Confirmed():
            return Evidence(health=Strength.GOOD, presence=Presence.THERE, token=True)
        case Refused():
            return _of_refusal(outcome, is_read=is_read)
        case NotSent(message):
            return Evidence(health=Strength.BAD, message=message, slows=timed_out)
        case Unknown(message, status, wait):
            away = status == UNAVAILABLE
            return Evidence(
                health=Strength.BAD,
                slows=away or timed_out,
                wait=wait,
                asks_for_pause=away,
                message=message,
            )


def _of_refusal(refused: Refused, *, is_read: bool) -> Evidence:
    if refused.refusal is Refusal.THROTTLED:
        return Evidence(
            health=Strength.PRESSED,
            slows=True,
            wait=refused.retry_after,
            asks_for_pause=True,
            message=refused.message,
        )
    return Evidence(
        health=Strength.GOOD,
        presence=_presence(refused),
        token=_token(refused, is_read=is_read),
        message=refused.message,
    )


def _token(refused: Refused, *, is_read: bool) -> bool | None:
    if refused.refusal is Refusal.UNAUTHORIZED:
        is_about_token = refused.status == UNAUTHORIZED or is_read
        return False if is_about_token else None
    return True if refused.refusal in PASSED_THE_DOOR else None


def _presence(refused: Refused) -> Presence:
    if refused.refusal is Refusal.UNAUTHORIZED:
        return Presence.SILENT  # a gateway asks for the token before it looks
    if refused.refusal is not Refusal.ABSENT:
        return Presence.THERE
    said = refused.message.partition(": ")[2].lower().replace("_", " ")
    by_status = refused.status in {METHOD_NOT_ALLOWED, NOT_IMPLEMENTED}
    if by_status or _NO_ENDPOINT.search(said):
        return Presence.NOT_THERE
    is_unclear = refused.status in {NOT_FOUND, GONE} and not _NO_TASK.search(said)
    return Presence.UNCLEAR if is_unclear else Presence.THERE
