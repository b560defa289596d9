"""How long the event loop is held up, by its own selector and an injected clock."""

import asyncio

import pytest

from journeyman.daemon.status import turns_status
from journeyman.daemon.turns import LoopTurns
from journeyman.testing import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def turns(clock: FakeClock) -> LoopTurns:
    return LoopTurns(clock)


def live(turns: LoopTurns, clock: FakeClock, *seconds: float) -> None:
    """Run a loop that is held up for so long in each of its next turns."""

    async def hold() -> None:
        for each in seconds:
            clock.advance(each)
            await asyncio.sleep(0)  # noqa: TID251 - ends this turn, and waits for nothing
        await asyncio.sleep(0)  # noqa: TID251 - as above

    with asyncio.Runner(loop_factory=turns.new_loop) as runner:
        runner.run(hold())


def test_the_longest_turn_is_known(turns: LoopTurns, clock: FakeClock) -> None:
    assert turns.longest_seconds == 0

    live(turns, clock, 0.2, 0.75, 0.1)

    assert turns.longest_seconds == pytest.approx(0.75)
    assert turns_status(turns) == {
        "longest_turn_seconds": 0.75,
        "within_seconds": 300.0,
    }


def test_waiting_is_no_turn(turns: LoopTurns, clock: FakeClock) -> None:
    turns.begin()
    clock.advance(0.01)
    turns.end()
    clock.advance(50)
    turns.begin()
    turns.end()

    assert turns.longest_seconds == pytest.approx(0.01)


def test_a_long_turn_is_forgotten_after_some_minutes(
    turns: LoopTurns, clock: FakeClock
) -> None:
    live(turns, clock, 0.75)
    for minute in range(1, 4):
        clock.advance(60)
        turns.begin()
        clock.advance(0.1 * minute)
        turns.end()
    assert turns.longest_seconds == pytest.approx(0.75)

    clock.advance(200)
    assert turns.longest_seconds == pytest.approx(0.3)
    clock.advance(3600)
    assert turns.longest_seconds == 0


def test_the_start_of_the_daemon_does_not_count(
    turns: LoopTurns, clock: FakeClock
) -> None:
    turns.begin()
    clock.advance(2)
    turns.forget()
    clock.advance(0.1)
    turns.end()

    assert turns.longest_seconds == pytest.approx(0.1)


def test_where_nobody_measures_nothing_is_said() -> None:
    assert turns_status(None) is None
