"""Every log event, declared once: the log is a contract with operators (design 9).

An event is emitted by `Log.emit(EVENT, field=...)`. A field that is not declared
here raises in tests and is dropped, with a note, in production.
"""

from dataclasses import dataclass
from typing import Literal

Level = Literal["debug", "info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Event:
    """One kind of log line."""

    name: str
    level: Level
    fields: frozenset[str]
    meaning: str
    action: str = ""
    """What an operator should do; empty when there is nothing to do."""


CATALOGUE: dict[str, Event] = {}


def declare(
    name: str,
    level: Level,
    fields: str,
    meaning: str,
    action: str = "",
) -> Event:
    """Add an event to the catalogue; `fields` are its names, parted by spaces."""
    if name in CATALOGUE:
        raise ValueError(f"event {name!r} is declared twice")
    event = Event(name, level, frozenset(fields.split()), meaning, action)
    CATALOGUE[name] = event
    return event
