"""What commands do as the agent: change something on the network, or read from it."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import anyio

from journeyman.cli.session import Session
from journeyman.control.verbs import Asked, Verb
from journeyman.domain.errors import NetworkError, NotRunningError
from journeyman.domain.outcomes import Confirmed, Outcome, Refusal, Refused
from journeyman.domain.tasks import JSON
from journeyman.network.advice import advice_for

if TYPE_CHECKING:
    from journeyman.network.client import NetworkClient

Answer = dict[str, JSON]
T = TypeVar("T")


def act(session: Session, verb: Verb[Asked], request: Asked) -> Answer:
    """Act once: through the daemon if one runs, else in its place.

    Raises:
        JourneymanError: a limit, the network, or the disk prevents it.
    """

    async def act_alone() -> Answer:
        # Imported here: where a daemon runs, nothing that sends is needed.
        from journeyman.daemon.commands import AgentCommands

        async with session.agent() as agent:
            return await AgentCommands(agent).call(verb, request)

    try:
        return session.daemon().call(verb, request)
    except NotRunningError:
        # Raised only when no connection was made: nothing has been done yet.
        return anyio.run(act_alone)


def read(
    session: Session,
    what: str,
    ask: Callable[["NetworkClient", bool], Awaitable[Outcome[T]]],
) -> T:
    """Return what the network answers; `what` names it in messages.

    Args:
        session: the options of the command.
        what: the subject, such as "the directory".
        ask: asks, given a client and whether it has our identity.

    Raises:
        NetworkError: the network cannot be reached, refuses, or answers something else.
        ConfigurationError: no network is named.
    """

    async def ask_once() -> tuple[Outcome[T], bool]:
        async with session.network() as (client, identity):
            has_token = identity is not None
            return await ask(client, has_token), has_token

    outcome, has_token = anyio.run(ask_once)
    if isinstance(outcome, Confirmed):
        return outcome.value
    is_unauthorized = (
        isinstance(outcome, Refused) and outcome.refusal is Refusal.UNAUTHORIZED
    )
    join = "Join first (`journeyman join`), or ask for what is public. "
    raise NetworkError(
        f"{what} could not be read: {outcome.message}",
        (join if is_unauthorized and not has_token else "")
        + advice_for(outcome, has_token=has_token),
    )
