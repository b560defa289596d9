"""How strategies fare, as the journal keeps it."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from journeyman.domain.tasks import TaskId
from journeyman.journal.journal import Journal
from journeyman.journal.strategy_health import Condition, Health

ILL = Health(
    strategy="seo_bot",
    fingerprint="f1",
    condition=Condition.QUARANTINED,
    errors=(1.5, 2.5),
    quarantine_seconds=60,
    problem="KeyError: 'title'",
    task_id=TaskId("t1"),
    since=10.0,
)


def _open(path: Path) -> Journal:
    return Journal(path, lambda: datetime(2026, 1, 1, tzinfo=UTC))


def test_what_is_written_is_read_back_and_forgotten_when_told(tmp_path: Path) -> None:
    sound = Health(strategy="echo", fingerprint="f2", errors=(3.0,))
    with _open(tmp_path / "journal.db") as journal:
        with journal.tx("test"):
            journal.strategy_health.put(sound)
            journal.strategy_health.put(ILL)
        known = journal.strategy_health.all()
        with journal.tx("test"):
            journal.strategy_health.forget(("echo", ""))
            journal.strategy_health.forget(("nobody", ""))
        left = journal.strategy_health.all()

    assert known == {("echo", ""): sound, ("seo_bot", ""): ILL}
    assert left == {("seo_bot", ""): ILL}


def test_a_quarantine_ends_and_a_wrong_setup_does_not() -> None:
    barred = Health(strategy="s", fingerprint="", condition=Condition.MISCONFIGURED)

    assert ILL.quarantined_until == 70
    assert barred.quarantined_until == float("inf")
    assert Health(strategy="s", fingerprint="").quarantined_until == 0


def test_a_journal_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    first = files("journeyman.journal") / "migrations" / "0001_first_journal.sql"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{first.read_text()}\nPRAGMA user_version = 1;")

    with _open(path) as journal:
        assert journal.strategy_health.all() == {}
        assert journal.database.rows("PRAGMA user_version")[0][0] >= 3
