"""The journal's file: made, migrated, refused when it cannot be trusted."""

import sqlite3
import stat
from pathlib import Path

import pytest
from tests.journal.conftest import Open, brought_to

from journeyman.domain.errors import StateError
from journeyman.domain.tasks import TaskId, TaskState
from journeyman.journal import database
from journeyman.journal.journal import Journal
from journeyman.testing import FakeClock


def _version(path: Path) -> int:
    with sqlite3.connect(path) as other:
        (version,) = other.execute("PRAGMA user_version").fetchone()
    other.close()
    return int(version)


def _tables(path: Path) -> set[str]:
    with sqlite3.connect(path) as other:
        names = {name for (name,) in other.execute("SELECT name FROM sqlite_master")}
    other.close()
    return names


def test_the_files_are_their_owners_alone(journal: Journal, path: Path) -> None:
    brought_to(journal, TaskState.WANTED)

    modes = {
        file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()
    }

    assert modes == {
        "journal.db": 0o600,
        "journal.db-wal": 0o600,
        "journal.db-shm": 0o600,
    }


def test_a_reader_sees_what_a_writer_has_committed(
    journal: Journal, path: Path, clock: FakeClock
) -> None:
    brought_to(journal, TaskState.WANTED)

    with Journal(path, clock.now, read_only=True) as reader:
        brought_to(journal, TaskState.CLAIMING, "t2")

        assert reader.tasks.counts() == {"wanted": 1, "claiming": 1}


def test_a_reader_cannot_write(journal: Journal, path: Path, clock: FakeClock) -> None:
    brought_to(journal, TaskState.WANTED)

    with (
        Journal(path, clock.now, read_only=True) as reader,
        pytest.raises(StateError, match="cannot be written"),
    ):
        brought_to(reader, TaskState.WANTED, "t2")


def test_reading_an_absent_journal_is_refused_and_makes_none(
    tmp_path: Path, clock: FakeClock
) -> None:
    path = tmp_path / "absent.db"

    with pytest.raises(StateError, match="cannot be opened"):
        Journal(path, clock.now, read_only=True)

    assert not path.exists()


def test_reading_a_journal_that_was_never_brought_up_to_date_is_refused(
    tmp_path: Path, clock: FakeClock
) -> None:
    path = tmp_path / "new.db"
    sqlite3.connect(path).close()
    path.touch()

    with pytest.raises(StateError, match=r"version 0[\s\S]*Start the daemon"):
        Journal(path, clock.now, read_only=True)


def test_a_newer_journal_is_refused_and_left_alone(
    open_journal: Open, path: Path
) -> None:
    open_journal().close()
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 999")
    other.close()

    with pytest.raises(StateError, match=r"version 999[\s\S]*newer journeyman"):
        open_journal()

    assert _version(path) == 999


@pytest.mark.parametrize(
    "content",
    [b"<html>not a database</html>" * 100, b"SQLite format 3\0" + b"\xff" * 4096],
)
def test_a_damaged_journal_is_refused_and_left_alone(
    open_journal: Open, path: Path, content: bytes
) -> None:
    path.write_bytes(content)

    with pytest.raises(StateError, match=r"cannot be opened[\s\S]*backup"):
        open_journal()

    assert path.read_bytes() == content


def test_a_journal_that_is_damaged_while_it_is_open_is_a_clear_error(
    journal: Journal,
) -> None:
    journal.close()

    with pytest.raises(StateError, match="cannot be opened"):
        journal.tasks.counts()


@pytest.mark.parametrize("name", ["what?.db", "50%20.db", "a#b.db", "blank space.db"])
def test_odd_letters_in_a_path_are_letters(
    tmp_path: Path, clock: FakeClock, name: str
) -> None:
    with Journal(tmp_path / name, clock.now) as journal:
        brought_to(journal, TaskState.WANTED)

    assert (tmp_path / name).is_file()


def test_every_commit_waits_for_the_disk(journal: Journal) -> None:
    full = 2

    assert journal.database.rows("PRAGMA synchronous")[0][0] == full
    assert journal.database.rows("PRAGMA journal_mode")[0][0] == "wal"


def test_a_step_that_does_not_wait_leaves_the_next_ones_waiting(
    journal: Journal,
) -> None:
    full, normal = 2, 1

    with journal.tx("decisions", waits=False):
        journal.facts.put("kept", 1)
        assert journal.database.rows("PRAGMA synchronous")[0][0] == normal
    with pytest.raises(ZeroDivisionError), journal.tx("decisions", waits=False):
        journal.facts.put("lost", 1 / 0)

    assert journal.database.rows("PRAGMA synchronous")[0][0] == full
    assert journal.facts.get("kept") == 1


def test_a_migration_that_fails_leaves_nothing(
    open_journal: Open, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_journal().close()
    tables, version = _tables(path), _version(path)
    broken = "CREATE TABLE half (id INTEGER); INSERT INTO nowhere VALUES (1);"
    scripts = {**database._migrations(), version + 1: broken}
    monkeypatch.setattr(database, "_migrations", lambda: scripts)

    with pytest.raises(StateError, match="nowhere"):
        open_journal()

    assert _tables(path) == tables
    assert _version(path) == version


def test_a_later_migration_keeps_what_is_there(
    open_journal: Open, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought_to(open_journal(), TaskState.WANTED)
    version = _version(path)
    scripts = {**database._migrations(), version + 1: "CREATE TABLE more (id INTEGER);"}
    monkeypatch.setattr(database, "_migrations", lambda: scripts)

    assert open_journal().tasks.counts() == {"wanted": 1}
    assert "more" in _tables(path)
    assert _version(path) == version + 1


def test_a_backup_is_a_whole_journal(
    journal: Journal, tmp_path: Path, clock: FakeClock
) -> None:
    brought_to(journal, TaskState.COMPLETED)

    journal.database.backup_to(tmp_path / "backup.db")

    with Journal(tmp_path / "backup.db", clock.now) as copy:
        assert copy.tasks.counts() == {"completed": 1}
        assert copy.tasks.history(TaskId("t1")) == journal.tasks.history(TaskId("t1"))


def test_the_write_ahead_log_is_folded_in(journal: Journal, path: Path) -> None:
    brought_to(journal, TaskState.COMPLETED)

    journal.database.checkpoint()

    with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as bare:
        # `immutable` ignores the log: what it sees lies in the file itself.
        assert bare.execute("SELECT state FROM tasks").fetchall() == [("completed",)]
    bare.close()
