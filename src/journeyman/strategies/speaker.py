"""Whose code is running: what is printed in the daemon's process is told under it.

A context variable follows each task and thread, so that two strategies which print at
the same time are told apart.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType

_SPEAKER: ContextVar[Mapping[str, str]] = ContextVar(
    "speaker", default=MappingProxyType({})
)


class Speaking:
    """Runs a strategy's code inside the block.

    Each strategy is asked about each task, so this is no generator: half the time.
    """

    __slots__ = ("_fields", "_token")

    def __init__(self, strategy: str, task_id: str = "") -> None:
        self._fields = {"strategy": strategy}
        if task_id:
            self._fields["task_id"] = task_id

    def __enter__(self) -> None:
        self._token = _SPEAKER.set(self._fields)

    def __exit__(self, *_about: object) -> None:
        _SPEAKER.reset(self._token)


def speaker() -> Mapping[str, str]:
    """Return whose code is running, as fields of the log; empty: our own."""
    return _SPEAKER.get()
