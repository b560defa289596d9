"""What an owner keeps: the identity, and the journal."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from journeyman.daemon.system import SystemClock
from journeyman.journal.archives import Archives
from journeyman.journal.directory import DataDirectory, DirectoryLock
from journeyman.journal.identity import load_identity
from journeyman.journal.journal import Journal
from journeyman.journal.ledger_archives import LedgerArchives
from journeyman.journal.tasks import TEXTS_DROPPED

Run = Callable[..., Any]


@pytest.fixture
def data(lived: Path, tmp_path: Path) -> Path:
    """Return a copy of a data directory that a test may change."""
    return Path(shutil.copytree(lived, tmp_path / "data"))


@pytest.fixture
def token(lived: Path) -> str:
    identity = load_identity(lived / "identity.json")
    assert identity is not None
    return identity.access_token.reveal()


def test_the_identity_is_shown_without_its_token(
    run: Run, lived: Path, token: str
) -> None:
    told = run("identity", "show", "--data-dir", str(lived))
    answer = run("identity", "show", "--data-dir", str(lived), "--json").answer

    assert answer["agent_id"] in told.out
    assert answer["mode"] == "0600"
    assert token not in told.out + json.dumps(answer)


def test_an_exported_identity_can_be_imported_elsewhere(
    run: Run, lived: Path, tmp_path: Path, token: str
) -> None:
    copy = str(tmp_path / "copy.json")

    exported = run("identity", "export", copy, "--data-dir", str(lived))
    imported = run("identity", "import", copy, "--data-dir", str(tmp_path / "new"))

    assert (exported.code, imported.code) == (0, 0)
    assert "Whoever has it is the agent" in exported.out
    assert Path(copy).stat().st_mode & 0o777 == 0o600
    assert load_identity(tmp_path / "new" / "identity.json") == load_identity(
        lived / "identity.json"
    )
    assert token not in exported.out + imported.out


def test_an_export_overwrites_nothing(run: Run, lived: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")

    done = run("identity", "export", "mine", "--data-dir", str(lived))

    assert done.code == 1
    assert "File exists" in done.err
    assert (tmp_path / "mine").read_text() == "mine"


def test_an_import_takes_no_ones_place_unasked(run: Run, data: Path) -> None:
    before = (data / "identity.json").read_bytes()
    copy = _changed_token(data)

    refused = run("identity", "import", str(copy), "--data-dir", str(data))
    assert refused.code == 6
    assert "--replace" in refused.err
    assert (data / "identity.json").read_bytes() == before

    replaced = run(
        *("identity", "import", str(copy), "--replace", "--data-dir", str(data)),
        "--json",
    )
    assert replaced.code == 0
    assert Path(replaced.answer["old_kept_as"]).read_bytes() == before
    assert load_identity(data / "identity.json") == load_identity(copy)


def test_one_agents_books_do_not_become_anothers(run: Run, data: Path) -> None:
    copy = _changed_token(data, agent_id="another")

    done = run("identity", "import", str(copy), "--replace", "--data-dir", str(data))

    assert done.code == 6
    assert "another" in done.err


def _changed_token(data: Path, **changes: str) -> Path:
    content = json.loads((data / "identity.json").read_text())
    copy = data.parent / "changed.json"
    copy.write_text(json.dumps({**content, "access_token": "new-token", **changes}))
    return copy


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"format": 1, "agent_id": "", "access_token": "t", "base_url": "http://n"}',
        '{"format": 1, "agent_id": "a", "access_token": "", "base_url": "http://n"}',
        '{"format": 1, "agent_id": "a", "access_token": "a b", "base_url": "http://n"}',
        '{"format": 1, "agent_id": "a", "access_token": "t", "base_url": "ftp://n"}',
    ],
)
def test_what_is_no_identity_is_not_imported(
    run: Run, tmp_path: Path, content: str
) -> None:
    (tmp_path / "file").write_text(content)

    done = run("identity", "import", "file", "--data-dir", "data")

    assert done.code == 1
    assert "cannot be used" in done.err
    assert not (tmp_path / "data" / "identity.json").exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("identity import gone --data-dir data", 1),
        ("identity show --data-dir data", 3),
        ("identity export copy --data-dir data", 3),
        ("journal check --data-dir data", 3),
        ("journal backup copy --data-dir data", 3),
        ("journal compact --data-dir data", 3),
    ],
)
def test_where_nothing_is_it_is_said(run: Run, arguments: str, code: int) -> None:
    done = run(*arguments.split())

    assert done.code == code
    assert done.err.startswith("journeyman: ")
    assert not Path("copy").exists()


@pytest.mark.parametrize("command", ["identity import FILE", "journal compact"])
def test_what_changes_files_waits_for_the_daemon_to_end(
    run: Run, data: Path, command: str
) -> None:
    copy = _changed_token(data)
    arguments = command.replace("FILE", str(copy)).split()

    with DirectoryLock(DataDirectory(data)):
        done = run(*arguments, "--data-dir", str(data))

    assert done.code == 6
    assert "Stop it first" in done.err


def test_a_journal_is_checked(run: Run, data: Path) -> None:
    whole = run("journal", "check", "--data-dir", str(data))
    with closing(sqlite3.connect(data / "journal.db")) as connection:
        connection.execute("UPDATE totals SET value = value + 1")
        connection.commit()
    broken = run("journal", "check", "--data-dir", str(data))
    answer = run("journal", "check", "--data-dir", str(data), "--json")

    assert (whole.code, broken.code, answer.code) == (0, 1, 1)
    assert "intact" in whole.out
    assert "BROKEN: totals" in broken.out
    assert answer.answer["faults"]


def test_a_backup_and_a_compact_journal_hold_the_same(run: Run, data: Path) -> None:
    where = ("--data-dir", str(data), "--json")
    before = run("ledger", *where).answer

    compacted = run("journal", "compact", *where)
    backup = run("journal", "backup", str(data.parent / "copy.db"), *where)
    again = run("journal", "backup", str(data.parent / "copy.db"), *where)

    assert (compacted.code, backup.code, again.code) == (0, 0, 1)
    assert run("ledger", *where).answer == before
    (data / "journal.db").write_bytes((data.parent / "copy.db").read_bytes())
    assert run("ledger", *where).answer == before
    assert run("journal", "check", *where).code == 0


def test_what_was_archived_of_a_task_is_shown(run: Run, data: Path) -> None:
    where = ("--data-dir", str(data))
    none = run("journal", "archives", *where)
    with Journal(data / "journal.db", SystemClock().now) as journal:
        archives = Archives(data / "archives", journal, str)
        wanted = journal.tasks.texts_of_ended("", "9999")
        task_id = str(wanted[0]["task_id"])
        too_early = run("journal", "archives", task_id, *where)
        until = archives.add(wanted[:1], str(wanted[0]["ended_at"]))
        with journal.tx("history"):
            journal.tasks.drop_texts("", until)
            journal.facts.put(TEXTS_DROPPED, until)
            archives.note_dropped()

    listed = run("journal", "archives", *where)
    found = run("journal", "archives", task_id, *where)
    shown = run("tasks", "show", task_id, *where)
    told = run("why", task_id, *where)

    assert (none.code, too_early.code) == (0, 2)
    assert "There are no archives" in none.out
    assert "tasks show" in too_early.err
    assert until[:7] in listed.out
    assert json.loads(found.out)["result"] == wanted[0]["result"]
    assert f"journal archives {task_id}" in shown.out
    assert f"journal archives {task_id}" in told.out


def test_of_a_task_of_the_past_it_is_told_where_more_of_it_is(
    run: Run, data: Path
) -> None:
    where = ("--data-dir", str(data))
    with Journal(data / "journal.db", SystemClock().now) as journal:
        (done, *_) = journal.tasks.recent("completed", 1)
        archives = Archives(data / "archives", journal, str)
        archives.add(journal.tasks.texts_of_ended("", "9999"), "9999")
        with journal.tx("history"):
            journal.tasks.drop_tasks("", "9999")

    told = run("why", done.task_id, *where)
    shown = run("tasks", "show", done.task_id, *where)
    found = run("journal", "archives", done.task_id, *where)

    month = done.updated_at.isoformat()[:7]
    assert (told.code, shown.code, found.code) == (2, 2, 0)
    assert f"it ended in {month}, completed" in told.err
    assert f"journal archives {done.task_id}" in shown.err
    assert json.loads(found.out)["task"]["title"] == done.task.title


def test_old_entries_are_shown_from_their_archive_and_missed_where_it_is_gone(
    run: Run, data: Path, tmp_path: Path
) -> None:
    where = ("--data-dir", str(data))
    questions = [
        ("ledger", "--csv"),
        ("ledger", "--by", "strategy", "--json"),
        ("ledger", "show", "2", "--json"),
        ("profit", "--json"),
    ]
    with Journal(data / "journal.db", SystemClock().now) as journal:
        with journal.tx("history"):
            journal.tasks.drop_tasks("", "9999")
        before = [run(*one, *where).out for one in questions]
        archives = LedgerArchives(data / "archives", journal, stay=1)
        assert archives.add(SystemClock().now(), SystemClock().now())
        assert journal.ledger.entry(2) is None

    assert [run(*one, *where).out for one in questions] == before
    verified = run("ledger", "verify", *where)
    backup = run("journal", "backup", str(tmp_path / "copy.db"), *where, "--json")
    (archive,) = backup.answer["not_in_it"]
    Path(archive).unlink()
    broken, refused = run("ledger", "verify", *where), run("ledger", "--csv", *where)
    listed, doctor = run("journal", "archives", *where), run("doctor", *where)

    assert (verified.code, broken.code, refused.code) == (0, 1, 1)
    assert f"{archive}, with entries 1 to" in broken.out
    assert "is missing" in refused.err
    assert "missing" in listed.out
    assert "with old entries of the ledger, is missing" in " ".join(doctor.out.split())


def test_a_pause_is_written_down_while_no_daemon_runs(run: Run, data: Path) -> None:
    where = ("--data-dir", str(data))

    done = run("pause", "--reason", "lunch", "--for", "2h", *where)
    told, answer = run("status", *where), run("status", "--json", *where).answer
    with DirectoryLock(DataDirectory(data)):
        starting = run("status", *where)
    resumed = run("resume", *where)

    assert done.out.startswith("Paused by ")
    assert "lunch" in done.out
    assert "STOPPED, and PAUSED by " in told.out
    assert "STARTING, and PAUSED by " in starting.out
    assert answer["paused"]["reason"] == "lunch"
    assert resumed.code == 0
    assert run("status", "--json", *where).answer["paused"] is None


def test_a_strategy_is_disabled_and_enabled_while_no_daemon_runs(
    run: Run, data: Path
) -> None:
    where = ("--data-dir", str(data))

    run("strategies", "disable", "count_words", "--reason", "too slow", *where)
    told = run("status", *where)
    enabled = run("strategies", "enable", "count_words", *where)
    again = run("strategies", "enable", "count_words", *where)

    assert "count_words by " in told.out
    assert "too slow" in told.out
    assert (enabled.code, again.code) == (0, 2)
