"""The owner's word on how an action is written and a listing read: tables, no code.

    [contract.requests.submit]
    task_id = "task.id"                     {"task": {"id": ...},
    result = "output"                        "output": ...,
    "claim.lease.token" = "lease"            "lease": what the claim's answer gave,
    constants = { source = "journeyman" }    "source": "journeyman"}

    [contract.listing]
    records = "board.members"               {"board": {"members": [
    id = "wish.no"                              {"wish": {"no": ...,
    text = "wish.words"                                   "words": ...

A place is the way to a field, with dots between the objects that are around it.
"""

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches

from journeyman.domain.tasks import JSON
from journeyman.network.headers import header_problems
from journeyman.network.service_model.listing import RECORDS
from journeyman.network.service_model.naming import Path
from journeyman.network.service_model.reading import Places, RecordReader
from journeyman.network.service_model.request import (
    ACTIONS,
    GIVEN,
    HEADER,
    MOMENTS,
    RECORD,
    Placed,
    RequestShape,
    is_header,
    leaves_of,
)

Table = Mapping[str, JSON]
"""A shape as in the configuration."""
MAX_DEPTH = 8
"""Objects around a field; more is a slip of the pen."""
_FOUND = (*GIVEN, RECORD)


def configured_shape(action: str, table: Table) -> RequestShape:
    """Read a shape out of the configuration.

    Raises:
        ValueError: something in it cannot be sent; the message has all that is wrong.
    """
    problems = [*_problems(action, table)]
    if problems:
        raise ValueError("; ".join(problems))
    placed = [
        Placed(tuple(place.split(".")), name)
        for name, place in table.items()
        if isinstance(place, str)
    ]
    constants, headers = table.get("constants"), table.get("headers")
    placed += [
        Placed(path, constant=value)
        for path, value in leaves_of(constants if isinstance(constants, dict) else {})
    ]
    return RequestShape(
        tuple(placed),
        {k: str(v) for k, v in headers.items()} if isinstance(headers, dict) else {},
    )


def configured_places(table: Mapping[str, str]) -> Places:
    """Read out of the configuration where a listing has its records and their fields.

    Raises:
        ValueError: something in it is no place; the message has all that is wrong.
    """
    known = (RECORDS, "id", *RecordReader.FEATURES)
    problems = [
        f"there is no {name!r}{_near(name, known)}; a listing has {', '.join(known)}"
        for name in table
        if name not in known
    ]
    problems += [_no_place(name, p) for name, p in table.items() if not _is_place(p)]
    if problems:
        raise ValueError("; ".join(problems))
    return {name: tuple(place.split(".")) for name, place in table.items()}


def _near(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f", did you mean {near[0]}" if near else ""


def _is_place(place: JSON) -> bool:
    parts = place.split(".") if isinstance(place, str) else []
    return 0 < len(parts) <= MAX_DEPTH and all(part.strip() for part in parts)


def _no_place(name: str, place: JSON) -> str:
    return f"{name} must be a place such as 'task.id', not {place!r}"


def _problems(action: str, table: Table) -> Iterator[str]:
    if action not in ACTIONS:
        yield f"there is no action {action!r}; wanted one of {', '.join(ACTIONS)}"
        return
    known = ACTIONS[action].names
    for name in table:
        if name in {*known, *MOMENTS, "constants", "headers"} or name.startswith(
            _FOUND
        ):
            continue
        also = _near(name, known)
        yield f"{action} has no value {name!r}{also}; it has {', '.join(known)}"
    yield from _missing(action, table)
    yield from _problems_of_places(action, table)
    headers = table.get("headers", {})
    if isinstance(headers, dict):
        yield from (f"{action}.headers{told}" for told in header_problems(headers))
    else:
        yield f"{action}.headers must be a table"


def _missing(action: str, table: Table) -> Iterator[str]:
    """Name what a request cannot do without; an answer's value may stand for the id."""
    stands_in = any(name.startswith(_FOUND) for name in table)
    missing = [
        name
        for name in ACTIONS[action].essential
        if name not in table and not (name == "task_id" and stands_in)
    ]
    if missing:
        yield f"{action} needs {', '.join(missing)}"


def _problems_of_places(action: str, table: Table) -> Iterator[str]:
    extra = table.get("constants", {})
    if not isinstance(extra, dict):
        yield f"{action}.constants must be a table"
        extra = {}
    taken: list[Path] = [path for path, _ in leaves_of(extra)]
    for name, place in table.items():
        if name in {"constants", "headers"}:
            continue
        if not (isinstance(place, str) and _is_place(place)):
            yield _no_place(f"{action}.{name}", place)
            continue
        path = tuple(place.split("."))
        if is_header(path):
            header: Table = {path[0].removeprefix(HEADER): ""}
            yield from (f"{action}.{name}{told}" for told in header_problems(header))
        clash = [one for one in taken if _overlap(path, one)]
        if clash:
            told = ".".join(clash[0])
            yield f"{action}.{name} has the place that {told!r} already has"
        taken.append(path)


def _overlap(one: Path, other: Path) -> bool:
    short = min(len(one), len(other))
    return one[:short] == other[:short]
