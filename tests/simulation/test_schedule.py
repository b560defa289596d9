"""APScheduler keeps simulated time, and gets its own back."""

from datetime import datetime
from itertools import pairwise

import anyio
import apscheduler.schedulers.base
from tests.simulation.loop import SimulationLoop
from tests.simulation.virtual_time import SimulatedClock, scheduled_by

from journeyman.daemon.schedule import Schedule

DAY = 86_400


def rings_in_a_day(step: float) -> list[float]:
    loop, rung = SimulationLoop(), list[float]()
    error = 0.0
    clock = SimulatedClock(loop.time, lambda: error)

    async def day() -> None:
        nonlocal error
        schedule = Schedule(clock)
        schedule.start()
        schedule.every("ring", 30, lambda: rung.append(clock.monotonic()))
        await anyio.sleep(DAY / 2)
        error = step
        await anyio.sleep(DAY / 2 + 1)
        schedule.stop()

    with scheduled_by(clock.now):
        loop.run_until_complete(day())
    loop.close()
    return rung


def test_a_job_of_every_half_minute_runs_2880_times_a_day() -> None:
    rung = rings_in_a_day(step=0)

    assert len(rung) == 2880
    assert rung[0] == 30
    assert rung[-1] == DAY


def test_a_clock_that_is_set_back_stalls_it_as_in_real_life() -> None:
    rung = rings_in_a_day(step=-3600)

    assert max(b - a for a, b in pairwise(rung)) > 3600


def test_afterwards_it_reads_the_real_time_again() -> None:
    rings_in_a_day(step=0)

    assert vars(apscheduler.schedulers.base)["datetime"] is datetime
