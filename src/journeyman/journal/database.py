"""The journal's file: the one way to write to it, and how it is opened and migrated."""

import asyncio
import sqlite3
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol, TypeVar
from zoneinfo import ZoneInfo

from journeyman.domain.errors import StateError
from journeyman.journal.files import PRIVATE_FILE

T = TypeVar("T")
Row = sqlite3.Row
Now = Callable[[], datetime]
MOST_KEPT = 1_000
"""Values of a memo."""
_DURABLE = "PRAGMA synchronous = FULL"
"""A lost "about to spend" row would be a double spend after a power cut."""
MOST_ROWS = 25
"""That one statement writes. More are no faster, and each number of rows is a statement
of its own: of too many, Python would prepare most again and again."""
_UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""The message itself may quote what is damaged."""
DiskRefusal = sqlite3.OperationalError
"""What an observer raises to act as a disk that refuses a commit; for simulation."""


class CommitObserver(Protocol):
    """Is told of every commit; what it raises in `before` undoes the transaction."""

    def before(self, label: str) -> None:
        """All is written, nothing is durable yet."""
        ...

    def after(self, label: str) -> None:
        """All is durable."""
        ...


class Database:
    """One SQLite connection, used from the event loop without a thread.

    A durable commit costs about 0.15 ms, less than handing it to a thread would
    (see docs/decisions). All writes go through `tx`.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open or create the file and bring its schema up to date.

        Raises:
            StateError: it is damaged, unreadable, or from a newer version.
        """
        self.path = path
        self.is_read_only = read_only
        self._in_transaction = False
        self._before_commit: list[Callable[[], None]] = []
        self._after_rollback: list[Callable[[], None]] = []
        self._observer: CommitObserver | None = None
        self._connection = _open(path, read_only=read_only)

    def before_commit(self, write: Callable[[], None]) -> None:
        """Call this at the end of each transaction, while it can still be undone."""
        self._before_commit.append(write)

    def after_rollback(self, forget: Callable[[], None]) -> None:
        """Call this when a transaction is undone."""
        self._after_rollback.append(forget)

    def observe(self, observer: CommitObserver) -> None:
        """Call this observer, and no other, at each commit."""
        self._observer = observer

    def close(self) -> None:
        """Close the file; committed work is safe with or without this."""
        self._connection.close()

    @contextmanager
    def tx(self, label: str, *, waits: bool = True) -> Iterator[None]:
        """Make the writes inside one durable, all-or-nothing step.

        Nothing may be awaited inside: the block is a synchronous one. `label` names
        the step in errors.

        With `waits` false, nobody waits for the disk: the step survives the death of
        the process, and that of the machine once a later one has waited, which makes
        all before it durable. That is for what is found again if it is lost.

        Raises:
            StateError: the disk refused; nothing of the step was kept.
        """
        if self._in_transaction:
            raise RuntimeError(f"transaction {label!r} opened inside another")
        self._in_transaction = True
        try:
            if not waits:
                self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._write_pending()
                if self._observer:
                    self._observer.before(label)
                self._connection.execute("COMMIT")
            except BaseException:
                self._undo("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise _unwritable(self.path, label, error) from error
        finally:
            self._in_transaction = False
            if not waits:
                self._connection.execute(_DURABLE)
        if self._observer:
            self._observer.after(label)

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Make the writes inside undoable without the rest of the transaction."""
        self._connection.execute("SAVEPOINT step")
        try:
            yield
            self._write_pending()
        except BaseException:
            self._undo("ROLLBACK TO step", "RELEASE step")
            raise
        self._connection.execute("RELEASE step")

    def _write_pending(self) -> None:
        for write in self._before_commit:
            write()

    def _undo(self, *statements: str) -> None:
        for forget in self._after_rollback:
            forget()
        # A full disk makes SQLite undo the whole transaction by itself.
        if self._connection.in_transaction:
            for statement in statements:
                self._connection.execute(statement)

    def write(self, statement: str, *values: object) -> int:
        """Run one statement inside `tx`; return how many rows it changed."""
        if not self._in_transaction:
            raise RuntimeError("a write outside of a transaction")
        return self._connection.execute(statement, values).rowcount

    def insert(self, table: str, **values: object) -> None:
        """Add a row inside `tx`; the values are named after their columns."""
        self.write(_insert(table, tuple(values)), *values.values())

    def insert_if_new(self, table: str, key: str, /, **values: object) -> bool:
        """Add a row inside `tx`; return False where one has this key already."""
        statement = f"{_insert(table, tuple(values))} ON CONFLICT ({key}) DO NOTHING"
        return bool(self.write(statement, *values.values()))

    def insert_all(self, table: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Add rows that have the same columns inside `tx`, some with each statement."""
        for some in _portions(rows):
            statement = _insert(table, tuple(some[0]), len(some))
            self.write(statement, *(value for row in some for value in row.values()))

    def upsert_all(
        self, table: str, *key: str, rows: Sequence[Mapping[str, object]]
    ) -> None:
        """Do as `insert_all`, and change the rows of which the key is there already."""
        for some in _portions(rows):
            statement = _upsert(table, key, tuple(some[0]), len(some))
            self.write(statement, *(value for row in some for value in row.values()))

    def replace(self, table: str, **values: object) -> None:
        """Add a row inside `tx`, in place of the one with the same key."""
        statement = _insert(table, tuple(values)).replace("INSERT", "REPLACE", 1)
        self.write(statement, *values.values())

    def upsert(self, table: str, *key: str, **values: object) -> None:
        """Add a row inside `tx`, or change these values of the one with this key."""
        self.write(_upsert(table, key, tuple(values)), *values.values())

    def rows(self, query: str, *values: object) -> list[Row]:
        """Return all rows of a query.

        Raises:
            StateError: the file cannot be read.
        """
        try:
            return self._connection.execute(query, values).fetchall()
        except _UNREADABLE as error:
            raise _unusable(self.path, error) from error

    def row(self, query: str, *values: object) -> Row | None:
        """Return the first row of a query, if it has one.

        Raises:
            StateError: the file cannot be read.
        """
        return next(iter(self.rows(query, *values)), None)

    def number(self, query: str, *values: object) -> int:
        """Return the first value of a query as a whole number; 0 where it has none.

        Raises:
            StateError: the file cannot be read.
        """
        row = self.row(query, *values)
        return int(row[0] or 0) if row else 0

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Make all reads inside see one and the same moment, whoever writes.

        Raises:
            StateError: the file cannot be read.
        """
        try:
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                # An error of the file may have ended it already.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error

    def show_more(
        self, table: str, number: str, key: str, rows: Iterable[Mapping[str, object]]
    ) -> None:
        """Have every question in a snapshot see further rows of a table, until its end.

        Only those of which the number is not there already; nothing is written to the
        file.
        """
        more = f"temp.more_{table}"
        execute = self._connection.execute
        execute(
            f"CREATE TEMP TABLE more_{table} AS SELECT * FROM main.{table} LIMIT 0"  # noqa: S608 - our own names
        )
        for row in rows:
            execute(_insert(more, tuple(row)), tuple(row.values()))
        execute(
            f"DELETE FROM {more} WHERE {number} IN (SELECT {number} FROM main.{table})"  # noqa: S608 - our own names
        )
        for column in (number, key):
            execute(f"CREATE INDEX temp.more_{column} ON more_{table} ({column})")
        # A name is looked for among what is temporary first.
        execute(
            f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} "  # noqa: S608 - our own names
            f"UNION ALL SELECT * FROM {more}"
        )

    def backup_to(self, path: Path) -> None:
        """Write a compact copy of the whole journal to a new or an empty file.

        Raises:
            StateError: the disk refused, or this journal is damaged.
        """
        try:
            self._connection.execute("VACUUM INTO ?", (str(path),))
        except sqlite3.Error as error:
            raise StateError(
                f"the journal {self.path} could not be copied to {path}: {error}",
                "Free some space there; if that does not help, run "
                "`journeyman journal check`.",
            ) from error

    def used_bytes(self) -> int:
        """Return how much of the file is in use; the rest is free for what comes."""
        pages, free, size = (
            self.number(f"PRAGMA {name}")
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the file, so that it does not grow.

        Raises:
            StateError: the disk refused; what was committed is kept.
        """
        self._maintain("checkpoint", "PRAGMA wal_checkpoint(PASSIVE)")

    def compact(self) -> None:
        """Rewrite the file without the room that it no longer needs.

        Raises:
            StateError: the disk refused; the journal is as it was.
        """
        self._maintain("compact", "VACUUM")
        self._maintain("compact", "PRAGMA wal_checkpoint(TRUNCATE)")

    def _maintain(self, label: str, statement: str) -> None:
        try:
            self._connection.execute(statement)
        except sqlite3.Error as error:
            raise _unwritable(self.path, label, error) from error


class Memo:
    """What was read from the file and has not changed since, as only we write to it.

    Whoever writes a table clears its memo; a transaction that is undone clears all. A
    database that is only read has another writer, so nothing of it is kept.
    """

    def __init__(self, database: Database) -> None:
        self._kept: dict[Hashable, Any] = {}
        self._is_kept = not database.is_read_only
        database.after_rollback(self.clear)

    def get(self, key: Hashable, read: Callable[[], T]) -> T:
        """Return what is kept under a key, or else what `read` finds."""
        if not self._is_kept:
            return read()
        if key not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[key] = read()
        value: T = self._kept[key]
        return value

    def clear(self) -> None:
        """Forget everything: it has changed."""
        self._kept.clear()


@dataclass(frozen=True, slots=True)
class _Step:
    write: Callable[[], Any]
    written: asyncio.Future[Any]


_Ended = tuple[_Step, Any, Exception | None]
"""A step, with what it returned or raised."""


class _StepError(Exception):
    """A step of a group has raised."""


QUIET_TURNS = 2
"""Turns of the event loop without a new step, after which a group is committed. What
has reached a socket needs two to become a step, so that it still joins the group; and
where nothing has, two turns are no wait (decision 0099)."""


class CommitGroup:
    """Collects the steps of tasks that are ready together, and commits them together.

    A step that raises is undone alone. That is so rare that nothing is prepared for it:
    the whole group is undone, and done again with a savepoint for each step. So what a
    step keeps in memory beside the file must be restored by `Database.after_rollback`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._steps: list[_Step] = []

    async def commit(self, write: Callable[[], T]) -> T:
        """Run `write` inside a transaction; return when it is durable.

        A caller that is cancelled meanwhile has its step written all the same: what
        was decided before the cancellation is not lost by it.

        Raises:
            StateError: the disk refused; nothing of the whole group was kept.
            Exception: whatever `write` raised; nothing of this step was kept.
        """
        loop = asyncio.get_running_loop()
        step = _Step(write, loop.create_future())
        self._steps.append(step)
        if len(self._steps) == 1:
            loop.call_soon(self._gather, loop, 1, QUIET_TURNS)
        try:
            result: T = await step.written
        except asyncio.CancelledError:
            # Now: whoever cancelled may go on from what the journal says.
            self._flush()
            raise
        return result

    def _gather(
        self, loop: asyncio.AbstractEventLoop, known: int, quiet_turns: int
    ) -> None:
        """Wait until some turns have brought no step besides those that are known."""
        found = len(self._steps)
        left = quiet_turns - 1 if found == known else QUIET_TURNS
        if left < 0:
            self._flush()
        else:
            loop.call_soon(self._gather, loop, found, left)

    def _flush(self) -> None:
        steps, self._steps = self._steps, []
        if not steps:
            return
        try:
            ended = self._write_at_once(steps) or self._write_one_by_one(steps)
        except Exception as error:  # noqa: BLE001 - it is told to every caller
            ended = [(step, None, error) for step in steps]
        for step, result, failure in ended:
            if step.written.cancelled():
                continue
            if failure is None:
                step.written.set_result(result)
            else:
                step.written.set_exception(failure)

    def _write_at_once(self, steps: list[_Step]) -> list[_Ended]:
        """Commit steps; return and change nothing where one of them raises."""
        ended: list[_Ended] = []
        try:
            with self._database.tx("group"):
                for step in steps:
                    try:
                        ended.append((step, step.write(), None))
                    except sqlite3.Error:
                        raise  # the disk, not the step
                    except Exception as error:
                        raise _StepError from error
        except _StepError:
            return []
        return ended

    def _write_one_by_one(self, steps: list[_Step]) -> list[_Ended]:
        with self._database.tx("group"):
            return [self._run(step) for step in steps]

    def _run(self, step: _Step) -> _Ended:
        try:
            with self._database.savepoint():
                return step, step.write(), None
        except sqlite3.Error:
            raise  # the disk, not the step: the whole group is undone
        except Exception as error:  # noqa: BLE001 - it is told to its caller alone
            return step, None, error


def _portions(
    rows: Sequence[Mapping[str, object]],
) -> Iterator[Sequence[Mapping[str, object]]]:
    """Yield rows in as many as one statement writes, which need not grow for ever."""
    for start in range(0, len(rows), MOST_ROWS):
        yield rows[start : start + MOST_ROWS]


@cache
def _insert(table: str, columns: tuple[str, ...], rows: int = 1) -> str:
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) "  # noqa: S608 - our own names
        f"VALUES {', '.join([f'({marks(columns)})'] * rows)}"
    )


@cache
def _upsert(
    table: str, key: tuple[str, ...], columns: tuple[str, ...], rows: int = 1
) -> str:
    changed = [one for one in columns if one not in key]
    assigned = ", ".join(f"{one} = excluded.{one}" for one in changed)
    # A row that is the same already is not written: the disk has nothing to do.
    differs = " OR ".join(f"{table}.{one} IS NOT excluded.{one}" for one in changed)
    return (
        f"{_insert(table, columns, rows)} "
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {assigned} WHERE {differs}"
    )


def marks(values: Collection[object]) -> str:
    """Return as many question marks as there are values, for `IN (...)`."""
    return ", ".join("?" * len(values))


def _open(path: Path, *, read_only: bool) -> sqlite3.Connection:
    # As a URI with its odd characters escaped: a "?" in a path is not a query.
    address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    try:
        connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=5)
    except sqlite3.Error as error:
        raise _unusable(path, error) from error
    try:
        connection.row_factory = sqlite3.Row
        connection.create_function("day_in", 2, _day_in, deterministic=True)
        if not read_only:
            _make_durable(connection, path)
        _bring_up_to_date(connection, path, read_only=read_only)
    except (*_UNREADABLE, OSError) as error:
        connection.close()
        raise _unusable(path, error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _day_in(at: str, zone: str) -> str:
    """Return the day in a zone, as 2026-11-21, of a time that is stored in UTC."""
    return at[:10] if zone == "UTC" else _day_of_minute(at[:16], zone)


@lru_cache(maxsize=4096)
def _day_of_minute(minute: str, zone: str) -> str:
    at = datetime.fromisoformat(minute).replace(tzinfo=UTC)
    return at.astimezone(ZoneInfo(zone)).date().isoformat()


def _make_durable(connection: sqlite3.Connection, path: Path) -> None:
    path.chmod(PRIVATE_FILE)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(_DURABLE)


def _bring_up_to_date(
    connection: sqlite3.Connection, path: Path, *, read_only: bool
) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    scripts = _migrations()
    newest = max(scripts)
    if version > newest:
        raise StateError(
            f"the journal {path} has version {version}; this journeyman reads versions "
            f"up to {newest}",
            "Run the newer journeyman that wrote it, or use another --data-dir.",
        )
    if read_only and version < newest:
        raise StateError(
            f"the journal {path} has version {version}; this journeyman reads version "
            f"{newest}",
            "Start the daemon once: it brings the journal up to date.",
        )
    if version < newest:
        missing = [scripts[number] for number in sorted(scripts) if number > version]
        _apply(connection, missing, newest)


@cache
def _migrations() -> Mapping[int, str]:
    folder = files(__package__) / "migrations"
    return {
        int(script.name.split("_")[0]): script.read_text()
        for script in folder.iterdir()
        if script.name.endswith(".sql")
    }


def _apply(connection: sqlite3.Connection, scripts: list[str], version: int) -> None:
    """Run migrations and record them, in one transaction: all of them or none."""
    script = "\n".join(scripts)
    connection.executescript(
        f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {version};\nCOMMIT;"
    )


def _unusable(path: Path, error: Exception) -> StateError:
    return StateError(
        f"the journal {path} cannot be opened: {error}",
        "Check that this user can read the file. If it is damaged, restore a backup: "
        "`journeyman journal restore`. The identity is in a separate file.",
    )


def _unwritable(path: Path, label: str, error: sqlite3.Error) -> StateError:
    return StateError(
        f"the journal {path} cannot be written ({label}): {error}",
        "Free some space or fix the disk, then start again; what was committed "
        "before is kept.",
    )
