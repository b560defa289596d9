"""The disk below the data directory: how much is free, and whether it is the same."""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from journeyman.daemon import events
from journeyman.journal.journal import Journal
from journeyman.lifecycle.gate import Gate
from journeyman.observability.events import Log

FreeBytes = Callable[[Path], int]
"""Returns how many bytes this user may still write at a path; may raise OSError."""

MEBIBYTE = 1024 * 1024
OBSTACLE = "disk nearly full"


def free_bytes(path: Path) -> int:
    """Return how many bytes the file system has free.

    Raises:
        OSError: it does not say.
    """
    return shutil.disk_usage(path).free


@dataclass(kw_only=True, eq=False)
class DiskWatch:
    """Closes the gate for new claims before the disk is full; opens it again."""

    gate: Gate
    path: Path
    min_free_mb: int
    """In MiB; 0 watches nothing."""
    free: FreeBytes
    log: Log
    _is_short: bool = field(init=False, default=False)

    def free_mb(self) -> int | None:
        """Return how much is free, in MiB; None where that is not known."""
        try:
            return self.free(self.path) // MEBIBYTE
        except OSError:
            return None

    def look(self) -> None:
        """Look once; only a change is logged."""
        free_mb = self.free_mb()
        if free_mb is None:
            # What cannot be known stops nothing: a disk that is gone fails the next
            # commit, and that is reported.
            return
        is_short = free_mb < self.min_free_mb
        if is_short == self._is_short:
            return
        self._is_short = is_short
        self.gate.lack(OBSTACLE if is_short else "")
        self.log.emit(
            events.DISK_NEARLY_FULL if is_short else events.DISK_HAS_ROOM,
            path=str(self.path),
            free_mb=free_mb,
            min_free_mb=self.min_free_mb,
        )


MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))
"""Files that container engines put into every container."""
MOUNTS = Path("/proc/self/mountinfo")
_MOUNT_POINT = 4
"""The field of a line of mountinfo that names the mount point (man 5 proc)."""


def is_ephemeral(path: Path) -> bool:
    """Return whether we run in a container and `path` is not on a mounted volume."""
    if not any(mark.exists() for mark in MARKS) or not MOUNTS.exists():
        return False
    return not is_on_mount(path.resolve(), MOUNTS.read_text())


def is_on_mount(path: Path, mountinfo: str) -> bool:
    """Return whether something other than the root is mounted at or above a path."""
    lines = (line.split() for line in mountinfo.splitlines())
    points = {_unescaped(row[_MOUNT_POINT]) for row in lines if len(row) > _MOUNT_POINT}
    return not points.isdisjoint(map(str, (path, *path.parents)[:-1]))


def _unescaped(field: str) -> str:
    """Return a path as it is: the kernel writes a space in it as an octal number."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), field)


DIRECTORY_NUMBER = "directory_number"
"""The fact that holds the inode of the data directory."""


def was_copied(journal: Journal, directory: Path) -> bool:
    """Return whether the journal last worked in another directory; remember this one.

    A directory keeps its number in the file system when it is mounted elsewhere, and a
    copy has a number of its own.
    """
    before, number = journal.facts.get(DIRECTORY_NUMBER), directory.stat().st_ino
    if before != number:
        with journal.tx("directory"):
            journal.facts.put(DIRECTORY_NUMBER, number)
    return before not in {None, number}
