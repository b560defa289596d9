"""Reads the files of strategies, and never waits for one.

A folder may hold anything: a pipe gives nothing until somebody writes, a device may
never end, and a file on which another process holds a lease is not opened before that
process lets go (man 2 fcntl). Each of them would stop the whole daemon.
"""

import os
import stat
from pathlib import Path

MAX_BYTES = 1_000_000
"""Parsing a larger file would block the daemon."""


def read_file(path: Path) -> bytes:
    """Return the content of a file; of one that is too large, one byte too many.

    Raises:
        OSError: it is no regular file, or cannot be read now.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path.name} is no regular file")
        return file.read(MAX_BYTES + 1)
