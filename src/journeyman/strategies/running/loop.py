"""Running an `async def run` on the event loop, without trusting it.

The coroutine is not awaited but driven: each step from one `await` to the next is
started here. So a step that never ends is interrupted (`watchdog`), and a coroutine
that swallows its cancellation is simply not driven any further.
"""

import asyncio
import inspect
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from types import CoroutineType
from typing import Any, TypeAlias

from journeyman.strategies import watchdog
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import (
    RunOutcome,
    TimedOut,
    outcome_of_exception,
    outcome_of_return,
)

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
) -> RunOutcome:
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
            return TimedOut(limit)
        return outcome_of_exception(loaded, error, block_limit)
    return TimedOut(limit) if drive.expired else outcome_of_return(loaded, returned)


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
