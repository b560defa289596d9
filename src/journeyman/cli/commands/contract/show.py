"""`journeyman contract show`: what each endpoint was seen to do."""

from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.command import command
from journeyman.cli.commands.contract.records import learned
from journeyman.cli.output import answer, facts, say
from journeyman.cli.session import Session
from journeyman.cli.shape_text import drawn
from journeyman.cli.text import counted, neutral
from journeyman.domain.errors import UsageError

if TYPE_CHECKING:
    from journeyman.network import AnswerRecord, Endpoint, EndpointRecord, HeaderRecord

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
    from journeyman.network import ENDPOINTS, EndpointRecord

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
    from journeyman.network import ENDPOINTS

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
    from journeyman.network import learned_facts, schema_of

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
