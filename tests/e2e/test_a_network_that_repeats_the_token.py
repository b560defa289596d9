"""Whatever a network does with the token that we send it, nobody reads it from us."""

import json
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
from tests.e2e.echoing_network import echoing_network

from journeyman.cli import main

pytestmark = pytest.mark.endurance

Start = Callable[..., Awaitable[Any]]

IMPATIENT = (
    *("--set", "schedule.discover_every_seconds=0.2"),
    *("--set", "schedule.discover_max_seconds=0.2"),
    *("--set", "network.connect_timeout_seconds=2"),
)
COMMANDS = (
    ("status",),
    ("tasks",),
    ("ledger",),
    ("health",),
    ("journal", "check"),
)
PATIENCE_SECONDS = 240


async def test_an_echoed_token_is_in_its_file_and_nowhere_else(
    start: Start, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    sandbox = await start(
        *("sandbox", "--json", "--port", "0", "--data", str(tmp_path / "network.db")),
        *("--tasks", "30", "--refill", "--until-stdin-closes"),
    )
    address = json.loads(await sandbox.line())["base_url"]
    async with echoing_network(address) as network:
        daemon = await start(
            *("run", "--base-url", network.base_url, "--data-dir", str(data)),
            *("--log-level", "debug", "--json", *IMPATIENT),
        )
        async with anyio.create_task_group() as group:
            group.start_soon(daemon.ended)
            with anyio.fail_after(PATIENCE_SECONDS):
                await network.told_all.wait()
            told = await _ask(data)
            told |= _of_process(daemon.process.pid)
            daemon.process.kill()
    told |= await _backup(data, tmp_path / "backup.db")
    told["log"] = daemon.stdout.encode() + daemon.stderr.encode()
    told |= {
        str(path.relative_to(tmp_path)): path.read_bytes()
        for path in data.rglob("*")
        if path.is_file()
    }
    identity = told.pop("data/identity.json")
    token = json.loads(identity)["access_token"]

    assert _holds(identity, token), "the search finds it where it is"
    assert b"network.request_failed" in told["log"], "the hostile answers were read"
    assert [where for where, text in told.items() if _holds(text, token)] == []


def _of_process(pid: int) -> dict[str, bytes]:
    return {
        f"{name} of the daemon": (Path("/proc") / str(pid) / name).read_bytes()
        for name in ("environ", "cmdline")
    }


async def _ask(data: Path) -> dict[str, bytes]:
    """Return what commands say of a running daemon. In a thread: they take a while."""
    told = {}
    for words in COMMANDS:
        said = await anyio.to_thread.run_sync(_say, [*words, "--data-dir", str(data)])
        told[" ".join(words)] = said
    return told


async def _backup(data: Path, path: Path) -> dict[str, bytes]:
    order = ["journal", "backup", str(path), "--data-dir", str(data)]
    said = await anyio.to_thread.run_sync(_say, order)
    return {"journal backup": said, "the backup": await anyio.Path(path).read_bytes()}


def _say(arguments: list[str]) -> bytes:
    both = StringIO()
    with redirect_stdout(both), redirect_stderr(both):
        main([*arguments, "--json"])
    return both.getvalue().encode()


def _holds(text: bytes, token: str) -> bool:
    """Return whether the token is there, also in pieces that lines part."""
    whole = b"".join(text.replace(b"\\n", b"").replace(b"\\r", b"").split())
    forms = {token, quote(token, safe=""), b64encode(token.encode()).decode()[:-3]}
    return any(form.encode() in whole for form in forms)
