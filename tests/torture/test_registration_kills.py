"""SIGKILL while an agent registers: the only answer with its token may be lost.

The sandbox keeps the answer under the idempotency key, so a repeat gets it again. That
a network does so is not in the contract; see docs/explanation/promises.md.
"""

import signal
from collections.abc import Callable
from pathlib import Path
from random import Random

import anyio
import pytest
from tests.torture.inspection import (
    REGISTERING,
    files_with,
    has_join_intent,
    inspect_files,
    members,
)
from tests.torture.processes import ForkServer

from journeyman.cli.processes import sandbox
from journeyman.daemon.system import SystemClock
from journeyman.journal.identity import load_identity

LATENCY = "0.2"
"""In seconds: a short process spends most of its time waiting for this answer."""
PATIENCE_SECONDS = 240
KILLS_EACH = 2
"""One more, and the third try of a day would be the last (worker/join.py)."""

pytestmark = pytest.mark.timeout(0)


async def test_agents_that_are_killed_while_they_register_join_once_each(
    fork_server: ForkServer,
    int_from_environment: Callable[[str, int], int],
    tmp_path: Path,
    progress: Callable[[str], None],
    figure: Callable[[str, object], None],
) -> None:
    registrations = int_from_environment("TORTURE_REGISTRATIONS", 40)
    chance = Random(int_from_environment("TORTURE_SEED", 1))  # noqa: S311 - repeatable, not secret
    network, log = tmp_path / "sandbox.db", tmp_path / "daemons.log"
    joined, interrupted = [], 0
    options = ["--port", "0", "--tasks", "0", "--latency", LATENCY]
    async with sandbox(
        [*options, "--data", str(network)], tmp_path / "sandbox.log"
    ) as base_url:
        for number in range(1, registrations + 1):
            home = tmp_path / f"agent-{number}"
            run = ("run", "--base-url", base_url, "--data-dir", str(home))
            for _ in range(KILLS_EACH):
                process = fork_server.start(*run, log=log)
                await _until_registering(home)
                await anyio.sleep(chance.uniform(0, float(LATENCY)))
                assert process.end(signal.SIGKILL) == -signal.SIGKILL, log.read_text()
                interrupted += (
                    REGISTERING in inspect_files(home, tmp_path / "copy").states
                )
            assert fork_server.start(*run, "--once", log=log).wait() == 0, (
                log.read_text()
            )
            identity = load_identity(home / "identity.json")
            assert identity is not None
            joined.append(identity.agent_id)
            token = identity.access_token.reveal().encode()
            assert files_with(token, home) == ["identity.json"]
            progress(f"{number} of {registrations} registrations")

    kills = registrations * KILLS_EACH
    figure("registrations", f"{registrations}, with {kills} kills")
    figure("  killed while registering", interrupted)
    figure("agents at the network", len(members(network)))
    assert interrupted, "no kill hit a registration; give the sandbox more latency"
    assert sorted(members(network)) == sorted(joined)


async def _until_registering(home: Path) -> None:
    """Wait for the intent to register; how long that takes depends on the machine."""
    with anyio.fail_after(PATIENCE_SECONDS):
        while not has_join_intent(home):
            await SystemClock().sleep(0.01)
