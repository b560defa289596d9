"""`journeyman join`: become an agent, or tell which one we are."""

from typing import TYPE_CHECKING, Annotated

import typer

from journeyman.cli.output import answer, facts, neutral, say
from journeyman.cli.session import Session, command

if TYPE_CHECKING:
    from journeyman.daemon.replacement import Replaced


@command("join", example="journeyman join --base-url https://network.example")
def join(
    session: Session,
    *,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Register a new agent in the place of the one that lives here. The "
            "old one's identity and books are kept beside it. No daemon may run.",
        ),
    ] = False,
) -> None:
    """Join the network, or tell which agent we are.

    The access token stays in a file that only you can read, and is never shown.
    """
    import anyio

    from journeyman.worker.join import require_same_network

    session.directory().prepare()
    known = session.identity()
    if known is not None:
        require_same_network(known, session.address(session.load().settings))
    if replace and _has_lived(session):
        _tell_replaced(session, anyio.run(_replace, session))
        return
    joined = anyio.run(_join, session) if known is None else _told(session)
    data = {"joined_now": known is None, **joined}
    answer(as_json=session.as_json, data=data, show=lambda: facts(_rows(data)))


def _has_lived(session: Session) -> bool:
    """Tell whether there is an agent to replace: its identity, or its books alone."""
    from journeyman.worker.join import AGENT

    directory = session.directory()
    if directory.identity.exists() or not directory.journal.exists():
        return directory.identity.exists()
    with session.journal() as journal:
        return journal.facts.get(AGENT) is not None


async def _join(session: Session) -> dict[str, object]:
    async with session.agent():
        return _told(session)


async def _replace(session: Session) -> "Replaced":
    from journeyman.daemon.environment import build_environment
    from journeyman.daemon.replacement import replace_agent

    settings = session.load().settings
    return await replace_agent(settings, session.address(settings), build_environment())


def _tell_replaced(session: Session, done: "Replaced") -> None:
    old, aside = done.old, done.put_aside
    data = {
        "joined_now": True,
        **_told(session),
        "replaced": {
            "agent_id": old.agent_id,
            "credits": old.credits,
            "in_flight": old.in_flight,
            "undelivered": old.undelivered,
            "held_credits": old.held_credits,
            "identity_file": str(aside.identity) if aside.identity else None,
            "journal_file": str(aside.journal) if aside.journal else None,
        },
    }

    def show() -> None:
        facts(_rows(data))
        say()
        facts(
            {
                "replaced": neutral(old.agent_id),
                "its credits": str(old.credits),
                "its identity": str(aside.identity or "was gone"),
                "its books": str(aside.journal or "were none"),
                "its tasks": f"{old.in_flight} in flight, {old.undelivered} of them "
                "results that were not delivered",
            },
        )
        say(
            "Nothing more is sent for the old agent, and nothing of it is lost: with "
            "those two files put back as identity.json and journal.db it goes on. The "
            "new agent's books and its limits by day and month begin now.",
        )

    answer(as_json=session.as_json, data=data, show=show)


def _rows(data: dict[str, object]) -> dict[str, str]:
    return {
        "agent": str(data["agent_id"]),
        "network": str(data["base_url"]),
        "credits": str(data["credits"]),
        "token": f"in {data['identity_file']}; back it up, it cannot be asked for "
        "again",
        "": "joined just now" if data["joined_now"] else "had joined before",
    }


def _told(session: Session) -> dict[str, object]:
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
