"""What a child prints: kept up to a limit, drained beyond it, never waited for."""

import asyncio
import os
from collections.abc import Callable
from typing import Final

PIECE: Final = 65_536
MOST_LINES: Final = 50
"""Of what one run printed, as lines of the log; the rest follows in one."""
FLOOD: Final = 256
"""So many times the limit is no chattiness any more; draining it costs CPU time."""


class Output:
    """Reads one child's standard output and error, for as long as it lives."""

    def __init__(
        self, descriptor: int, limit: int, on_flood: Callable[[], None]
    ) -> None:
        """Begin to read; `limit` is in bytes for each run."""
        self.total = 0
        """Bytes since the run began."""
        self.is_flood = False
        """It printed so much in one run that its child was given up."""
        self._kept = bytearray()
        self._descriptor = descriptor
        self._limit = limit
        self._on_flood = on_flood
        self._is_open = True
        asyncio.get_running_loop().add_reader(descriptor, self.drain_some)

    def begin(self) -> None:
        """Forget what was printed; a new run begins."""
        self.total = 0
        self._kept.clear()

    def drain_some(self) -> bool:
        """Read one piece; tell whether there was any."""
        if not self._is_open:
            return False
        try:
            piece = os.read(self._descriptor, PIECE)
        except BlockingIOError:
            return False
        if not piece:
            self.close()
            return False
        self.total += len(piece)
        self._kept += piece[: self._limit - len(self._kept)]
        if self.total > FLOOD * self._limit and not self.is_flood:
            self.is_flood = True
            self._on_flood()
        return True

    def take(self) -> list[str]:
        """Give the lines that were printed, up to those that still lie in the pipe."""
        self.drain()
        lines = self._kept.decode(errors="replace").splitlines()
        if len(lines) > MOST_LINES:
            lines = [*lines[: MOST_LINES - 1], "\n".join(lines[MOST_LINES - 1 :])]
        if self.total > self._limit:
            lines.append(f"({self.total - self._limit} bytes more were dropped)")
        return lines

    def drain(self) -> None:
        """Read what still lies in the pipe."""
        for _ in range(FLOOD):
            if not self.drain_some():
                break

    def close(self) -> None:
        """Read no more."""
        if self._is_open:
            self._is_open = False
            asyncio.get_running_loop().remove_reader(self._descriptor)
