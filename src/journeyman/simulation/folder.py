"""Where the files of a run lie: in memory, where the machine has such a place."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY_DISK = Path("/dev/shm")  # noqa: S108 - a private folder is made in it


@contextmanager
def private_folder() -> Iterator[Path]:
    """Give a new folder, which is gone afterwards."""
    place = MEMORY_DISK if MEMORY_DISK.is_dir() else None
    root = Path(tempfile.mkdtemp(prefix="journeyman-simulation-", dir=place))
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)
