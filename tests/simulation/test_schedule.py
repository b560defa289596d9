"""APScheduler keeps simulated time, and gets its own back."""

from datetime import datetime
from itertools import pairwise

import anyio
import apscheduler.schedulers.base
from tests.simulation.loop import SimulationLoop
from tests.simulation.virtual_time import SimulatedClock, scheduled_by

from journeyman.daemon.schedule import Schedule

DAY = 86_400


def calls_in_a_day(step: float) -> list[float]:
    loop, calls = SimulationLoop(), list[float]()
    error = 0.0
    clock = SimulatedClock(loop.time, lambda: error)

    async def day() -> None:
        nonlocal error
        schedule = Schedule(clock)
        schedule.start()
        schedule.every("count", 30, lambda: calls.append(clock.monotonic()))
        await anyio.sleep(DAY / 2)
        error = step
        await anyio.sleep(DAY / 2 + 1)
        schedule.stop()

    with scheduled_by(clock.now):
        loop.run_until_complete(day())
    loop.close()
    return calls


def test_a_job_of_every_half_minute_runs_2880_times_a_day() -> None:
    calls = calls_in_a_day(step=0)

    assert len(calls) == 2880
    assert calls[0] == 30
    assert calls[-1] == DAY


def test_a_clock_that_is_set_back_stalls_it_as_in_real_life() -> None:
    calls = calls_in_a_day(step=-3600)

    assert max(b - a for a, b in pairwise(calls)) > 3600


def test_afterwards_it_reads_the_real_time_again() -> None:
    calls_in_a_day(step=0)

    assert vars(apscheduler.schedulers.base)["datetime"] is datetime
