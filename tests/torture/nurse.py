"""A nursery of processes: each is forked from one that has imported everything."""

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

from journeyman.daemon.environment import SystemClock

NURSERY = Path(__file__).with_name("nursery.py")
READY_SECONDS = 30
ADDRESS = re.compile(r'"base_url": "(http://[^"]+:(\d+))"')

Order = Callable[[dict[str, Any]], dict[str, Any]]


class Life:
    """One process, forked from the nursery."""

    def __init__(self, order: Order, pid: int) -> None:
        self._order = order
        self.pid = pid

    def end(self, how: signal.Signals) -> int:
        """Send a signal and wait; give the exit code, or the signal below zero."""
        os.kill(self.pid, how)
        return self.wait()

    def wait(self) -> int:
        return int(self._order({"reap": self.pid})["code"])


class Nursery:
    """Gives birth to processes; none outlives the test."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def live(self, *arguments: str, log: Path) -> Life:
        """Start `journeyman ARGUMENTS`; what it writes is appended to `log`."""
        pid = self._order({"live": arguments, "log": str(log)})["pid"]
        return Life(self._order, pid)

    def _order(self, order: dict[str, Any]) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{json.dumps(order)}\n")
        stdin.flush()
        return dict(json.loads(stdout.readline()))


@contextmanager
def open_nursery(folder: Path) -> Iterator[Nursery]:
    with subprocess.Popen(  # noqa: S603 - our own file
        [sys.executable, str(NURSERY)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        text=True,
    ) as process:
        yield Nursery(process)


class MortalSandbox:
    """A sandbox with its file, always at the same address, that can be killed too."""

    def __init__(self, nursery: Nursery, folder: Path, *options: str) -> None:
        self.file = folder / "sandbox.db"
        self.base_url = ""
        self.kills = 0
        self._nursery = nursery
        self._log = folder / "sandbox.log"
        self._options = ("sandbox", "--json", "--data", str(self.file), *options)
        self._port = "0"
        self._life: Life | None = None

    async def start(self) -> None:
        """Start it, again where it was before, and wait until it listens."""
        self._log.touch()
        told = self._log.read_text()
        options = (*self._options, "--port", self._port)
        self._life = self._nursery.live(*options, log=self._log)
        with anyio.fail_after(READY_SECONDS):
            while (ready := ADDRESS.search(self._log.read_text(), len(told))) is None:
                await SystemClock().sleep(0.01)
        self.base_url, self._port = ready.groups()

    async def die_and_start(self) -> None:
        """Kill it at whatever it does, and start it again on what it left."""
        assert self.end(signal.SIGKILL) == -signal.SIGKILL, self._log.read_text()
        self.kills += 1
        await self.start()

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        assert self._life is not None
        return self._life.end(how)
