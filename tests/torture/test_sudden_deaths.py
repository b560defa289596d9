"""SIGKILL at moments of chance, many times: one agent, nothing lost, nothing doubled.

The delays come from TORTURE_SEED; the machine decides what a daemon does at that
moment, so a run is repeated in its pattern and not to the byte. `journeyman simulate`
is the one that is.
"""

import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import anyio
import pytest
from tests.torture.conftest import Nursery, books_of
from tests.torture.remains import (
    autopsy,
    integrity_of,
    members,
    network_books,
    our_books,
)

from journeyman.cli.processes import sandbox
from journeyman.journal import load_identity

KINDS = "word_count,keywords,arithmetic,checksum,csv_to_json,json_path,links"
"""Work that a ready strategy does right, so that each claimed task must be paid."""
LONGEST_LIFE_SECONDS = 0.5
WORLD = ("--refill", "--tasks", "40", "--kinds", KINDS, "--latency", "0.02")
# A task in whose work we are killed again and again is given up, on purpose.
PATIENCE = ("--set", "work.max_attempts=100", "--log-level", "warning")
CALM_SECONDS = 120

pytestmark = pytest.mark.timeout(0)  # TORTURE_KILLS decides how long it takes


@pytest.fixture
def kills(knob: Callable[[str, int], int]) -> int:
    return knob("TORTURE_KILLS", 1000)


@pytest.fixture
def chance(knob: Callable[[str, int], int]) -> Random:
    return Random(knob("TORTURE_SEED", 1))  # noqa: S311 - repeatable, not secret


async def test_one_agent_dies_many_times_and_nothing_is_lost_or_done_twice(
    nursery: Nursery,
    kills: int,
    chance: Random,
    tmp_path: Path,
    progress: Callable[[str], None],
    figure: Callable[[str, object], None],
) -> None:
    data, network = tmp_path / "data", tmp_path / "sandbox.db"
    moments: Counter[str] = Counter()
    async with sandbox(
        ["--port", "0", "--data", str(network), *WORLD], tmp_path / "sandbox.log"
    ) as base_url:
        run = ("run", "--base-url", base_url, "--data-dir", str(data), *PATIENCE)
        began = time.perf_counter()
        for number in range(1, kills + 1):
            life = nursery.live(*run, log=tmp_path / "daemon.log")
            await anyio.sleep(chance.uniform(0, LONGEST_LIFE_SECONDS))
            died = life.end(signal.SIGKILL)
            assert died == -signal.SIGKILL, _last_words(tmp_path)
            death = autopsy(data, tmp_path / "table")
            assert (death.integrity, death.fault) == ("ok", None), f"kill {number}"
            moments.update(death.moments)
            progress(f"{number} of {kills} kills")
        seconds = time.perf_counter() - began
        await _calm_run(*run)
        books = await books_of(base_url)

    identity = load_identity(data / "identity.json")
    assert identity is not None
    ours, theirs = our_books(data), network_books(network, identity.agent_id)
    figure("kills", f"{kills} in {seconds:.0f} s, {kills / seconds:.1f} a second")
    for moment, count in moments.most_common():
        figure(f"  with {moment}", count)
    figure("tasks completed", len(ours.paid))
    figure("lost", len(ours.unfinished | theirs.unfinished))
    assert members(network) == [identity.agent_id]
    assert not ours.unfinished
    assert not theirs.unfinished
    assert ours == theirs, "paid, results and balance, as both write them down"
    assert books["balanced"]
    assert integrity_of(data / "journal.db") == "ok"


async def _calm_run(*run: str) -> None:
    """Let the command itself end what is left, and nothing kill it."""
    with anyio.fail_after(CALM_SECONDS):
        await anyio.run_process(
            [sys.executable, "-m", "journeyman", *run, "--once"],
            stdout=subprocess.DEVNULL,
            stderr=None,
        )


def _last_words(folder: Path) -> str:
    return (folder / "daemon.log").read_text()[-2000:]
