"""`journeyman join`: become an agent, or show which one we are."""

from dataclasses import asdict
from typing import Annotated, Any

import anyio
import typer

from journeyman.cli.output import print_fields
from journeyman.cli.session import Session, command
from journeyman.daemon.environment import build_environment
from journeyman.daemon.replacement import Replacement, replace_agent
from journeyman.worker.join import (
    AGENT,
    is_registration_unknown,
    require_same_network,
)


@command("join", example="journeyman join --base-url https://network.example")
def join(
    session: Session,
    *,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Register a new agent in place of the one in the data directory. The "
            "old one's identity and journal are kept beside it. No daemon may run.",
        ),
    ] = False,
) -> None:
    """Join the network, or show which agent we are.

    The access token stays in a file that only you can read, and is never shown.
    """
    session.directory().prepare()
    known = session.identity()
    if known is not None:
        require_same_network(known, session.address(session.load().settings))
    if replace and _has_agent(session):
        _answer_replaced(session, anyio.run(_replace, session))
        return
    if known is None:
        anyio.run(_join, session)
    data = {"joined_now": known is None, **_current_agent(session)}
    session.answer(data, lambda: _show_agent(data))


def _has_agent(session: Session) -> bool:
    """Return whether there is an agent to replace, perhaps one that nobody knows."""
    directory = session.directory()
    if directory.identity.exists() or not directory.journal.exists():
        return directory.identity.exists()
    with session.journal() as journal:
        is_known = journal.facts.get(AGENT) is not None
        return is_known or is_registration_unknown(journal)


async def _join(session: Session) -> None:
    async with session.agent():
        pass


async def _replace(session: Session) -> Replacement:
    settings = session.load().settings
    return await replace_agent(settings, session.address(settings), build_environment())


def _current_agent(session: Session) -> dict[str, Any]:
    identity = session.identity()
    if identity is None:
        raise AssertionError("unreachable: joining saves an identity or raises")
    with session.journal() as journal:
        return {
            "agent_id": identity.agent_id,
            "base_url": identity.base_url,
            "credits": journal.ledger.balance(),
            "identity_file": str(session.directory().identity),
        }


def _show_agent(data: dict[str, Any]) -> None:
    print_fields(
        {
            "agent": data["agent_id"],
            "network": data["base_url"],
            "credits": str(data["credits"]),
            "token": f"in {data['identity_file']}; back it up, it cannot be asked for "
            "again",
            "": "joined just now" if data["joined_now"] else "had joined before",
        }
    )


def _answer_replaced(session: Session, replaced: Replacement) -> None:
    old, kept = replaced.old, replaced.kept
    data = {
        "joined_now": True,
        **_current_agent(session),
        "replaced": {
            **asdict(old),
            "identity_file": str(kept.identity) if kept.identity else None,
            "journal_file": str(kept.journal) if kept.journal else None,
        },
    }

    def show() -> None:
        _show_agent(data)
        print()
        print_fields(
            {
                "replaced": old.agent_id or "a registration without a known agent",
                "its credits": str(old.credits),
                "its identity": str(kept.identity or "was gone"),
                "its journal": str(kept.journal or "there was none"),
                "its tasks": f"{old.in_flight} in flight, {old.undelivered} of them "
                "with results that were not delivered",
            },
        )
        print(
            "Nothing more is sent for the old agent, and nothing of it is lost: put "
            "those two files back as identity.json and journal.db, and it continues. "
            "The new agent's ledger and its limits by day and month begin now.",
        )

    session.answer(data, show)
