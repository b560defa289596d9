"""Processes of `journeyman` that can be killed, forked from a fork server."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio

from journeyman.daemon.system import SystemClock

FORK_SERVER = Path(__file__).with_name("fork_server.py")
READY_SECONDS = 120
ADDRESS = re.compile(r'"base_url": "(http://[^"]+:(\d+))"')

Ask = Callable[[dict[str, Any]], dict[str, Any]]


class ForkedProcess:
    """One process, forked from the fork server."""

    def __init__(self, ask: Ask, pid: int) -> None:
        self._ask = ask
        self.pid = pid

    def end(self, how: signal.Signals) -> int:
        """Send a signal and wait; return the exit code, or the signal below zero."""
        os.kill(self.pid, how)
        return self.wait()

    def wait(self) -> int:
        return int(self._ask({"wait": self.pid})["code"])


class ForkServer:
    """Starts processes; none outlives the test."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def start(self, *arguments: str, log: Path) -> ForkedProcess:
        """Start `journeyman ARGUMENTS`; what it writes is appended to `log`."""
        pid = self._ask({"start": arguments, "log": str(log)})["pid"]
        return ForkedProcess(self._ask, pid)

    def _ask(self, command: dict[str, Any]) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{json.dumps(command)}\n")
        stdin.flush()
        return dict(json.loads(stdout.readline()))


@contextmanager
def open_fork_server(folder: Path) -> Iterator[ForkServer]:
    with subprocess.Popen(  # noqa: S603 - our own file
        [sys.executable, str(FORK_SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        text=True,
    ) as process:
        yield ForkServer(process)


class KillableSandbox:
    """A sandbox with a file, always at the same address, that can be killed too."""

    def __init__(self, fork_server: ForkServer, folder: Path, *options: str) -> None:
        self.file = folder / "sandbox.db"
        self.base_url = ""
        self.kills = 0
        self._fork_server = fork_server
        self._log = folder / "sandbox.log"
        self._options = ("sandbox", "--json", "--data", str(self.file), *options)
        self._port = "0"
        self._running: ForkedProcess | None = None

    async def start(self) -> None:
        """Start it, at the same address as before, and wait until it listens."""
        self._log.touch()
        before = self._log.read_text()
        options = (*self._options, "--port", self._port)
        self._running = self._fork_server.start(*options, log=self._log)
        with anyio.fail_after(READY_SECONDS):
            while (ready := ADDRESS.search(self._log.read_text(), len(before))) is None:
                await SystemClock().sleep(0.01)
        self.base_url, self._port = ready.groups()

    async def kill_and_restart(self) -> None:
        """Kill it at whatever it does, and start it again on its file."""
        assert self.end(signal.SIGKILL) == -signal.SIGKILL, self._log.read_text()
        self.kills += 1
        await self.start()

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        assert self._running is not None
        return self._running.end(how)
