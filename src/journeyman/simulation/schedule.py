"""APScheduler on simulated time.

It reads the wall clock by a name in its modules and takes no clock as a parameter. So
while a simulation runs, that name means a class that asks the simulation's clock.
"""

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import apscheduler.executors.base
import apscheduler.schedulers.base
import apscheduler.triggers.date
import apscheduler.triggers.interval

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
