"""Files that are whole or absent, even after a power cut."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from journeyman.domain.errors import StateError

PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700
MOST_BYTES = 65_536
"""Of a file that is read whole."""


@contextmanager
def disk_errors(problem: str, fix: str) -> Iterator[None]:
    """Raise what the disk refuses inside as an error that tells the user what to do.

    Raises:
        StateError: the disk refused.
    """
    try:
        yield
    except OSError as error:
        raise StateError(f"{problem}: {error.strerror}", fix) from error


def check_owner(path: Path) -> None:
    """Prove that a private file, if it is there, is this user's own.

    Root could read another's, but what root wrote beside it the other could not.

    Raises:
        StateError: it is another user's.
    """
    try:
        owner = path.stat().st_uid
    except OSError:
        return
    if owner != os.geteuid():
        raise StateError(
            f"{path} belongs to user {owner}, and this is user {os.geteuid()}",
            f"Run it as that user, for example by `docker run --user {owner}` or "
            f"`sudo --user '#{owner}' journeyman`; or give this user all files, by "
            f"`chown --recursive {os.geteuid()} {path.parent}`.",
        )


def read_small(path: Path) -> bytes:
    """Return the content of a regular file of ours, which is never large.

    Raises:
        OSError: it is no such file; nothing waits for a pipe, or reads a device.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        content = os.read(descriptor, MOST_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MOST_BYTES} bytes")
    return content


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file, readable by its owner alone, so that no reader sees a half.

    The order is what makes it durable: data to disk, then the name, then the
    directory that holds the name. Skip one, and a power cut can leave an empty
    file under the right name.

    Raises:
        OSError: the disk refused; the old content is still there.
    """
    temporary = path.with_name(f".{path.name}.new")
    try:
        _write_durably(temporary, content)
        temporary.replace(path)
    except OSError:
        # What a full disk left of it is half a secret, and takes room.
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, readable by its owner alone; then sync it.

    Raises:
        FileExistsError: it is there; it was left alone.
        OSError: the disk refused; nothing is left.
    """
    create_new(path)
    try:
        _write_durably(path, content)
        sync_directory(path.parent)
    except OSError:
        path.unlink(missing_ok=True)
        raise


def create_new(path: Path) -> None:
    """Create an empty file, readable by its owner alone.

    Raises:
        FileExistsError: it is there; it was left alone.
        OSError: the disk refused.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    os.close(os.open(path, flags, PRIVATE_FILE))


def _write_durably(path: Path, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    descriptor = os.open(path, flags, PRIVATE_FILE)
    try:
        os.fchmod(descriptor, PRIVATE_FILE)
        write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of it: the system may take a part at a time."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def sync_file(path: Path) -> None:
    """Make the content of a file durable that somebody else wrote."""
    _sync(path, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
