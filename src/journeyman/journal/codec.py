"""Dataclasses from rows and from JSON, and back: one typed codec for all tables.

What is read may have been written by an older version, or be damaged: a field that is
missing gets its default, one that is not known is ignored, and anything else that
does not fit raises a ValueError.

Tasks and their results are written by hand, in `tasks`: a text in them may hold half of
a surrogate pair, which pydantic's JSON refuses, and theirs is the hot path.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, PlainSerializer, TypeAdapter

from journeyman.journal.database import Row

T = TypeVar("T")

_ALL_TIME = ("", "9999-99")
"""Sorts before and after every moment that is stored."""
FROM_JSON = BeforeValidator(json.loads)
AS_JSON = PlainSerializer(json.dumps)
"""These two annotate a field that one column holds as JSON."""
Moment = Annotated[datetime, PlainSerializer(datetime.isoformat)]
"""Written with its offset as `+00:00`: queries compare moments as texts."""
JsonColumn = Annotated[Mapping[str, Any], FROM_JSON, AS_JSON]
"""A column that holds a JSON object of any content."""


def stored_between(since: datetime | None, until: datetime | None) -> tuple[str, str]:
    """Return texts for `at >= ? AND at < ?`; None is the beginning, or the end."""
    first, last = _ALL_TIME
    return (
        since.isoformat() if since else first,
        until.isoformat() if until else last,
    )


def load(kind: type[T], content: object) -> T:
    """Return a row, or what was read as JSON, as a dataclass.

    Raises:
        ValueError: it does not fit.
    """
    values = dict(content) if isinstance(content, Row) else content
    value: T = _adapter(kind).validate_python(values)
    return value


def dump(value: object) -> dict[str, Any]:
    """Return a dataclass as what `load` accepts: values for columns, or for JSON."""
    content: dict[str, Any] = _adapter(type(value)).dump_python(value, mode="json")
    return content


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}
"""Each is built when it is first used: that takes about a millisecond."""


def _adapter(kind: type) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]
