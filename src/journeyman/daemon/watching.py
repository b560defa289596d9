"""Watching the strategy files: a look at their time stamps now and then."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

Snapshot: TypeAlias = frozenset[tuple[str, int, int]]
"""Each Python file's path, its time of change in nanoseconds, its size in bytes."""


class StrategyWatch:
    """Calls for a reload when files have changed, and have come to rest."""

    def __init__(self, folder: Callable[[], Path], changed: Callable[[], None]) -> None:
        """Watch the folder that is in force at each look."""
        self._folder = folder
        self._changed = changed
        self._known = snapshot(folder())
        self._last = self._known

    def look(self) -> None:
        """Look once. A change is told when two looks in a row see the same of it.

        A reload that is refused is not tried again before something changes.
        """
        seen = snapshot(self._folder())
        is_at_rest, self._last = seen == self._last, seen
        if is_at_rest and seen != self._known:
            self._known = seen
            self._changed()


def snapshot(folder: Path) -> Snapshot:
    """Give what the Python files below a folder look like from outside."""
    return frozenset(
        found for path in folder.rglob("*.py") if (found := _look_at(path)) is not None
    )


def _look_at(path: Path) -> tuple[str, int, int] | None:
    try:
        seen = path.stat()
    except OSError:  # It was taken away meanwhile.
        return None
    return str(path), seen.st_mtime_ns, seen.st_size
