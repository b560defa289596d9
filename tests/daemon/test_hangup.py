"""SIGHUP means a reload, but the end where the terminal has gone."""

import os
import signal
from pathlib import Path

import anyio
import pytest

from journeyman.daemon.shutdown import listen_for_hangup

pytestmark = pytest.mark.usefixtures("not_deaf")


async def _hear(
    monkeypatch: pytest.MonkeyPatch, path: Path, *, closes: bool
) -> list[str]:
    heard: list[str] = []
    monkeypatch.setattr("journeyman.daemon.shutdown.TERMINAL", str(path))
    async with anyio.create_task_group() as group:
        group.start_soon(
            listen_for_hangup, lambda: heard.append("reload"), heard.append
        )
        await anyio.wait_all_tasks_blocked()
        if closes:
            path.unlink()  # noqa: ASYNC240 - in memory, and a test
        os.kill(os.getpid(), signal.SIGHUP)
        with anyio.fail_after(60):
            while not heard:
                await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    return heard


async def test_a_daemon_without_a_terminal_reloads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert await _hear(monkeypatch, tmp_path / "none", closes=False) == ["reload"]


async def test_a_daemon_in_a_terminal_reloads_while_that_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "tty").touch()

    assert await _hear(monkeypatch, tmp_path / "tty", closes=False) == ["reload"]


async def test_a_daemon_whose_terminal_was_closed_stops(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "tty").touch()

    heard = await _hear(monkeypatch, tmp_path / "tty", closes=True)

    assert heard == ["its terminal was closed"]


async def test_a_daemon_that_is_to_outlive_its_terminal_does_not_listen() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with anyio.fail_after(60):
            await listen_for_hangup(pytest.fail, pytest.fail)
    finally:
        signal.signal(signal.SIGHUP, before)
