"""SIGKILL at moments of chance, many times: one agent, nothing lost, nothing doubled.

The delays come from TORTURE_SEED; the machine decides what a daemon does at that
moment, so a run is repeated in its pattern and not to the byte. `journeyman simulate`
is the one that is.
"""

import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from tests.torture.nurse import Nursery
from tests.torture.ordeal import assert_nothing_was_lost, ordeal

WORK_SECONDS = 0.4
SANDBOX_DIES = 0.05
"""In so many of the agent's lives its network is killed too."""

pytestmark = pytest.mark.timeout(0)  # TORTURE_KILLS decides how long it takes


async def test_one_agent_dies_many_times_and_nothing_is_lost_or_done_twice(
    nursery: Nursery,
    knob: Callable[[str, int], int],
    tmp_path: Path,
    progress: Callable[[str], None],
    figure: Callable[[str, object], None],
) -> None:
    kills = knob("TORTURE_KILLS", 1000)
    chance = Random(knob("TORTURE_SEED", 1))  # noqa: S311 - repeatable, not secret
    began = time.perf_counter()

    survived = await ordeal(
        nursery,
        tmp_path,
        chance,
        kills=kills,
        work_seconds=WORK_SECONDS,
        sandbox_dies=SANDBOX_DIES,
        progress=progress,
    )

    seconds = time.perf_counter() - began
    figure("kills", f"{kills} in {seconds:.0f} s, {kills / seconds:.1f} a second")
    figure("kills of the sandbox", survived.sandbox_kills)
    for moment, count in survived.moments.most_common():
        figure(f"  with {moment}", count)
    figure("tasks completed", len(survived.ours.paid))
    figure("lost", len(survived.ours.unfinished | survived.theirs.unfinished))
    assert_nothing_was_lost(survived)
