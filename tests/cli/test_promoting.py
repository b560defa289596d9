"""`journeyman strategies promote`, told to a daemon that runs."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def daemon(run: Run, sandbox: str, tmp_path: Path) -> Iterator[Path]:
    """Yield the data directory of a daemon at work, with `count_words` in shadow."""
    del run  # it changes to an empty folder
    data = tmp_path / "data"
    arguments = ("--base-url", sandbox, "--data-dir", str(data), "--json")
    command = (sys.executable, "-m", "journeyman", "run", "--shadow", "count_words")
    with subprocess.Popen(  # noqa: S603 - our own program
        [*command, *arguments, "--until-stdin-closes"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # It listens to its owner before it claims anything.
        next(line for line in process.stdout if "task.claimed" in line)
        yield data
        process.stdin.close()
        process.stdout.read()


@pytest.mark.endurance
def test_a_running_daemon_puts_a_shadow_to_work(run: Run, daemon: Path) -> None:
    where = ("--data-dir", str(daemon))

    told = run("strategies", "promote", "count_words", *where)
    again = run("strategies", "promote", "count_words", *where, "--json")
    listed = run("strategies", "list", *where, "--json").answer["strategies"]

    assert told.code == 0
    assert told.out.index("would want") < told.out.index("count_words is active now")
    assert "remove count_words from strategies.shadow" in told.out
    assert again.code == 2
    assert "it is active" in again.error["problem"]
    states = {row["name"]: row["state"] for row in listed}
    assert states["count_words"] == "active"
