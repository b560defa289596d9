"""What a command does as the agent: act, ask the network, with a real clock and log."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from journeyman.cli.session import Session
from journeyman.control.client import ControlClient
from journeyman.daemon.agent import Agent
from journeyman.domain.errors import NetworkError, NotRunningError
from journeyman.domain.outcomes import Confirmed, Outcome, Refusal, Refused
from journeyman.domain.tasks import JSON
from journeyman.network.client import NetworkClient

Answer = dict[str, JSON]


def act(
    session: Session,
    through_daemon: Callable[[ControlClient], Answer],
    alone: Callable[[Agent], Awaitable[Answer]],
) -> Answer:
    """Do it once, whoever does it, and give the answer.

    Raises:
        JourneymanError: a limit, the network, or the disk says no.
    """
    with session.daemon() as daemon:
        try:
            return through_daemon(daemon)
        except NotRunningError:
            # Raised only when no connection was made: nothing has been done yet.
            return anyio.run(_act_alone, session, alone)


async def _act_alone(
    session: Session,
    alone: Callable[[Agent], Awaitable[Answer]],
) -> Answer:
    async with session.agent() as agent:
        return await alone(agent)


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
