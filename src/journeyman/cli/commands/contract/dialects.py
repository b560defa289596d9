"""`journeyman contract dialects`: how our requests may be written, and how they are."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.command import command
from journeyman.cli.output import answer, say, table
from journeyman.cli.session import Session
from journeyman.cli.text import neutral, shortened
from journeyman.domain import ACTIONS, AgentId
from journeyman.domain.errors import ConfigurationError, NotRunningError, UsageError

if TYPE_CHECKING:
    from journeyman.domain import JSON
    from journeyman.network import ExplainedRequest, Learned, Writing

EXAMPLE_ADDRESS = "https://network.example"
EXAMPLE_AGENT = AgentId("AGENT-ID")
REFUSAL_LENGTH = 60
SECONDS = len("2026-11-21T12:00:00")
UNDERSTOOD = "understood"


@command("dialects", example="journeyman contract dialects --explain claim")
def list_dialects(
    session: Session,
    *,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="ACTION",
            help="Show the exact request: claim, submit, complete or post_task.",
        ),
    ] = None,
    dialect: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this dialect.")
    ] = None,
) -> None:
    """List the shapes that our requests may have, and what the network understood.

    Nothing is sent. What is in force was learned on this network, see
    docs/reference/dialect.md; the configuration adds dialects and pins one.
    """
    from journeyman.daemon.writing import writing_from

    writing = writing_from(session.load().settings.contract)
    _require(explain, dialect, writing)
    if explain is None:
        _list(session, writing, dialect)
    else:
        _explain(session, writing, explain, dialect)


def _require(action: str | None, dialect: str | None, writing: "Writing") -> None:
    if action is not None and action not in ACTIONS:
        raise UsageError(
            f"there is no action {action!r}", f"The actions are {', '.join(ACTIONS)}."
        )
    names = [one.name for one in writing.dialects]
    if dialect is not None and dialect not in names:
        raise UsageError(
            f"there is no dialect {dialect!r}", f"The dialects are {', '.join(names)}."
        )


def _list(session: Session, writing: "Writing", only: str | None) -> None:
    base_url, learned = _learned(session)
    dialects = {
        one.name: {action: dict(s.as_table()) for action, s in one.shapes.items()}
        for one in writing.dialects
        if only in {None, one.name}
    }
    data = {
        "dialects": dialects,
        "pinned": writing.pinned,
        "base_url": base_url,
        "in_force": {name: _in_force(name, writing, learned) for name in ACTIONS},
    }
    answer(as_json=session.as_json, data=data, show=lambda: _show(data))


def _learned(session: Session) -> tuple[str | None, "dict[str, Learned]"]:
    from journeyman.daemon.writing import JournalShapeMemory
    from journeyman.network import read_learned

    try:
        address = session.address(session.load().settings)
    except ConfigurationError:
        return None, {}
    try:
        with session.journal() as journal:
            return address, read_learned(JournalShapeMemory(journal, address).load())
    except NotRunningError:
        return address, {}


def _in_force(
    action: str, writing: "Writing", learned: "dict[str, Learned]"
) -> dict[str, "JSON"]:
    """Tell which shape the next request has, and how we know."""
    pinned, held = writing.pinned_for(action), learned.get(action)
    shown: dict[str, JSON] = {"since": "", "refused": []}
    if pinned is not None:
        return shown | {"dialect": writing.pinned, "state": "pinned by the settings"}
    if held is None or not (held.in_force or held.refused):
        first = next(one.name for one in writing.dialects if action in one.shapes)
        return shown | {"dialect": first, "state": "not tried yet"}
    shown["refused"] = [
        {"dialect": tried.candidate.name, "message": tried.message}
        for tried in held.refused
    ]
    if held.in_force is None:
        return shown | {"dialect": None, "state": "all were refused today"}
    state = UNDERSTOOD if held.works else "being tried"
    shape = held.in_force.shape.as_table()
    more: dict[str, JSON] = {"state": state, "since": held.since, "shape": shape}
    return shown | {"dialect": held.in_force.name} | more


def _show(data: dict[str, Any]) -> None:
    rows = [
        [name, action, _compact(shape)]
        for name, shapes in data["dialects"].items()
        for action, shape in shapes.items()
    ]
    table(["dialect", "action", "where its values go"], rows)
    say()
    say(f"In force on {data['base_url'] or 'no network yet'}:")
    table(
        ["action", "dialect", "state", "since"],
        [
            [action, one["dialect"] or "none", one["state"], one["since"][:SECONDS]]
            for action, one in data["in_force"].items()
        ],
    )
    for action, one in data["in_force"].items():
        for refused in one["refused"] if one["state"] != UNDERSTOOD else ():
            said = shortened(refused["message"], REFUSAL_LENGTH)
            say(f"{action}: {refused['dialect']} was refused: {said}")


def _compact(shape: dict[str, Any]) -> str:
    """Write `task_id > taskId`, and `agent_id` alone where the name is the same."""
    shown = [
        name if name == place else f"{name} > {place}"
        for name, place in shape.items()
        if isinstance(place, str)
    ]
    extras = (extra for extra in ("constants", "headers") if extra in shape)
    shown += (f"{extra}: {', '.join(shape[extra])}" for extra in extras)
    return ", ".join(shown)


def _explain(
    session: Session, writing: "Writing", action: str, only: str | None
) -> None:
    import anyio

    requests = anyio.run(_requests, session, writing, action, only)
    if not requests:
        raise UsageError(
            f"the dialect {only!r} does not describe {action}",
            "In its place one of the others is found out by trying.",
        )
    answer(
        as_json=session.as_json,
        data=[_as_data(request) for request in requests],
        show=lambda: say("\n\n".join(map(_as_text, requests))),
    )


async def _requests(
    session: Session, writing: "Writing", action: str, only: str | None
) -> "list[ExplainedRequest]":
    from journeyman.cli.world import build_world
    from journeyman.network import explain_request

    identity, world = session.identity(), build_world()
    try:
        base_url = session.address(session.load().settings)
    except ConfigurationError:
        base_url = EXAMPLE_ADDRESS
    return [
        await explain_request(
            action,
            one,
            base_url=base_url,
            agent_id=identity.agent_id if identity else EXAMPLE_AGENT,
            clock=world.clock,
            log=world.log,
        )
        for one in writing.dialects
        if only in {None, one.name} and action in one.shapes
    ]


def _as_data(request: "ExplainedRequest") -> dict[str, Any]:
    return {
        "dialect": request.dialect,
        "method": request.method,
        "url": request.url,
        "headers": dict(request.headers),
        "body": json.loads(request.body),
    }


def _as_text(request: "ExplainedRequest") -> str:
    lines = [
        f"# {request.dialect}",
        f"{request.method} {request.url}",
        *(f"{name}: {value}" for name, value in request.headers.items()),
        "",
        request.body,
    ]
    return "\n".join(map(neutral, lines))
