"""`journeyman contract`: what was learned about the network, beside the contract."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from journeyman.cli.output import counted, did_you_mean, print_fields, print_table
from journeyman.cli.session import Session, command
from journeyman.daemon.environment import build_environment
from journeyman.daemon.network import JournalShapeMemory, writing_from
from journeyman.domain import errors
from journeyman.domain.tasks import JSON, AgentId
from journeyman.domain.text import escape
from journeyman.network import observation
from journeyman.network.endpoints import ENDPOINTS, Endpoint
from journeyman.network.explanation import ExplainedRequest, explain_request
from journeyman.network.negotiation import Learned, Writing, read_learned
from journeyman.network.observed_shape import Shape
from journeyman.network.openapi import learned_facts, openapi_document, schema_of
from journeyman.network.shapes import ACTIONS


@command("show", example="journeyman contract show marketplace_tasks")
def show_contract(
    session: Session,
    endpoint: Annotated[
        str | None,
        typer.Argument(metavar="ENDPOINT", help="Its name, its number, or its path."),
    ] = None,
) -> None:
    """Show how each endpoint of the contract has behaved.

    That is: statuses, the shapes of answers and of requests that worked, limits, and
    times. Shapes are names of fields and kinds of values; values are never kept. A
    running daemon writes what is new once a minute.
    """
    chosen = ENDPOINTS if endpoint is None else (_find_endpoint(endpoint),)
    network, records = _read_records(session)
    pairs = [
        (one, records.get(one.name, observation.EndpointRecord())) for one in chosen
    ]

    def show() -> None:
        print(f"What was learned about {escape(network)}")
        for one, record in pairs:
            print()
            _show_endpoint(one, record)

    endpoints = [_endpoint_as_json(one, record) for one, record in pairs]
    session.answer({"network": network, "endpoints": endpoints}, show)


@command("export", example="journeyman contract export --output network.openapi.json")
def export_contract(
    session: Session,
    *,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write it to a file instead of stdout."),
    ] = None,
) -> None:
    """Write the contract as OpenAPI 3.1, with what was learned.

    What the contract does not show is marked `x-learned`. No value of any body is in
    it, so it can be given to others.
    """
    network, records = _read_records(session)
    text = json.dumps(openapi_document(records, network), indent=2)
    if output is None:
        print(text)
        return
    try:
        output.write_text(f"{text}\n", "utf-8")
    except OSError as error:
        raise errors.StateError(
            f"the document could not be written to {output}: {error.strerror}",
            "Name a file in a directory that this user can write.",
        ) from error
    data = {"file": str(output), "endpoints_seen": len(records)}
    text = f"{output}: 10 endpoints, {len(records)} of them seen at work."
    session.answer(data, lambda: print(text))


def _read_records(
    session: Session,
) -> tuple[str, dict[str, observation.EndpointRecord]]:
    """Return a network, and what was learned about its endpoints, by name.

    The network is the one named on the command line, else the one that was seen last,
    else the one in the settings.

    Raises:
        NotRunningError: no agent has ever run in the data directory.
        StateError: the journal cannot be read.
        ConfigurationError: nothing was learned yet, and no network is named.
    """
    with session.journal() as journal:
        network = session.base_url or next(iter(journal.observations.networks()), None)
        if network is None:
            network = session.address(session.load().settings)
        network = network.rstrip("/")
        return network, observation.records_from(journal.observations.of(network))


def _find_endpoint(wanted: str) -> Endpoint:
    for one in ENDPOINTS:
        if wanted in (one.name, str(one.number), one.path, one.path.rpartition("/")[2]):
            return one
    names = [one.name for one in ENDPOINTS]
    raise errors.UsageError(
        f"the contract has no endpoint {escape(wanted)!r}",
        f"{did_you_mean(wanted, names)}Its endpoints are {', '.join(names)}, numbered "
        "from 1 to 10.",
    )


def _endpoint_as_json(
    endpoint: Endpoint, record: observation.EndpointRecord
) -> dict[str, Any]:
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
            for one in _sorted_answers(record)
        ],
    }


def _sorted_answers(
    record: observation.EndpointRecord,
) -> list[observation.AnswerRecord]:
    return sorted(record.answers.values(), key=lambda one: (one.status, one.key))


def _show_endpoint(endpoint: Endpoint, record: observation.EndpointRecord) -> None:
    print(f"{endpoint.number}. {endpoint.name}  {endpoint.method} {endpoint.path}")
    if not record.seen:
        print("   never called")
        return
    limits = (_limit(name, one) for name, one in sorted(record.headers.items()))
    print_fields(
        {
            "   calls": f"{record.seen}, the last at {record.last_at}",
            "   outcomes": counted(sorted(record.outcomes.items())),
            "   time": _times(record),
            "   limits": "\n".join(limits),
            "   token": _token(record),
            "   full": "new shapes are no longer recorded" if record.is_cut else "",
        },
    )
    query = ", ".join(sorted(record.request.query))
    if query:
        print(f"   worked with the query: {escape(query)}")
    if record.request.body.kinds:
        _show_shape("worked with the body", record.request.body)
    for one in _sorted_answers(record):
        _show_answer(one)


def _show_answer(one: observation.AnswerRecord) -> None:
    meaning = "" if one.is_yes or one.status >= 300 else ", meaning no"  # noqa: PLR2004 - the class of a status
    kinds = ", ".join(kind or "no type" for kind in sorted(one.media_types))
    head = f"answer {one.status}{meaning}, {_how_often(one.seen)} ({kinds})"
    if one.unreadable:
        head += f", {one.unreadable} of them not valid JSON"
    _show_shape(head, one.body)


def _show_shape(head: str, shape: Shape) -> None:
    first, *more = _draw(shape) if shape.kinds else [""]
    print(f"   {head}: {first}".rstrip(": "))
    for line in more:
        print(f"   {line}")


def _draw(shape: Shape, head: str = "") -> list[str]:
    """Return the lines of a shape behind `head`, one form after another.

    `?` marks a field that not every object had, `*` keys that are data, and `...`
    what was empty or not looked into.
    """
    plain = sorted(kind for kind in shape.kinds if kind not in ("object", "array"))
    lines = [head + " | ".join(plain)]
    for kind, draw in (("object", _draw_object), ("array", _draw_array)):
        if kind in shape.kinds:
            lines[-1] += " | " if lines != [head] else ""
            first, *more = draw(shape)
            lines[-1] += first
            lines += more
    return lines


def _draw_object(shape: Shape) -> Iterator[str]:
    fields = [
        (f"{escape(name)}{'?' if shape.is_optional(name) else ''}: ", field)
        for name, field in sorted(shape.fields.items())
    ]
    fields += [("*: ", shape.entries)] if shape.entries is not None else []
    if not fields:
        yield "{}" if shape.opened else "{...}"
        return
    yield "{"
    for head, field in fields:
        yield from (f"  {line}" for line in _draw(field, head))
    yield "}"


def _draw_array(shape: Shape) -> list[str]:
    if shape.items is None or not shape.items.kinds:
        return ["[...]"]
    lines = _draw(shape.items)
    lines[0] = f"[{lines[0]}"
    lines[-1] = f"{lines[-1]}]"
    return lines


def _times(record: observation.EndpointRecord) -> str:
    if not sum(record.latency.counts):
        return "never answered"
    parts = (
        (percent, record.latency.quantile(percent / 100)) for percent in (50, 90, 99)
    )
    return ", ".join(f"{percent} % {_within(seconds)}" for percent, seconds in parts)


def _within(seconds: float | None) -> str:
    if seconds is None:
        return "in over 30 s"
    return f"within {seconds * 1000:g} ms" if seconds < 1 else f"within {seconds:g} s"


def _limit(name: str, header: observation.HeaderRecord) -> str:
    limit = f"{name}, {_how_often(header.seen)}"
    if header.least is None or header.most is None:
        return limit
    return f"{limit}, {header.least:g} to {header.most:g}"


def _token(record: observation.EndpointRecord) -> str:
    request = record.request
    without = request.worked - request.with_token
    pairs = ((request.with_token, "with it"), (without, "without it"))
    text = " and ".join(f"{_how_often(count)} {how}" for count, how in pairs if count)
    return f"worked {text}" if text else "never worked"


def _how_often(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


EXAMPLE_ADDRESS = "https://network.example"
EXAMPLE_AGENT = AgentId("AGENT-ID")
REFUSAL_LENGTH = 60
TIMESTAMP_LENGTH = len("2026-11-21T12:00:00")
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
    """List the dialects of requests, and which the network took.

    A dialect is how requests are written. Nothing is sent. The current ones were
    learned on this network, see docs/reference/dialect.md; the settings can add
    dialects and pin one.
    """
    writing = writing_from(session.load().settings.contract)
    if explain is not None and explain not in ACTIONS:
        raise errors.UsageError(
            f"there is no action {explain!r}", f"The actions are {', '.join(ACTIONS)}."
        )
    names = [one.name for one in writing.dialects]
    if dialect is not None and dialect not in names:
        raise errors.UsageError(
            f"there is no dialect {dialect!r}", f"The dialects are {', '.join(names)}."
        )
    if explain is None:
        _list_dialects(session, writing, dialect)
    else:
        _explain(session, writing, explain, dialect)


def _list_dialects(session: Session, writing: Writing, only: str | None) -> None:
    base_url, learned = _read_learned(session)
    data = {
        "dialects": {
            one.name: {action: dict(s.as_table()) for action, s in one.shapes.items()}
            for one in writing.dialects
            if only in {None, one.name}
        },
        "pinned": writing.pinned,
        "base_url": base_url,
        "current": {name: _current(name, writing, learned) for name in ACTIONS},
    }
    session.answer(data, lambda: _show_dialects(data))


def _read_learned(session: Session) -> tuple[str | None, dict[str, Learned]]:
    try:
        address = session.address(session.load().settings)
    except errors.ConfigurationError:
        return None, {}
    try:
        with session.journal() as journal:
            return address, read_learned(JournalShapeMemory(journal, address).load())
    except errors.NotRunningError:
        return address, {}


def _current(
    action: str, writing: Writing, learned: dict[str, Learned]
) -> dict[str, JSON]:
    """Return which dialect the next request has, and how we know."""
    known = learned.get(action)
    current: dict[str, JSON] = {"since": "", "refused": []}
    if writing.pinned_for(action) is not None:
        return current | {"dialect": writing.pinned, "state": "pinned by the settings"}
    if known is None or not (known.current or known.refused):
        first = next(one.name for one in writing.dialects if action in one.shapes)
        return current | {"dialect": first, "state": "not tried yet"}
    current["refused"] = [
        {"dialect": tried.candidate.name, "message": tried.message}
        for tried in known.refused
    ]
    if known.current is None:
        return current | {"dialect": None, "state": "all were refused today"}
    return current | {
        "dialect": known.current.name,
        "state": UNDERSTOOD if known.works else "being tried",
        "since": known.since,
        "shape": known.current.shape.as_table(),
    }


def _show_dialects(data: dict[str, Any]) -> None:
    rows = [
        [name, action, _compact(shape)]
        for name, shapes in data["dialects"].items()
        for action, shape in shapes.items()
    ]
    print_table(["dialect", "action", "where its values go"], rows)
    print()
    print(f"Current on {data['base_url'] or 'no network yet'}:")
    current = data["current"]
    print_table(
        ["action", "dialect", "state", "since"],
        [
            [
                action,
                one["dialect"] or "none",
                one["state"],
                one["since"][:TIMESTAMP_LENGTH],
            ]
            for action, one in current.items()
        ],
    )
    for action, one in current.items():
        for refused in one["refused"] if one["state"] != UNDERSTOOD else ():
            message = escape(refused["message"], longest=REFUSAL_LENGTH)
            print(f"{action}: {refused['dialect']} was refused: {message}")


def _compact(shape: dict[str, Any]) -> str:
    """Return `task_id > taskId`, and `agent_id` alone where the name is the same."""
    shown = [
        name if name == place else f"{name} > {place}"
        for name, place in shape.items()
        if isinstance(place, str)
    ]
    extras = (extra for extra in ("constants", "headers") if extra in shape)
    shown += (f"{extra}: {', '.join(shape[extra])}" for extra in extras)
    return ", ".join(shown)


def _explain(session: Session, writing: Writing, action: str, only: str | None) -> None:
    requests = anyio.run(_requests, session, writing, action, only)
    if not requests:
        raise errors.UsageError(
            f"the dialect {only!r} does not describe {action}",
            "One of the others is found by trying, and used instead.",
        )
    data = [
        {
            "dialect": request.dialect,
            "method": request.method,
            "url": request.url,
            "headers": dict(request.headers),
            "body": json.loads(request.body),
        }
        for request in requests
    ]
    session.answer(data, lambda: print("\n\n".join(map(_request_as_text, requests))))


async def _requests(
    session: Session, writing: Writing, action: str, only: str | None
) -> list[ExplainedRequest]:
    identity, environment = session.identity(), build_environment()
    try:
        base_url = session.address(session.load().settings)
    except errors.ConfigurationError:
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


def _request_as_text(request: ExplainedRequest) -> str:
    lines = [
        f"# {request.dialect}",
        f"{request.method} {request.url}",
        *(f"{name}: {value}" for name, value in request.headers.items()),
        "",
        request.body,
    ]
    return "\n".join(map(escape, lines))
