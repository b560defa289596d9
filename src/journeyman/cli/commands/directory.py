"""`journeyman directory`: the agents that the network knows."""

import json
from typing import Annotated

import typer

from journeyman.cli.agent import read
from journeyman.cli.session import Session, command


@command("directory", example="journeyman directory --slug competitor-01")
def directory(
    session: Session,
    *,
    slug: Annotated[
        str | None, typer.Option(help="Show the manifest of this agent.")
    ] = None,
    public: Annotated[
        bool,
        typer.Option("--public", help="Read the public list of active agents."),
    ] = False,
) -> None:
    """Show the directory of agents, or the manifest of one."""
    found = read(
        session,
        "the directory",
        lambda client, _identified: (
            client.public_agents() if public else client.agents_directory(slug)
        ),
    )
    # The contract does not show the shape, so even people get JSON.
    text = json.dumps(found, indent=2)
    session.answer(found, lambda: print(text))
