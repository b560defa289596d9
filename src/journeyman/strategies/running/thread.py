"""Running a plain `def run` in a thread of its own.

A thread cannot be stopped from outside. One that does not return is abandoned: it
costs one task, does not keep the process from ending (it is a daemon thread), and is
counted. A strategy with too many abandoned threads gets no more work.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from weakref import WeakKeyDictionary

import anyio

from journeyman.strategies.api import Context
from journeyman.strategies.api.outcomes import Misconfigured, RetryLater
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import (
    RunOutcome,
    TimedOut,
    outcome_of_exception,
    outcome_of_return,
)

MAX_ABANDONED: Final = 3
"""Threads of one strategy that may be abandoned at once."""


class _Job:
    """One call in one thread, and how it ended."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.ended = anyio.Event()
        self.returned: Any = None
        self.error: BaseException | None = None
        self.on_late_return: Callable[[], None] | None = None
        self._call = call
        # The fields that the daemon bound to its log for this task apply there too.
        self._variables = contextvars.copy_context()
        self._loop = asyncio.get_running_loop()

    def start(self, name: str) -> None:
        threading.Thread(  # noqa: TID251 - this is the module that starts threads
            target=self._work, name=f"strategy-{name}", daemon=True
        ).start()

    def _work(self) -> None:
        try:
            self.returned = self._variables.run(self._call)
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
            self.error = error
        # The loop is closed if the daemon ended first; then nobody is waiting.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        self.ended.set()
        if self.on_late_return is not None:
            self.on_late_return()


@dataclass(kw_only=True, eq=False)
class ThreadRunner:
    """Runs strategies in threads, and counts those that never returned."""

    grace_seconds: float
    """How long to wait for a cooperative thread after its time."""
    _abandoned: WeakKeyDictionary[LoadedStrategy, int] = field(
        default_factory=WeakKeyDictionary, init=False
    )

    async def run(
        self,
        loaded: LoadedStrategy,
        call: Callable[[], Any],
        context: Context,
        limit: float,
    ) -> RunOutcome:
        """Run a strategy in a thread; `limit` is in seconds."""
        stuck = self._abandoned.get(loaded, 0)
        if stuck >= MAX_ABANDONED:
            return Misconfigured(
                f"{stuck} of its runs never ended; their threads are still busy",
                fix="give the calls in run a time-out, or check ctx.cancelled in it",
            )
        job = _Job(call)
        context.report_through(asyncio.get_running_loop().call_soon_threadsafe)
        try:
            job.start(loaded.name)
        except RuntimeError:
            return RetryLater("the system has no more threads")
        if not await self._wait(loaded, job, context, limit):
            return TimedOut(limit)
        if job.error is not None:
            return outcome_of_exception(loaded, job.error)
        return outcome_of_return(loaded, job.returned)

    async def _wait(
        self, loaded: LoadedStrategy, job: _Job, context: Context, limit: float
    ) -> bool:
        """Return whether the job ended within its limit; abandon it after the grace."""
        try:
            with anyio.move_on_after(limit):
                await job.ended.wait()
                return True
            context.end()
            with anyio.move_on_after(self.grace_seconds):
                await job.ended.wait()
            return False
        finally:
            if not job.ended.is_set():
                context.end()
                self._count(loaded, 1)
                job.on_late_return = partial(self._count, loaded, -1)

    def _count(self, loaded: LoadedStrategy, change: int) -> None:
        self._abandoned[loaded] = self._abandoned.get(loaded, 0) + change
