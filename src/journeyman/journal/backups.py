"""Backups of the journal: a few, made by rotation; and how one is put in its place."""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from journeyman.domain.errors import StateError
from journeyman.journal import files
from journeyman.journal.database import Now
from journeyman.journal.directory import JOURNAL_FILES, DataDirectory
from journeyman.journal.journal import Journal
from journeyman.journal.maintenance import back_up, damage

NAME = "journal-%Y%m%dT%H%M%SZ.db"


@dataclass(frozen=True, slots=True)
class Backup:
    """One of the copies that a daemon made."""

    path: Path
    made_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Installed:
    """A journal is in its place."""

    source: Path
    kept_as: Path | None
    """Where that which was in its place is now; None where nothing was."""


def backups(directory: DataDirectory) -> list[Backup]:
    """Return those that were made, the newest first."""
    return sorted(_found(directory), key=lambda one: one.made_at, reverse=True)


def _found(directory: DataDirectory) -> Iterator[Backup]:
    if not directory.backups.is_dir():
        return
    for path in directory.backups.iterdir():
        with suppress(ValueError):  # It is not one of ours.
            yield Backup(path, datetime.strptime(path.name, NAME).replace(tzinfo=UTC))


def make_backup(directory: DataDirectory, now: Now, *, keep: int) -> Backup:
    """Copy a journal, also while a daemon writes it; keep only the newest copies.

    The old ones go after the new one is whole: a full disk costs none of them.

    Raises:
        StateError: the disk refused; the old ones stay.
    """
    made_at = now()
    target = directory.backups / made_at.strftime(NAME)
    unfinished = directory.backups / "unfinished.db"
    with files.disk_errors(
        f"no backup can be made in {directory.backups}",
        "Free some space or fix the permissions; or set data.backups to 0.",
    ):
        directory.backups.mkdir(mode=files.PRIVATE_DIRECTORY, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        with closing(Journal(directory.journal, now, read_only=True)) as journal:
            back_up(journal, unfinished)
        unfinished.replace(target)
        files.sync_directory(directory.backups)
        kept = [one for one in backups(directory) if one.made_at <= made_at][:keep]
        for old in backups(directory):
            # One that seems to be newer is of a clock that was wrong, and older.
            if old not in kept:
                old.path.unlink()
    return Backup(target, made_at)


def damaged(path: Path, found: list[str]) -> StateError:
    """Return the refusal to work on a damaged journal."""
    return StateError(
        f"the journal {path} is damaged: {'; '.join(found[:3])}",
        "It is not worked on. Stop the daemon, then restore the newest backup: "
        "`journeyman journal restore`. The damaged file is kept.",
    )


def prepare(directory: DataDirectory, source: Path, now: Now) -> Path:
    """Copy a journal beside the place where it is to be, and check it there.

    Raises:
        StateError: it is not there, is damaged, or from a newer version; or the disk
            refused.
    """
    prepared = directory.path / "journal.prepared"
    with files.disk_errors(
        f"the journal {source} cannot be copied into {directory.path}",
        "Name a file that this user can read, and free some space.",
    ):
        discard(prepared)
        for suffix in JOURNAL_FILES[:2]:
            part = source.with_name(source.name + suffix)
            if part.exists() or not suffix:
                copy = prepared.with_name(prepared.name + suffix)
                shutil.copyfile(part, copy)
                copy.chmod(files.PRIVATE_FILE)
        with closing(Journal(prepared, now)) as journal:
            if found := damage(journal):
                raise damaged(source, found)
            journal.database.compact()
        files.sync_file(prepared)
    return prepared


def discard(prepared: Path) -> None:
    """Remove what an interrupted attempt has left."""
    for suffix in JOURNAL_FILES:
        prepared.with_name(prepared.name + suffix).unlink(missing_ok=True)


def install(directory: DataDirectory, prepared: Path, source: Path) -> Installed:
    """Put a prepared journal in its place; what was there is kept beside it.

    A kill at any moment leaves the old journal, the new one, or none; with none, no
    daemon starts, and calling this again goes on from there.

    Raises:
        StateError: the disk refused.
    """
    with files.disk_errors(
        f"the journal in {directory.path} cannot be replaced",
        "Free some space or fix the permissions, then try again.",
    ):
        kept_as = _set_aside(directory)
        files.sync_directory(directory.path)
        prepared.replace(directory.journal)
        files.sync_directory(directory.path)
    return Installed(source=source, kept_as=kept_as)


def _set_aside(directory: DataDirectory) -> Path | None:
    # The file before its log: a log alone is not worked on, a file without it would be.
    there = [
        suffix
        for suffix in JOURNAL_FILES
        if os.path.lexists(f"{directory.journal}{suffix}")
    ]
    if not there:
        return None
    names = (directory.path / f"journal-replaced-{number}.db" for number in count(1))
    target = next(
        name
        for name in names
        if not any(os.path.lexists(f"{name}{suffix}") for suffix in there)
    )
    for suffix in there:
        Path(f"{directory.journal}{suffix}").replace(f"{target}{suffix}")
    return target
