"""Virtual time: clocks, randomness and events that outlive one event loop."""

import asyncio
import datetime as dt
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import anyio
import apscheduler.executors.base
import apscheduler.schedulers.base
import apscheduler.triggers.date
import apscheduler.triggers.interval
from tests.simulation.loop import SimulationLoop

from journeyman.sandbox.store import SandboxEnvironment

START = datetime(2026, 1, 5, tzinfo=UTC)
"""When every simulation begins; a Monday, to be easy on whoever reads a trace."""


class SimulatedClock:
    """The daemon's clock: monotonic time from the loop, wall time that can be set."""

    def __init__(self, seconds: Callable[[], float], step: Callable[[], float]) -> None:
        """Read both from the simulation.

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
    """The daemon's randomness: the same parts give the same numbers."""

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
    """Return a generator that is the same for the same parts, in any process.

    The parts name its stream: renaming a stream changes the run of every seed.
    """
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
    """Make APScheduler read the time from `now`, in UTC, while the context is open."""
    simulated = _simulated_datetime(now)
    with ExitStack() as stack:
        for module in READERS:
            stack.enter_context(_named(module, {"datetime": simulated}))
        yield


@contextmanager
def simulated_in(module: ModuleType, timeline: "Timeline") -> Iterator[None]:
    """Make a module's `time` and `datetime` those of a run while the context is open.

    It is one that knows nothing of simulations.
    """
    simulated_time = SimpleNamespace(
        monotonic=timeline.clock.monotonic,
        time=lambda: timeline.clock.now().timestamp(),
        gmtime=time.gmtime,
        strftime=time.strftime,
    )
    simulated = {
        "time": simulated_time,
        "monotonic": timeline.clock.monotonic,
        "datetime": _simulated_datetime(timeline.clock.now),
        "date": _simulated_date(timeline.clock.now),
    }
    # A function of the module's own may be called `date`.
    own = {n for n, v in vars(module).items() if isinstance(v, FunctionType)}
    used = {n: v for n, v in simulated.items() if n in vars(module).keys() - own}
    with _named(module, used):
        yield


@contextmanager
def _named(module: ModuleType, values: Mapping[str, object]) -> Iterator[None]:
    """Give names of a module other values while the context is open."""
    before = {name: vars(module)[name] for name in values}
    vars(module).update(values)
    try:
        yield
    finally:
        vars(module).update(before)


def _simulated_datetime(now: Callable[[], dt.datetime]) -> type:
    class SimulatedDatetime(metaclass=_like(dt.datetime)):  # type: ignore[metaclass] # made here
        @staticmethod
        def now(tz: dt.tzinfo | None = None) -> dt.datetime:
            return now().astimezone(tz)

    return SimulatedDatetime


def _simulated_date(now: Callable[[], dt.datetime]) -> type:
    class SimulatedDate(metaclass=_like(dt.date)):  # type: ignore[metaclass] # as above
        @staticmethod
        def today() -> dt.date:
            return now().date()

    return SimulatedDate


def _like(real: type) -> type:
    """Return a metaclass of classes that do all else as a real one does it."""

    class Meta(type):
        def __instancecheck__(cls, value: object) -> bool:
            # What somebody else has made is one all the same.
            return isinstance(value, real)

        def __getattr__(cls, name: str) -> Any:  # noqa: ANN401 - whatever it has
            return getattr(real, name)

        def __call__(cls, *args: Any, **named: Any) -> object:  # noqa: ANN401 - as above
            return real(*args, **named)

    return Meta


class Timeline:
    """The simulated time of a run, over all its event loops."""

    def __init__(self, drift: float = 0.0) -> None:
        """`drift` is the share by which the wall clock runs too fast."""
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
        """Suspend the daemon's machine: its monotonic clock stops, all else goes on.

        As on Linux: CLOCK_MONOTONIC does not count the time of a suspension.
        """
        self.suspended += seconds
        self._was_set_by += seconds

    def next_loop(self) -> SimulationLoop:
        """Continue on a new event loop, at the same time; return the one before it.

        A killed process is cancelled on its old loop, whose time no longer matters.
        """
        before, self.loop = self.loop, SimulationLoop(self.seconds)
        return before


Action = Callable[[], object]


@dataclass(slots=True)
class _ScheduledEvent:
    at: float
    action: Action
    handle: asyncio.TimerHandle | None = None


class EventQueue:
    """Events at simulated times, which outlive the event loop that waits for them."""

    def __init__(self) -> None:
        self._open: dict[int, _ScheduledEvent] = {}
        self._count = 0
        self._loop: SimulationLoop | None = None

    def schedule(self, at: float, action: Action) -> None:
        """Do something at a time, in simulated seconds; now if that has passed."""
        self._count += 1
        self._open[self._count] = _ScheduledEvent(at, action)
        if self._loop is not None:
            self._wait_for(self._count, self._loop)

    def attach(self, loop: SimulationLoop) -> None:
        """Wait for all events on this loop."""
        self._loop = loop
        for number in self._open:
            self._wait_for(number, loop)

    def detach(self) -> None:
        """Wait for nothing, until another loop is attached."""
        self._loop = None
        for event in self._open.values():
            if event.handle is not None:
                event.handle.cancel()

    def _wait_for(self, number: int, loop: SimulationLoop) -> None:
        event = self._open[number]
        at = max(event.at, loop.time())
        event.handle = loop.call_at(at, self._run, number)

    def _run(self, number: int) -> None:
        # Taken out first: an action may kill the daemon, and is not done twice.
        self._open.pop(number).action()
