"""The token is in one file and in requests, and nowhere else that can be looked at."""

import json
import os
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import anyio.to_thread
import pytest
from tests.e2e.conftest import PATIENCE_SECONDS

from journeyman.cli import main
from journeyman.daemon.strategies import ready_strategies

Start = Callable[..., Awaitable[Any]]

CURIOUS = '''\
import os
import sys

from journeyman import Context, strategy


def reachable(thing, depth=0):
    """Everything that attributes lead to."""
    yield repr(thing)
    if depth == 3 or isinstance(thing, (str, int, float, bool, type(None))):
        return
    for name in dir(thing):
        if not name.startswith("_"):
            try:
                yield from reachable(getattr(thing, name), depth + 1)
            except Exception as error:
                yield repr(error)


@strategy(kinds={"checksum"})
def curious(task, ctx: Context):
    found = [repr(dict(os.environ)), repr(sys.argv), *reachable(ctx)]
    print("environment and context:", *found)
    print("also here", *found, file=sys.stderr)
    ctx.log.info("found", found=found)
    ctx.state["found"] = found[:50]
    return "\\n".join(found)[:10_000]
'''
CLUMSY = """\
from journeyman import Context, strategy


@strategy(kinds={"word_count"})
def clumsy(task, ctx: Context):
    raise RuntimeError(f"failed with {vars(type(ctx))} and {task}")
"""
COMMANDS = (
    ("status",),
    ("health",),
    ("tasks",),
    ("ledger",),
    ("join",),
    ("identity", "show"),
    ("market",),
    ("directory",),
    ("strategies", "list"),
    ("config", "show", "--origin"),
)
"""Those that look at the agent or its network; `events` and `version` do not."""


@pytest.fixture
def strategies(tmp_path: Path) -> Path:
    """One that looks for secrets, one that fails, one that works."""
    folder = tmp_path / "strategies"
    folder.mkdir()
    (folder / "curious.py").write_text(CURIOUS)
    (folder / "clumsy.py").write_text(CLUMSY)
    ready = ready_strategies() / "keywords.py"
    (folder / "keywords.py").write_text(ready.read_text())
    return folder


async def test_the_token_is_found_in_its_file_and_nowhere_else(
    start: Start, strategies: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    kinds = "keywords,checksum,word_count"
    sandbox = await start(
        *("sandbox", "--json", "--port", "0", "--data", str(tmp_path / "network.db")),
        *("--tasks", "12", "--kinds", kinds, "--until-stdin-closes"),
    )
    base_url = json.loads(await sandbox.line())["base_url"]
    daemon = await start(
        *("run", "--base-url", base_url, "--data-dir", str(data)),
        *("--strategies", str(strategies), "--log-level", "debug", "--json"),
    )
    with anyio.fail_after(PATIENCE_SECONDS):
        await _heard(daemon, "task.failed", "task.completed", "environment and")

    async with anyio.create_task_group() as group:
        group.start_soon(daemon.ended)  # reads on, so that it never waits for us
        told = await _ask(data, base_url)
        for process in (daemon.process, sandbox.process):
            told |= _process(process.pid)
        daemon.process.kill()
    told |= _files(tmp_path)
    identity = told.pop("data/identity.json")
    told |= await _errors(data, identity, base_url)
    told["stdout"] = daemon.stdout.encode() + sandbox.stdout.encode()
    token = json.loads(identity)["access_token"]

    assert b"environment and context" in told["stdout"], "the curious one looked"
    assert b"RuntimeError" in told["stdout"], "the clumsy one failed"
    assert told["data/journal.db-wal"], "killed, so that the log of writes is there"
    assert _holds(identity, token), "the search finds it where it is"
    assert [where for where, text in told.items() if _holds(text, token)] == []


async def _heard(daemon: Any, *words: str) -> None:  # noqa: ANN401 - of the conftest
    """Read until each was said; the strategies print, so that not all is JSON."""
    while not all(word in daemon.stdout for word in words):
        await daemon.line()


def _process(pid: int) -> dict[str, bytes]:
    """Return what everybody on a machine, or its owner, can see of a process."""
    return {
        f"{name} of process {pid}": (Path("/proc") / str(pid) / name).read_bytes()
        for name in ("environ", "cmdline")
    }


async def _ask(data: Path, base_url: str) -> dict[str, bytes]:
    """Return what each command says. In a thread: processes start slowly."""
    told: dict[str, bytes] = {}
    for words in COMMANDS:
        where = ["--data-dir", str(data), "--json"]
        where += [] if words[0] == "strategies" else ["--base-url", base_url]
        code, said = await anyio.to_thread.run_sync(_say, [*words, *where])
        assert code == 0, said
        told[" ".join(words)] = said
    return told


def _say(arguments: list[str]) -> tuple[int, bytes]:
    """Run a command; give its exit code and both of its streams."""
    both = StringIO()
    with redirect_stdout(both), redirect_stderr(both):
        code = main(arguments)
    return code, both.getvalue().encode()


async def _errors(data: Path, identity: bytes, base_url: str) -> dict[str, bytes]:
    """Return what is said about an identity file that was damaged by hand."""
    told = {}
    for name, damaged in (
        ("half", identity.rstrip()[:-1]),
        ("a list", b"[" + identity + b"]"),
    ):
        (data / "identity.json").write_bytes(damaged)
        join = ["join", "--base-url", base_url, "--data-dir", str(data)]
        code, said = await anyio.to_thread.run_sync(_say, join)
        assert code != 0, name
        told[f"complaint about an identity that is {name}"] = said
    return told


def _files(folder: Path) -> dict[str, bytes]:
    """Return every file under a folder, with its bytes."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            found[os.fspath(path.relative_to(folder))] = path.read_bytes()
    return found


def _holds(text: bytes, token: str) -> bool:
    forms = {token, quote(token, safe=""), b64encode(token.encode()).decode()[:-3]}
    return any(form.encode() in text for form in forms)
