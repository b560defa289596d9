"""Where in a body a parser has stopped, from the line and the column that it names."""

import json
from collections.abc import Iterable, Iterator

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
        return
    keyed = isinstance(value, dict)
    members = value.items() if isinstance(value, dict) else enumerate(value)
    at = begins + 1
    for name, inner in members:
        at += len(_text(name)) + 1 if keyed else 0
        yield from _written(inner, (*path, str(name)), at)
        at += len(_text(inner)) + 1


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))
