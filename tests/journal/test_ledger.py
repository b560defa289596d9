"""The ledger: each credit once, in a chain that shows any later change."""

import sqlite3
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.journal.conftest import Open, sight, task

from journeyman.domain.errors import StateError
from journeyman.journal import ledger
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, EntryKind, NewEntry, SumBy
from journeyman.journal.maintenance import ledger_faults
from journeyman.testing import FakeClock


def entry(key: str, amount: int = 5, kind: EntryKind = EntryKind.EARNED) -> NewEntry:
    return NewEntry(
        key=key,
        kind=kind,
        amount=amount,
        confidence=Confidence.CONFIRMED,
        subject="t1",
        strategy="count",
        note="a note",
    )


def book(journal: Journal, *entries: NewEntry) -> list[bool]:
    with journal.tx("book"):
        return [journal.ledger.book(one) for one in entries]


def _tamper(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as other:
        for trigger in ("ledger_is_not_changed", "ledger_is_not_deleted"):
            other.execute(f"DROP TRIGGER IF EXISTS {trigger}")
        for statement in statements:
            other.execute(statement)
    other.close()


def test_a_key_is_booked_once(journal: Journal, open_journal: Open) -> None:
    assert book(journal, entry("earned:t1"), entry("earned:t1", 99)) == [True, False]
    assert book(open_journal(), entry("earned:t1", 99)) == [False]
    assert journal.ledger.balance() == 5


def test_each_entry_shows_the_balance_after_it(journal: Journal) -> None:
    book(journal, entry("a", 100, EntryKind.STARTER), entry("b", -30), entry("c", 7))

    assert [one.balance for one in journal.ledger.recent(9)] == [100, 70, 77]
    assert journal.ledger.totals() == {"earned": -23, "starter": 100}


def test_pay_is_shown_once_an_answer_named_an_amount(journal: Journal) -> None:
    book(journal, entry("starter", 100, EntryKind.STARTER))
    book(journal, replace(entry("earned:t1"), confidence=Confidence.ASSUMED))
    assert not journal.ledger.is_pay_shown()

    book(journal, entry("earned:t2"))
    assert journal.ledger.is_pay_shown()


def test_nothing_of_a_booking_that_was_undone_remains(journal: Journal) -> None:
    def fail() -> None:
        with journal.tx("half"):
            journal.ledger.book(entry("a"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert journal.ledger.balance() == 0
    assert journal.ledger.totals() == {}
    assert book(journal, entry("a")) == [True]


def test_a_whole_chain_has_no_fault(journal: Journal, clock: FakeClock) -> None:
    assert journal.ledger.first_fault() is None
    for number in range(5):
        clock.step(-1)
        book(journal, entry(f"k{number}"))

    assert journal.ledger.first_fault() is None


CHANGES = [
    pytest.param("UPDATE ledger SET amount = 500 WHERE entry_id = 2", id="amount"),
    pytest.param("UPDATE ledger SET balance = 500 WHERE entry_id = 2", id="balance"),
    pytest.param("UPDATE ledger SET note = 'x' WHERE entry_id = 2", id="note"),
    pytest.param("UPDATE ledger SET key = 'x' WHERE entry_id = 2", id="key"),
    pytest.param("UPDATE ledger SET at = '2020-01-01' WHERE entry_id = 2", id="time"),
    pytest.param("UPDATE ledger SET hash = '0' WHERE entry_id = 2", id="hash"),
    pytest.param("UPDATE ledger SET kind = 'spent' WHERE entry_id = 2", id="kind"),
    pytest.param("DELETE FROM ledger WHERE entry_id = 1", id="first-gone"),
    pytest.param("DELETE FROM ledger WHERE entry_id = 2", id="middle-gone"),
    pytest.param("DELETE FROM ledger WHERE entry_id = 3", id="last-gone"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_row_is_found(journal: Journal, path: Path, change: str) -> None:
    book(journal, entry("a"), entry("b"), entry("c"))

    _tamper(path, change)

    assert journal.ledger.first_fault()


@pytest.mark.parametrize(
    "statement", ["UPDATE ledger SET amount = 1", "DELETE FROM ledger"]
)
def test_the_file_itself_refuses_to_change_the_ledger(
    journal: Journal, path: Path, statement: str
) -> None:
    book(journal, entry("a"))

    other = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        other.execute(statement)
    other.close()

    assert journal.ledger.balance() == 5


def cost(key: str, millionths: int, strategy: str = "count") -> NewEntry:
    return replace(entry(key, 0, EntryKind.COST), cost=millionths, strategy=strategy)


def test_a_cost_moves_no_credits_and_is_added_up_by_strategy(
    journal: Journal, clock: FakeClock
) -> None:
    book(journal, entry("a", 7), entry("b", -3), cost("c1", 5), cost("c2", 6, "other"))

    shares = [
        (one.group, one.received, one.paid, one.cost)
        for one in journal.ledger.sums(SumBy.STRATEGY)
    ]

    assert journal.ledger.balance() == 4
    assert shares == [("count", 7, 3, 5), ("other", 0, 0, 6)]
    assert journal.ledger.cost_since("count", clock.now()) == 5
    assert journal.ledger.first_fault() is None


def test_entries_are_added_up_by_day_and_by_their_kind(
    journal: Journal, clock: FakeClock
) -> None:
    book(journal, entry("a", 100, EntryKind.STARTER), cost("c1", 5))
    clock.step(86_400)
    today = clock.now()
    book(journal, entry("b", 7), entry("c", -3, EntryKind.SPENT))

    def found(by: SumBy, *period: datetime) -> list[tuple[int, int, int | None]]:
        sums = journal.ledger.sums(by, *period)
        return [(one.received, one.paid, one.cost) for one in sums]

    assert found(SumBy.DAY) == [(100, 0, 5), (7, 3, None)]
    assert found(SumBy.DAY, today) == [(7, 3, None)]
    kinds = [one.group for one in journal.ledger.sums(SumBy.KIND)]
    assert kinds == ["starter", "earned", "cost", "spent"]


def test_credits_are_added_up_by_who_posted_the_task(journal: Journal) -> None:
    for name, poster in (("t1", "agent_a"), ("t2", "agent_a"), ("t3", None)):
        sight(journal, task(name, poster=poster))
        book(journal, replace(entry(f"earned:{name}", 4), subject=name))

    found = {one.group: one.received for one in journal.ledger.sums(SumBy.POSTER)}

    assert found == {"agent_a": 8, "": 4}


def test_entries_are_read_in_order_however_many_they_are(
    journal: Journal, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "MOST_AT_ONCE", 2)
    begin = clock.now()
    for number in range(5):
        book(journal, entry(f"e{number}"))
        clock.step(1)

    def keys(*period: datetime) -> list[str]:
        return [one.key for one in journal.ledger.entries(*period)]

    assert keys() == ["e0", "e1", "e2", "e3", "e4"]
    assert keys(begin + timedelta(seconds=1), begin + timedelta(seconds=4)) == [
        *("e1", "e2", "e3"),
    ]


def test_a_cost_counts_from_its_moment_on(journal: Journal, clock: FakeClock) -> None:
    book(journal, cost("c1", 5))
    clock.step(86_400)
    book(journal, cost("c2", 6))

    assert journal.ledger.cost_since("count", clock.now()) == 6


def test_a_changed_cost_is_found(journal: Journal, path: Path) -> None:
    book(journal, cost("c1", 5), cost("c2", 6))

    _tamper(path, "UPDATE ledger SET cost = 1 WHERE entry_id = 1")

    assert journal.ledger.first_fault()


def test_credits_move_between_accounts_and_are_never_made(journal: Journal) -> None:
    book(
        journal,
        entry("starter", 100, EntryKind.STARTER),
        entry("delivered:t1", 5, EntryKind.DELIVERED),
        entry("corrected:t1", 2, EntryKind.CORRECTED),
        entry("delivered:t2", 4, EntryKind.DELIVERED),
        entry("earned:t1", 7),
        entry("spent:p1", -30, EntryKind.SPENT),
        cost("c1", 5),
    )

    assert journal.ledger.accounts() == {
        "agent": 77,
        "earnings": -11,
        "escrow": 30,
        "receivable": 4,
        "starter": -100,
    }
    assert journal.ledger.totals() == {"earned": 7, "spent": -30, "starter": 100}
    assert journal.ledger.owed("t1") == 7
    assert journal.ledger.owed("unknown") is None
    assert journal.ledger.first_fault() is None


def test_what_is_not_known_is_not_0(journal: Journal) -> None:
    book(journal, replace(entry("a"), expected=5, claimed=0), entry("b"))

    known, unknown = journal.ledger.recent(2)
    assert (known.expected, known.claimed, known.observed) == (5, 0, None)
    assert (unknown.expected, unknown.claimed, unknown.observed) == (None, None, None)


NEW_COLUMNS = (
    *("account", "contra", "expected", "claimed", "observed"),
    *("cause", "request", "version"),
)


@pytest.mark.parametrize("column", NEW_COLUMNS)
def test_no_part_of_an_entry_can_change_unseen(
    journal: Journal, path: Path, column: str
) -> None:
    book(journal, entry("a"), entry("b"), entry("c"))

    _tamper(path, f"UPDATE ledger SET {column} = 1 WHERE entry_id = 2")  # noqa: S608 - ours

    assert journal.ledger.first_fault() == "entry 2 was changed after it was booked"


def _bytes_of_entries(path: Path) -> range:
    """Return where the rows of the ledger stand in the file, which fit on a page."""
    with sqlite3.connect(path) as other:
        (page,) = other.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'ledger'"
        ).fetchone()
        (size,) = other.execute("PRAGMA page_size").fetchone()
    other.close()
    content = path.read_bytes()
    begin = (page - 1) * size
    first = int.from_bytes(content[begin + 5 : begin + 7], "big")
    return range(begin + first, begin + size)


def _verified(path: Path) -> list[str]:
    try:
        with Journal(path, FakeClock().now, read_only=True) as journal:
            return ledger_faults(journal)
    except StateError as error:
        return [error.problem]


@pytest.mark.parametrize(
    "step", [19, pytest.param(1, marks=pytest.mark.endurance, id="each")]
)
def test_a_flipped_byte_of_an_entry_is_found(
    journal: Journal, path: Path, step: int
) -> None:
    book(journal, entry("a"), replace(entry("b"), expected=5, claimed=7, cause="x"))
    journal.close()
    whole = path.read_bytes()
    assert _verified(path) == []

    for position in _bytes_of_entries(path)[::step]:
        path.write_bytes(
            whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :]
        )
        assert _verified(path), f"byte {position}"
