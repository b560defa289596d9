"""Acting as the agent: through the running daemon, else as the agent for a moment."""

from collections.abc import Awaitable, Callable

import anyio

from journeyman.cli.session import Session
from journeyman.daemon.agent import Agent
from journeyman.daemon.control_client import ControlClient
from journeyman.domain import JSON
from journeyman.domain.errors import NotRunningError

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
