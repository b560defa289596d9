"""The sandbox's SQLite: one connection, one transaction for each request."""

import secrets  # noqa: TID251 - the sandbox's only source of secrets
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from random import Random

import anyio

from journeyman.sandbox.contract import ENDPOINTS, Endpoint
from journeyman.sandbox.errors import SandboxError
from journeyman.sandbox.material import Material, load_material
from journeyman.sandbox.options import SandboxOptions
from journeyman.sandbox.pauses import Pauses

_VERSION = 4
"""Of the schema; kept in SQLite's own `user_version`. A sandbox is for trying things
out, so that a file of another version is refused and not converted."""


def open_database(path: Path | None) -> sqlite3.Connection:
    """Open the file, which is created if it is missing; None is a database in memory.

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
        whose = f"a sandbox of schema version {version}, and this is {_VERSION}"
        known = 0 < version < _VERSION
        raise sqlite3.DatabaseError(
            f"it is the database of {whose}" if known else "it is not a sandbox's"
        )
    # Locked for as long as it is open: two sandboxes on one file would each think
    # that it alone decides who wins a race.
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("PRAGMA journal_mode = WAL")
    # A killed process loses nothing this way; a power cut may lose the last moments,
    # which a sandbox can bear and a benchmark would otherwise measure.
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA foreign_keys = ON")
    if is_new:
        _create(db)
    with transaction(db):
        pass  # takes the lock now, so that opening fails if another sandbox has it


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


class SandboxEnvironment:
    """The clock and the randomness of this machine; tests replace them."""

    def now(self) -> datetime:
        """Return the time of the wall clock, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - the sandbox's only clock

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await anyio.sleep(seconds)

    def new_token(self) -> str:
        """Return an unguessable text of 64 hexadecimal digits."""
        return secrets.token_hex(32)


def seeded(*parts: object) -> Random:
    """Return a generator that is the same for the same parts.

    The parts name its stream: renaming a stream changes what every seed means.
    """
    text = "/".join(map(str, parts))
    return Random(text)  # noqa: S311 - repeatable on purpose, and nothing secret


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """The parts that every operation works on."""

    db: sqlite3.Connection
    options: SandboxOptions
    environment: SandboxEnvironment
    material: Material = field(repr=False)
    pauses: Pauses = field(default_factory=Pauses)

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """The contract's endpoints, without those that the options leave out."""
        absent = self.options.absent
        return tuple(one for one in ENDPOINTS if one.name not in absent)

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Return a transaction; see `store.transaction`."""
        return transaction(self.db)

    def now(self) -> str:
        """Return the time as the sandbox writes it, such as 2026-11-21T10:00:00Z."""
        return self.written(self.environment.now())

    def written(self, at: datetime) -> str:
        """Return a time as the sandbox writes it; later ones are greater texts."""
        return at.strftime("%Y-%m-%dT%H:%M:%SZ")

    def new_id(self, prefix: str) -> str:
        """Return an identifier that nobody can guess."""
        return f"{prefix}_{self.environment.new_token()[:24]}"

    def task_id(self, bits: int) -> str:
        """Return the identifier of a task, from 48 bits."""
        match self.options.id_format:
            case "prefixed":
                return f"task_{bits:012x}"
            case "integer":
                return str(bits)
            case "uuid":
                # Of version 8, whose bits anybody may choose (RFC 9562).
                return f"{bits >> 16:08x}-{bits & 0xFFFF:04x}-8000-8000-{bits:012x}"

    def new_task_id(self) -> str:
        """Return an identifier for a task that nobody can guess."""
        if self.options.id_format == "prefixed":
            return self.new_id("task")
        return self.task_id(int(self.environment.new_token()[:12], 16))


def open_state(options: SandboxOptions, environment: SandboxEnvironment) -> State:
    """Open the data and load the material.

    Raises:
        SandboxError: the data cannot be used.
    """
    return State(
        db=open_database(options.data),
        options=options,
        environment=environment,
        material=load_material(),
    )
