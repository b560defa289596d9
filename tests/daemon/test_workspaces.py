"""The folders that strategies work in: there for a run, and gone after it."""

from pathlib import Path

import anyio
from tests.daemon.simulated import Household

from journeyman.daemon.commands import OwnerCommands

WRITER = """
    from journeyman import Strategy


    class Writer(Strategy):
        api, version = 1, "1"
        kinds = {"work"}

        async def run(self, task, ctx):
            (ctx.workspace / "draft").write_text("x")
            ctx.log.info("wrote", folder=ctx.workspace.name)
            return "x"
"""
THINKER = """
    from journeyman import Strategy


    class Thinker(Strategy):
        api, version = 1, "1"
        kinds = {"work"}

        async def run(self, task, ctx):
            return "x"
"""


async def _idle(_commands: OwnerCommands) -> None:
    await anyio.sleep(60)


def household(root: Path, strategy: str) -> Household:
    root.mkdir()
    made = Household(root)
    made.write("only.py", strategy)
    made.network.offer(1)
    return made


def left_in(house: Household) -> list[Path]:
    return [*(house.root / "data" / "workspaces").iterdir()]


def test_a_workspace_is_gone_after_its_run(tmp_path: Path) -> None:
    house = household(tmp_path / "a", WRITER)

    house.live(_idle)

    assert len(house.said("wrote")) == 1
    assert left_in(house) == []


def test_what_a_killed_daemon_left_is_gone_after_the_next_run(tmp_path: Path) -> None:
    writer = household(tmp_path / "a", WRITER)
    writer.live(_idle)
    (wrote,) = writer.said("wrote")
    thinker = household(tmp_path / "b", THINKER)
    left = thinker.root / "data" / "workspaces" / wrote["folder"]
    left.mkdir(parents=True)
    (left / "draft").write_text("of a run that was cut off")

    thinker.live(_idle)

    assert left_in(thinker) == []
