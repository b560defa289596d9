"""Any value as plain JSON, so that a log line can always be written."""

import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from enum import Enum
from pathlib import PurePath
from typing import TypeGuard

from journeyman.domain import JSON, AccessToken

DEEPEST = 8
"""Levels of nesting that are kept; it also ends a structure that holds itself."""
MOST_ITEMS = 100
"""Items of one list or table that are kept."""
MOST_BITS = 1_024
"""Python refuses to write out much longer whole numbers in decimal."""


def plain(value: object, depth: int = 0) -> JSON:
    """Give the value as JSON: tokens hidden, exceptions named, times in UTC.

    It never raises, whatever a foreign object does when it is looked at.
    """
    try:
        return _plain(value, depth)
    except Exception as error:  # noqa: BLE001 - a foreign __repr__ may raise anything
        return f"<{type(value).__name__} that raised {type(error).__name__}>"


def _plain(value: object, depth: int) -> JSON:
    if isinstance(value, Enum):
        return plain(value.value, depth)
    if _is_scalar(value):
        return value
    if isinstance(value, Mapping):
        return _table(value, depth) if depth < DEEPEST else "..."
    if isinstance(value, list | tuple | AbstractSet):
        return _list(value, depth) if depth < DEEPEST else "..."
    return _text(value)


def _is_scalar(value: object) -> TypeGuard[bool | int | float | str | None]:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return value.bit_length() <= MOST_BITS
    return value is None or isinstance(value, str)


def _table(table: Mapping[object, object], depth: int) -> JSON:
    kept = list(table.items())[:MOST_ITEMS]
    shown: dict[str, JSON] = {
        str(plain(key)): plain(value, depth + 1) for key, value in kept
    }
    if len(table) > MOST_ITEMS:
        shown["..."] = _more(len(table))
    return shown


def _list(items: Iterable[object], depth: int) -> JSON:
    # Sets have no order of their own, and equal records must give equal lines.
    kept = sorted(items, key=repr) if isinstance(items, AbstractSet) else list(items)
    shown = [plain(item, depth + 1) for item in kept[:MOST_ITEMS]]
    return [*shown, _more(len(kept))] if len(kept) > MOST_ITEMS else shown


def _more(count: int) -> str:
    return f"{count - MOST_ITEMS} more"


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).isoformat()
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}".removesuffix(": ")
    if isinstance(value, bytes | bytearray):
        return f"<{len(value)} bytes>"
    if isinstance(value, int):
        return f"<whole number of {value.bit_length()} bits>"
    return str(value) if isinstance(value, AccessToken | PurePath) else repr(value)
