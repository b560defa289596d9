"""The log as the rest of the daemon sees it: declared events only."""

from typing import Protocol, Self

from journeyman.observability.catalogue import Event


class Log(Protocol):
    """Where events go. `logging.build_log` makes the real one."""

    def emit(self, event: Event, **fields: object) -> None:
        """Write one event with its declared fields."""
        ...

    def bind(self, **context: object) -> Self:
        """Give a log that adds these fields (task_id, agent_id, ...) to each event."""
        ...
