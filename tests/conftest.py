"""What every test shares: a clean environment."""

import gc
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.memory_disk import memory_disk

from journeyman.journal.journal import Journal
from journeyman.testing import FakeClock

# How long a machine takes says nothing about the code, least of all under load.
LIMITLESS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples each time: what fails was broken by this change, and by no other.
# Forty are enough for that; more of them, and others, are for the profile `search`.
settings.register_profile("journeyman", LIMITLESS, derandomize=True, max_examples=40)
settings.register_profile("search", LIMITLESS)
settings.load_profile("journeyman")

_ROOM_BYTES = 2 * 1024**3
"""Four times what all tests leave, should all of them fail."""


def pytest_configure() -> None:
    """Keep the files of tests in memory, where there is a disk of it with much room.

    Each commit of each journal waits for the disk, which is half of the time of some
    tests. No test can tell: a process that is killed leaves its files in either.
    """
    disk = memory_disk(_ROOM_BYTES, runs_programs=True)
    if disk is not None and "TMPDIR" not in os.environ:
        os.environ["TMPDIR"] = str(disk)
        tempfile.tempdir = None  # what was found before


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without looking for garbage, of which there is none meanwhile.

    What was imported and collected stays, and is not looked through for each test.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        # A model that a key of the developer's opens would be asked, and paid.
        if name.startswith(("JOURNEYMAN_", "ANTHROPIC_", "OPENAI_")):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def journal_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty journal with all its tables: a copy costs a tenth of a new one."""
    path = tmp_path_factory.mktemp("template") / "journal.db"
    Journal(path, FakeClock().now).close()
    return path


@pytest.fixture
def journal_path(tmp_path: Path, journal_template: Path) -> Path:
    """Where a test finds a journal of its own, still empty."""
    return Path(shutil.copy(journal_template, tmp_path / "journal.db"))
