"""Going through a document of unknown form, within bounds."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from journeyman.domain import JSON
from journeyman.network.fields import Fields, spelling

DEEPEST = 12
"""Levels of objects and arrays."""
MOST_OBJECTS = 5_000
"""Of one document."""


@dataclass(frozen=True, slots=True)
class Found:
    """One object of a document."""

    key: str
    """Under which it stands, spelled without case and `_`; of a list, the list's."""
    fields: Fields
    body: dict[str, JSON]
    depth: int
    """0 is the document itself."""


def objects_in(document: JSON) -> Iterator[Found]:
    """Give the objects of a document, the outer ones first."""
    waiting: deque[tuple[str, JSON, int]] = deque([("", document, 0)])
    for _ in range(MOST_OBJECTS):
        if not waiting:
            return
        key, value, depth = waiting.popleft()
        if isinstance(value, dict):
            yield Found(key, Fields(value), value, depth)
            inner = [(spelling(name), one) for name, one in value.items()]
        elif isinstance(value, list):
            inner = [(key, one) for one in value]
        else:
            continue
        if depth < DEEPEST:
            waiting += (
                (name, one, depth + 1)
                for name, one in inner
                if isinstance(one, dict | list)
            )
