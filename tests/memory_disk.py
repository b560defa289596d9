"""A disk that is kept in memory, where this machine has one."""

import os
from pathlib import Path

_DISK = Path("/dev/shm")  # noqa: S108 - only private folders are made in it


def memory_disk(room_bytes: int = 0, *, runs_programs: bool = False) -> Path | None:
    """Return it if it has that much room, and lets programs run if they are to.

    In a container it is usually of 64 MB, and no program may be started from it.
    """
    try:
        there = os.statvfs(_DISK)
    except OSError:
        return None
    has_room = there.f_bavail * there.f_frsize >= room_bytes
    may_run = not runs_programs or not there.f_flag & os.ST_NOEXEC
    return (
        _DISK if has_room and may_run and os.access(_DISK, os.W_OK | os.X_OK) else None
    )
