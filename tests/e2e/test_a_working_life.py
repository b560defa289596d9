"""The daemon as its owner sees it: started, watched, stopped, started again."""

import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from journeyman.daemon.strategies import ready_strategies

Start = Callable[..., Awaitable[Any]]

WORD_COUNT = '''\
from journeyman import Context, Decline, Result, Strategy, Task, param, skip


class WordCount(Strategy):
    """Counts the words of a text task."""

    api, version = 1, "1.0.0"
    max_words: int = param(50_000, ge=1, help="decline longer texts")

    def wants(self, task: Task):
        return task.reward >= 1 if "count" in task.tags else skip("tag 'count' missing")

    async def run(self, task: Task, ctx: Context) -> Result:
        words = len(task.text.split())
        if words > self.max_words:
            raise Decline("text too long", words=words)
        ctx.log.info("counted", words=words)
        return Result(str(words), evidence={"method": "whitespace"})
'''
"""An example strategy that counts words."""


def may_dump_no_core(pid: int) -> bool:
    """Return whether a crash of a process leaves its memory, and the token, nowhere."""
    limits = Path(f"/proc/{pid}/limits")
    words = limits.read_text().split() if limits.exists() else []
    return not words or "Max core file size 0 0" in " ".join(words)


async def test_it_earns_until_enough_tasks_have_ended_and_exits_with_0(
    start: Start,
    start_network: Start,
    remains: Callable[[Path], Any],
    tmp_path: Path,
) -> None:
    network = await start_network("--tasks", "20")
    data = tmp_path / "data"

    daemon = await start(
        *("run", "--base-url", network.base_url, "--data-dir", str(data)),
        *("--max-tasks", "6"),
    )

    assert await daemon.ended() == 0
    [agent] = await network.newcomers()
    left = remains(data)
    assert left.completed == 6
    assert left.balance == agent["balance"] > 100
    assert left.kinds == {"starter", "delivered", "earned"}
    assert (await network.ledger())["balanced"]


async def test_sigterm_stops_it_with_0_and_the_next_start_is_the_same_agent(
    start: Start,
    start_network: Start,
    tmp_path: Path,
) -> None:
    network = await start_network("--tasks", "10", "--refill", "--latency", "0.02")
    options = ("--base-url", network.base_url, "--data-dir", str(tmp_path / "data"))

    first = await start("run", *options)
    await first.event("task.completed", 2)
    first.process.terminate()
    assert await first.ended() == 0
    second = await start("run", *options, "--max-tasks", "1")

    assert await second.ended() == 0
    assert len(await network.newcomers()) == 1
    assert "identity.known" in second.stdout
    assert (await network.ledger())["tasks"]["claimed"] == 0


@pytest.mark.endurance
async def test_a_second_daemon_on_the_same_data_is_refused(
    start: Start,
    start_network: Start,
    tmp_path: Path,
) -> None:
    network = await start_network("--tasks", "2")
    options = ("--base-url", network.base_url, "--data-dir", str(tmp_path / "data"))
    first = await start("run", *options)
    await first.event("daemon.started")

    second = await start("run", *options)

    assert await second.ended() == 6
    assert f"process {first.process.pid}" in second.stderr
    assert "--data-dir" in second.stderr


async def test_its_owner_can_look_pause_resume_post_and_stop(
    start: Start,
    start_network: Start,
    tmp_path: Path,
) -> None:
    network = await start_network("--tasks", "2")
    where = ("--data-dir", str(tmp_path / "data"), "--json")
    daemon = await start("run", "--base-url", network.base_url, *where)
    await daemon.event("daemon.started")

    async def ask(*arguments: str) -> dict[str, Any]:
        asked = await start(*arguments, *where)
        assert await asked.ended() == 0, asked.stderr
        return dict(json.loads(asked.stdout))

    assert (await ask("health"))["healthy"] is True
    assert may_dump_no_core((await ask("status"))["pid"])
    await ask("pause", "--reason", "lunch")
    assert (await ask("status"))["paused"]["reason"] == "lunch"
    await ask("resume")
    posted = await ask("post", "--title", "Say hello", "--reward", "3")
    assert (await ask("status"))["ledger"]["spent"] == -3
    assert posted["task_id"]
    await ask("stop")
    assert await daemon.ended() == 0


@pytest.mark.endurance
async def test_a_strategy_dropped_into_the_folder_earns(
    start: Start,
    start_network: Start,
    remains: Callable[[Path], Any],
    tmp_path: Path,
) -> None:
    network = await start_network("--tasks", "6", "--kinds", "word_count")
    folder = tmp_path / "strategies"
    shutil.copytree(ready_strategies(), folder)
    (folder / "word_count.py").write_text(WORD_COUNT)
    (folder / "half.py").write_text("from journeyman import Strategy\n\ndef half(:\n")

    daemon = await start(
        *("run", "--base-url", network.base_url, "--data-dir", str(tmp_path / "data")),
        *("--strategies", str(folder), "--once"),
    )

    assert await daemon.ended() == 0
    left = remains(tmp_path / "data")
    assert left.completed == 6
    assert left.earners == {"word_count", "count_words"}
    assert "half.py" in daemon.stdout, "the broken one is told, and stops nobody"


@pytest.mark.endurance
async def test_its_owner_mends_a_strategy_while_it_works(
    start: Start,
    start_network: Start,
    tmp_path: Path,
) -> None:
    network = await start_network("--tasks", "10", "--kinds", "word_count")
    folder, data = tmp_path / "strategies", str(tmp_path / "data")
    folder.mkdir()
    (folder / "word_count.py").write_text(WORD_COUNT.replace("task.text", "task.txt"))
    options = ("--base-url", network.base_url, "--data-dir", data)
    daemon = await start("run", *options, "--strategies", str(folder))
    await daemon.event("strategy.quarantined")

    (folder / "word_count.py").write_text("def (")
    refused = await start("reload", "--data-dir", data)
    assert await refused.ended() == 4
    (folder / "word_count.py").write_text(WORD_COUNT)
    reloaded = await start("reload", "--data-dir", data, "--json")
    assert await reloaded.ended() == 0
    await daemon.event("task.completed")
    daemon.process.terminate()

    assert await daemon.ended() == 0
    assert "E101" in refused.stdout
    assert "Still active: word_count" in refused.stdout
    assert json.loads(reloaded.stdout)["changed"] == ["word_count"]
