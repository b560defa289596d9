"""Archives of the ledger: its old entries, compressed, chained on by their hashes.

A file has whole stretches of the ledger, entry after entry, as lines of JSON. The
journal keeps the hash before the first and that of the last, which prove all between
them, so that no line needs its own. An entry leaves the journal only with the commit
that says that its file has it, and only where nothing will ask for it by its task.

These files are part of the ledger: nothing ever deletes one.
"""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

from journeyman.domain.errors import StateError
from journeyman.journal.archives import ENDING, GrowingFiles, free_name
from journeyman.journal.codec import load, stored_between
from journeyman.journal.database import Row
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import (
    ACCOUNT_TOTAL,
    AGENT,
    ARCHIVED_TOTAL,
    GENESIS,
    KIND_TOTAL,
    RECEIVABLE,
    STRATEGY_TOTAL,
    Entry,
    LedgerArchive,
    entry_hash,
    fault_in,
)

PREFIX = "ledger-"
"""Of their names; the month (UTC) follows."""
MOST_AT_ONCE = 100
"""Entries of one step, which takes some milliseconds on the event loop. Fewer compress
worse: an entry takes 46 bytes in steps of 250, 48 in these and 52 in steps of 50."""
STAY = 5_001
"""Entries that stay in the journal, however old: all that a start checks, and one."""
_KEYS = (
    *("delivered", "corrected", "corrected:rest", "written-off"),
    *("earned", "earned:rest", "late-pay"),
)
"""By which the entries of a task are found, but for its costs."""
_LEFT_OUT = ("previous_hash", "hash")
"""They follow from the entries before."""
_UNREADABLE = (OSError, EOFError, zlib.error, ValueError, LookupError)


@dataclass(eq=False)
class LedgerArchives:
    """The archives of the ledger, for the one daemon that writes to it."""

    folder: Path
    journal: Journal
    stay: int = STAY
    _files: GrowingFiles = field(init=False)

    def __post_init__(self) -> None:
        self._files = GrowingFiles(self.folder, self.journal, keeps_known=True)

    def add(self, before: datetime, now: datetime) -> bool:
        """Archive the oldest entries, up to one from after a time; one step of it.

        What nothing will ask for by its task leaves the journal. Returns False where
        there was nothing to archive.

        Raises:
            StateError: the disk refused, or the entries are not as they were booked;
                nothing was dropped.
        """
        last = self.journal.ledger.archived()
        rows = self._old_rows(last.last_entry, before, now)
        if not rows:
            return False
        _require_whole(rows, last)
        archive = self._extended(last, rows)
        rows = rows[: archive.last_entry - last.last_entry]
        self._files.append(archive.name, "".join(map(_line, rows)))
        with self.journal.tx("ledger archive"):
            self._files.note_dropped()
            self._note(archive)
            self._drop({row["subject"] for row in rows} - {""}, archive.last_entry)
        return True

    def _old_rows(self, after: int, before: datetime, now: datetime) -> list[Row]:
        until = self.journal.ledger.head()[0] - self.stay
        rows = self.journal.database.rows(
            "SELECT * FROM ledger WHERE entry_id > ? AND entry_id <= ? "
            "ORDER BY entry_id LIMIT ?",
            *(after, until, MOST_AT_ONCE),
        )
        # One from the future is of a clock that was wrong, and holds up nothing.
        limits = before.isoformat(), now.isoformat()
        return [*takewhile(lambda row: not limits[0] <= row["at"] <= limits[1], rows)]

    def _extended(self, last: LedgerArchive, rows: Sequence[Row]) -> LedgerArchive:
        """Return the archive that gets the first of these entries, with them in it."""
        month = max(rows[0]["at"][: len("2026-11")], _month_of(last))
        some = [*takewhile(lambda row: row["at"][: len(month)] <= month, rows)]
        base = last
        if month != _month_of(last) or not self._files.is_whole(last.name):
            base = LedgerArchive(
                name=self._new_name(f"{PREFIX}{month}{ENDING}"),
                first_entry=rows[0]["entry_id"],
                previous_hash=last.hash,
            )
        times = [row["at"] for row in some] + [base.first_at, base.last_at]
        return replace(
            base,
            last_entry=some[-1]["entry_id"],
            hash=some[-1]["hash"],
            balance=some[-1]["balance"],
            first_at=min(filter(None, times)),
            last_at=max(times),
        )

    def _new_name(self, name: str) -> str:
        """Return a name that no archive has: also one that is gone may come back."""
        known = {one.name for one in archives_of(self.journal)}
        return free_name(self.folder / name, known).name if name in known else name

    def _note(self, archive: LedgerArchive) -> None:
        values = {name: getattr(archive, name) for name in LedgerArchive.__slots__}
        self.journal.database.upsert("ledger_archives", "name", **values)

    def _drop(self, subjects: set[str], until: int) -> None:
        """Take entries out of the journal, of tasks of which all is archived."""
        gone = [
            row
            for rows in self._by_task(subjects).values()
            if _is_settled(rows, until)
            for row in rows
        ]
        self.journal.database.write(
            "DELETE FROM ledger WHERE entry_id IN (SELECT value FROM json_each(?))",
            json.dumps([row["entry_id"] for row in gone]),
        )
        for name, amount in _sums(gone).items():
            self.journal.totals.add(ARCHIVED_TOTAL + name, amount)

    def _by_task(self, subjects: set[str]) -> dict[str, list[Row]]:
        """Return all entries of tasks of the past."""
        database = self.journal.database
        known = database.rows(
            "SELECT task_id FROM tasks "
            "WHERE task_id IN (SELECT value FROM json_each(?))",
            json.dumps([*subjects]),
        )
        past = sorted(subjects - {row["task_id"] for row in known})
        keys = json.dumps([f"{key}:{one}" for key in _KEYS for one in past])
        rows = database.rows(
            "SELECT * FROM ledger WHERE key IN (SELECT value FROM json_each(?)) "
            "UNION ALL SELECT * FROM ledger WHERE kind = 'cost' "
            "AND subject IN (SELECT value FROM json_each(?))",
            *(keys, json.dumps(past)),
        )
        tasks: dict[str, list[Row]] = {}
        for row in rows:
            tasks.setdefault(row["subject"], []).append(row)
        return tasks


def archives_of(journal: Journal) -> list[LedgerArchive]:
    """Return the archives of the ledger that a journal knows of, in their order."""
    rows = journal.database.rows("SELECT * FROM ledger_archives ORDER BY first_entry")
    return [load(LedgerArchive, row) for row in rows]


def missing_archives(journal: Journal, folder: Path) -> list[Path]:
    """Return the archives of the ledger that are not where they were written."""
    paths = (folder / one.name for one in archives_of(journal))
    return [one for one in paths if not one.exists()]


def entries_in(folder: Path, archive: LedgerArchive) -> Iterator[dict[str, Any]]:
    """Yield the entries of an archive as rows of the ledger, hashes included.

    What follows its last entry is of a journal that knew more, and left out.

    Raises:
        StateError: it is missing, damaged, or not what was archived.
    """
    previous, number = archive.previous_hash, archive.first_entry - 1
    try:
        with gzip.open(folder / archive.name, "rt", encoding="utf-8") as lines:
            while number < archive.last_entry:
                values = {**json.loads(next(lines)), "previous_hash": previous}
                previous = values["hash"] = entry_hash(values)
                number += 1
                yield values
    except FileNotFoundError:
        raise _unusable(folder, archive, "is missing") from None
    except (*_UNREADABLE, StopIteration) as error:
        raise _unusable(folder, archive, "is damaged") from error
    if (number, previous) != (archive.last_entry, archive.hash):
        raise _unusable(folder, archive, "is not what was archived")


def archive_faults(journal: Journal, folder: Path) -> Iterator[str]:
    """Yield what is wrong with the archives, or with what the journal says of them."""
    previous, number, sums = GENESIS, 0, Counter[str]()
    for archive in archives_of(journal):
        if (archive.previous_hash, archive.first_entry) != (previous, number + 1):
            yield f"ledger: {archive.name} does not follow the archive before it"
            return
        try:
            for row in entries_in(folder, archive):
                yield from _compare(journal, row, sums)
        except StateError as error:
            yield f"ledger: {error.problem}"
            return
        previous, number = archive.hash, archive.last_entry
    known = journal.totals.starting_with(ARCHIVED_TOTAL)
    for name in sorted(known.keys() | sums.keys()):
        total, real = known.get(name, 0), sums[name]
        if total != real:
            yield (
                f"totals: {ARCHIVED_TOTAL}{name} is {total}, but the archives add up "
                f"to {real}"
            )


def _compare(
    journal: Journal, archived: dict[str, Any], sums: Counter[str]
) -> Iterator[str]:
    """Compare an entry with the journal's; add up one that is only archived."""
    number = archived["entry_id"]
    row = journal.database.row("SELECT * FROM ledger WHERE entry_id = ?", number)
    if row is None:
        sums.update(_sums([archived]))
    elif dict(row) != archived:
        yield f"ledger: entry {number} is not as it was archived"


def archived_entry(journal: Journal, folder: Path, entry_id: int) -> Entry | None:
    """Return an entry that is only archived; None where no archive has it.

    Raises:
        StateError: its archive is missing, or not what was archived.
    """
    for one in archives_of(journal):
        if one.first_entry <= entry_id <= one.last_entry:
            # All are read: only the last hash proves them.
            rows = {row["entry_id"]: row for row in entries_in(folder, one)}
            return load(Entry, rows[entry_id])
    return None


@contextmanager
def archived_entries(
    journal: Journal,
    folder: Path,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Iterator[None]:
    """Have every question inside also see the archived entries of a time.

    They are read into a table that nobody else sees and that goes away.

    Raises:
        StateError: an archive is missing, or not what was archived.
    """
    first, last = stored_between(since, until)
    with journal.database.snapshot():
        wanted = [
            one
            for one in archives_of(journal)
            if one.last_at >= first and one.first_at < last
        ]
        rows = chain.from_iterable(entries_in(folder, one) for one in wanted)
        if wanted:
            journal.database.show_more(
                *("ledger", "entry_id", "key"),
                (row for row in rows if first <= row["at"] < last),
            )
        yield


def _require_whole(rows: Sequence[Row], last: LedgerArchive) -> None:
    """Refuse to archive what was changed: nobody could tell afterwards.

    Raises:
        StateError: an entry does not follow from the one before.
    """
    number, previous, balance = last.last_entry, last.hash, last.balance
    for row in rows:
        number += 1
        if fault := fault_in(row, number, previous, balance):
            raise StateError(
                f"the ledger is damaged: {fault}",
                "Stop the daemon, then restore the newest backup: `journeyman journal "
                "restore`. The damaged file is kept.",
            )
        previous, balance = row["hash"], row["balance"]


def _line(row: Row) -> str:
    values = {name: row[name] for name in row.keys() if name not in _LEFT_OUT}  # noqa: SIM118 - a Row is no mapping
    return f"{json.dumps(values)}\n"


def _is_settled(rows: Sequence[Row], until: int) -> bool:
    """Return whether all entries of a task are archived, and nothing of it is owed."""
    sums = _sums(rows)
    is_old = all(row["entry_id"] <= until for row in rows)
    return is_old and not sums[ACCOUNT_TOTAL + RECEIVABLE]


def _sums(rows: Sequence[Row | Mapping[str, Any]]) -> Counter[str]:
    """Return what entries add up to, by kind, account and strategy."""
    sums = Counter[str]()
    for row in rows:
        amount = row["amount"]
        for name, moved in ((row["account"], amount), (row["contra"], -amount)):
            sums[ACCOUNT_TOTAL + name.partition(":")[0]] += moved
        if row["account"] == AGENT:
            sums[KIND_TOTAL + row["kind"]] += amount
            sums[STRATEGY_TOTAL + row["strategy"]] += amount
    return sums


def _month_of(archive: LedgerArchive) -> str:
    return archive.name.removeprefix(PREFIX)[: len("2026-11")]


def _unusable(folder: Path, archive: LedgerArchive, what: str) -> StateError:
    return StateError(
        f"the archive {folder / archive.name}, with entries {archive.first_entry} to "
        f"{archive.last_entry} of the ledger, {what}",
        "Put it back from a copy of the data directory. What is newer is in the "
        "journal: name a time after it with --since.",
    )
