"""The data directory: one folder that holds everything an agent must not lose."""

import fcntl
import os
import re
import shutil
import stat
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from journeyman.domain.errors import AlreadyRunningError
from journeyman.journal import files

JOURNAL_FILES = ("", "-wal", "-shm")
"""The files of a journal: what their names have behind its own."""


class DataDirectory:
    """The folder of one agent, and the names of what lies in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.identity = path / "identity.json"
        self.registration_answer = path / "registration.answer"
        self.journal = path / "journal.db"
        self.backups = path / "backups"
        """Copies of the journal that the daemon makes."""
        self.archives = path / "archives"
        """What was taken out of the journal, a file for each month."""
        self.description = path / "openapi.json"
        """Of the network, as its owner imported it."""
        self.lock = path / "daemon.lock"
        self.control_socket = path / "control.sock"
        self.workspaces = path / "workspaces"
        self.libraries = path / "libraries"
        """What strategies name for themselves, a folder for each set."""
        self.log = path / "journeyman.log"
        """The log of this and of earlier runs; `journeyman.log.1` is older."""
        self.crash = path / "crash.stack"
        """Where every thread was when the process was ended, or crashed."""

    def prepare(self) -> None:
        """Create the folder, private to its owner, and prove that it can be written.

        Raises:
            StateError: it cannot be created or written, does not sync, or holds the
                identity of another user's agent.
        """
        files.check_owner(self.identity)
        with files.disk_errors(
            f"the data directory {self.path} cannot be written to",
            "Free some space, or give this user write access; or choose another with "
            "--data-dir (setting data.directory).",
        ):
            self.path.mkdir(mode=files.PRIVATE_DIRECTORY, parents=True, exist_ok=True)
            # Named by process: two that start at once must not stumble over it.
            probe = self.path / f".probe-{os.getpid()}"
            files.write_atomically(probe, b"probe")
            probe.unlink()

    def mend_modes(self) -> list[str]:
        """Make all that lies here private to its owner; return what was not, and how.

        A copy, a restore or a careless hand may have opened it to others. What is
        deeper lies in folders that are then private.
        """
        return [
            told
            for path in (self.path, *sorted(self.path.iterdir()))
            # A sandbox may have its own files here, which hold nothing of ours.
            if not path.name.startswith("sandbox.")
            if (told := _mend_mode(path))
        ]

    def held_by(self) -> str | None:
        """Return the id of the process that holds the lock; None when nobody does.

        It is the number as the holder wrote it, and "unknown" for a holder that has
        not written it yet.
        """
        try:
            descriptor = os.open(self.lock, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            # Shared: two that look at once do not take each other for a daemon.
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return os.read(descriptor, 32).decode(errors="replace") or "unknown"
        finally:
            os.close(descriptor)
        return None


_OTHERS = 0o077
"""What the group and everybody else may do."""


def _mend_mode(path: Path) -> str:
    """Return how a file was open to others; empty if it was not."""
    try:
        seen = path.lstat()
        mode = stat.S_IMODE(seen.st_mode)
        if stat.S_ISLNK(seen.st_mode) or not mode & _OTHERS:
            return ""
        path.chmod(mode & ~_OTHERS)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{path} is still open to others: {error.strerror}"
    return f"{path} was {mode:04o}"


@dataclass(eq=False)
class DirectoryLock:
    """Makes sure that one process at a time writes to a data directory.

    The kernel drops the lock with the process, so a kill leaves no stale lock.
    """

    directory: DataDirectory
    descriptor: int | None = field(init=False, default=None)

    def __enter__(self) -> Self:
        """Take the lock.

        Raises:
            AlreadyRunningError: another process holds it; its id is in the message.
            StateError: the file system has no locks, or the file is not ours.
        """
        with files.disk_errors(
            f"the data directory {self.directory.path} cannot be locked",
            "Give this user write access to daemon.lock in it, or use a --data-dir on "
            "a local file system.",
        ):
            self.descriptor = self._take()
        return self

    def _take(self) -> int:
        descriptor = os.open(
            self.directory.lock,
            os.O_RDWR | os.O_CREAT | os.O_CLOEXEC,
            files.PRIVATE_FILE,
        )
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode(errors="replace").strip()
            os.close(descriptor)
            raise AlreadyRunningError(
                f"another journeyman (process {holder or 'unknown'}) uses the data "
                f"directory {self.directory.path}",
                "Stop it first, or give this one its own --data-dir. One agent, one "
                "daemon: two would do the same work twice.",
            ) from None
        except OSError:
            os.close(descriptor)
            raise
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        return descriptor

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


_ODD_LETTERS = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplacedFiles:
    """Where the files of the agent that was replaced are; None for what was not there.

    Both are readable by their owner alone.
    """

    identity: Path | None
    journal: Path | None


def replacement_directory(directory: DataDirectory) -> DataDirectory:
    """Return the folder in which the agent that takes over joins."""
    return DataDirectory(directory.path / "replacement")


def install_replacement(
    directory: DataDirectory, replacement: DataDirectory, old_agent: str
) -> ReplacedFiles:
    """Move the old agent's files aside, and the new agent's in their place.

    Called with `directory` locked and both journals closed. `old_agent` is the id of
    the agent that goes.

    Raises:
        StateError: the disk refused. Calling it again continues from there.
    """
    with files.disk_errors(
        f"the agent in {directory.path} could not be replaced",
        "Free some space or fix the permissions, then run `journeyman join --replace` "
        "again: it continues from there.",
    ):
        return _install(directory, replacement, old_agent)


def _install(
    directory: DataDirectory, replacement: DataDirectory, old_agent: str
) -> ReplacedFiles:
    name = _free_name(directory, old_agent)
    identity = None
    if replacement.identity.exists():
        if directory.identity.exists():
            identity = directory.path / f"identity-{name}.json"
            files.write_new(identity, directory.identity.read_bytes())
        # From here on the journal is another agent's, and starting is refused.
        replacement.identity.replace(directory.identity)
        files.sync_directory(directory.path)
    journal = None
    if directory.journal.exists():
        journal = directory.path / f"journal-{name}.db"
        _move_journal(directory.journal, journal)
    _move_journal(replacement.journal, directory.journal)
    files.sync_directory(directory.path)
    shutil.rmtree(replacement.path)
    return ReplacedFiles(identity=identity, journal=journal)


def _move_journal(source: Path, target: Path) -> None:
    # The log first: a journal without its log would lack what was committed last.
    for suffix in reversed(JOURNAL_FILES):
        part = source.with_name(source.name + suffix)
        if part.exists():
            part.replace(target.with_name(target.name + suffix))


def _free_name(directory: DataDirectory, agent: str) -> str:
    """Return `<agent id>-<n>` as a file name can carry it, not used before."""
    plain = _ODD_LETTERS.sub("_", agent)[:80].strip(".") or "agent"
    used = {path.name for path in directory.path.iterdir()}
    names = (f"{plain}-{number}" for number in count(1))
    return next(
        name
        for name in names
        if used.isdisjoint({f"identity-{name}.json", f"journal-{name}.db"})
    )
