"""`journeyman contract show`: what each endpoint was seen to do."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.output import answer, counted, facts, neutral, say, shortened, table
from journeyman.cli.session import Session, command
from journeyman.domain.errors import (
    ConfigurationError,
    NotRunningError,
    StateError,
    UsageError,
)
from journeyman.domain.requests import ACTIONS
from journeyman.domain.tasks import AgentId

if TYPE_CHECKING:
    from journeyman.domain.tasks import JSON
    from journeyman.network.endpoints import Endpoint
    from journeyman.network.explanation import ExplainedRequest
    from journeyman.network.negotiation import Learned, Writing
    from journeyman.network.observation import (
        AnswerRecord,
        EndpointRecord,
        HeaderRecord,
    )
    from journeyman.network.observed_shape import Shape


@dataclass(frozen=True, slots=True)
class LearnedEndpoints:
    """One network, and the records of its endpoints by name."""

    network: str
    records: "dict[str, EndpointRecord]"


def learned(session: Session) -> LearnedEndpoints:
    """Read what was learned, also while a daemon runs.

    It is that of the network that was named on the command line, else of the one that
    was seen last, else nothing of the one that the settings name.

    Raises:
        NotRunningError: no agent ever ran in the data directory.
        StateError: the journal cannot be read.
        ConfigurationError: nothing was learned yet, and no network is named.
    """
    from journeyman.network.observation import records_from

    with session.journal() as journal:
        network = session.base_url or next(iter(journal.observations.networks()), None)
        if network is None:
            network = session.address(session.load().settings)
        network = network.rstrip("/")
        return LearnedEndpoints(network, records_from(journal.observations.of(network)))


STEP = "  "


def drawn(shape: "Shape") -> list[str]:
    """Give lines; none where nothing was seen.

    `?` marks a field that not every object had, `*` keys that are data, and `...`
    what was empty or not looked into.
    """
    return _joined("", shape) if shape.kinds else []


def _joined(head: str, shape: "Shape") -> list[str]:
    """Write what may stand here behind `head`, one form after another."""
    plain = sorted(kind for kind in shape.kinds if kind not in _OPENED)
    lines = [head + " | ".join(plain)]
    for kind, inside in (("object", _fields), ("array", _items)):
        if kind in shape.kinds:
            lines[-1] += " | " if lines != [head] else ""
            first, *more = inside(shape)
            lines[-1] += first
            lines += more
    return lines


_OPENED = frozenset({"object", "array"})


def _fields(shape: "Shape") -> Iterator[str]:
    inner = [
        (f"{neutral(name)}{'?' if shape.is_optional(name) else ''}: ", field)
        for name, field in sorted(shape.fields.items())
    ]
    inner += [("*: ", shape.entries)] if shape.entries is not None else []
    if not inner:
        yield "{}" if shape.opened else "{...}"
        return
    yield "{"
    for head, field in inner:
        yield from (STEP + line for line in _joined(head, field))
    yield "}"


def _items(shape: "Shape") -> Iterator[str]:
    if shape.items is None or not shape.items.kinds:
        yield "[...]"
        return
    lines = _joined("", shape.items)
    if len(lines) == 1:
        yield f"[{lines[0]}]"
        return
    yield f"[{lines[0]}"
    yield from lines[1:-1]
    yield f"{lines[-1]}]"


_ENDPOINT = Annotated[
    str | None,
    typer.Argument(metavar="[ENDPOINT]", help="Its name, its number, or its path."),
]


@command("show", example="journeyman contract show marketplace_tasks")
def show_contract(session: Session, endpoint: _ENDPOINT = None) -> None:
    """Show what each endpoint of the contract was seen to do.

    Statuses, the shapes of answers and of requests that worked, limits, and times.
    Shapes are names of fields and kinds of values; values are never kept. A running
    daemon writes what is new once a minute.
    """
    from journeyman.network.endpoints import ENDPOINTS
    from journeyman.network.observation import EndpointRecord

    chosen = ENDPOINTS if endpoint is None else (_find(endpoint),)
    found = learned(session)
    pairs = [(one, found.records.get(one.name, EndpointRecord())) for one in chosen]

    def show() -> None:
        say(f"What was seen of {neutral(found.network)}")
        for one, record in pairs:
            say()
            _show(one, record)

    data = {
        "network": found.network,
        "endpoints": [_told(one, record) for one, record in pairs],
    }
    answer(as_json=session.as_json, data=data, show=show)


def _find(named: str) -> "Endpoint":
    from journeyman.network.endpoints import ENDPOINTS

    for one in ENDPOINTS:
        if named in (one.name, str(one.number), one.path, one.path.rpartition("/")[2]):
            return one
    names = [one.name for one in ENDPOINTS]
    near = get_close_matches(named, names, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise UsageError(
        f"the contract has no endpoint {neutral(named)!r}",
        f"{hint}Its endpoints are {', '.join(names)}, numbered from 1 to 10.",
    )


def _told(endpoint: "Endpoint", record: "EndpointRecord") -> dict[str, Any]:
    from journeyman.network.openapi import learned_facts, schema_of

    return {
        "number": endpoint.number,
        "method": endpoint.method,
        "path": endpoint.path,
        "name": endpoint.name,
        **learned_facts(record),
        "query": dict(sorted(record.request.query.items())),
        "request": schema_of(record.request.body),
        "answers": [
            {
                "status": one.status,
                "is_yes": one.is_yes,
                "seen": one.seen,
                "last_at": one.last_at,
                "media_types": dict(sorted(one.media_types.items())),
                "unreadable": one.unreadable,
                "schema": schema_of(one.body),
            }
            for one in _sorted(record)
        ],
    }


def _show(endpoint: "Endpoint", record: "EndpointRecord") -> None:
    say(f"{endpoint.number}. {endpoint.name}  {endpoint.method} {endpoint.path}")
    if not record.seen:
        say("   never called")
        return
    facts(
        {
            "   calls": f"{record.seen}, the last at {record.last_at}",
            "   outcomes": counted(sorted(record.outcomes.items())),
            "   time": _speed(record),
            "   limits": _limits(record),
            "   token": _token(record),
            "   full": "new shapes are no longer kept" if record.is_cut else "",
        },
    )
    if record.request.worked:
        _show_request(record)
    for one in _sorted(record):
        _show_answer(one)


def _show_request(record: "EndpointRecord") -> None:
    query = ", ".join(sorted(record.request.query))
    if query:
        say(f"   worked with the query: {neutral(query)}")
    if record.request.body.kinds:
        _show_shape("worked with the body", drawn(record.request.body))


def _show_answer(one: "AnswerRecord") -> None:
    meaning = "" if one.is_yes or one.status >= 300 else ", meaning no"  # noqa: PLR2004 - the class of a status
    kinds = ", ".join(kind or "no type" for kind in sorted(one.media_types))
    head = f"answer {one.status}{meaning}, {_times(one.seen)} ({kinds})"
    if one.unreadable:
        head += f", {one.unreadable} of them no JSON"
    _show_shape(head, drawn(one.body))


def _show_shape(head: str, lines: list[str]) -> None:
    first, *more = lines or [""]
    say(f"   {head}: {first}".rstrip(": "))
    for line in more:
        say(f"   {line}")


def _sorted(record: "EndpointRecord") -> "list[AnswerRecord]":
    return sorted(record.answers.values(), key=lambda one: (one.status, one.key))


def _speed(record: "EndpointRecord") -> str:
    latency = record.latency
    if not sum(latency.counts):
        return "never answered"
    parts = ((50, 0.5), (90, 0.9), (99, 0.99))
    told = (f"{percent} % {_within(latency.quantile(p))}" for percent, p in parts)
    return ", ".join(told)


def _within(seconds: float | None) -> str:
    if seconds is None:
        return "in over 30 s"
    return f"within {seconds * 1000:g} ms" if seconds < 1 else f"within {seconds:g} s"


def _limits(record: "EndpointRecord") -> str:
    rows = (_header(name, one) for name, one in sorted(record.headers.items()))
    return "\n".join(rows)


def _header(name: str, header: "HeaderRecord") -> str:
    if header.least is None or header.most is None:
        return f"{name}, {_times(header.seen)}"
    return f"{name}, {_times(header.seen)}, {header.least:g} to {header.most:g}"


def _token(record: "EndpointRecord") -> str:
    request = record.request
    without = request.worked - request.with_token
    pairs = ((request.with_token, "with it"), (without, "without it"))
    told = " and ".join(f"{count} {how}" for count, how in pairs if count)
    return f"worked {told}" if told else "never worked"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


@command("export", example="journeyman contract export --output network.openapi.json")
def export_contract(
    session: Session,
    *,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it there, instead of to stdout."),
    ] = None,
) -> None:
    """Write the contract as OpenAPI 3.1, filled in with what was learned.

    What the contract does not show is marked `x-learned`. No value of any body is in
    it, so it can be given to others.
    """
    from journeyman.network.openapi import openapi_document

    found = learned(session)
    document = openapi_document(found.records, found.network)
    text = json.dumps(document, indent=2)
    if output is None:
        say(text)
        return
    _write(output, f"{text}\n")
    data = {"file": str(output), "endpoints_seen": len(found.records)}
    answer(
        as_json=session.as_json,
        data=data,
        show=lambda: say(
            f"{output}: 10 endpoints, {len(found.records)} of them seen at work."
        ),
    )


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise StateError(
            f"the document could not be written to {file}: {error.strerror}",
            "Name a file in a directory that this user can write.",
        ) from error


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
    from journeyman.daemon.agent import writing_from

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
    answer(as_json=session.as_json, data=data, show=lambda: _show_dialects(data))


def _learned(session: Session) -> tuple[str | None, "dict[str, Learned]"]:
    from journeyman.daemon.agent import JournalShapeMemory
    from journeyman.network.negotiation import read_learned

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


def _show_dialects(data: dict[str, Any]) -> None:
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
    from journeyman.daemon.environment import build_environment
    from journeyman.network.explanation import explain_request

    identity, environment = session.identity(), build_environment()
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
            clock=environment.clock,
            log=environment.log,
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
