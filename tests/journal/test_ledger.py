"""The ledger: each credit once, in a chain that shows any later change."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from tests.journal.conftest import Open

from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, EntryKind, NewEntry
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
        (one.strategy, one.received, one.paid, one.cost)
        for one in journal.ledger.shares()
    ]

    assert journal.ledger.balance() == 4
    assert shares == [("count", 7, 3, 5), ("other", 0, 0, 6)]
    assert journal.ledger.cost_since("count", clock.now()) == 5
    assert journal.ledger.first_fault() is None


def test_a_cost_counts_from_its_moment_on(journal: Journal, clock: FakeClock) -> None:
    book(journal, cost("c1", 5))
    clock.step(86_400)
    book(journal, cost("c2", 6))

    assert journal.ledger.cost_since("count", clock.now()) == 6


def test_a_changed_cost_is_found(journal: Journal, path: Path) -> None:
    book(journal, cost("c1", 5), cost("c2", 6))

    _tamper(path, "UPDATE ledger SET cost = 1 WHERE entry_id = 1")

    assert journal.ledger.first_fault()
