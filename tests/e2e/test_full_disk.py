"""A disk that is full in the middle of work: one message, nothing half-written."""

import resource
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.e2e.conftest import PATIENCE_SECONDS

pytestmark = pytest.mark.endurance

Start = Callable[..., Awaitable[Any]]

LIMITED = """
import resource, sys
from journeyman.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.exit(main(sys.argv[2:]))
"""
"""No file grows beyond so many bytes: to SQLite the same as a disk that is full."""


async def limited(size: int, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", LIMITED, str(size), *arguments]
    with anyio.fail_after(PATIENCE_SECONDS):
        return await anyio.run_process(command, check=False)


async def test_a_full_disk_loses_nothing(
    start: Start,
    start_network: Start,
    remains: Callable[[Path], Any],
    tmp_path: Path,
) -> None:
    network = await start_network("--tasks", "40", "--kinds", "word_count,keywords")
    data = tmp_path / "data"
    options = ("run", "--base-url", network.base_url, "--data-dir", str(data))
    first = await start(*options, "--max-tasks", "2")
    assert await first.ended() == 0

    largest = max(one.stat().st_size for one in data.iterdir() if one.is_file())
    failed = await limited(largest + 60_000, *options, "--once", "--json")

    told = failed.stderr.decode()
    assert failed.returncode == 1, told
    assert len(told.splitlines()) == 1, told
    assert "cannot be written" in told
    assert "Free some space" in told
    assert b"task.bug" not in failed.stdout
    checked = await limited(resource.RLIM_INFINITY, "journal", "check", *options[3:])
    assert checked.returncode == 0, checked.stdout

    last = await start(*options, "--once")
    assert await last.ended() == 0
    left, ledger = remains(data), await network.ledger()
    assert left.in_flight == 0
    assert left.completed == 40
    assert left.fault is None
    assert ledger["balanced"]
