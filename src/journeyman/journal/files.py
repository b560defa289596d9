"""Files that are whole or absent, even after a power cut."""

import os
from pathlib import Path

PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file, readable by its owner alone, so that no reader sees a half.

    The order is what makes it durable: data to disk, then the name, then the
    directory that holds the name. Skip one, and a power cut can leave an empty
    file under the right name.

    Raises:
        OSError: the disk refused; the old content is still there.
    """
    temporary = path.with_name(f".{path.name}.new")
    descriptor = os.open(
        temporary,
        os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
        PRIVATE_FILE,
    )
    try:
        os.fchmod(descriptor, PRIVATE_FILE)
        _write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    temporary.replace(path)
    sync_directory(path.parent)


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
