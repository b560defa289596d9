"""Asking the network for something to show."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from journeyman.cli.session import Session
from journeyman.domain import Confirmed, Outcome, Refusal, Refused
from journeyman.domain.errors import NetworkError
from journeyman.network import NetworkClient

T = TypeVar("T")
Question = Callable[[NetworkClient, bool], Awaitable[Outcome[T]]]
"""What to ask, given a client and whether it has our identity."""


def read(session: Session, what: str, question: Question[T]) -> T:
    """Ask, and give the answer; `what` names it in messages.

    Raises:
        NetworkError: the network is unreachable, refuses, or answers something else.
        ConfigurationError: no network is named.
    """
    return anyio.run(_read, session, what, question)


async def _read(session: Session, what: str, question: Question[T]) -> T:
    async with session.network() as (client, identity):
        outcome = await question(client, identity is not None)
    if isinstance(outcome, Confirmed):
        return outcome.value
    raise NetworkError(f"{what} could not be read: {outcome.message}", _fix(outcome))


def _fix(outcome: object) -> str:
    if isinstance(outcome, Refused) and outcome.refusal is Refusal.UNAUTHORIZED:
        return "Join first (`journeyman join`), or ask for what is public."
    return "Check the address (--base-url) and that the service runs."
