"""A process that is stopped in the middle of its work, and goes on later (SIGSTOP)."""

import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Process
from tests.e2e.conftest import Network, Remains

pytestmark = pytest.mark.endurance

Start = Callable[..., Awaitable[Any]]

KINDS = "word_count,keywords,arithmetic,checksum"
PATIENCE = "1"
"""Seconds that the daemon waits for an answer, so that a test need not wait long."""
UNHURRIED = ("--latency", "0.1")
"""The network takes its time, so that a reader of the log who is late still finds the
daemon at work."""


def impatient(network: Network, data: Path) -> list[str]:
    """Run until all is done, waiting for no answer for long."""
    return [
        *("run", "--base-url", network.base_url, "--data-dir", str(data)),
        *("--max-tasks", "30"),
        *("--set", f"network.total_timeout_seconds={PATIENCE}", "--log-level", "debug"),
    ]


@asynccontextmanager
async def frozen(process: Process) -> AsyncIterator[None]:
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


async def test_a_frozen_daemon_goes_on_where_it_was(
    start: Start,
    start_network: Start,
    remains: Callable[[Path], Any],
    tmp_path: Path,
) -> None:
    network = await start_network("--tasks", "30", "--kinds", KINDS, *UNHURRIED)
    data = tmp_path / "data"
    daemon = await start(*impatient(network, data))

    for event in ("task.claimed", "task.executed", "task.submitted"):
        await daemon.event(event)
        async with frozen(daemon.process):
            await anyio.sleep(float(PATIENCE))

    assert await daemon.ended() == 0, daemon.stderr
    await all_is_done_and_paid(network, remains(data), tasks=30)


async def test_a_network_that_hangs_in_the_middle_of_a_request_costs_only_time(
    start: Start,
    start_network: Start,
    remains: Callable[[Path], Any],
    tmp_path: Path,
) -> None:
    network = await start_network("--tasks", "30", "--kinds", KINDS, *UNHURRIED)
    data = tmp_path / "data"
    daemon = await start(*impatient(network, data))

    await daemon.event("task.submitted")
    async with frozen(network.process):
        await daemon.event("network.request_failed")

    assert await daemon.ended() == 0, daemon.stderr
    assert f"no complete answer within {PATIENCE} s" in daemon.stdout
    await all_is_done_and_paid(network, remains(data), tasks=30)


async def all_is_done_and_paid(network: Network, left: Remains, *, tasks: int) -> None:
    [agent] = await network.newcomers()
    ledger = await network.ledger()
    assert (left.completed, left.in_flight) == (tasks, 0)
    assert left.balance == agent["balance"] == 100 + agent["earned"]
    assert left.fault is None
    assert ledger["balanced"]
