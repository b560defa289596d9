"""Fifty daemons want the same task: one gets it, and no other works on it."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.torture.conftest import ledger_of
from tests.torture.inspection import states_of
from tests.torture.processes import ForkServer

from journeyman.cli.processes import sandbox
from journeyman.daemon.system import SystemClock
from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import IdempotencyKey, Identity, NewTask, TaskState
from journeyman.network.client import NetworkClient
from journeyman.testing import RecordingLog

LATENCY = "1"
"""In seconds: for so long after the first claim left, others still see the task."""
EAGER = ("--discover-every", "1", "--set", "schedule.discover_max_seconds=1")
PRIZE = NewTask(
    title="Count the words",
    description="How many words has this text?",
    kind="word_count",
    input={"text": "to be or not to be"},
    reward=5,
)
PATIENCE_SECONDS = 240

pytestmark = pytest.mark.timeout(0)


async def test_many_agents_want_one_task_and_one_works_on_it(
    fork_server: ForkServer,
    int_from_environment: Callable[[str, int], int],
    tmp_path: Path,
    progress: Callable[[str], None],
    figure: Callable[[str, object], None],
) -> None:
    agents = int_from_environment("TORTURE_AGENTS", 50)
    homes = [tmp_path / f"agent-{number}" for number in range(agents)]
    options = ["--port", "0", "--tasks", "0", "--latency", LATENCY]
    async with sandbox(options, tmp_path / "sandbox.log") as base_url:
        run = ("run", "--base-url", base_url, "--log-level", "warning", *EAGER)
        log = tmp_path / "daemons.log"
        processes = [
            fork_server.start(*run, "--data-dir", str(home), log=log) for home in homes
        ]
        with anyio.fail_after(PATIENCE_SECONDS):
            await _until(base_url, lambda ledger: len(ledger["agents"]) >= agents)
            progress(f"{agents} agents wait")
            task_id = await _post(base_url)
            await _until(base_url, lambda ledger: ledger["tasks"]["completed"] == 1)
        assert {process.end(signal.SIGTERM) for process in processes} == {0}
        ledger = await ledger_of(base_url)

    histories = [states_of(home, task_id) for home in homes]
    racers = [history for history in histories if TaskState.CLAIMING in history]
    winners = [
        history
        for history in histories
        if history and history[-1] is TaskState.COMPLETED
    ]
    workers = [history for history in histories if TaskState.EXECUTING in history]
    figure("agents in the race", f"{agents} daemons, {len(racers)} sent a claim")
    figure("winners", len(winners))
    figure("executions by losers", len(workers) - len(winners))
    assert len(racers) > 1, "nobody raced; give the sandbox more latency"
    assert workers == winners
    assert len(winners) == 1
    assert {history[-1] for history in racers if history not in winners} == {
        TaskState.LOST
    }
    assert ledger["balanced"]
    assert sorted(agent["earned"] for agent in ledger["agents"])[-2:] == [0, 5]


async def _until(base_url: str, reached: Callable[[dict[str, Any]], bool]) -> None:
    clock = SystemClock()
    while not reached(await ledger_of(base_url)):
        await clock.sleep(0.2)


async def _post(base_url: str) -> str:
    """Post the task, as an agent that does not compete."""
    async with NetworkClient(
        base_url=base_url, log=RecordingLog(), clock=SystemClock()
    ) as client:
        joined = await client.register(IdempotencyKey("poster"))
        assert isinstance(joined, Confirmed), joined
        agent = joined.value
        client.identify(Identity(agent.agent_id, agent.access_token, base_url))
        posted = await client.post_task(PRIZE, IdempotencyKey("prize"))
        assert isinstance(posted, Confirmed), posted
        return str(posted.value.task_id)
