"""Real processes on one machine: a nursery of daemons, and figures at the end."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from tests.torture.nurse import Nursery, open_nursery

FIGURES = pytest.StashKey[list[str]]()


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    with open_nursery(tmp_path) as nursery:
        yield nursery


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
