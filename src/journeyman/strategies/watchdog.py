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
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import ClassVar, ParamSpec, TypeAlias, TypeVar

SLOW_SECONDS = 0.1
"""What takes so long is told: meanwhile nothing else was done, and nobody heard."""
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
            told(alarm.took, alarm.stack)


@contextmanager
def prepared() -> Iterator[None]:
    """Make many calls of `timed` in the block cheaper: the handler is set once for all.

    Not where somebody else has set an alarm, which must not reach our handler.
    """
    if not _is_possible() or any(signal.getitimer(signal.ITIMER_REAL)):
        yield
        return
    handler = signal.signal(signal.SIGALRM, _strike)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, handler)


class _Alarm:
    """The process's one real-time timer, borrowed for a while.

    It strikes when the call has become slow, and again when it has reached its limit.
    """

    latest: ClassVar["_Alarm"]
    """The one that the timer belongs to."""

    def __init__(self, limit: float) -> None:
        self._is_armed = True
        self._has_two = limit > SLOW_SECONDS
        self._first = SLOW_SECONDS if self._has_two else limit
        self._next = max(limit - self._first, self._first)
        self.strikes = 0
        self.took = limit
        """Seconds, until it was disarmed."""
        self.stack: Stack = ()
        """Where the call was at the first strike."""
        self._outer = getattr(_Alarm, "latest", self)
        _Alarm.latest = self
        self._handler = signal.getsignal(signal.SIGALRM)
        if self._handler is not _strike:
            signal.signal(signal.SIGALRM, _strike)
        timer = (self._first, self._next)
        self._timer = signal.setitimer(signal.ITIMER_REAL, *timer)

    def strike(self, frame: FrameType | None) -> None:
        """Note where a slow call is; interrupt one that has reached its limit.

        Raises:
            BlockedError: it has.
        """
        self.strikes += 1
        if self.strikes > 1 or not self._has_two:
            raise BlockedError
        walk = traceback.walk_stack(frame)
        # Its lines are read when somebody wants them: this is a signal's handler.
        self.stack = traceback.StackSummary.extract(walk, lookup_lines=False)[::-1]

    def disarm(self) -> None:
        if not self._is_armed:
            return
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        self.took = self._first + self._next * self.strikes - left
        _Alarm.latest = self._outer
        # Before the timer: their alarm must not reach our handler.
        if self._handler is not _strike:
            signal.signal(signal.SIGALRM, self._handler)
        theirs, interval = self._timer
        if theirs:
            rest = max(theirs - self.took, SOON)
            signal.setitimer(signal.ITIMER_REAL, rest, interval)
        self._is_armed = False


def _is_possible() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and hasattr(signal, "setitimer")


def _strike(_signal: int, frame: FrameType | None) -> None:
    _Alarm.latest.strike(frame)
