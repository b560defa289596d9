"""How long a daemon says that it runs, and how it rests."""

import asyncio
from pathlib import Path

import anyio
import pytest
from tests.daemon.simulated import Household
from tests.simulation.loop import SimulationLoop

from journeyman.daemon.commands import OwnerCommands
from journeyman.domain.tasks import JSON


@pytest.fixture
def home(tmp_path: Path) -> Household:
    home = Household(tmp_path)
    home.write(
        "idle.py",
        "from journeyman import strategy\n\n\n"
        "@strategy(kinds={'none'})\ndef idle(task):\n    return task.text\n",
    )
    return home


def test_a_daemon_is_up_since_its_start_and_not_since_somebody_asked(
    home: Household,
) -> None:
    seen: list[JSON] = []

    async def owner(commands: OwnerCommands) -> None:
        await anyio.sleep(100)
        seen.append((await commands.status())["up_seconds"])

    home.live(owner)

    assert seen == [100]


def test_a_daemon_that_has_nothing_to_do_sleeps(home: Household) -> None:
    turns: list[int] = []

    async def rest(_commands: OwnerCommands) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimulationLoop)
        await anyio.sleep(600)
        before = loop.turns
        await anyio.sleep(3600)
        turns.append(loop.turns - before)

    home.live(rest)

    # A wake-up is some turns, until what it has begun has ended.
    assert turns[0] < 2500
