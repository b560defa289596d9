"""What the worker tells the daemon while a task runs: its log and its progress."""

import threading
from typing import Final

from journeyman.strategies.child.frames import Message, pack, write_all

LONGEST_NOTE: Final = 200
"""Characters that say what a cost was for."""
MOST_LINES: Final = 200
"""Of the log, in one run; what is beyond only counts."""


class Replies:
    """The pipe to the daemon; messages of several threads do not mix."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def send(self, message: Message) -> None:
        """Send a message whole.

        Raises:
            ValueError: it is not JSON, or too large.
            TypeError: it holds what JSON cannot say.
            OSError: the pipe is closed.
        """
        data = pack(message)
        with self._lock:
            write_all(self._descriptor, data)


class ChildLog:
    """The author's log of one run, told to the daemon within limits.

    A line is dropped here and not sent, so that a flood costs the daemon nothing.
    """

    def __init__(self, replies: Replies, run: int, most_bytes: int) -> None:
        self._replies = replies
        self._run = run
        self._bytes_left = most_bytes
        self._lines_left = MOST_LINES
        self.dropped = 0

    def debug(self, event: str, /, **fields: object) -> None:
        """Write for whoever looks for a fault."""
        self.tell("debug", event, fields)

    def info(self, event: str, /, **fields: object) -> None:
        """Write what happened."""
        self.tell("info", event, fields)

    def warning(self, event: str, /, **fields: object) -> None:
        """Write what the owner should know."""
        self.tell("warning", event, fields)

    def error(self, event: str, /, **fields: object) -> None:
        """Write what went wrong."""
        self.tell("error", event, fields)

    def progress(self, fraction: float, note: str) -> None:
        """Tell how far the work is, as one line more."""
        self._send({"progress": fraction, "note": str(note)}, len(str(note)))

    def cost(self, credits_: float, note: str) -> None:
        """Send what the work cost; it goes past the limits, for it is money."""
        told = {"cost": credits_, "note": str(note)[:LONGEST_NOTE]}
        self._replies.send({"run": self._run, **told})

    def tell(self, level: str, event: str, fields: dict[str, object]) -> None:
        """Send one line; values that JSON cannot say go as their repr."""
        told = {name: _plain(value) for name, value in fields.items()}
        size = len(str(event)) + sum(map(len, map(str, told.values())))
        self._send({"log": level, "event": str(event), "fields": told}, size)

    def _send(self, message: Message, size: int) -> None:
        if self._lines_left <= 0 or size > self._bytes_left:
            self.dropped += 1
            return
        self._lines_left -= 1
        self._bytes_left -= size
        self._replies.send({"run": self._run, **message})


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return repr(value)
