"""Running a plain `def run` in a thread of its own.

A thread cannot be stopped from outside. One that does not return is left behind: it
costs one task, does not keep the process from ending (it is a daemon thread), and is
counted. A strategy that leaves too many behind gets no more work.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
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
"""Threads of one strategy that may be left behind at once."""


class _Job:
    """One call in one thread, and what came of it."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.ended = anyio.Event()
        self.returned: Any = None
        self.error: BaseException | None = None
        self.when_late: Callable[[], None] | None = None
        self._call = call
        # What the daemon bound to its log for this task also holds in the thread.
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
        # The loop is closed when the daemon ended first; then nobody is waiting.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        self.ended.set()
        if self.when_late is not None:
            self.when_late()


class ThreadRunner:
    """Runs strategies in threads, and counts those that never came back."""

    def __init__(self, grace_seconds: float) -> None:
        """Wait for `grace_seconds` for a cooperative thread after its time."""
        self._grace = grace_seconds
        self._abandoned: WeakKeyDictionary[LoadedStrategy, int] = WeakKeyDictionary()

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
            return _too_many(stuck)
        job = _Job(call)
        context.report_through(asyncio.get_running_loop().call_soon_threadsafe)
        try:
            job.start(loaded.name)
        except RuntimeError:
            return RetryLater("the system gives no more threads")
        in_time = await self._wait(loaded, job, context, limit)
        if not in_time:
            return TimedOut(limit)
        if job.error is not None:
            return outcome_of_exception(loaded, job.error)
        return outcome_of_return(loaded, job.returned)

    async def _wait(
        self, loaded: LoadedStrategy, job: _Job, context: Context, limit: float
    ) -> bool:
        """Tell whether the job ended within its limit; abandon it after the grace."""
        try:
            with anyio.move_on_after(limit):
                await job.ended.wait()
                return True
            context.end()
            with anyio.move_on_after(self._grace):
                await job.ended.wait()
            return False
        finally:
            if not job.ended.is_set():
                context.end()
                self._abandon(loaded, job)

    def _abandon(self, loaded: LoadedStrategy, job: _Job) -> None:
        self._abandoned[loaded] = self._abandoned.get(loaded, 0) + 1

        def came_back() -> None:
            self._abandoned[loaded] -= 1

        job.when_late = came_back


def _too_many(stuck: int) -> Misconfigured:
    return Misconfigured(
        f"{stuck} of its runs never ended; their threads are still busy",
        fix="give the calls in run a time-out, or look at ctx.cancelled now and then",
    )
