"""Dataclasses from rows and from JSON, and back: one typed codec for all tables.

What is read may have been written by an older version: a field that is missing gets
its default, and one that is not known is ignored. Anything else that does not fit is
damage: a row or a column raises a StateError, and what was read elsewhere a ValueError.

Tasks and their results are written by hand, in `tasks`: a text in them may hold half of
a surrogate pair, which pydantic's JSON refuses, and theirs is the hot path.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, PlainSerializer, TypeAdapter

from journeyman.domain.errors import StateError
from journeyman.journal.database import Row

T = TypeVar("T")


def from_json(text: str) -> Any:  # noqa: ANN401 - JSON is any of them
    """Return what a column holds as JSON.

    Raises:
        StateError: it is damaged.
    """
    try:
        return json.loads(text)
    except (ValueError, TypeError) as error:
        raise damaged_row(error) from error


def damaged_row(error: Exception) -> StateError:
    """Return the refusal to go on with a row that no version of ours has written."""
    first, *_ = str(error).splitlines() or [type(error).__name__]
    return StateError(
        f"the journal is damaged: something in it cannot be read ({first})",
        "Stop the daemon, then restore the newest backup: `journeyman journal "
        "restore`. The damaged file is kept.",
    )


_ALL_TIME = ("", "9999-99")
"""Sorts before and after every moment that is stored."""
FROM_JSON = BeforeValidator(from_json)
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
        StateError: the row is damaged.
        ValueError: what was read as JSON does not fit.
    """
    value: T
    if not isinstance(content, Row):
        value = _adapter(kind).validate_python(content)
        return value
    try:
        value = _adapter(kind).validate_python(dict(content))
    except ValueError as error:
        raise damaged_row(error) from error
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
