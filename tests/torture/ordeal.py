"""One agent that is killed again and again at its work, and its network now and then.

`make torture` does it a thousand times, the ordinary tests forty times.
"""

import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import anyio
import anyio.to_thread
from tests.torture.nurse import MortalSandbox, Nursery
from tests.torture.remains import (
    Books,
    autopsy,
    has_claimed,
    integrity_of,
    members,
    network_books,
    our_books,
)

from journeyman.daemon.environment import SystemClock
from journeyman.journal.identity import load_identity

KINDS = "word_count,keywords,arithmetic,checksum,csv_to_json,json_path,links"
"""Work that a ready strategy does right, so that each claimed task must be paid."""
WORLD = ("--refill", "--tasks", "40", "--kinds", KINDS, "--latency", "0.02")
# A task in whose work we are killed again and again is given up, on purpose.
PATIENCE = ("--set", "work.max_attempts=100", "--log-level", "warning")
ENDING_SECONDS = 420
"""The longest wait of a result is five minutes (loop/backoff.py)."""


@dataclass(frozen=True)
class Survived:
    """What an ordeal has left."""

    moments: Counter[str]
    """How many deaths found the agent at what."""
    sandbox_kills: int
    members: list[str]
    agent_id: str
    ours: Books
    theirs: Books
    integrity: str


async def ordeal(
    nursery: Nursery,
    folder: Path,
    chance: Random,
    *,
    kills: int,
    work_seconds: float,
    sandbox_dies: float,
    progress: Callable[[str], None] = lambda _: None,
) -> Survived:
    """Kill an agent so many times, then let it end its work; look at all that is left.

    A life lasts at most as long as the first one takes to get to work, and
    `work_seconds` more. `sandbox_dies` is the chance, at each life of the agent, that
    its network is killed in it as well.
    """
    data, log = folder / "data", folder / "daemon.log"
    sandbox, moments = MortalSandbox(nursery, folder, *WORLD), Counter[str]()
    await sandbox.start()
    run = ("run", "--base-url", sandbox.base_url, "--data-dir", str(data), *PATIENCE)
    longest_life = 0.0
    for number in range(1, kills + 1):
        life = nursery.live(*run, log=log)
        # The first one is not killed before it has joined: who dies three times while
        # it registers waits for its owner, on purpose. test_births.py is about that.
        if number == 1:
            longest_life = await _seconds_until_at_work(data) + work_seconds
        await anyio.sleep(chance.uniform(0, longest_life))
        if chance.random() < sandbox_dies:
            await sandbox.die_and_start()
        died = life.end(signal.SIGKILL)
        assert died == -signal.SIGKILL, log.read_text()[-2000:]
        death = autopsy(data, folder / "table")
        assert (death.integrity, death.fault) == ("ok", None), f"kill {number}"
        moments.update(death.moments)
        progress(f"{number} of {kills} kills")
    await _end_in_peace(nursery, *run, "--once", data=data, log=log)
    sandbox.end()
    identity = load_identity(data / "identity.json")
    assert identity is not None
    return Survived(
        moments=moments,
        sandbox_kills=sandbox.kills,
        members=members(sandbox.file),
        agent_id=identity.agent_id,
        ours=our_books(data),
        theirs=network_books(sandbox.file, identity.agent_id),
        integrity=integrity_of(data / "journal.db"),
    )


async def _end_in_peace(nursery: Nursery, *run: str, data: Path, log: Path) -> None:
    """Let the agent end what is left; what has met a dead network waits its time."""
    with anyio.fail_after(ENDING_SECONDS):
        while True:
            last = nursery.live(*run, log=log)
            code = await anyio.to_thread.run_sync(last.wait)
            assert code == 0, f"see {log}"
            if not our_books(data).unfinished:
                return
            await SystemClock().sleep(2)


async def _seconds_until_at_work(data: Path) -> float:
    clock = SystemClock()
    began = clock.monotonic()
    with anyio.fail_after(ENDING_SECONDS):
        while not has_claimed(data):
            await clock.sleep(0.01)
    return clock.monotonic() - began


def assert_nothing_was_lost(survived: Survived) -> None:
    """One agent, nothing lost, nothing doubled, and both books say the same."""
    assert survived.members == [survived.agent_id]
    assert not survived.ours.unfinished
    assert not survived.theirs.unfinished
    assert survived.ours == survived.theirs, "paid, results and balance"
    assert survived.ours.paid
    assert survived.integrity == "ok"
