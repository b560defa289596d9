"""The trace of a run: a digest of all events, and the last of them in words."""

import hashlib
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Self

from journeyman.observability.events import CONTEXT_FIELDS, Event, UndeclaredFieldError

KEPT = 40
"""How many of the last events are kept in words, of all and of each task."""
OF_THE_MACHINE = frozenset({"data_directory", "path", "pid", "traceback", "where"})
"""Fields that name this machine's folders and processes: no function of the seed."""
ABOUT_THE_MACHINE = frozenset({"data.not_a_volume"})


@dataclass(frozen=True, kw_only=True, slots=True)
class TraceEvent:
    """One line of a trace."""

    at: float
    """In simulated seconds."""
    name: str
    fields: dict[str, Any]

    def __str__(self) -> str:
        fields = " ".join(f"{name}={value}" for name, value in self.fields.items())
        return f"{self.at:12.3f}  {self.name}  {fields}"


class Trace:
    """All events of a run."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._digest = hashlib.sha256()
        self._latest: deque[tuple[int, TraceEvent]] = deque(maxlen=KEPT)
        self._about: dict[str, deque[tuple[int, TraceEvent]]] = {}
        self._number = 0
        self.counts: Counter[str] = Counter()
        """How often each event happened."""

    def add(self, name: str, /, **fields: object) -> None:
        """Add an event that happens now."""
        at = round(self._seconds(), 6)
        self._digest.update(ascii((at, name, fields)).encode())
        self.counts[name] += 1
        self._number += 1
        numbered = self._number, TraceEvent(at=at, name=name, fields=fields)
        self._latest.append(numbered)
        about = str(fields.get("task_id") or fields.get("about") or "")
        if about:
            self._about.setdefault(about, deque(maxlen=KEPT)).append(numbered)

    def history(self, message: str) -> tuple[TraceEvent, ...]:
        """Return the last events about whatever a message names, or else of all."""
        named = [about for about in self._about if about in message]
        about_them = [one for about in named for one in self._about[about]]
        chosen = sorted(about_them or self._latest, key=itemgetter(0))[-KEPT:]
        return tuple(event for _, event in chosen)

    def include(self, text: str) -> None:
        """Add a text, such as the content of a table, to the digest."""
        self._digest.update(text.encode("utf-8", "surrogatepass"))

    @property
    def digest(self) -> str:
        """The same for the same course of events, and for no other."""
        return self._digest.hexdigest()


class TraceLog:
    """A `journeyman.observability.Log` that writes to a trace."""

    def __init__(
        self,
        write: Callable[[str, dict[str, object]], None],
        context: dict[str, object] | None = None,
    ) -> None:
        self._write = write
        self._context = context or {}

    def emit(self, event: Event, **fields: object) -> None:
        """Write one event, without what depends on the machine.

        Raises:
            UndeclaredFieldError: its declaration does not name one of the fields.
        """
        if undeclared := sorted(set(fields) - event.fields - CONTEXT_FIELDS):
            raise UndeclaredFieldError(event.name, undeclared)
        if event.name not in ABOUT_THE_MACHINE:
            self._write(event.name, {**self._context, **fields})

    def bind(self, **context: object) -> Self:
        """Return a log that adds these fields."""
        return type(self)(self._write, {**self._context, **context})
