"""What was learned of one network's requests, as one document that outlives us."""

from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import JsonValue, TypeAdapter, ValidationError

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.model import ServiceModel
from journeyman.network.service_model.request import RequestShape

VERSION = 1
"""Of the document; another one is not read, and everything is learned again."""
MAX_OPEN = 300
"""Requests of unknown outcome; the oldest are forgotten."""


@dataclass(slots=True)
class Learned:
    """All that is kept."""

    version: int = VERSION
    model: ServiceModel = field(default_factory=ServiceModel)
    open: dict[str, str] = field(default_factory=dict)
    """By idempotency key: the mark of what was sent and has no definite answer yet."""
    shapes: dict[str, RequestShape] = field(default_factory=dict)
    """By mark: the shapes of these requests."""
    waits: dict[str, tuple[int, float]] = field(default_factory=dict)
    """By action: rounds without success, and until when nothing is tried; in seconds
    since 1970."""
    described: dict[str, JsonValue] = field(default_factory=dict)
    """By action: the schema that a description showed last."""

    def sends(self, key: str, shape: RequestShape) -> None:
        """Note what is sent under a key, until there is a definite answer to it."""
        self.open.pop(key, None)
        self.open[key] = mark = shape.mark
        self.shapes[mark] = shape
        if len(self.open) > MAX_OPEN:
            # A post of unknown outcome is never repeated, so its key would stay.
            self.ends(next(iter(self.open)))

    def ends(self, key: str) -> None:
        """Forget what was sent under a key: there is a definite answer."""
        mark = self.open.pop(key, None)
        if mark is not None and mark not in self.open.values():
            self.shapes.pop(mark, None)

    def sent(self, key: str) -> RequestShape | None:
        """Return what was sent under a key and has no definite answer yet."""
        return self.shapes.get(self.open.get(key, ""))


_DOCUMENT: TypeAdapter[Learned] = TypeAdapter(Learned)


def read_document(saved: JSON) -> Learned:
    """Read what was saved; what cannot be read counts as never learned."""
    try:
        learned = _DOCUMENT.validate_python(saved)
    except ValidationError:
        return Learned()
    return learned if learned.version == VERSION else Learned()


class ModelStore:
    """Keeps the document of one network; by default only as long as it lives."""

    def __init__(
        self, saved: JSON = None, write: Callable[[JSON], None] | None = None
    ) -> None:
        """Begin with what was saved; `write` keeps it durably before it returns."""
        self._saved = saved
        self._write = write

    def load(self) -> Learned:
        """Return what was saved last."""
        return read_document(self._saved)

    def save(self, learned: Learned) -> None:
        """Keep it, if it has changed."""
        document: JSON = _DOCUMENT.dump_python(learned, mode="json")
        if document != self._saved:
            self._saved = document
            if self._write is not None:
                self._write(document)
