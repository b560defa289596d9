"""An event loop whose time is simulated: it waits for nothing and starts no thread.

When nothing is ready, its clock jumps to the next timer. So a day in which little
happens takes a moment, and a run is a function of what was scheduled, to the last
step. asyncio and anyio work on it unchanged.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context
from itertools import count
from math import inf
from typing import Any, NoReturn, TypeVar, TypeVarTuple

from anyio._backends._asyncio import CancelScope


class HiddenThreadError(RuntimeError):
    """A thread was asked for; what it does when is not a function of the seed."""

    def __init__(self, function: object) -> None:
        """Name what should have run in the thread."""
        super().__init__(
            f"{function!r} asked for a thread inside simulated time; make it async",
        )


class DeadlockError(RuntimeError):
    """Everything waits and nothing is scheduled: real time would pass for ever."""

    def __init__(self, seconds: float) -> None:
        """`seconds` is when, in simulated time."""
        super().__init__(f"everything waits for ever, from {seconds:.3f} s on")


class LivelockError(RuntimeError):
    """Something spins: in real time it would use a whole processor for nothing."""

    def __init__(self, seconds: float) -> None:
        """`seconds` is when, in simulated time."""
        super().__init__(f"something spins, and no time passes, at {seconds:.3f} s")


class Killed(KeyboardInterrupt):
    """The simulated process was killed; nothing that it still does counts.

    A KeyboardInterrupt, because that alone leaves an asyncio task, the event loop and
    the guards around strategies without being taken for a failure of theirs.
    """


MOST_TURNS = 20_000
"""At one moment. A daemon that starts takes some dozens."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class SimulationLoop(asyncio.BaseEventLoop):
    """A deterministic event loop; times are in simulated seconds."""

    # The base class has these, and asyncio's own loops share them in this way.
    _ready: deque[asyncio.Handle]
    _scheduled: list[asyncio.TimerHandle]
    _stopping: bool
    _timer_cancelled_count: int

    def __init__(self, start: float = 0.0) -> None:
        """Begin at `start`, so that a later loop can go on where one was killed."""
        super().__init__()
        self._seconds = start
        self._numbers = count(1)
        self.is_crashed = False
        """Set to abandon it: it runs nothing more, not even what is ready."""
        self.turns = 0
        """How often it has run all that was ready."""
        self._moment, self._first_turn = start, 0
        self.failures: list[str] = []
        """What reached the loop's exception handler: nobody else has heard of it."""
        self.set_task_factory(self._make_task)  # type: ignore[arg-type] # typeshed wants more names
        self.set_exception_handler(self._note_failure)

    def time(self) -> float:
        """Return the simulated time."""
        return self._seconds

    def call_soon_threadsafe(
        self,
        callback: Callable[[*Ts], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """Do as `call_soon`: there is only one thread."""
        return self.call_soon(callback, *args, context=context)

    def run_in_executor(
        self,
        executor: object,  # noqa: ARG002 - the base class's signature
        func: Callable[[*Ts], T],
        *args: *Ts,  # noqa: ARG002 - as above
    ) -> NoReturn:
        """Refuse to start a thread.

        Raises:
            HiddenThreadError: always.
        """
        raise HiddenThreadError(func)

    def _run_once(self) -> None:
        """Run what is ready; if nothing is, jump to the next timer first.

        Raises:
            DeadlockError: nothing is ready, and nothing ever will be.
            LivelockError: it has run very often, and no time has passed.
            Killed: the loop was abandoned.
        """
        self._drop_cancelled_timers()
        if not self._ready and not self._stopping:
            if not self._scheduled or self._scheduled[0].when() == inf:
                raise DeadlockError(self._seconds)
            self._seconds = max(self._seconds, self._scheduled[0].when())
        while self._scheduled and self._scheduled[0].when() <= self._seconds:
            self._ready.append(self._pop_timer())
        self.turns += 1
        self._watch_for_livelock()
        for _ in range(len(self._ready)):
            ready = self._ready.popleft()
            if not ready.cancelled():
                ready._run()
            if self.is_crashed:
                raise Killed

    def _watch_for_livelock(self) -> None:
        if self._seconds > self._moment:
            self._moment, self._first_turn = self._seconds, self.turns
        elif self.turns - self._first_turn > MOST_TURNS:
            self._first_turn = self.turns
            raise LivelockError(self._seconds)

    def _drop_cancelled_timers(self) -> None:
        while self._scheduled and self._scheduled[0].cancelled():
            self._timer_cancelled_count -= 1
            self._pop_timer()

    def _pop_timer(self) -> asyncio.TimerHandle:
        handle = heapq.heappop(self._scheduled)
        # A timer that is cancelled later must not be counted as one of the heap's.
        handle._scheduled = False  # type: ignore[attr-defined] # asyncio's own field
        return handle

    def _make_task(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, T],
        **options: Any,  # noqa: ANN401 - as asyncio hands them through
    ) -> "asyncio.Task[T]":
        return _NumberedTask(next(self._numbers), coroutine, loop=loop, **options)

    def _note_failure(
        self,
        _loop: asyncio.AbstractEventLoop,
        context: dict[str, Any],
    ) -> None:
        self.failures.append(f"{context.get('message')}: {context.get('exception')!r}")


class _NumberedTask(asyncio.Task[T]):
    """A task that sets hold in the order of its making.

    anyio keeps tasks in sets and cancels them in the order of iteration, which for
    other tasks is that of their addresses in memory.
    """

    def __init__(
        self,
        number: int,
        coroutine: Coroutine[Any, Any, T],
        **options: Any,  # noqa: ANN401 - as asyncio hands them through
    ) -> None:
        self._number = number
        super().__init__(coroutine, **options)

    def __hash__(self) -> int:
        return self._number


@contextmanager
def ordered_scopes() -> Iterator[None]:
    """Make the order depend only on what was done, while the context is open.

    All have the same hash meanwhile, so that a set's order follows from that of the
    additions and removals; the sets are small. Scopes of an event loop around this one
    are not looked up meanwhile: it stands still.
    """
    before = CancelScope.__hash__
    CancelScope.__hash__ = _same_for_all  # type: ignore[assignment, method-assign] # a hash of ours
    try:
        yield
    finally:
        CancelScope.__hash__ = before  # type: ignore[method-assign] # as it was


def _same_for_all(_scope: CancelScope) -> int:
    return 0
