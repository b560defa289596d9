"""What an owner does to a journal: check it, copy it, make it smaller."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from tests.journal.conftest import Open, brought_to

from journeyman.domain.errors import StateError
from journeyman.domain.tasks import SpendId, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, EntryKind, NewEntry
from journeyman.journal.maintenance import back_up, compact, faults, quick_faults
from journeyman.journal.spends import SpendKind
from journeyman.testing import FakeClock


@pytest.fixture
def lived(journal: Journal) -> Journal:
    """Return a journal with tasks in several states and a few credits."""
    for number, state in enumerate((TaskState.COMPLETED, TaskState.SKIPPED)):
        brought_to(journal, state, f"t{number}")
    with journal.tx("booking"):
        for key in ("earned:t0", "k1", "k2"):
            journal.ledger.book(
                NewEntry(
                    key=key,
                    kind=EntryKind.EARNED,
                    amount=5,
                    confidence=Confidence.CONFIRMED,
                    subject=key.partition(":")[2],
                ),
            )
        journal.spends.reserve(
            SpendId("post-1"),
            SpendKind.POST,
            credits_=5,
            cents=0,
            strategy="owner",
            request={},
        )
    return journal


def _change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


def test_a_journal_that_nobody_touched_is_whole(lived: Journal) -> None:
    assert faults(lived) == []


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (
            "DELETE FROM tasks WHERE task_id = 't1'",
            "0 of them forgotten, but 1 are",
        ),
        ("UPDATE totals SET value = 9 WHERE name = 'state.completed'", "state.comp"),
        ("UPDATE totals SET value = 1 WHERE name = 'ledger.earned'", "1 was booked"),
        ("UPDATE totals SET value = 1 WHERE name = 'account.agent'", "not to 0"),
        (
            "UPDATE spends SET state = 'settled'",
            "post post-1 was accepted, and its reward was not booked",
        ),
        (
            "UPDATE spends SET kind = 'top-up', state = 'settled'",
            "top-up post-1 was paid, and its credits were not booked",
        ),
        ("UPDATE tasks SET state = 'lost' WHERE task_id = 't1'", "its history says"),
        ("DELETE FROM task_events WHERE task_id = 't1'", "history says nothing"),
    ],
)
def test_what_does_not_add_up_is_named(
    lived: Journal, path: Path, statement: str, told: str
) -> None:
    _change(path, statement)

    assert any(told in fault for fault in faults(lived))


def _flip(path: Path, place: int, bit: int = 0) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << bit
    path.write_bytes(content)


@pytest.mark.parametrize("before", [b"post-1post", b"+00:00"], ids=["row", "index"])
def test_a_bit_of_what_limits_count_is_found_before_anything_is_decided(
    lived: Journal, path: Path, clock: FakeClock, before: bytes
) -> None:
    lived.close()
    _flip(path, path.read_bytes().index(before + b"reserved") + len(before))

    with Journal(path, clock.now, read_only=True) as damaged:
        assert "spends" in quick_faults(damaged)[0]


def test_a_bit_of_the_last_entries_is_found_before_anything_is_decided(
    lived: Journal, path: Path
) -> None:
    _change(path, "DROP TRIGGER ledger_is_not_changed")
    _change(path, "UPDATE ledger SET balance = balance + 64 WHERE entry_id = 3")

    assert quick_faults(lived) == ["ledger: entry 3 was changed after it was booked"]


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        (
            "UPDATE facts SET value = '{]'",
            lambda journal: journal.facts.get("agent"),
        ),
        (
            "UPDATE tasks SET state = 'comp\x7feted' WHERE task_id = 't0'",
            lambda journal: journal.tasks.get(TaskId("t0")),
        ),
        (
            "UPDATE spends SET request = '['",
            lambda journal: journal.spends.get(SpendId("post-1")),
        ),
        (
            "UPDATE spends SET state = cast(x'ff' AS TEXT)",
            lambda journal: journal.spends.get(SpendId("post-1")),
        ),
    ],
    ids=["fact", "state", "request", "letter"],
)
def test_a_row_that_is_damaged_is_no_bug_and_leads_to_the_backup(
    lived: Journal, path: Path, statement: str, read: Callable[[Journal], object]
) -> None:
    with lived.tx("fact"):
        lived.facts.put("agent", "agent-1")
    _change(path, statement)

    with pytest.raises(StateError, match=r"(?s)the journal.*journal restore"):
        read(lived)


@pytest.mark.endurance
def test_no_flipped_bit_changes_unnoticed_what_limits_count(
    lived: Journal, path: Path, clock: FakeClock, tmp_path: Path
) -> None:
    since = clock.now() - timedelta(days=1)
    posts = lived.spends.counted_since(SpendKind.POST, since)
    known = posts, lived.ledger.balance()
    lived.close()
    content = path.read_bytes()
    used = [place for place, byte in enumerate(content) if byte]
    randomness = Random(20261123)  # noqa: S311 - not for secrets
    refused = 0
    for number in range(400):
        flipped = tmp_path / f"{number}.db"
        flipped.write_bytes(content)
        _flip(flipped, randomness.choice(used), randomness.randrange(8))
        try:
            with Journal(flipped, clock.now) as journal:
                if quick_faults(journal):
                    refused += 1
                    continue
                posts = journal.spends.counted_since(SpendKind.POST, since)
                assert (posts, journal.ledger.balance()) == known
        except StateError:
            refused += 1
        finally:
            flipped.unlink()

    assert refused


def test_a_changed_entry_is_named(lived: Journal, path: Path) -> None:
    _change(path, "DROP TRIGGER ledger_is_not_changed")
    _change(path, "UPDATE ledger SET note = 'gift' WHERE entry_id = 2")

    assert faults(lived) == ["ledger: entry 2 was changed after it was booked"]


def test_a_damaged_page_is_found(lived: Journal, path: Path, clock: FakeClock) -> None:
    lived.close()
    whole = path.read_bytes()
    half = len(whole) // 2
    path.write_bytes(whole[:half] + b"\x5a" * (len(whole) - half))

    try:
        with Journal(path, clock.now, read_only=True) as damaged:
            found = faults(damaged)
    except StateError as error:
        found = [error.problem]

    assert found


def test_a_journal_is_checked_while_another_connection_writes(
    lived: Journal, path: Path, clock: FakeClock
) -> None:
    with Journal(path, clock.now, read_only=True) as reader:
        assert faults(reader) == []
        brought_to(lived, TaskState.LOST, "t9")
        assert faults(reader) == []


def test_a_backup_is_made_by_a_reader_and_is_private(
    lived: Journal, path: Path, clock: FakeClock, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"

    with Journal(path, clock.now, read_only=True) as reader:
        size = back_up(reader, copy)
    brought_to(lived, TaskState.LOST, "t9")

    assert copy.stat().st_size == size
    assert copy.stat().st_mode & 0o777 == 0o600
    with Journal(copy, clock.now) as restored:
        assert faults(restored) == []
        assert restored.ledger.balance() == lived.ledger.balance()
        assert restored.tasks.counts() == {"completed": 1, "skipped": 1}


def test_a_backup_overwrites_nothing(lived: Journal, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_text("mine")

    with pytest.raises(StateError, match=r"copy\.db cannot be created: File exists"):
        back_up(lived, copy)

    assert copy.read_text() == "mine"


def test_a_backup_that_fails_leaves_nothing(lived: Journal, tmp_path: Path) -> None:
    lived.close()

    with pytest.raises(StateError, match="could not be copied"):
        back_up(lived, tmp_path / "copy.db")

    assert not (tmp_path / "copy.db").exists()


def test_compacting_gives_room_back_and_keeps_everything(
    lived: Journal, open_journal: Open
) -> None:
    with lived.tx("much"):
        lived.facts.put("much", "x" * 500_000)
    with lived.tx("less"):
        lived.facts.put("much", "")

    sizes = compact(lived)

    assert sizes.after < sizes.before - 400_000
    assert faults(open_journal()) == []
    assert lived.tasks.counts() == {"completed": 1, "skipped": 1}
