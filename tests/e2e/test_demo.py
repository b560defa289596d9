"""`journeyman demo`: two real processes, and ledgers that agree."""

import json
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.endurance

Start = Callable[..., Awaitable[Any]]


async def test_a_small_demo_agrees_with_the_sandbox(
    start: Start, tmp_path: Path
) -> None:
    demo = await start("demo", "--tasks", "8", "--latency", "0.1", "--json")

    assert await demo.ended() == 0, demo.stderr
    told = json.loads(demo.stdout)
    assert told["passed"] is True
    assert told["ledger_balance"] == told["sandbox_balance"] > 100
    assert told["tasks"]["completed"] >= 1
    assert told["requests"]["post"]["task_id"]
    assert "/checkout/" in told["requests"]["top_up"]["url"]
    assert (tmp_path / "demo" / "daemon.log").stat().st_size > 0


async def test_ctrl_c_stops_both_of_its_processes(start: Start, tmp_path: Path) -> None:
    demo = await start("demo", "--latency", "0.1", "--tasks", "500")
    while "balance" not in await demo.line():
        pass

    demo.process.send_signal(signal.SIGINT)

    assert await demo.ended() == 130
    log = (tmp_path / "demo" / "daemon.log").read_text()
    assert '"event":"daemon.stopped"' in log
    # The sandbox holds its file for itself, so a new demo proves that it is gone.
    again = await start("demo", "--tasks", "1", "--latency", "0", "--json")
    assert await again.ended() == 0, again.stderr


async def test_a_folder_that_no_demo_made_is_not_touched(
    start: Start,
    tmp_path: Path,
) -> None:
    thesis = tmp_path / "demo" / "thesis.txt"
    thesis.parent.mkdir()
    thesis.write_text("years of work")

    demo = await start("demo")

    assert await demo.ended() == 6
    assert "no demo made it" in demo.stderr
    assert thesis.read_text() == "years of work"
