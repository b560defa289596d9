"""`journeyman join`: become an agent, or tell which one we are."""

from journeyman.cli.command import command
from journeyman.cli.output import answer, facts
from journeyman.cli.session import Session


@command("join", example="journeyman join --base-url https://network.example")
def join(session: Session) -> None:
    """Join the network, or tell which agent we are.

    The access token stays in a file that only you can read, and is never shown.
    """
    import anyio

    from journeyman.loop import require_same_network

    session.directory().prepare()
    known = session.identity()
    if known is not None:
        require_same_network(known, session.address(session.load().settings))
    joined = anyio.run(_join, session) if known is None else _told(session)
    data = {"joined_now": known is None, **joined}
    answer(
        as_json=session.as_json,
        data=data,
        show=lambda: facts(
            {
                "agent": str(data["agent_id"]),
                "network": str(data["base_url"]),
                "credits": str(data["credits"]),
                "token": f"in {data['identity_file']}; back it up, it cannot be asked "
                "for again",
                "": "joined just now" if data["joined_now"] else "had joined before",
            },
        ),
    )


async def _join(session: Session) -> dict[str, object]:
    async with session.agent():
        return _told(session)


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
