"""Loading never stops the daemon, whatever a trusted file does when it is imported."""

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from journeyman.daemon.strategy_source import StrategySource
from journeyman.domain.errors import ConfigurationError
from journeyman.journal.journal import Journal
from journeyman.settings.sections import Settings, StrategySettings
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.describing import Describer
from journeyman.strategies.running.template import Template
from journeyman.testing import FakeClock

SLOW = """
import time

time.sleep(0.12)

from journeyman import Strategy


class Slow(Strategy):
    kinds = frozenset({"word_count"})

    def run(self, task):
        return len(task.text.split())
"""
ENDLESS = """
import time

import journeyman

while True:
    try:
        time.sleep(1)
    except BaseException:
        pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "strategies"
    path.mkdir()
    return path


@pytest.fixture
def source(tmp_path: Path, folder: Path) -> Iterator[StrategySource]:
    trusting = StrategySettings(directory=folder, trusted=("*",))
    settings = Settings(strategies=trusting)
    with Journal(tmp_path / "journal.db", FakeClock().now) as journal, Template() as t:
        describer = Describer(isolation=Isolation(), template=t)
        yield StrategySource(settings, lambda: settings, journal, describer)


async def test_of_what_an_import_prints_before_it_ends_only_the_end_is_shown(
    folder: Path,
) -> None:
    file = folder / "loud.py"
    file.write_text(
        "import os, journeyman\n"
        "print('x' * 60_000, 'last words', sep='\\n')\n"
        "os._exit(1)"
    )

    with Template() as template:
        describer = Describer(isolation=Isolation(), template=template)
        described = await describer.describe([file], [])

    (problem,) = described[file]
    assert "last words" in str(problem)
    assert len(str(problem)) < 5_000


async def test_an_import_that_never_ends_stops_nothing_and_is_told(
    source: StrategySource, folder: Path
) -> None:
    (folder / "endless.py").write_text(ENDLESS)
    source.longest_seconds = 0.5
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            await anyio.sleep(0.02)
            turns += 1

    async with anyio.create_task_group() as group:
        group.start_soon(turn)
        with pytest.raises(ConfigurationError, match="did not end within"):
            await source.load()
        group.cancel_scope.cancel()

    assert turns > 1


async def test_how_long_an_import_took_is_known(
    source: StrategySource, folder: Path
) -> None:
    (folder / "slow.py").write_text(SLOW)

    (loaded,) = (await source.load()).registry.strategies

    assert loaded.import_seconds >= 0.1
