"""The scheduler only rings, and a clock that goes wrong stalls nothing."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import anyio
import pytest

from journeyman.daemon.schedule import Schedule, Ticks, repeat
from journeyman.daemon.shutdown import Shutdown
from journeyman.daemon.system import SystemClock, SystemRandomness
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.testing import FakeClock


@pytest.fixture
async def schedule() -> AsyncIterator[Schedule]:
    made = Schedule(SystemClock())
    made.start()
    yield made
    made.stop()


async def test_it_rings_once_after_a_while(schedule: Schedule) -> None:
    wakeup = Wakeup()
    schedule.after("one", 0.01, wakeup.notify)

    with anyio.fail_after(60):
        assert await wakeup.wait()


async def test_it_rings_again_and_again(schedule: Schedule) -> None:
    wakeup = Wakeup()
    schedule.every("many", 0.01, wakeup.notify)

    with anyio.fail_after(60):
        assert [await wakeup.wait() for _ in range(3)] == [True] * 3


async def test_a_later_call_of_the_same_name_takes_the_place_of_the_first(
    schedule: Schedule,
) -> None:
    first, second = Wakeup(), Wakeup()
    schedule.after("look", 0.05, first.notify)
    schedule.after("look", 0.01, second.notify)

    with anyio.fail_after(60):
        assert await second.wait()
    assert not await first.wait(0.1)


async def test_what_is_late_is_run_and_not_dropped() -> None:
    behind = FakeClock()  # its hour is long past: as after a suspended night
    schedule = Schedule(behind)
    schedule.start()
    wakeup = Wakeup()
    schedule.after("late", 1, wakeup.notify)

    with anyio.fail_after(60):
        assert await wakeup.wait()
    schedule.stop()


@pytest.mark.parametrize("years", [-10, 10])
async def test_a_clock_that_is_set_by_years_costs_one_ring(years: int) -> None:
    made = datetime(2026, 11, 23, tzinfo=UTC)
    times, now = Ticks(seconds=2, timezone="UTC", start_date=made), made
    due = times.get_next_fire_time(None, now)
    assert due is not None

    now += timedelta(days=365 * years)
    missed = 0
    while due <= now and missed < 3:
        missed += 1
        due = times.get_next_fire_time(due, now)
        assert due is not None

    assert missed <= 1
    assert due <= max(now, made) + timedelta(seconds=2)


async def test_a_scheduler_that_is_stalled_delays_by_its_slack_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("journeyman.daemon.schedule.SLACK_SECONDS", 0.01)
    never_started = Schedule(SystemClock())
    done = anyio.Event()

    async with anyio.create_task_group() as group:
        group.start_soon(repeat, never_started, "tidy", 0.01, done.set)
        with anyio.fail_after(60):
            await done.wait()
        group.cancel_scope.cancel()


def test_the_first_request_drains_and_the_second_breaks_off() -> None:
    shutdown, calls = Shutdown(), list[str]()
    shutdown.on_request(lambda: calls.append("calls"))

    shutdown.request("asked by the owner")
    assert (shutdown.requested.is_set(), shutdown.forced.is_set()) == (True, False)
    shutdown.request("SIGTERM")

    assert shutdown.forced.is_set()
    assert shutdown.reason == "asked by the owner"
    assert calls == ["calls", "calls"]


async def test_the_machines_own_clock_runs_and_its_ids_differ() -> None:
    clock, randomness = SystemClock(), SystemRandomness()
    before = clock.monotonic()

    await clock.sleep(0)

    assert clock.monotonic() >= before
    assert clock.now().tzinfo is not None
    assert 1 <= randomness.uniform(1, 2) <= 2
    assert len({randomness.new_id("x") for _ in range(100)}) == 100
