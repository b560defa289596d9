"""A watchdog over author code that blocks the event loop.

Code that neither returns nor awaits stops the whole daemon: no other task, no
heartbeat, no shutdown. Python can interrupt it in one way only: a signal, whose
handler runs in the main thread between two bytecodes and may raise there. So a timer
ticks while author code may run on the loop, and at each tick it is seen how long the
call under way has taken. To set and to stop the timer costs more than most calls take,
so that it goes on ticking through all calls that are `prepared`.

It does nothing outside the main thread (handlers cannot be set there), where the
platform has no timers, and when no limit is given (under simulated time). It cannot
interrupt one long operation in C code, nor a loop that catches everything inside; a
strategy that does such things belongs in a thread or a process, and the watchdog beside
the process (`daemon/watchdog.py`) ends both.
"""

import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from types import FrameType
from typing import ParamSpec, TypeAlias, TypeVar

SLOW_SECONDS = 0.1
"""What takes so long is told: meanwhile nothing else was done, and nobody heard."""
TICK_SECONDS = 0.05
"""So much later than at its limit a call may be interrupted."""
SOON = 0.001
"""Seconds; 0 would switch a timer off."""

P = ParamSpec("P")
T = TypeVar("T")


Stack: TypeAlias = Sequence[traceback.FrameSummary]
"""Where code was, the deepest frame last; empty where that is not known."""
Told = Callable[[float, Stack], None]
"""Is told of a slow call: how many seconds it took, and where it was when it had become
slow."""


class BlockedError(BaseException):
    """Author code blocked the loop. A BaseException: no `except Exception` stops it."""


class _Call:
    """A call that is under way; its seconds are real ones, like the timer's."""

    __slots__ = ("began", "limit", "next_strike", "stack")

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.began = perf_counter()
        self.next_strike = self.began + limit
        self.stack: Stack = ()
        """Where it was when it had become slow."""


class _Timer:
    """The process's one real-time timer."""

    def __init__(self) -> None:
        self.is_ticking = False
        self.calls: list[_Call] = []
        """Under way, the innermost last."""

    def tick(self, _signal: int, frame: FrameType | None) -> None:
        """Note where a slow call is; interrupt one that has reached its limit.

        Raises:
            BlockedError: it has.
        """
        if not self.calls:
            return
        call, now = self.calls[-1], perf_counter()
        if now >= call.next_strike:
            # The next is a whole limit away, so that it cannot strike the clean-up
            # after this one as well.
            call.next_strike = now + call.limit
            raise BlockedError
        if not call.stack and now >= call.began + SLOW_SECONDS:
            walk = traceback.walk_stack(frame)
            # Its lines are read when somebody wants them: this is a signal's handler.
            call.stack = traceback.StackSummary.extract(walk, lookup_lines=False)[::-1]

    def end(self, depth: int) -> None:
        """Forget the call that began at this depth."""
        del self.calls[depth:]


_TIMER = _Timer()


def call(
    limit: float | None,
    function: Callable[P, T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Call a function, and interrupt it after `limit` seconds.

    An alarm that somebody else had set is restored, less the time that has passed.

    Raises:
        BlockedError: it took longer.
    """
    return timed(limit, None, function, *args, **kwargs)


def timed(
    limit: float | None,
    told: Told | None,
    function: Callable[P, T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Call a function as `call` does, and tell if it was slow and not interrupted.

    Raises:
        BlockedError: it took longer than the limit.
    """
    if limit is None or not _is_possible():
        return function(*args, **kwargs)
    if not _TIMER.is_ticking:
        with prepared():
            return timed(limit, told, function, *args, **kwargs)
    depth, under_way = len(_TIMER.calls), _Call(limit)
    try:
        try:
            _TIMER.calls.append(under_way)
            return function(*args, **kwargs)
        finally:
            _TIMER.end(depth)
    finally:
        # Again, because the alarm may have struck inside the first one.
        _TIMER.end(depth)
        took = perf_counter() - under_way.began
        if told is not None and took >= SLOW_SECONDS:
            told(took, under_way.stack)


@contextmanager
def prepared() -> Iterator[None]:
    """Make many calls of `timed` in the block cheaper: the timer ticks for all."""
    if _TIMER.is_ticking or not _is_possible():
        yield
        return
    began = perf_counter()
    handler = signal.signal(signal.SIGALRM, _TIMER.tick)
    theirs, interval = signal.setitimer(signal.ITIMER_REAL, TICK_SECONDS, TICK_SECONDS)
    _TIMER.is_ticking = True
    try:
        yield
    finally:
        _TIMER.is_ticking = False
        # First our timer, then our handler: neither may meet the other's of theirs.
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if theirs:
            rest = max(theirs - (perf_counter() - began), SOON)
            signal.setitimer(signal.ITIMER_REAL, rest, interval)


def _is_possible() -> bool:
    is_main = threading.get_ident() == threading.main_thread().ident
    return is_main and hasattr(signal, "setitimer")
