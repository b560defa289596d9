"""A strategy that makes the daemon deaf costs one restart, and is not run again."""

import json
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.endurance

Start = Callable[..., Awaitable[Any]]

HASTY = Path(__file__).with_name("hasty_daemon.py")
DEAF = """
import time

from journeyman import Strategy


class Deaf(Strategy):
    api, version, runner = 1, "1", "loop"

    def wants(self, task):
        return True

    async def run(self, task):
        while True:
            try:
                time.sleep(1)
            except BaseException:
                pass
"""
QUIET = """
from journeyman import Strategy, score


class Quiet(Strategy):
    api, version, runner = 1, "1", "loop"

    def wants(self, task):
        return score(0.5)

    async def run(self, task):
        return "done"
"""


async def test_a_deaf_daemon_is_ended_and_goes_on_without_the_strategy(
    start: Start, start_network: Start, tmp_path: Path
) -> None:
    network = await start_network("--tasks", "5", "--kinds", "word_count")
    folder = tmp_path / "strategies"
    folder.mkdir()
    (folder / "deaf.py").write_text(DEAF)
    (folder / "quiet.py").write_text(QUIET)
    options = [
        *("run", "--base-url", network.base_url, "--data-dir", str(tmp_path / "data")),
        *("--strategies", str(folder), "--json", "--log-level", "debug"),
        # Else none of their code would run in the daemon.
        *("--set", 'strategies.trusted=["*"]'),
    ]

    deaf = await start(*options, program=(str(HASTY),))
    await deaf.event("task.executing")
    deaf.process.terminate()

    assert await deaf.ended() == -signal.SIGABRT
    assert "its event loop did not turn for 5 s" in deaf.stderr

    again = await start(*options)
    await again.event("daemon.crashed")
    told = json.loads(again.seen[-1])
    assert told["strategy"] == "deaf"
    assert "deaf.py" in told["where"]
    await again.event("task.executed")
    again.process.terminate()
    assert await again.ended() == 0, again.stderr
    assert '"strategy":"quiet"' in again.stdout
