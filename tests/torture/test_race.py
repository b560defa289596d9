"""Fifty daemons want the same task: one gets it, and no other works on it."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.torture.conftest import books_of
from tests.torture.nurse import Nursery
from tests.torture.remains import way_of

from journeyman.cli.processes import sandbox
from journeyman.daemon.environment import SystemClock
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
    nursery: Nursery,
    knob: Callable[[str, int], int],
    tmp_path: Path,
    progress: Callable[[str], None],
    figure: Callable[[str, object], None],
) -> None:
    agents = knob("TORTURE_AGENTS", 50)
    homes = [tmp_path / f"agent-{number}" for number in range(agents)]
    options = ["--port", "0", "--tasks", "0", "--latency", LATENCY]
    async with sandbox(options, tmp_path / "sandbox.log") as base_url:
        run = ("run", "--base-url", base_url, "--log-level", "warning", *EAGER)
        log = tmp_path / "daemons.log"
        lives = [nursery.live(*run, "--data-dir", str(home), log=log) for home in homes]
        with anyio.fail_after(PATIENCE_SECONDS):
            await _until(base_url, lambda books: len(books["agents"]) >= agents)
            progress(f"{agents} agents wait")
            task_id = await _post(base_url)
            await _until(base_url, lambda books: books["tasks"]["completed"] == 1)
        assert {life.end(signal.SIGTERM) for life in lives} == {0}
        books = await books_of(base_url)

    ways = [way_of(home, task_id) for home in homes]
    racers = [way for way in ways if TaskState.CLAIMING in way]
    winners = [way for way in ways if way and way[-1] is TaskState.COMPLETED]
    workers = [way for way in ways if TaskState.EXECUTING in way]
    figure("agents in the race", f"{agents} daemons, {len(racers)} sent a claim")
    figure("winners", len(winners))
    figure("executions by losers", len(workers) - len(winners))
    assert len(racers) > 1, "nobody raced; give the sandbox more latency"
    assert workers == winners
    assert len(winners) == 1
    assert {way[-1] for way in racers if way not in winners} == {TaskState.LOST}
    assert books["balanced"]
    assert sorted(agent["earned"] for agent in books["agents"])[-2:] == [0, 5]


async def _until(base_url: str, reached: Callable[[dict[str, Any]], bool]) -> None:
    clock = SystemClock()
    while not reached(await books_of(base_url)):
        await clock.sleep(0.2)


async def _post(base_url: str) -> str:
    """Post the task, as an agent that is none of the racers."""
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
