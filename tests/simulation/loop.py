"""An event loop whose time is simulated: it waits for nothing and starts no thread.

When nothing is ready, its clock jumps to the next timer. So a day in which little
happens takes a moment, and a run is a function of what was scheduled, to the last
step. asyncio and anyio work on it unchanged.
"""

import asyncio
import datetime as dt
import heapq
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context
from datetime import UTC, datetime, timedelta
from itertools import count
from math import inf
from random import Random
from types import ModuleType
from typing import Any, NoReturn, TypeVar, TypeVarTuple

import anyio
import apscheduler.executors.base
import apscheduler.schedulers.base
import apscheduler.triggers.date
import apscheduler.triggers.interval
from tests.simulation.errors import (
    DeadlockError,
    HiddenThreadError,
    Killed,
    LivelockError,
)

from journeyman.sandbox import SandboxEnvironment

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
        """Give the simulated time."""
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
        """Refuse.

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


START = datetime(2026, 1, 5, tzinfo=UTC)
"""When every simulation begins; a Monday, to be easy on whoever reads a trace."""


class SimulatedClock:
    """The daemon's clock: monotonic time from the loop, wall time that can be set."""

    def __init__(self, seconds: Callable[[], float], step: Callable[[], float]) -> None:
        """Read both from the world.

        Args:
            seconds: simulated seconds since the beginning.
            step: by how much the wall clock is ahead of them, in seconds.
        """
        self._seconds = seconds
        self._step = step

    def monotonic(self) -> float:
        """Seconds since the beginning; never steps back."""
        return self._seconds()

    def now(self) -> datetime:
        """The wall clock as the machine shows it, in UTC."""
        return START + timedelta(seconds=self._seconds() + self._step())

    async def sleep(self, seconds: float) -> None:
        """Wait on the monotonic clock."""
        await anyio.sleep(seconds)


class SeededRandomness:
    """The daemon's chance: the same parts give the same numbers again."""

    def __init__(self, *parts: object) -> None:
        self._random = seeded(*parts)

    def uniform(self, low: float, high: float) -> float:
        """A number between the two."""
        return self._random.uniform(low, high)

    def new_id(self, prefix: str) -> str:
        """An identifier that no other seed gives."""
        return f"{prefix}_{self._random.getrandbits(96):024x}"


class SimulatedSandboxEnvironment(SandboxEnvironment):
    """The network's own clock, which is always right, and seeded tokens."""

    def __init__(self, seconds: Callable[[], float], seed: int) -> None:
        self._seconds = seconds
        self._random = seeded(seed, "tokens")

    def now(self) -> datetime:
        """Return the true time, in UTC."""
        return START + timedelta(seconds=self._seconds())

    def new_token(self) -> str:
        """Return a text of 64 hexadecimal digits."""
        return f"{self._random.getrandbits(256):064x}"


def seeded(*parts: object) -> Random:
    """Make a generator that the same parts make again, in any process."""
    text = "/".join(map(str, parts))
    return Random(text)  # noqa: S311 - repeatable on purpose


READERS: tuple[ModuleType, ...] = (
    apscheduler.schedulers.base,
    apscheduler.executors.base,
    apscheduler.triggers.interval,
    apscheduler.triggers.date,
)
"""The modules that ask `datetime` for the time (APScheduler 3.11)."""


@contextmanager
def scheduled_by(now: Callable[[], dt.datetime]) -> Iterator[None]:
    """Let APScheduler read the time from `now`, in UTC, for as long as this lasts."""
    simulated = _simulated_datetime(now)
    before = [vars(module)["datetime"] for module in READERS]
    for module in READERS:
        vars(module)["datetime"] = simulated
    try:
        yield
    finally:
        for module, original in zip(READERS, before, strict=True):
            vars(module)["datetime"] = original


def _simulated_datetime(now: Callable[[], dt.datetime]) -> type:
    class Meta(type):
        def __instancecheck__(cls, value: object) -> bool:
            # A moment that somebody else has made is one all the same.
            return isinstance(value, dt.datetime)

        def __getattr__(cls, name: str) -> Any:  # noqa: ANN401 - whatever datetime has
            return getattr(dt.datetime, name)

    class SimulatedDatetime(metaclass=Meta):
        @staticmethod
        def now(tz: dt.tzinfo | None = None) -> dt.datetime:
            return now().astimezone(tz)

    return SimulatedDatetime


class Timeline:
    """Knows what time it is, whichever event loop carries it at the moment."""

    def __init__(self, drift: float = 0.0) -> None:
        """Begin; `drift` is the share by which the wall clock runs too fast."""
        self.loop = SimulationLoop()
        self.clock = SimulatedClock(lambda: self.seconds, self._lead)
        self._drift = drift
        self._was_set_by = 0.0
        """Seconds by which the daemon's wall clock was set forward, in all."""
        self.suspended = 0.0
        """For how long the daemon's machine was suspended, in seconds."""

    @property
    def seconds(self) -> float:
        """Simulated seconds since the beginning."""
        return self.loop.time()

    @property
    def network_seconds(self) -> float:
        """The same on the network's machine, which is never suspended."""
        return self.seconds + self.suspended

    def _lead(self) -> float:
        """By how much the daemon's wall clock is ahead of its monotonic one."""
        return self._was_set_by + self._drift * self.seconds

    def set_wall_clock(self, by: float) -> None:
        """Set the daemon's wall clock forward, or back where `by` is negative."""
        self._was_set_by += by

    def suspend(self, seconds: float) -> None:
        """Let the daemon's machine sleep: its monotonic clock stands, all else goes on.

        As Linux does it: CLOCK_MONOTONIC does not count the time of a suspension.
        """
        self.suspended += seconds
        self._was_set_by += seconds

    def next_loop(self) -> SimulationLoop:
        """Go on with a new event loop, at the same moment; gives the one before it.

        A life that was killed is wound up on its old loop, whose time runs on by
        itself and is nobody's any more.
        """
        before, self.loop = self.loop, SimulationLoop(self.seconds)
        return before
