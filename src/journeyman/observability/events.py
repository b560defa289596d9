"""Every log event, declared once: the log is a contract with operators.

An event is emitted by `Log.emit(EVENT, field=...)`. A field that is not declared
here raises in tests; in production it is written under `undeclared`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

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
    allowed: frozenset[str] = field(init=False, repr=False)
    """What a line may carry: its fields, and the context."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "allowed", self.fields | CONTEXT_FIELDS)


RESERVED_FIELDS = frozenset({"time", "level", "event", "repeated", "undeclared"})
"""What the log itself adds to a line; no event may declare a field of that name."""

VERSION = 1
"""Of the catalogue; it stands in `daemon.started`. It is raised when an event or a
field is renamed or removed, or means something else, and not when one is added."""

CATALOGUE: dict[str, Event] = {}


def declare(
    name: str, level: Level, fields: str, meaning: str, action: str = ""
) -> Event:
    """Add an event to the catalogue; `fields` are its names, separated by spaces."""
    if name in CATALOGUE:
        raise ValueError(f"event {name!r} is declared twice")
    event = Event(name, level, frozenset(fields.split()), meaning, action)
    if taken := event.fields & RESERVED_FIELDS:
        names = ", ".join(sorted(taken))
        raise ValueError(f"event {name!r}: the log itself writes {names}; rename it")
    CATALOGUE[name] = event
    return event


def render_reference() -> str:
    """Return the catalogue as Markdown: `docs/reference/events.md`.

    It holds the events of the packages that were imported so far.
    """
    return "\n".join(_reference_lines()) + "\n"


def _reference_lines() -> Iterator[str]:
    yield "# Log events"
    yield ""
    yield "Every event that Journeyman logs, made from the catalogue in the code."
    yield "A line has `time`, `level`, `event`, its context, and the event's fields."
    area = ""
    for name in sorted(CATALOGUE):
        if name.partition(".")[0] != area:
            area = name.partition(".")[0]
            yield from ("", f"## {area}", "")
            yield "| event | level | fields | meaning | what to do |"
            yield "|---|---|---|---|---|"
        yield _reference_row(CATALOGUE[name])


def _reference_row(event: Event) -> str:
    fields = " ".join(f"`{field}`" for field in sorted(event.fields))
    cells = (f"`{event.name}`", event.level, fields, event.meaning, event.action)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


CONTEXT_FIELDS = frozenset(
    {"task_id", "agent_id", "strategy", "spend_id", "run_id", "trace_id"}
)
"""What may be bound, and what every event may carry without declaring it."""


class UndeclaredEventError(TypeError):
    """An event was emitted that no `events.py` declares."""

    def __init__(self, event: str) -> None:
        """Name the event."""
        super().__init__(f"event {event!r} is not in the catalogue; declare() it first")


class UndeclaredFieldError(TypeError):
    """An event was given fields that its declaration does not name."""

    def __init__(self, where: str, fields: Sequence[str]) -> None:
        """Name the event, or the context, and the fields."""
        names = ", ".join(fields)
        super().__init__(f"{where}: not declared: {names}; add them to its declare()")


class Log(Protocol):
    """Where events go. `logging.build_log` makes the real one."""

    def emit(self, event: Event, **fields: object) -> None:
        """Write one event with its declared fields."""
        ...

    def bind(self, **context: object) -> "Log":
        """Return a log that adds these fields (task_id, ...) to each event."""
        ...
