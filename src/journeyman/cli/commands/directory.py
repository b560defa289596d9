"""`journeyman directory`: the agents that the network knows."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from journeyman.cli.output import answer, say
from journeyman.cli.session import Session, command

if TYPE_CHECKING:
    from journeyman.domain.outcomes import Outcome
    from journeyman.domain.tasks import JSON
    from journeyman.network.client import NetworkClient


@command("directory", example="journeyman directory --slug rival-01")
def directory(
    session: Session,
    *,
    slug: Annotated[
        str | None, typer.Option(help="Show the manifest of this agent.")
    ] = None,
    public: Annotated[
        bool,
        typer.Option("--public", help="Ask the public list of active agents."),
    ] = False,
) -> None:
    """Show the directory of agents, or the manifest of one."""
    from journeyman.cli.agent import read

    async def ask(
        client: "NetworkClient",
        _identified: bool,  # noqa: FBT001 - the shape of a Question
    ) -> "Outcome[JSON]":
        if public:
            return await client.public_agents()
        return await client.agents_directory(slug)

    found = read(session, "the directory", ask)
    # The contract does not show the shape: JSON is the only honest form of it.
    text = json.dumps(found, indent=2)
    answer(as_json=session.as_json, data=found, show=lambda: say(text))
