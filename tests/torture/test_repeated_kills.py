"""SIGKILL at random moments, many times: one agent, nothing lost, nothing doubled.

The delays come from TORTURE_SEED, but what a daemon does at that moment depends on the
machine; only `make simulate` repeats a run to the byte.
"""

import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from tests.torture.processes import ForkServer
from tests.torture.repeated_kills import assert_nothing_was_lost, kill_repeatedly

WORK_SECONDS = 0.4
SANDBOX_KILL_RATE = 0.05
"""The share of processes with which the network is killed too."""

pytestmark = pytest.mark.timeout(0)  # TORTURE_KILLS decides how long it takes


async def test_an_agent_is_killed_many_times_and_nothing_is_lost_or_done_twice(
    fork_server: ForkServer,
    int_from_environment: Callable[[str, int], int],
    tmp_path: Path,
    progress: Callable[[str], None],
    figure: Callable[[str, object], None],
) -> None:
    kills = int_from_environment("TORTURE_KILLS", 1000)
    chance = Random(int_from_environment("TORTURE_SEED", 1))  # noqa: S311 - repeatable, not secret
    began = time.perf_counter()

    result = await kill_repeatedly(
        fork_server,
        tmp_path,
        chance,
        kills=kills,
        work_seconds=WORK_SECONDS,
        sandbox_kill_rate=SANDBOX_KILL_RATE,
        progress=progress,
    )

    seconds = time.perf_counter() - began
    figure("kills", f"{kills} in {seconds:.0f} s, {kills / seconds:.1f} a second")
    figure("kills of the sandbox", result.sandbox_kills)
    for state, count in result.states.most_common():
        figure(f"  with {state}", count)
    figure("tasks completed", len(result.journal.paid))
    figure("lost", len(result.journal.unfinished | result.network.unfinished))
    assert_nothing_was_lost(result)
