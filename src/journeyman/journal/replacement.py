"""One agent takes the place of another in a data directory; nothing is thrown away.

The new agent joins in a folder of its own below the data directory. Only when it is
durable there are the files of the old one put aside, under names that tell whose they
are, and the new ones put in place. A crash between two of these steps is finished by
the next call; until then nothing starts with one agent's identity and another's books.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from journeyman.domain.errors import StateError
from journeyman.journal.directory import DataDirectory
from journeyman.journal.files import sync_directory, write_new

_WAL = ("", "-wal", "-shm")
"""The files of a journal."""
_ODD_LETTERS = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class PutAside:
    """Where the files of the agent that was replaced are; None for what was not there.

    Both are readable by their owner alone.
    """

    identity: Path | None
    journal: Path | None


def newcomer_directory(directory: DataDirectory) -> DataDirectory:
    """Give the folder in which the agent that takes over joins."""
    return DataDirectory(directory.path / "replacement")


def put_in_place(
    directory: DataDirectory, newcomer: DataDirectory, old_agent: str
) -> PutAside:
    """Put the old agent's files aside, and the newcomer's in their place.

    Called with the lock on `directory` held and both journals closed. `old_agent` is
    the id of the agent that goes.

    Raises:
        StateError: the disk refused. Calling it again goes on from there.
    """
    try:
        return _put_in_place(directory, newcomer, old_agent)
    except OSError as error:
        raise StateError(
            f"the agent in {directory.path} could not be replaced: {error.strerror}",
            "Free some space or fix the permissions, then run "
            "`journeyman join --replace` again: it goes on from there.",
        ) from error


def _put_in_place(
    directory: DataDirectory, newcomer: DataDirectory, old_agent: str
) -> PutAside:
    name = _free_name(directory, old_agent)
    identity = None
    if newcomer.identity.exists():
        if directory.identity.exists():
            identity = directory.path / f"identity-{name}.json"
            write_new(identity, directory.identity.read_bytes())
        # From here on the journal is another agent's, and starting is refused.
        newcomer.identity.replace(directory.identity)
        sync_directory(directory.path)
    journal = None
    if directory.journal.exists():
        journal = directory.path / f"journal-{name}.db"
        _move_journal(directory.journal, journal)
    _move_journal(newcomer.journal, directory.journal)
    sync_directory(directory.path)
    shutil.rmtree(newcomer.path)
    return PutAside(identity=identity, journal=journal)


def _move_journal(source: Path, target: Path) -> None:
    # The log first: a journal without its log would lack what was committed last.
    for suffix in reversed(_WAL):
        part = source.with_name(source.name + suffix)
        if part.exists():
            part.replace(target.with_name(target.name + suffix))


def _free_name(directory: DataDirectory, agent: str) -> str:
    """Give `<agent id>-<n>` as a file name can carry it, not used before."""
    plain = _ODD_LETTERS.sub("_", agent)[:80].strip(".") or "agent"
    number = 1
    while _is_used(directory, f"{plain}-{number}"):
        number += 1
    return f"{plain}-{number}"


def _is_used(directory: DataDirectory, name: str) -> bool:
    taken = (f"identity-{name}.json", f"journal-{name}.db")
    return any((directory.path / one).exists() for one in taken)
