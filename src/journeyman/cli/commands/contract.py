"""`journeyman contract`: what was learned about the network, beside the contract."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from journeyman.cli.output import counted, did_you_mean, print_fields, print_table
from journeyman.cli.session import Session, command
from journeyman.daemon.description import read_description
from journeyman.daemon.earning import can_earn, known_of, network_record, summary
from journeyman.domain import errors
from journeyman.domain.text import escape
from journeyman.journal.files import write_atomically
from journeyman.journal.journal import Journal
from journeyman.network.endpoints import ENDPOINTS, Endpoint
from journeyman.network.service_model import evidence
from journeyman.network.service_model.openapi import (
    described_requests,
    learned_facts,
    openapi_document,
    schema_of,
)


@command("contract", example="journeyman contract")
def contract(session: Session, context: typer.Context) -> None:
    """Show whether we can earn on the network, and what is refused.

    Each step to a credit is proven, refused (in the network's words) or untried. Where
    a request is refused, settings are printed that can be completed and pasted. Nothing
    is sent.
    """
    if context.invoked_subcommand is not None:
        return
    with session.journal() as journal:
        network = _network(session, journal)
        steps = can_earn(known_of(journal, network_record(journal, network)))

    def show() -> None:
        print(f"Can I earn on {escape(network)}? {escape(summary(steps))}")
        print()
        rows = [[one.name, one.standing, escape(one.reason)] for one in steps]
        print_table(["step", "is", "because"], rows, texts=["because"])
        for one in steps:
            if one.toml:
                print()
                print("Complete this, and put it into the configuration file:")
                print()
                print(one.toml)

    data = {
        "network": network,
        "can_earn": summary(steps),
        "steps": [asdict(one) for one in steps],
    }
    session.answer(data, show)


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
    network, records = read_records(session)
    pairs = [(one, records.get(one.name, evidence.EndpointRecord())) for one in chosen]

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
    network, records = read_records(session)
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


@command("import", example="journeyman contract import network.openapi.json")
def import_contract(
    session: Session,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="OpenAPI 3 as JSON or YAML, or an export."),
    ],
) -> None:
    """Start from an OpenAPI description of the network.

    It is kept in the data directory, as its owner's word: it outranks what the network
    publishes. A daemon uses it from its next start.
    """
    document = read_description(file)
    described = described_requests(document)
    if not described:
        raise errors.UsageError(
            f"{file} describes the body of no action that we send",
            "The end of its paths must be as in the contract: claim-task-public, "
            "submit-task-result-public, complete-task-public, write-post-task-public.",
        )
    directory = session.directory()
    directory.prepare()
    write_atomically(directory.description, json.dumps(document).encode())
    data = {"file": str(directory.description), "actions": sorted(described)}
    text = f"{directory.description}: it describes {', '.join(sorted(described))}."
    session.answer(data, lambda: print(text))


def read_records(
    session: Session,
) -> tuple[str, dict[str, evidence.EndpointRecord]]:
    """Return a network, and what was learned about its endpoints, by name.

    The network is the one named on the command line, else the one that was seen last,
    else the one in the settings.

    Raises:
        NotRunningError: no agent has ever run in the data directory.
        StateError: the journal cannot be read.
        ConfigurationError: nothing was learned yet, and no network is named.
    """
    with session.journal() as journal:
        network = _network(session, journal)
        return network, evidence.records_from(journal.observations.of(network))


def _network(session: Session, journal: Journal) -> str:
    network = session.base_url or next(iter(journal.observations.networks()), None)
    if network is None:
        network = session.address(session.load().settings)
    return network.rstrip("/")


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
    endpoint: Endpoint, record: evidence.EndpointRecord
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
    record: evidence.EndpointRecord,
) -> list[evidence.AnswerRecord]:
    return sorted(record.answers.values(), key=lambda one: (one.status, one.key))


def _show_endpoint(endpoint: Endpoint, record: evidence.EndpointRecord) -> None:
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


def _show_answer(one: evidence.AnswerRecord) -> None:
    meaning = "" if one.is_yes or one.status >= 300 else ", meaning no"  # noqa: PLR2004 - the class of a status
    kinds = ", ".join(kind or "no type" for kind in sorted(one.media_types))
    head = f"answer {one.status}{meaning}, {_how_often(one.seen)} ({kinds})"
    if one.unreadable:
        head += f", {one.unreadable} of them not valid JSON"
    _show_shape(head, one.body)


def _show_shape(head: str, shape: evidence.Shape) -> None:
    first, *more = _draw(shape) if shape.kinds else [""]
    print(f"   {head}: {first}".rstrip(": "))
    for line in more:
        print(f"   {line}")


def _draw(shape: evidence.Shape, head: str = "") -> list[str]:
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


def _draw_object(shape: evidence.Shape) -> Iterator[str]:
    fields = [
        (f"{escape(name)}{'' if name in shape.required else '?'}: ", field)
        for name, field in sorted(shape.fields.items())
    ]
    fields += [("*: ", shape.entries)] if shape.entries is not None else []
    if not fields:
        yield "{...}"
        return
    yield "{"
    for head, field in fields:
        yield from (f"  {line}" for line in _draw(field, head))
    yield "}"


def _draw_array(shape: evidence.Shape) -> list[str]:
    if shape.items is None or not shape.items.kinds:
        return ["[...]"]
    lines = _draw(shape.items)
    lines[0] = f"[{lines[0]}"
    lines[-1] = f"{lines[-1]}]"
    return lines


def _times(record: evidence.EndpointRecord) -> str:
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


def _limit(name: str, header: evidence.HeaderRecord) -> str:
    limit = f"{name}, {_how_often(header.seen)}"
    if header.least is None or header.most is None:
        return limit
    return f"{limit}, {header.least:g} to {header.most:g}"


def _token(record: evidence.EndpointRecord) -> str:
    request = record.request
    without = request.worked - request.with_token
    pairs = ((request.with_token, "with it"), (without, "without it"))
    text = " and ".join(f"{_how_often(count)} {how}" for count, how in pairs if count)
    return f"worked {text}" if text else "never worked"


def _how_often(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
