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
from tests.torture.nurse import Nursery
from tests.torture.remains import REGISTERING, autopsy, files_with, has_asked, members

from journeyman.cli.processes import sandbox
from journeyman.daemon.environment import SystemClock
from journeyman.journal.identity import load_identity

LATENCY = "0.2"
"""In seconds: most of a short life is spent waiting for this answer."""
PATIENCE_SECONDS = 60
KILLS_EACH = 2
"""One more, and the third try of a day would be the last (loop/join.py)."""

pytestmark = pytest.mark.timeout(0)


async def test_agents_that_die_while_they_register_are_born_once_each(
    nursery: Nursery,
    knob: Callable[[str, int], int],
    tmp_path: Path,
    progress: Callable[[str], None],
    figure: Callable[[str, object], None],
) -> None:
    births = knob("TORTURE_BIRTHS", 40)
    chance = Random(knob("TORTURE_SEED", 1))  # noqa: S311 - repeatable, not secret
    network, log = tmp_path / "sandbox.db", tmp_path / "daemons.log"
    born, interrupted = [], 0
    options = ["--port", "0", "--tasks", "0", "--latency", LATENCY]
    async with sandbox(
        [*options, "--data", str(network)], tmp_path / "sandbox.log"
    ) as base_url:
        for number in range(1, births + 1):
            home = tmp_path / f"agent-{number}"
            run = ("run", "--base-url", base_url, "--data-dir", str(home))
            for _ in range(KILLS_EACH):
                life = nursery.live(*run, log=log)
                await _until_it_asks(home)
                await anyio.sleep(chance.uniform(0, float(LATENCY)))
                assert life.end(signal.SIGKILL) == -signal.SIGKILL, log.read_text()
                interrupted += REGISTERING in autopsy(home, tmp_path / "table").moments
            assert nursery.live(*run, "--once", log=log).wait() == 0, log.read_text()
            identity = load_identity(home / "identity.json")
            assert identity is not None
            born.append(identity.agent_id)
            token = identity.access_token.reveal().encode()
            assert files_with(token, home) == ["identity.json"]
            progress(f"{number} of {births} births")

    figure("births", f"{births}, with {births * KILLS_EACH} kills")
    figure("  killed while registering", interrupted)
    figure("agents at the network", len(members(network)))
    assert interrupted, "no kill hit a registration; give the sandbox more latency"
    assert sorted(members(network)) == sorted(born)


async def _until_it_asks(home: Path) -> None:
    """Wait for the intent to register; how long a start takes, the machine decides."""
    with anyio.fail_after(PATIENCE_SECONDS):
        while not has_asked(home):
            await SystemClock().sleep(0.01)
