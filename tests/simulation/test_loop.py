"""Simulated time: it jumps, it never hangs, and it starts no thread."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import pytest
from tests.simulation.loop import (
    DeadlockError,
    HiddenThreadError,
    Killed,
    LivelockError,
    SimulationLoop,
    ordered_scopes,
)

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T], loop: SimulationLoop | None = None) -> T:
    used = loop or SimulationLoop()
    try:
        return used.run_until_complete(coroutine)
    finally:
        used.close()


def test_a_year_of_sleep_takes_no_time() -> None:
    async def sleep() -> float:
        await anyio.sleep(365 * 86_400)
        return anyio.current_time()

    assert run(sleep()) == 365 * 86_400


def test_sleepers_wake_in_the_order_of_time() -> None:
    woken: list[int] = []

    async def sleeper(seconds: int) -> None:
        await anyio.sleep(seconds)
        woken.append(seconds)

    async def all_of_them() -> None:
        async with anyio.create_task_group() as group:
            for seconds in (3, 1, 2):
                group.start_soon(sleeper, seconds)

    run(all_of_them())

    assert woken == [1, 2, 3]


def test_a_time_out_ends_what_never_ends() -> None:
    async def wait() -> float:
        with anyio.move_on_after(30):
            await anyio.sleep_forever()
        return anyio.current_time()

    assert run(wait()) == 30


def test_waiting_for_nothing_is_a_deadlock_and_no_hang() -> None:
    loop = SimulationLoop(start=5)
    waiting = loop.create_task(anyio.sleep_forever())

    with pytest.raises(DeadlockError, match=r"from 5\.000 s on"):
        loop.run_until_complete(waiting)

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        loop.run_until_complete(waiting)
    loop.close()


def test_spinning_on_the_spot_is_a_livelock_and_no_hang() -> None:
    loop = SimulationLoop()

    def again() -> None:
        loop.call_soon(again)

    again()

    with pytest.raises(LivelockError, match="no time passes"):
        loop.run_forever()

    loop.close()


def test_a_hidden_thread_is_refused() -> None:
    async def hide() -> None:
        await asyncio.get_running_loop().run_in_executor(None, print)

    with pytest.raises(HiddenThreadError, match="print"):
        run(hide())


def order_of_cancellation() -> list[int]:
    ended: list[int] = []

    async def waiter(number: int) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(number)

    async def cancel_all() -> None:
        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(waiter, number)
            await anyio.sleep(1)
            group.cancel_scope.cancel()

    with ordered_scopes():
        run(cancel_all())
    return ended


def test_tasks_are_cancelled_in_an_order_that_repeats() -> None:
    first = order_of_cancellation()
    # Elsewhere in memory, where addresses would give another order.
    in_the_way = [bytearray(size) for size in range(1, 2000)]

    assert order_of_cancellation() == first
    assert sorted(first) == list(range(50))
    del in_the_way


def test_a_crashed_loop_runs_not_even_what_is_ready() -> None:
    ran: list[str] = []
    loop = SimulationLoop()

    def crash() -> None:
        loop.is_crashed = True

    loop.call_soon(crash)
    loop.call_soon(ran.append, "after the crash")

    with pytest.raises(Killed):
        loop.run_forever()

    assert ran == []
    loop.close()


def test_a_later_loop_goes_on_where_an_earlier_one_ended() -> None:
    async def now() -> float:
        await anyio.sleep(1)
        return anyio.current_time()

    assert run(now(), SimulationLoop(start=100)) == 101
