"""The log as the rest of the daemon sees it: declared events only."""

from collections.abc import Sequence
from typing import Protocol

from journeyman.observability.catalogue import Event

CONTEXT_FIELDS = frozenset({"task_id", "agent_id", "strategy", "spend_id", "run_id"})
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
        """Give a log that adds these fields (task_id, agent_id, ...) to each event."""
        ...
