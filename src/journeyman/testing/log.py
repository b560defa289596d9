"""A log that keeps what it was told."""

from collections.abc import Mapping
from typing import Self

import anyio

from journeyman.observability import CONTEXT_FIELDS, Event, UndeclaredFieldError


class RecordingLog:
    """A `journeyman.observability.Log` in memory; undeclared fields raise."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, Mapping[str, object]]] = []
        """The name of each event with its fields and its context, in order."""
        self._context: dict[str, object] = {}
        self._awaited: dict[str, anyio.Event] = {}

    def emit(self, event: Event, **fields: object) -> None:
        """Keep one event.

        Raises:
            UndeclaredFieldError: its declaration does not name one of the fields.
        """
        if undeclared := sorted(set(fields) - event.fields - CONTEXT_FIELDS):
            raise UndeclaredFieldError(event.name, undeclared)
        self.lines.append((event.name, {**self._context, **fields}))
        if awaited := self._awaited.get(event.name):
            awaited.set()

    def bind(self, **context: object) -> Self:
        """Give a log that adds these fields, and writes to the same lines."""
        bound = type(self)()
        bound.lines = self.lines
        bound._context = self._context | context
        bound._awaited = self._awaited
        return bound

    def named(self, name: str) -> list[Mapping[str, object]]:
        """Give the fields of every event of one name, oldest first."""
        return [fields for event, fields in self.lines if event == name]

    async def until(self, name: str) -> None:
        """Wait until an event of this name is emitted, if none was so far."""
        if not self.named(name):
            await self._awaited.setdefault(name, anyio.Event()).wait()

    @property
    def names(self) -> list[str]:
        """The names of all events, oldest first."""
        return [event for event, _ in self.lines]
