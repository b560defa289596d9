"""Real processes on one machine: a nursery of daemons, and figures at the end."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

FIGURES = pytest.StashKey[list[str]]()
NURSERY = Path(__file__).with_name("nursery.py")

Order = Callable[[dict[str, Any]], dict[str, Any]]


class Life:
    """One daemon, forked from the nursery."""

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
    """Gives birth to daemons; none outlives the test."""

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


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    with subprocess.Popen(  # noqa: S603 - our own file
        [sys.executable, str(NURSERY)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        text=True,
    ) as process:
        yield Nursery(process)


async def books_of(base_url: str) -> dict[str, Any]:
    """Give the books of a sandbox that runs."""
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        response = await client.get(f"{base_url}/sandbox/books")
        return dict(response.raise_for_status().json())


@pytest.fixture
def knob() -> Callable[[str, int], int]:
    """Give a whole number from the environment, such as TORTURE_KILLS=1000."""
    return lambda name, default: int(os.environ.get(name, default))


@pytest.fixture
def progress(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Write over the last line of the terminal; not at all where there is none."""
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    assert reporter is not None

    def tell(text: str) -> None:
        if reporter.isatty:
            reporter.rewrite(text, erase=True)

    return tell


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[[str, object], None]:
    """Note a figure; all are shown when the tests have ended."""
    figures = request.config.stash.setdefault(FIGURES, [])
    return lambda name, value: figures.append(f"{name:<30} {value}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    figures = terminalreporter.config.stash.get(FIGURES, [])
    if figures:
        terminalreporter.section("figures")
    for line in figures:
        terminalreporter.line(line)
