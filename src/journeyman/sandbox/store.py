"""The sandbox's SQLite: one connection, one transaction for each request."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from journeyman.sandbox.errors import SandboxError

_VERSION = 1
"""Of the schema; kept in SQLite's own `user_version`."""


def open_database(path: Path | None) -> sqlite3.Connection:
    """Open the file, making it where there is none; None is a database in memory.

    Raises:
        SandboxError: the file cannot be written, or is not a sandbox's.
    """
    try:
        db = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=0)
    except sqlite3.Error as error:
        raise _unusable(path, error) from error
    try:
        _prepare(db)
    except sqlite3.Error as error:
        db.close()
        raise _unusable(path, error) from error
    return db


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Do all of what is inside, or none of it; nothing inside may await."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _prepare(db: sqlite3.Connection) -> None:
    db.row_factory = sqlite3.Row
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    is_new = version == 0 and not tables
    if not is_new and version != _VERSION:
        raise sqlite3.DatabaseError("it holds something else")
    # Locked for as long as it is open: two sandboxes on one file would each think
    # that they alone decide who wins a race.
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("PRAGMA journal_mode = WAL")
    # A killed process loses nothing this way; a power cut may lose the last moments,
    # which a sandbox can bear and a benchmark would otherwise measure.
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA foreign_keys = ON")
    if is_new:
        _create(db)
    with transaction(db):
        pass  # takes the lock now, while a refusal can still be told


def _create(db: sqlite3.Connection) -> None:
    schema = (files("journeyman.sandbox") / "schema.sql").read_text("utf-8")
    # executescript() commits by itself, so the transaction is part of the script.
    db.executescript(
        f"BEGIN IMMEDIATE;\n{schema}\nPRAGMA user_version = {_VERSION};\nCOMMIT;",
    )


def _unusable(path: Path | None, error: sqlite3.Error) -> SandboxError:
    return SandboxError(
        f"{path}: cannot be used as the sandbox's data: {error}",
        "Name a sandbox's own file that no other sandbox has open, or a new file in "
        "a folder that can be written.",
    )
