"""Whose code is running: what is printed in the daemon's process is told under it.

A context variable follows each task and thread, so that two strategies which print at
the same time are told apart.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_SPEAKER: ContextVar[Mapping[str, str]] = ContextVar(
    "speaker", default=MappingProxyType({})
)


@contextmanager
def speaking(strategy: str, task_id: str = "") -> Iterator[None]:
    """Run a strategy's code inside the block."""
    task = {"task_id": task_id} if task_id else {}
    token = _SPEAKER.set({"strategy": strategy, **task})
    try:
        yield
    finally:
        _SPEAKER.reset(token)


def speaker() -> Mapping[str, str]:
    """Return whose code is running, as fields of the log; empty: our own."""
    return _SPEAKER.get()
