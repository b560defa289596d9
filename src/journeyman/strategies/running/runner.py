"""Running a strategy, wherever it runs."""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from types import CoroutineType
from typing import Any, Self, TypeAlias
from weakref import WeakKeyDictionary

import anyio

from journeyman.domain.tasks import Task
from journeyman.strategies import outcomes, watchdog
from journeyman.strategies.api import Context
from journeyman.strategies.api.outcomes import Decline, Misconfigured, RetryLater
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.process import ProcessRunner

# As strings: neither can be subscripted at run time in every supported Python.
Coroutine: TypeAlias = "CoroutineType[Any, Any, Any]"
HostTask: TypeAlias = "asyncio.Task[Any]"


async def run_on_loop(
    loaded: LoadedStrategy,
    call: Callable[[], Any],
    *,
    limit: float,
    grace: float,
    block_limit: float | None,
) -> outcomes.RunOutcome:
    """Run a strategy on the loop.

    Args:
        loaded: the strategy, for messages.
        call: calls its run method.
        limit: seconds that it may take in total.
        grace: seconds that it may take to clean up, once cancelled.
        block_limit: seconds that one step may block the loop; None: any.
    """
    drive = _Drive(call, limit, grace, block_limit)
    try:
        returned = await drive
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything
        if drive.is_stopped_from_outside:
            raise
        if drive.expired:
            return outcomes.TimedOut(limit)
        return outcomes.outcome_of_exception(loaded, error, block_limit)
    return (
        outcomes.TimedOut(limit)
        if drive.expired
        else outcomes.outcome_of_return(loaded, returned)
    )


@dataclass(eq=False)
class _Drive:
    """An awaitable that steps a coroutine, with a timer that stops it for good.

    The timer cancels the asyncio task itself, as `asyncio.timeout` does: that also
    reaches a coroutine which hides in a shielded anyio scope.
    """

    call: Callable[[], Any]
    limit: float
    grace: float
    block_limit: float | None
    expired: bool = field(default=False, init=False)
    is_stopped_from_outside: bool = field(default=False, init=False)
    _is_in_grace: bool = field(default=False, init=False)
    _is_abandoned: bool = field(default=False, init=False)
    _own_cancels: int = field(default=0, init=False)
    _timer: asyncio.TimerHandle | None = field(default=None, init=False)

    def __await__(self) -> Generator[Any, None, Any]:
        started = watchdog.call(self.block_limit, self.call)
        if not inspect.iscoroutine(started):
            return started
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("strategies run inside an asyncio task")
        foreign_before = task.cancelling()
        self._arm(self.limit, self._expire, task)
        try:
            return (yield from self._steps(started, task))
        finally:
            self._close(started)
            self._disarm()
            for _ in range(self._own_cancels):
                task.uncancel()
            if task.cancelling() > foreign_before:
                self.is_stopped_from_outside = True

    def _steps(self, coroutine: Coroutine, task: HostTask) -> Generator[Any, None, Any]:
        resume = partial(coroutine.send, None)
        while True:
            try:
                awaited = watchdog.call(self.block_limit, resume)
            except StopIteration as stop:
                return stop.value
            try:
                yield awaited
                resume = partial(coroutine.send, None)
            except asyncio.CancelledError as error:
                if self._is_abandoned:
                    raise
                if not self._is_in_grace:
                    self._begin_grace(task)
                resume = partial(coroutine.throw, error)
            except GeneratorExit:
                self.is_stopped_from_outside = True
                raise

    def _expire(self, task: HostTask) -> None:
        self.expired = True
        self._cancel(task)
        self._begin_grace(task)

    def _begin_grace(self, task: HostTask) -> None:
        # Once only: anyio repeats its cancellation in each cycle of the loop.
        self._is_in_grace = True
        self._arm(self.grace, self._abandon, task)

    def _abandon(self, task: HostTask) -> None:
        self._is_abandoned = True
        self._cancel(task)

    def _cancel(self, task: HostTask) -> None:
        self._own_cancels += 1
        task.cancel()

    def _arm(
        self,
        seconds: float,
        action: Callable[[HostTask], None],
        task: HostTask,
    ) -> None:
        self._disarm()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(seconds, action, task)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _close(self, coroutine: Coroutine) -> None:
        """End a coroutine that is still suspended, whatever it raises."""
        if coroutine.cr_frame is None:
            return
        try:
            watchdog.call(self.block_limit, coroutine.close)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001, S110 - it was abandoned before
            pass


MAX_ABANDONED = 3
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
    ) -> outcomes.RunOutcome:
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
            return outcomes.TimedOut(limit)
        if job.error is not None:
            return outcomes.outcome_of_exception(loaded, job.error)
        return outcomes.outcome_of_return(loaded, job.returned)

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


BLOCK_SECONDS = 5.0
"""What one step on the loop may take; everything else waits meanwhile."""
GRACE_SECONDS = 2.0
"""How long a run may continue after its time, to clean up."""


@dataclass(kw_only=True, eq=False)
class Runner:
    """Runs strategies; whatever the author's code does, it ends as a `RunOutcome`."""

    block_limit: float | None = BLOCK_SECONDS
    """Seconds that one step may block the loop; None, for simulated time: any."""
    grace_seconds: float = GRACE_SECONDS
    """What a run may take to end after its limit, or when the caller is cancelled."""
    isolation: Isolation | None = field(default_factory=Isolation)
    """The limits of processes; None, for simulated time: strategies that declare a
    process run on the loop."""
    _threads: ThreadRunner = field(init=False)
    _processes: ProcessRunner | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        grace = self.grace_seconds
        self._threads = ThreadRunner(grace_seconds=grace)
        if self.isolation is not None:
            self._processes = ProcessRunner(
                isolation=self.isolation, grace_seconds=grace
            )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Keep processes warm until the end of the block; then end all of them.

        Outside of it, each task gets a new process.
        """
        if self._processes is None:
            yield self
        else:
            async with self._processes.running():
                yield self

    def serve(self, strategies: Iterable[LoadedStrategy]) -> None:
        """Keep processes warm for those of these strategies that run in one.

        The processes of all others end after their tasks.
        """
        if self._processes is not None:
            self._processes.serve(one for one in strategies if one.runner == "process")

    async def run(
        self,
        loaded: LoadedStrategy,
        task: Task,
        context: Context,
        *,
        timeout_seconds: float,
        at_most: float | None = None,
    ) -> outcomes.RunOutcome:
        """Run one task; the strategy's own `timeout` overrides `timeout_seconds`.

        Neither exceeds `at_most`, in seconds: the time until the task's deadline.
        Only the cancellation of the caller and Ctrl-C are raised.
        """
        if problem := loaded.instance.input_problem(task):
            return Decline(problem)
        limit = timeout_seconds if loaded.timeout is None else loaded.timeout
        limit = limit if at_most is None else min(limit, at_most)
        if loaded.runner == "process" and self._processes is not None:
            return await self._processes.run(loaded, task, context, limit)
        call = partial(loaded.run, **loaded.arguments(task, context))
        if loaded.runner == "thread":
            return await self._threads.run(loaded, call, context, limit)
        try:
            return await run_on_loop(
                loaded,
                call,
                limit=limit,
                grace=self.grace_seconds,
                block_limit=self.block_limit,
            )
        finally:
            context.end()
