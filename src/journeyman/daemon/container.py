"""Whether the data directory would die with the container that we run in."""

import re
from pathlib import Path

MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))
"""Files that container engines put into every container."""
MOUNTS = Path("/proc/self/mountinfo")
_MOUNT_POINT = 4
"""The field of a line of mountinfo that names the mount point (man 5 proc)."""


def would_die_with_container(path: Path) -> bool:
    """Tell whether we run in a container and `path` lies on no mounted volume."""
    if not any(mark.exists() for mark in MARKS) or not MOUNTS.exists():
        return False
    return not is_on_mount(path.resolve(), MOUNTS.read_text())


def is_on_mount(path: Path, mountinfo: str) -> bool:
    """Tell whether something other than the root is mounted at or above a path."""
    lines = (line.split() for line in mountinfo.splitlines())
    points = {_unescaped(row[_MOUNT_POINT]) for row in lines if len(row) > _MOUNT_POINT}
    return not points.isdisjoint(map(str, (path, *path.parents)[:-1]))


def _unescaped(field: str) -> str:
    """Give a path as it is: the kernel writes a blank in it by its octal number."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), field)
