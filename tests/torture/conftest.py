"""Real processes on one machine: a fork server for daemons, and figures at the end."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from tests.torture.processes import ForkServer, open_fork_server

FIGURES = pytest.StashKey[list[str]]()


@pytest.fixture
def fork_server(tmp_path: Path) -> Iterator[ForkServer]:
    with open_fork_server(tmp_path) as fork_server:
        yield fork_server


async def ledger_of(base_url: str) -> dict[str, Any]:
    """Return the ledger of a running sandbox."""
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        response = await client.get(f"{base_url}/sandbox/ledger")
        return dict(response.raise_for_status().json())


@pytest.fixture
def int_from_environment() -> Callable[[str, int], int]:
    """Read whole numbers from the environment, such as TORTURE_KILLS=1000."""
    return lambda name, default: int(os.environ.get(name, default))


@pytest.fixture
def progress(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Write over the last line of the terminal, if there is one."""
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    assert reporter is not None

    def report(text: str) -> None:
        if reporter.isatty:
            reporter.rewrite(text, erase=True)

    return report


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[[str, object], None]:
    """Note a figure; all are shown at the end of the tests."""
    figures = request.config.stash.setdefault(FIGURES, [])
    return lambda name, value: figures.append(f"{name:<30} {value}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    figures = terminalreporter.config.stash.get(FIGURES, [])
    if figures:
        terminalreporter.section("figures")
    for line in figures:
        terminalreporter.line(line)
