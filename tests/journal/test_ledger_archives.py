"""Old entries of the ledger stand in archives, chained on, whenever the daemon dies."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.journal.conftest import Open, brought_to

from journeyman.domain.errors import StateError
from journeyman.domain.tasks import TaskId, TaskState
from journeyman.economy.bookkeeping import (
    Answered,
    book_delivery,
    book_earning,
    book_late_pay,
    book_starter,
)
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Entry, SumBy
from journeyman.journal.ledger_archives import (
    LedgerArchives,
    archived_entries,
    archived_entry,
    archives_of,
)
from journeyman.journal.maintenance import damage, faults, ledger_faults, quick_faults
from journeyman.journal.profit import ProfitBy, profits
from journeyman.journal.scores import scoreboard
from journeyman.testing import FakeClock

MONTH = 31 * 86_400


class PoweredOffError(Exception):
    """The machine stops at this commit."""


class PowerCut:
    """Undoes one commit, as a kill before it would."""

    def __init__(self, label: str) -> None:
        self.label = label

    def before(self, label: str) -> None:
        if label == self.label:
            raise PoweredOffError

    def after(self, label: str) -> None:
        """Is not told of anything that matters."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "archives"


@pytest.fixture
def archives(journal: Journal, folder: Path) -> LedgerArchives:
    with journal.tx("starter"):
        book_starter(journal.ledger, 100)
    return LedgerArchives(folder, journal, stay=1)


def pay(journal: Journal, task_id: str, *, is_paid: bool = True) -> None:
    """Complete a task, and book it."""
    brought_to(journal, TaskState.COMPLETED, task_id)
    deliver(journal, task_id)
    if is_paid:
        with journal.tx("pay"):
            book_earning(
                journal.ledger,
                TaskId(task_id),
                strategy="count",
                listed=3,
                answered=Answered(request="r", credits=3),
                cause="complete",
            )


def deliver(journal: Journal, task_id: str) -> None:
    with journal.tx("delivery"):
        book_delivery(
            journal.ledger, TaskId(task_id), strategy="count", listed=3, request="r"
        )


def forget_tasks(journal: Journal, until: str = "9999") -> None:
    with journal.tx("history"):
        journal.tasks.drop_tasks("", until)


def archive(archives: LedgerArchives, clock: FakeClock) -> None:
    """Archive all that is older than now, but for the last entry."""
    clock.advance(1)
    while archives.add(clock.now(), clock.now()):
        pass


def filled(archives: LedgerArchives, clock: FakeClock) -> list[Entry]:
    """Book paid tasks and archive them; return the entries that were booked."""
    for number in range(4):
        clock.advance(3600)
        pay(archives.journal, f"t{number}")
    entries = [*archives.journal.ledger.entries()]
    forget_tasks(archives.journal)
    archive(archives, clock)
    return entries


def lines_in(folder: Path) -> list[dict[str, Any]]:
    """Return what `zcat` would show of all archives of the ledger."""
    return [
        json.loads(line)
        for one in sorted(folder.glob("ledger-*"))
        for line in gzip.decompress(one.read_bytes()).decode().splitlines()
    ]


def booked(journal: Journal) -> list[int]:
    """Return the numbers of the entries that the journal itself has."""
    return [one.entry_id for one in journal.ledger.entries()]


def test_entries_of_tasks_of_the_past_stand_in_the_archive_of_their_month(
    archives: LedgerArchives, clock: FakeClock, folder: Path
) -> None:
    journal, entries = archives.journal, filled(archives, clock)
    balance, totals = journal.ledger.balance(), journal.ledger.accounts()

    # The starter credits belong to no task, and the last entry stays.
    assert booked(journal) == [1, 8, 9]
    assert [one["entry_id"] for one in lines_in(folder)] == [*range(1, 9)]
    (one,) = archives_of(journal)
    assert one.name == f"ledger-{entries[0].at.isoformat()[:7]}.jsonl.gz"
    assert (journal.ledger.balance(), journal.ledger.accounts()) == (balance, totals)
    assert balance == 112


def test_a_question_about_old_times_sees_the_archived_entries(
    archives: LedgerArchives, clock: FakeClock, folder: Path
) -> None:
    journal, entries = archives.journal, filled(archives, clock)

    with archived_entries(journal, folder):
        assert [*journal.ledger.entries()] == entries
        (all_, *_) = journal.ledger.sums(SumBy.STRATEGY)
        (profit,) = profits(journal.database, ProfitBy.STRATEGY)
    assert (all_.group, all_.received) == ("", 100)
    assert (profit.tasks, profit.earned) == (4, 12)
    assert archived_entry(journal, folder, 3) == entries[2]
    assert booked(journal) == [1, 8, 9]


def test_only_the_archives_of_a_time_are_read(
    archives: LedgerArchives, clock: FakeClock, folder: Path
) -> None:
    filled(archives, clock)
    clock.advance(2 * MONTH)
    later = clock.now()
    pay(archives.journal, "new")
    forget_tasks(archives.journal)
    archive(archives, clock)
    old, _new = archives_of(archives.journal)
    (folder / old.name).unlink()

    with archived_entries(archives.journal, folder, later):
        entries = [*archives.journal.ledger.entries(later)]
    assert [one.subject for one in entries] == ["new", "new"]
    with (
        pytest.raises(StateError, match=r"entries 1 to 9 of the ledger, is missing"),
        archived_entries(archives.journal, folder),
    ):
        pass


def test_the_chain_goes_on_from_the_archive(
    archives: LedgerArchives, clock: FakeClock, folder: Path
) -> None:
    filled(archives, clock)
    pay(archives.journal, "new")

    assert faults(archives.journal, folder) == []
    assert ledger_faults(archives.journal, folder) == []
    assert quick_faults(archives.journal) == []
    # A backup has no archives beside it.
    assert damage(archives.journal) == []


def test_a_strategy_s_credits_count_archived_pay(
    archives: LedgerArchives, clock: FakeClock
) -> None:
    filled(archives, clock)

    assert scoreboard(archives.journal, clock.now())["count"].credits == 12


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def _change(path: Path) -> None:
    text = gzip.decompress(path.read_bytes()).decode()
    path.write_bytes(gzip.compress(text.replace('"amount": 3', '"amount": 4').encode()))


@pytest.mark.parametrize(
    ("damage_it", "told"),
    [
        (Path.unlink, "is missing"),
        (_cut, "is damaged"),
        (_change, "is not what was archived"),
    ],
)
def test_an_archive_that_is_not_as_it_was_is_told(
    archives: LedgerArchives,
    clock: FakeClock,
    folder: Path,
    damage_it: Callable[[Path], None],
    told: str,
) -> None:
    filled(archives, clock)
    (one,) = archives_of(archives.journal)

    damage_it(folder / one.name)

    found = ledger_faults(archives.journal, folder)
    assert any(one.name in fault and told in fault for fault in found)
    assert quick_faults(archives.journal) == []


def test_an_entry_that_was_changed_in_the_journal_is_not_archived(
    archives: LedgerArchives, clock: FakeClock, folder: Path
) -> None:
    pay(archives.journal, "t1")
    database = archives.journal.database
    with archives.journal.tx("tamper"):
        database.write("DROP TRIGGER ledger_is_not_changed")
        database.write("UPDATE ledger SET amount = 9 WHERE entry_id = 2")
    forget_tasks(archives.journal)

    with pytest.raises(StateError, match="entry 2 was changed"):
        archive(archives, clock)

    assert lines_in(folder) == []
    assert booked(archives.journal) == [1, 2, 3]


def test_an_entry_that_no_archive_has_cannot_be_deleted(
    archives: LedgerArchives, clock: FakeClock
) -> None:
    filled(archives, clock)

    with (
        pytest.raises(StateError, match="append-only"),
        archives.journal.tx("delete"),
    ):
        archives.journal.database.write("DELETE FROM ledger WHERE entry_id = 9")


def test_what_is_owed_and_what_is_still_worked_on_stays_in_the_journal(
    archives: LedgerArchives, clock: FakeClock, folder: Path
) -> None:
    journal = archives.journal
    pay(journal, "paid")
    pay(journal, "owed", is_paid=False)
    brought_to(journal, TaskState.COMPLETING, "open")
    deliver(journal, "open")
    pay(journal, "last")
    forget_tasks(journal)

    archive(archives, clock)

    kept = {one.subject for one in journal.ledger.entries()}
    assert kept == {"", "owed", "open", "last"}
    owed = {one.task_id: one.credits for one in journal.ledger.receivables()}
    assert owed == {"owed": 3, "open": 3}
    assert faults(journal, folder) == []


def test_what_is_paid_late_goes_with_its_pay(
    archives: LedgerArchives, clock: FakeClock, folder: Path
) -> None:
    journal = archives.journal
    pay(journal, "late", is_paid=False)
    pay(journal, "other")
    forget_tasks(journal)
    archive(archives, clock)
    (owed,) = journal.ledger.receivables()
    with journal.tx("late"):
        book_late_pay(journal.ledger, owed, "shown", 106)
    pay(journal, "last")
    forget_tasks(journal)

    archive(archives, clock)

    assert {one.subject for one in journal.ledger.entries()} == {"", "last"}
    assert ledger_faults(journal, folder) == []


@pytest.mark.parametrize("label", ["archive", "ledger archive"])
@pytest.mark.parametrize("written", [0.0, 0.5, 1.0])
def test_an_entry_is_archived_once_whenever_the_daemon_dies(
    archives: LedgerArchives,
    clock: FakeClock,
    folder: Path,
    open_journal: Open,
    label: str,
    written: float,
) -> None:
    entries = filled(archives, clock)
    pay(archives.journal, "new")
    pay(archives.journal, "last")
    entries += [one for one in archives.journal.ledger.entries() if one.entry_id > 9]
    forget_tasks(archives.journal)
    (one,) = folder.iterdir()
    before = one.stat().st_size
    archives.journal.database.observe(PowerCut(label))
    with pytest.raises(PoweredOffError):
        archive(archives, clock)
    added = one.stat().st_size - before
    with one.open("rb+") as file:
        file.truncate(before + int(added * written))
    archives.journal.close()

    with open_journal() as again:
        archive(LedgerArchives(folder, again, stay=1), clock)

        assert [line["entry_id"] for line in lines_in(folder)] == [*range(1, 13)]
        assert faults(again, folder) == []
        with archived_entries(again, folder):
            assert [*again.ledger.entries()] == entries


def test_a_restored_journal_goes_on_with_the_archive_it_knows(
    archives: LedgerArchives,
    clock: FakeClock,
    folder: Path,
    tmp_path: Path,
) -> None:
    filled(archives, clock)
    backup = tmp_path / "backup.db"
    archives.journal.database.backup_to(backup)
    pay(archives.journal, "lost")
    forget_tasks(archives.journal)
    archive(archives, clock)
    known_more = min(folder.iterdir()).read_bytes()

    with Journal(backup, clock.now) as restored:
        assert ledger_faults(restored, folder) == []
        pay(restored, "new")
        forget_tasks(restored)
        archive(LedgerArchives(folder, restored, stay=1), clock)

        assert faults(restored, folder) == []
        aside = [one for one in folder.iterdir() if ".1." in one.name]
        assert [one.read_bytes() for one in aside] == [known_more]


def test_where_an_archive_is_gone_the_next_entries_get_another_file(
    archives: LedgerArchives, clock: FakeClock, folder: Path
) -> None:
    filled(archives, clock)
    (gone,) = folder.iterdir()
    content = gone.read_bytes()
    gone.unlink()
    pay(archives.journal, "new")
    forget_tasks(archives.journal)

    archive(archives, clock)
    (fault,) = ledger_faults(archives.journal, folder)
    gone.write_bytes(content)

    assert "is missing" in fault
    assert [one.name for one in archives_of(archives.journal)] == [
        gone.name,
        gone.name.replace(".jsonl", ".1.jsonl"),
    ]
    assert ledger_faults(archives.journal, folder) == []


def test_no_archive_that_is_gone_loses_its_name_to_another(
    archives: LedgerArchives, clock: FakeClock, folder: Path
) -> None:
    filled(archives, clock)
    copies: dict[Path, bytes] = {}
    for task_id in ("second", "third"):
        (newest,) = folder.iterdir()
        copies[newest] = newest.read_bytes()
        newest.unlink()
        pay(archives.journal, task_id)
        forget_tasks(archives.journal)
        archive(archives, clock)
    for path, content in copies.items():
        path.write_bytes(content)

    assert len(archives_of(archives.journal)) == 3
    assert ledger_faults(archives.journal, folder) == []


def test_a_clock_that_was_wrong_holds_up_nothing(
    archives: LedgerArchives, clock: FakeClock, folder: Path
) -> None:
    clock.advance(20 * MONTH)
    pay(archives.journal, "future")
    clock.step(-20 * MONTH)

    filled(archives, clock)

    assert booked(archives.journal) == [1, 10, 11]
    assert faults(archives.journal, folder) == []
