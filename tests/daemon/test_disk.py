"""Little room on the disk: nothing new is claimed, and what is owed goes on."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from tests.daemon.conftest import URL, Site

from journeyman.daemon.daemon import run_daemon
from journeyman.daemon.disk import MEBIBYTE, OBSTACLE, DiskWatch, free_bytes
from journeyman.journal.journal import Journal
from journeyman.lifecycle.gate import Gate
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.testing import FakeClock, FakeRandomness, RecordingLog


class Disk:
    """A disk that has as much room as a test says."""

    def __init__(self, *free_mb: int) -> None:
        self.free_mb = list(free_mb)

    def __call__(self, _path: Path) -> int:
        """Return the next figure; the last one stays."""
        now = self.free_mb.pop(0) if len(self.free_mb) > 1 else self.free_mb[0]
        if now < 0:
            raise OSError("gone")
        return now * MEBIBYTE


@pytest.fixture
def gate(journal_path: Path) -> Iterator[Gate]:
    clock = FakeClock()
    rate_limiter = RateLimiter(
        clock=clock,
        randomness=FakeRandomness(),
        log=RecordingLog(),
        private=frozenset(),
    )
    with Journal(journal_path, clock.now) as journal:
        yield Gate(rate_limiter, journal.owner_pauses, clock)


@pytest.fixture
def log() -> RecordingLog:
    return RecordingLog()


def watch(gate: Gate, log: RecordingLog, disk: Disk, limit: int = 64) -> DiskWatch:
    return DiskWatch(gate=gate, path=Path(), min_free_mb=limit, free=disk, log=log)


def test_only_a_change_is_told(gate: Gate, log: RecordingLog) -> None:
    watching = watch(gate, log, Disk(64, 63, 10, 64, 100))

    obstacles = []
    for _ in range(5):
        watching.look()
        obstacles.append(gate.obstacle)

    assert obstacles == ["", OBSTACLE, OBSTACLE, "", ""]
    assert log.names == ["data.disk_nearly_full", "data.disk_has_room"]
    assert log.named("data.disk_nearly_full")[0]["free_mb"] == 63


def test_zero_watches_nothing(gate: Gate, log: RecordingLog) -> None:
    watch(gate, log, Disk(0), limit=0).look()

    assert not gate.obstacle


def test_a_disk_that_does_not_tell_changes_nothing(
    gate: Gate, log: RecordingLog
) -> None:
    watching = watch(gate, log, Disk(1, -1))
    watching.look()
    watching.look()

    assert gate.obstacle == OBSTACLE


def test_the_file_system_is_asked(tmp_path: Path) -> None:
    assert free_bytes(tmp_path) > 0


async def test_nothing_is_claimed_until_there_is_room(site: Site) -> None:
    environment = replace(site.environment(), free_bytes=Disk(1, 1, 1, 900))
    settings = site.settings(work__max_tasks=2, schedule__discover_every_seconds=0.01)

    with anyio.fail_after(60):
        await run_daemon(settings, URL, environment)

    names = site.log.names
    assert names.index("data.disk_has_room") < names.index("task.claimed")
    with site.journal() as journal:
        assert journal.tasks.counts()["completed"] == 2


async def test_while_the_disk_is_nearly_full_nothing_is_claimed(site: Site) -> None:
    environment = replace(site.environment(), free_bytes=Disk(1))

    with anyio.fail_after(60):
        await run_daemon(site.settings(work__once=True), URL, environment)

    with site.journal() as journal:
        assert journal.tasks.counts() == {}
