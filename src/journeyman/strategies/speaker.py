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

    __slots__ = ("_strategy", "_task_id", "_token", "at_end")

    def __init__(self, strategy: str, task_id: str = "") -> None:
        self._strategy, self._task_id = strategy, task_id
        self.at_end: Callable[[], None] | None = None
        """Is called at the end of the block."""

    @property
    def fields(self) -> dict[str, str]:
        """Whose code it is, as fields of the log."""
        task = {"task_id": self._task_id} if self._task_id else {}
        return {"strategy": self._strategy, **task}

    def __enter__(self) -> None:
        self._token = _SPEAKER.set(self)

    def __exit__(self, *_about: object) -> None:
        _SPEAKER.reset(self._token)
        if self.at_end is not None:
            self.at_end()


def speaker() -> Speaking | None:
    """Return the block whose code is running; None: our own code."""
    return _SPEAKER.get()
