"""An agent that is killed again and again while it works, and sometimes its network.

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
from tests.torture.inspection import (
    WorkRecord,
    has_claimed,
    inspect_files,
    integrity_of,
    journal_record,
    members,
    sandbox_record,
)
from tests.torture.processes import ForkServer, KillableSandbox

from journeyman.daemon.system import SystemClock
from journeyman.journal.identity import load_identity

KINDS = "word_count,keywords,arithmetic,checksum,csv_to_json,json_path,links"
"""Kinds that a ready strategy does right, so that each claimed task must be paid."""
SANDBOX = ("--refill", "--tasks", "40", "--kinds", KINDS, "--latency", "0.02")
# A task is given up, on purpose, if the daemon is killed again and again at it.
PATIENCE = ("--set", "work.max_attempts=100", "--log-level", "warning")
ENDING_SECONDS = 420
"""The longest wait of a result is five minutes (domain/retry.py)."""


@dataclass(frozen=True)
class KillResult:
    """The state on both sides at the end."""

    states: Counter[str]
    """How many kills found the agent in which state."""
    sandbox_kills: int
    members: list[str]
    agent_id: str
    journal: WorkRecord
    network: WorkRecord
    integrity: str


async def kill_repeatedly(
    fork_server: ForkServer,
    folder: Path,
    chance: Random,
    *,
    kills: int,
    work_seconds: float,
    sandbox_kill_rate: float,
    progress: Callable[[str], None] = lambda _: None,
) -> KillResult:
    """Kill an agent so many times, then let it end its work; inspect all that is left.

    A process runs at most as long as the first one takes to start its work, and
    `work_seconds` more. `sandbox_kill_rate` is the chance, for each process of the
    agent, that its network is killed as well.
    """
    data, log = folder / "data", folder / "daemon.log"
    sandbox, states = KillableSandbox(fork_server, folder, *SANDBOX), Counter[str]()
    await sandbox.start()
    run = ("run", "--base-url", sandbox.base_url, "--data-dir", str(data), *PATIENCE)
    longest_run = 0.0
    for number in range(1, kills + 1):
        process = fork_server.start(*run, log=log)
        # The first one is not killed before it has joined: an agent that is killed
        # three times while it registers waits for its owner, on purpose; see
        # test_registration_kills.py.
        if number == 1:
            longest_run = await _seconds_until_at_work(data) + work_seconds
        await anyio.sleep(chance.uniform(0, longest_run))
        if chance.random() < sandbox_kill_rate:
            await sandbox.kill_and_restart()
        code = process.end(signal.SIGKILL)
        assert code == -signal.SIGKILL, log.read_text()[-2000:]
        found = inspect_files(data, folder / "copy")
        assert (found.integrity, found.fault) == ("ok", None), f"kill {number}"
        states.update(found.states)
        progress(f"{number} of {kills} kills")
    await _finish(fork_server, *run, "--once", data=data, log=log)
    sandbox.end()
    identity = load_identity(data / "identity.json")
    assert identity is not None
    return KillResult(
        states=states,
        sandbox_kills=sandbox.kills,
        members=members(sandbox.file),
        agent_id=identity.agent_id,
        journal=journal_record(data),
        network=sandbox_record(sandbox.file, identity.agent_id),
        integrity=integrity_of(data / "journal.db"),
    )


async def _finish(fork_server: ForkServer, *run: str, data: Path, log: Path) -> None:
    """Run the agent until nothing is left; some tasks wait for their next try."""
    with anyio.fail_after(ENDING_SECONDS):
        while True:
            last = fork_server.start(*run, log=log)
            code = await anyio.to_thread.run_sync(last.wait)
            assert code == 0, f"see {log}"
            if not journal_record(data).unfinished:
                return
            await SystemClock().sleep(2)


async def _seconds_until_at_work(data: Path) -> float:
    clock = SystemClock()
    began = clock.monotonic()
    with anyio.fail_after(ENDING_SECONDS):
        while not has_claimed(data):
            await clock.sleep(0.01)
    return clock.monotonic() - began


def assert_nothing_was_lost(result: KillResult) -> None:
    """Check for one agent, nothing lost or doubled, and both ledgers agreeing."""
    assert result.members == [result.agent_id]
    assert not result.journal.unfinished
    assert not result.network.unfinished
    assert result.journal == result.network, "paid, results and balance"
    assert result.journal.paid
    assert result.integrity == "ok"
