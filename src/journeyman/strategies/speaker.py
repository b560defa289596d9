"""Whose code is running: what is printed in the daemon's process is told under it.

A context variable follows each task and thread, so that two strategies which print at
the same time are told apart.
"""

from collections.abc import Callable
from contextvars import ContextVar

_SPEAKER: ContextVar["Speaking | None"] = ContextVar("speaker", default=None)


class Speaking:
    """Runs a strategy's code inside the block.

    Each strategy is asked about each task, so this is no generator: half the time.
    """

    __slots__ = ("_token", "at_end", "fields")

    def __init__(self, strategy: str, task_id: str = "") -> None:
        self.fields = {"strategy": strategy}
        """Whose code it is, as fields of the log."""
        if task_id:
            self.fields["task_id"] = task_id
        self.at_end: Callable[[], None] | None = None
        """Is called at the end of the block."""

    def __enter__(self) -> None:
        self._token = _SPEAKER.set(self)

    def __exit__(self, *_about: object) -> None:
        _SPEAKER.reset(self._token)
        if self.at_end is not None:
            self.at_end()


def speaker() -> Speaking | None:
    """Return the block whose code is running; None: our own code."""
    return _SPEAKER.get()
