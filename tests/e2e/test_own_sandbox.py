"""A daemon that brings its own network along: `journeyman run --sandbox`."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.e2e.conftest import PATIENCE_SECONDS

pytestmark = pytest.mark.endurance

Start = Callable[..., Awaitable[Any]]


async def test_its_own_sandbox_keeps_its_address_over_restarts(
    start: Start,
    tmp_path: Path,
) -> None:
    options = ("run", "--sandbox", "--data-dir", str(tmp_path / "data"))
    first = await start(*options, "--max-tasks", "2")
    assert await first.ended() == 0, first.stderr

    second = await start(*options, "--max-tasks", "2")

    assert await second.ended() == 0, second.stderr
    assert "identity.known" in second.stdout


async def test_being_told_to_stop_while_it_starts_is_no_failure(
    start: Start,
    tmp_path: Path,
) -> None:
    daemon = await start("run", "--sandbox", "--data-dir", str(tmp_path / "data"))
    with anyio.fail_after(PATIENCE_SECONDS):
        while not (tmp_path / "data" / "sandbox.log").exists():  # noqa: ASYNC110 - another process makes it
            await anyio.sleep(0.01)

    daemon.process.terminate()

    assert await daemon.ended() == 0, daemon.stderr


@pytest.mark.parametrize("signal_name", ["terminate", "kill"])
async def test_its_own_sandbox_never_outlives_it(
    start: Start,
    tmp_path: Path,
    signal_name: str,
) -> None:
    options = ("run", "--sandbox", "--data-dir", str(tmp_path / "data"))
    first = await start(*options)
    await first.event("daemon.started")

    getattr(first.process, signal_name)()
    await first.process.wait()

    # Its port and its data are free again, or this would not start.
    second = await start(*options, "--max-tasks", "1")
    assert await second.ended() == 0, second.stderr
