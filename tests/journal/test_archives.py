"""What is taken out of the journal stands in the archives, once, whenever it dies."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.journal.conftest import RESULT, Open, brought_to, task

from journeyman.domain.errors import StateError
from journeyman.domain.tasks import TaskState
from journeyman.journal.archives import Archives, archived, archives_in
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TEXTS_DROPPED, TaskRecord
from journeyman.observability.redaction import Redactor
from journeyman.testing import FakeClock

EVER = "9999"


@pytest.fixture
def archives(journal: Journal, tmp_path: Path) -> Archives:
    return archives_of(journal, tmp_path)


def archives_of(
    journal: Journal, folder: Path, clean: Callable[[str], str] = str
) -> Archives:
    return Archives(folder / "archives", journal, clean)


def end(archives: Archives, clock: FakeClock, task_id: str) -> TaskRecord:
    """Let a day go by, in which a task is completed."""
    clock.advance(43_200)
    done = brought_to(archives.journal, TaskState.COMPLETED, task_id)
    clock.advance(43_200)
    return done


def add(archives: Archives) -> str:
    """Write down what ended and is not dropped yet; return until when that is."""
    tasks, until = archives.journal.tasks, archives.journal.tasks.now().isoformat()
    return archives.add(tasks.texts_of_ended(_dropped(archives), until), until)


def drop(archives: Archives, until: str) -> None:
    """Take it out of the journal."""
    with archives.journal.tx("history"):
        archives.journal.tasks.drop_texts(_dropped(archives), until)
        archives.journal.facts.put(TEXTS_DROPPED, until)
        archives.note_dropped()


def _dropped(archives: Archives) -> str:
    return str(archives.journal.facts.get(TEXTS_DROPPED) or "")


def lines_in(archives: Archives) -> list[dict[str, Any]]:
    """Return what `zcat` would show of all of them."""
    return [
        json.loads(line)
        for one in archives_in(archives.folder)
        for line in gzip.decompress(one.path.read_bytes()).decode().splitlines()
    ]


def names_in(archives: Archives) -> list[str]:
    return [one.path.name for one in archives_in(archives.folder)]


def test_a_task_that_lost_its_result_has_it_in_the_archive_of_its_month(
    archives: Archives, clock: FakeClock
) -> None:
    done = end(archives, clock, "t1")
    ended_at = done.updated_at.isoformat()

    drop(archives, add(archives))

    assert archives.journal.tasks.get(done.task_id).result is None
    assert names_in(archives) == [f"{ended_at[:7]}.jsonl.gz"]
    (line,) = archived(archives.folder, ended_at, done.task_id)
    assert line["task"]["title"] == done.task.title
    assert line["result"]["output"] == RESULT.output
    assert (line["state"], line["ended_at"]) == ("completed", ended_at)
    assert [*archived(archives.folder, ended_at, "another")] == []


def test_moves_are_archived_with_the_last_one_which_the_journal_keeps(
    archives: Archives,
) -> None:
    done = brought_to(archives.journal, TaskState.COMPLETED)
    moves = [event.after for event in archives.journal.tasks.history(done.task_id)]

    archives.add(archives.journal.tasks.moves_of_ended("", EVER), EVER)

    (line,) = lines_in(archives)
    assert [move["after"] for move in line["moves"]] == moves


def test_of_a_task_that_nobody_wanted_nothing_is_archived(journal: Journal) -> None:
    with journal.tx("decision"):
        journal.tasks.record_decision(
            task("t1"), TaskState.SKIPPED, reason="no", fingerprint="f"
        )

    assert journal.tasks.texts_of_ended("", EVER) == []
    assert journal.tasks.moves_of_ended("", EVER) == []


@pytest.mark.parametrize("written", [0.0, 0.5, 1.0])
def test_what_was_added_and_not_dropped_when_the_process_died_stands_there_once(
    archives: Archives, tmp_path: Path, clock: FakeClock, written: float
) -> None:
    end(archives, clock, "first")
    drop(archives, add(archives))
    end(archives, clock, "second")
    (path,) = [one.path for one in archives_in(archives.folder)]
    before = path.stat().st_size
    add(archives)
    added = path.stat().st_size - before
    with path.open("rb+") as file:
        file.truncate(before + int(written * added))

    end(archives, clock, "third")
    again = archives_of(archives.journal, tmp_path)
    drop(again, add(again))

    shown = [line["task_id"] for line in lines_in(again)]
    assert shown == ["first", "second", "third"]
    assert names_in(again) == [path.name]


def test_each_month_has_a_file(archives: Archives, clock: FakeClock) -> None:
    end(archives, clock, "old")
    clock.advance(31 * 86_400)
    end(archives, clock, "new")

    drop(archives, add(archives))
    assert [line["task_id"] for line in lines_in(archives)] == ["old"]
    drop(archives, add(archives))

    assert len(names_in(archives)) == 2
    assert [line["task_id"] for line in lines_in(archives)] == ["old", "new"]


def test_an_archive_of_which_a_restored_journal_knows_less_is_put_aside(
    archives: Archives,
    clock: FakeClock,
    open_journal: Open,
    path: Path,
    tmp_path: Path,
) -> None:
    end(archives, clock, "t1")
    drop(archives, add(archives))
    archives.journal.close()
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()

    with open_journal() as restored:
        again = archives_of(restored, tmp_path)
        end(again, clock, "t2")
        drop(again, add(again))

        (month,) = {one.month for one in archives_in(again.folder)}
        assert names_in(again) == [f"{month}.1.jsonl.gz", f"{month}.jsonl.gz"]
        assert [line["task_id"] for line in lines_in(again)] == ["t1", "t2"]


def test_a_token_does_not_reach_an_archive(journal: Journal, tmp_path: Path) -> None:
    redactor = Redactor()
    redactor.add("Count-the-secret")
    archives = archives_of(journal, tmp_path, redactor.hide_in_json_text)
    done = brought_to(journal, TaskState.COMPLETED, "Count-the-secret")

    add(archives)

    text = gzip.decompress(archives_in(archives.folder)[0].path.read_bytes()).decode()
    assert done.task_id not in text
    assert '"title": "Count"' in text


def test_where_the_disk_refuses_nothing_is_dropped(
    archives: Archives, tmp_path: Path
) -> None:
    (tmp_path / "archives").write_text("in the way")
    done = brought_to(archives.journal, TaskState.COMPLETED)

    with pytest.raises(StateError, match=r"archive .* cannot be written"):
        add(archives)

    assert archives.journal.tasks.get(done.task_id).result == RESULT


def test_too_much_is_taken_from_the_oldest_and_never_the_newest(
    archives: Archives, clock: FakeClock
) -> None:
    for task_id in ("old", "middle", "new"):
        end(archives, clock, task_id)
        drop(archives, add(archives))
        clock.advance(40 * 86_400)

    oldest = archives_in(archives.folder)[0]
    all_of_them = sum(one.bytes for one in archives_in(archives.folder))

    assert archives.bound(all_of_them) == []
    assert archives.bound(all_of_them - 1) == [oldest]
    assert len(archives.bound(1)) == 1
    assert [line["task_id"] for line in lines_in(archives)] == ["new"]
