"""Maintenance of a journal: check it, copy it, make it smaller."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from journeyman.domain.errors import StateError
from journeyman.journal.database import Database
from journeyman.journal.files import create_new, disk_errors, sync_directory, sync_file
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import ACCOUNT_TOTAL, ARCHIVED_TOTAL, KIND_TOTAL
from journeyman.journal.ledger_archives import archive_faults
from journeyman.journal.tasks import (
    FORGOTTEN_TOTAL,
    PAST_STATES,
    SEEN_TOTAL,
    SKIPPED_TOTAL,
    STATE_TOTAL,
)

FAULTS_SHOWN = 20
"""Of a file that is damaged all over, the first ones tell enough."""
LAST_ENTRIES = 5_000
"""Of the ledger, checked before each start; a day's check reads all."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """How large the journal's files were, and are, in bytes."""

    before: int
    after: int


def faults(journal: Journal, archives: Path | None = None) -> list[str]:
    """Check the file, the ledger's chain, and every total against what it counts.

    Reads everything, at one moment, also while a daemon writes. Empty: it is whole.
    `archives` is the folder of the ledger's archives; None: they are not read.

    Raises:
        StateError: the file cannot even be read.
    """
    return _checked(
        journal,
        lambda: [
            *_broken_books(journal, archives),
            *_wrong_totals(journal),
            *_wrong_histories(journal.database),
        ],
    )


def damage(journal: Journal) -> list[str]:
    """Check the file and the ledger's chain: what no daemon may work on.

    Reads everything, at one moment, also while a daemon writes. Empty: it is whole.

    Raises:
        StateError: the file cannot even be read.
    """
    return _checked(journal, lambda: _broken_ledger(journal))


def quick_faults(journal: Journal) -> list[str]:
    """Check that the file's pages are whole, and all that limits on spending count.

    It reads every page, but is much quicker than `faults`. Empty: it is whole.

    Raises:
        StateError: the file cannot even be read.
    """
    database = journal.database
    return (
        _damage(database, f"quick_check({FAULTS_SHOWN})")
        # It compares the rows with their index, which holds all that limits count.
        or _damage(database, "integrity_check(spends)")
        or _broken_ledger(journal, last=LAST_ENTRIES)
    )


def _checked(journal: Journal, further: Callable[[], list[str]]) -> list[str]:
    """Check the file, and only if it is whole what else is asked, at one moment."""
    with journal.database.snapshot():
        everything = f"integrity_check({FAULTS_SHOWN})"
        return _damage(journal.database, everything) or further()


def _damage(database: Database, check: str) -> list[str]:
    found = database.rows(f"PRAGMA {check}")
    return [f"file: {row[0]}" for row in found[:FAULTS_SHOWN] if row[0] != "ok"]


def _broken_ledger(journal: Journal, last: int | None = None) -> list[str]:
    broken = journal.ledger.first_fault(last=last)
    return [f"ledger: {broken}"] if broken else []


def ledger_faults(journal: Journal, archives: Path | None = None) -> list[str]:
    """Check the file, the ledger's chain and sums, and that tasks and spends agree.

    Reads everything, at one moment, also while a daemon writes. Empty: it is whole.
    `archives` is the folder of the ledger's archives; None: they are not read.

    Raises:
        StateError: the file cannot even be read.
    """
    return _checked(journal, lambda: _broken_books(journal, archives))


def _broken_books(journal: Journal, archives: Path | None) -> list[str]:
    chain = _broken_ledger(journal)
    if archives is not None:
        chain += archive_faults(journal, archives)
    # An entry that was changed tells nothing of a task.
    return chain or list(_disagreements(journal.database))


_DISAGREEMENTS = {
    "ledger: task {} is completed, and no pay was booked for it": (
        "SELECT task_id FROM tasks WHERE state = 'completed' AND NOT EXISTS "
        "(SELECT 1 FROM ledger WHERE key = 'earned:' || task_id)"
    ),
    "ledger: pay was booked for task {}, which is not completed": (
        "SELECT subject FROM ledger JOIN tasks ON task_id = subject "
        "WHERE ledger.kind = 'earned' AND state != 'completed' "
        # A balance tells of work that was given up: no answer ever did.
        "AND cause != 'balance'"
    ),
    "ledger: post {} was accepted, and its reward was not booked": (
        "SELECT spend_id FROM spends WHERE kind = 'post' AND state = 'settled' "
        "AND NOT EXISTS (SELECT 1 FROM ledger "
        "WHERE key = 'spent:' || spend_id AND amount = -credits)"
    ),
    "ledger: a fee was taken for post {}, and was not booked": (
        "SELECT spend_id FROM spends WHERE fee != 0 AND NOT EXISTS (SELECT 1 "
        "FROM ledger WHERE key = 'fee:' || spend_id AND amount = -fee)"
    ),
    "ledger: post {} has given back, or paid out, more than its reward": (
        "SELECT subject FROM ledger WHERE kind IN ('spent', 'refunded', 'paid-out') "
        "GROUP BY subject HAVING sum(amount) > 0"
    ),
    "ledger: the reward of post {} came back, and was not booked": (
        "SELECT spend_id FROM posts WHERE state = 'refunded' AND NOT EXISTS "
        "(SELECT 1 FROM ledger WHERE key = 'refunded:' || spend_id)"
    ),
    "ledger: top-up {} was paid, and its credits were not booked": (
        "SELECT spend_id FROM spends WHERE kind = 'top-up' AND state = 'settled' "
        "AND NOT EXISTS (SELECT 1 FROM ledger "
        "WHERE key = 'top-up:' || spend_id AND amount = credits)"
    ),
    "ledger: {} was booked, and was not spent": (
        "SELECT subject FROM ledger JOIN spends ON spend_id = subject "
        "WHERE ledger.kind IN ('spent', 'top-up') AND state = 'released'"
    ),
}
"""What the ledger must not say of a task or a spend, and how such are found."""


def _disagreements(database: Database) -> Iterator[str]:
    for message, query in _DISAGREEMENTS.items():
        for row in database.rows(f"{query} LIMIT {FAULTS_SHOWN}"):
            yield message.format(row[0])


def _wrong_totals(journal: Journal) -> Iterator[str]:
    seen, database = journal.totals.get(SEEN_TOTAL), journal.database
    forgotten = journal.totals.get(FORGOTTEN_TOTAL)
    counted = sum(
        database.number(f"SELECT count(*) FROM {table}")  # noqa: S608 - ours
        for table in ("tasks", "past_tasks")
    )
    if seen - forgotten != counted:
        yield (
            f"totals: {seen} tasks were seen and {forgotten} of them forgotten, but "
            f"{counted} are stored"
        )
    names = f"json_array({', '.join(map(repr, map(str, PAST_STATES)))})"
    states = (
        "SELECT state, count(*) FROM (SELECT state FROM tasks UNION ALL "  # noqa: S608 - ours
        f"SELECT json_extract({names}, '$[' || state || ']') FROM past_tasks) "
        "GROUP BY state"
    )
    yield from _differences(journal, STATE_TOTAL, states)
    reasons = (
        "SELECT reason, count(*) FROM tasks WHERE state = 'skipped' GROUP BY reason"
    )
    yield from _differences(journal, SKIPPED_TOTAL, reasons)
    counted = database.number("SELECT sum(bytes) FROM recordings")
    known = journal.recordings.bytes()
    if known != counted:
        yield f"totals: the recordings take {counted} bytes, not {known}"
    kinds = "SELECT kind, sum(amount) FROM ledger WHERE account = 'agent' GROUP BY kind"
    yield from _differences(journal, KIND_TOTAL, kinds)
    accounts = (
        "SELECT substr(name, 1, instr(name || ':', ':') - 1), sum(credits) "
        "FROM (SELECT account AS name, amount AS credits FROM ledger "
        "UNION ALL SELECT contra, -amount FROM ledger) GROUP BY 1"
    )
    yield from _differences(journal, ACCOUNT_TOTAL, accounts)


def _differences(journal: Journal, prefix: str, query: str) -> Iterator[str]:
    known = journal.totals.starting_with(prefix)
    found = Counter(journal.totals.starting_with(ARCHIVED_TOTAL + prefix))
    found.update({str(row[0]): int(row[1]) for row in journal.database.rows(query)})
    for name in sorted(known.keys() | found.keys()):
        total, real = known.get(name, 0), found.get(name, 0)
        if total != real:
            yield f"totals: {prefix}{name} is {total}, but the rows add up to {real}"


def _wrong_histories(database: Database) -> Iterator[str]:
    """Find tasks whose last move did not lead to where they stand."""
    rows = database.rows(
        "SELECT task_id, state, after FROM tasks LEFT JOIN task_events "
        "USING (task_id) GROUP BY task_id "
        # The row of the greatest event is the one shown (SQLite's bare columns).
        "HAVING max(event_id) IS NULL OR state != after LIMIT ?",
        FAULTS_SHOWN,
    )
    for row in rows:
        last = row["after"] or "nothing"
        yield f"tasks: {row['task_id']} is {row['state']}, its history says {last}"


def back_up(journal: Journal, path: Path) -> int:
    """Copy a journal to a new file, also while a daemon writes; return its size.

    Raises:
        StateError: the file exists, or the disk refused; nothing is left of it.
    """
    with disk_errors(
        f"the backup {path} cannot be created",
        "Name a file that does not exist yet, in a directory that this user can write "
        "to.",
    ):
        # Made here, since SQLite would make it readable by everybody.
        create_new(path)
    try:
        journal.database.backup_to(path)
        sync_file(path)
        sync_directory(path.parent)
    except (StateError, OSError):
        path.unlink(missing_ok=True)
        raise
    return path.stat().st_size


def compact(journal: Journal) -> Compacted:
    """Make a journal's files as small as they can be. Nobody else may have it open.

    Raises:
        StateError: the disk refused: for a moment it needs the room of a second copy.
    """
    before = _size(journal.database.path)
    journal.database.compact()
    return Compacted(before, _size(journal.database.path))


def _size(path: Path) -> int:
    log = path.with_name(f"{path.name}-wal")
    return sum(one.stat().st_size for one in (path, log) if one.exists())
