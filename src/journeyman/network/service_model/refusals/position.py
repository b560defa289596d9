"""Where in a body a parser has stopped, from the line and the column that it names."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.lazy_pattern import any_case
from journeyman.network.service_model.naming import Path
from journeyman.network.service_model.refusals.faults import (
    MAX_TEXT,
    Fault,
    FieldFault,
)
from journeyman.network.service_model.refusals.words import wanted_type

_COLUMN = any_case(r"\bline:? 1\b[,:]? ?(?:col(?:umn)?[: ]*)?(?P<column>\d{1,5})\b")
"""As in "(line 1:19)" and "at line 1 column 34": a body is written in one line."""
_UNEXPECTED = any_case(r"\bunexpected token\b")


def placed_by_position(
    found: FieldFault, told: Iterable[str], sent: JSON
) -> FieldFault:
    """Return what is missing in the object at whose end a parser has missed it.

    As serde does: "missing field `body` at line 1 column 78". The end of all is that
    of the body itself.
    """
    if found.fault is not Fault.MISSING or len(found.path) != 1 or found.is_root:
        return found
    name = found.path[0]
    missed = (_COLUMN.search(one[:MAX_TEXT]) for one in told if name in one)
    ends = {int(one["column"]) for one in missed if one}
    inside = [path for path, end in _objects_in(sent) if ends == {end}]
    if len(inside) != 1:
        return found
    path = (*inside[0], name)
    return replace(found, path=path, is_exact=len(path) > 1, is_root=len(path) == 1)


def _objects_in(
    value: JSON, path: Path = (), begins: int = 0
) -> Iterator[tuple[Path, int]]:
    """Return each object in a body, and at which byte it ends."""
    if isinstance(value, dict):
        yield path, begins + len(_text(value))
    for name, inner, at in _members(value, begins):
        yield from _objects_in(inner, (*path, name), at)


def _members(value: JSON, begins: int) -> Iterator[tuple[str, JSON, int]]:
    """Return what is in an object or a list, and at which byte it begins."""
    at = begins + 1
    if isinstance(value, dict):
        for name, inner in value.items():
            at += len(_text(name)) + 1
            yield name, inner, at
            at += len(_text(inner)) + 1
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield str(number), inner, at
            at += len(_text(inner)) + 1


def named_by_position(told: Iterable[str], sent: JSON) -> list[FieldFault]:
    """Read what is wrong with the value at a place in our bytes.

    Parsers count from the beginning of a value or from its end, and from 0 or from 1.
    """
    for text in (one[:MAX_TEXT] for one in told):
        stopped = _COLUMN.search(text)
        wants = wanted_type(text)
        if stopped is None or not (wants or _UNEXPECTED.search(text)):
            continue
        column = int(stopped["column"])
        near = [
            (path, value)
            for path, value, begins, ends in _written(sent)
            if begins <= column <= ends + 1
        ]
        for path, value in near[:1]:
            wants = wants or ("" if isinstance(value, str) else "string")
            return [FieldFault(path, Fault.TYPE, wants)]
    return []


def _written(
    value: JSON, path: Path = (), begins: int = 0
) -> Iterator[tuple[Path, JSON, int, int]]:
    """Return each single value with the bytes of the body that it takes."""
    if not isinstance(value, dict | list) or not value:
        yield path, value, begins, begins + len(_text(value))
    for name, inner, at in _members(value, begins):
        yield from _written(inner, (*path, name), at)


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
