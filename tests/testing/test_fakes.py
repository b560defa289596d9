"""The fakes that authors use: time to order, chance that repeats, a log that tells."""

from datetime import timedelta

import anyio
import pytest

from journeyman.observability.events import UndeclaredFieldError
from journeyman.testing import FakeClock, FakeRandomness, RecordingLog
from journeyman.worker import events


async def test_time_passes_only_when_it_is_told_to() -> None:
    clock = FakeClock()
    began, woke = clock.now(), list[float]()

    async def sleep(seconds: float) -> None:
        await clock.sleep(seconds)
        woke.append(seconds)

    async with anyio.create_task_group() as group:
        for seconds in (20.0, 10.0, 0.0):
            group.start_soon(sleep, seconds)
        await anyio.wait_all_tasks_blocked()
        assert woke == [0.0]
        clock.advance(10)
        await anyio.wait_all_tasks_blocked()
        assert woke == [0.0, 10.0]
        clock.advance(10)

    assert woke == [0.0, 10.0, 20.0]
    assert clock.now() - began == timedelta(seconds=20)
    assert clock.monotonic() == 20
    assert clock.slept == [20, 10, 0]


def test_the_wall_clock_can_be_set_back_and_the_other_cannot() -> None:
    clock = FakeClock()
    began = clock.now()

    clock.step(-3600)

    assert (began - clock.now(), clock.monotonic()) == (timedelta(hours=1), 0)
    with pytest.raises(ValueError, match="step"):
        clock.advance(-1)


def test_the_same_seed_gives_the_same_chance() -> None:
    one, same, other = FakeRandomness(7), FakeRandomness(7), FakeRandomness(8)

    drawn = [one.uniform(0, 1) for _ in range(3)]

    assert drawn == [same.uniform(0, 1) for _ in range(3)]
    assert drawn != [other.uniform(0, 1) for _ in range(3)]
    assert [one.new_id("post"), one.new_id("join")] == ["post_1", "join_2"]


def test_a_log_keeps_what_was_said_with_its_context() -> None:
    log = RecordingLog()

    log.bind(agent_id="a").emit(events.SKIPPED, task_id="t", reason="r")

    assert log.names == ["task.skipped"]
    assert log.named("task.skipped") == [
        {"agent_id": "a", "task_id": "t", "reason": "r"}
    ]


def test_a_log_refuses_a_field_that_was_not_declared() -> None:
    with pytest.raises(UndeclaredFieldError, match="colour"):
        RecordingLog().emit(events.SKIPPED, task_id="t", colour="red")


async def test_an_event_can_be_waited_for() -> None:
    log = RecordingLog()

    async with anyio.create_task_group() as group:
        group.start_soon(log.until, "task.skipped")
        await anyio.wait_all_tasks_blocked()
        log.bind(agent_id="a").emit(events.SKIPPED, task_id="t", reason="r")

    await log.until("task.skipped")
