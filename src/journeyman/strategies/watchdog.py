"""A watchdog over author code that blocks the event loop.

Code that neither returns nor awaits stops the whole daemon: no other task, no
heartbeat, no shutdown. Python can interrupt it in one way only: a signal, whose
handler runs in the main thread between two bytecodes and may raise there. So each
call of author code on the loop sets an alarm, which costs a few microseconds, and less
than one where many calls are `prepared`.

It does nothing outside the main thread (handlers cannot be set there), where the
platform has no timers, and when no limit is given (under simulated time). It cannot
interrupt one long operation in C code, nor a loop that catches everything inside; a
strategy that does such things belongs in a thread or a process, and the watchdog beside
the process (`daemon/watchdog.py`) ends both.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn, ParamSpec, TypeVar

SLOW_SECONDS = 0.1
"""What takes so long is told: meanwhile nothing else was done, and nobody heard."""
SOON = 0.001
"""Seconds; 0 would switch a timer off."""

P = ParamSpec("P")
T = TypeVar("T")


Told = Callable[[float], None]
"""Is told how many seconds a call took, where it was slow."""


class BlockedError(BaseException):
    """Author code blocked the loop. A BaseException: no `except Exception` stops it."""


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
    alarm = _Alarm(limit)
    try:
        try:
            return function(*args, **kwargs)
        finally:
            alarm.disarm()
    finally:
        # Again, because the alarm may have struck inside the first one. The next is
        # a whole limit away, so it cannot strike inside both.
        alarm.disarm()
        if told is not None and alarm.took >= SLOW_SECONDS:
            told(alarm.took)


@contextmanager
def prepared() -> Iterator[None]:
    """Make many calls of `timed` in the block cheaper: the handler is set once for all.

    Not where somebody else has set an alarm, which must not reach our handler.
    """
    if not _is_possible() or any(signal.getitimer(signal.ITIMER_REAL)):
        yield
        return
    handler = signal.signal(signal.SIGALRM, _raise_blocked)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, handler)


class _Alarm:
    """The process's one real-time timer, borrowed for a while."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._is_armed = True
        self.took = limit
        """Seconds, since the last time that the alarm struck."""
        self._handler = signal.getsignal(signal.SIGALRM)
        if self._handler is not _raise_blocked:
            signal.signal(signal.SIGALRM, _raise_blocked)
        self._timer = signal.setitimer(signal.ITIMER_REAL, limit, limit)

    def disarm(self) -> None:
        if not self._is_armed:
            return
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        self.took = self._limit - left
        # Before the timer: their alarm must not reach our handler.
        if self._handler is not _raise_blocked:
            signal.signal(signal.SIGALRM, self._handler)
        theirs, interval = self._timer
        if theirs:
            rest = max(theirs - (self._limit - left), SOON)
            signal.setitimer(signal.ITIMER_REAL, rest, interval)
        self._is_armed = False


def _is_possible() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and hasattr(signal, "setitimer")


def _raise_blocked(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise BlockedError
