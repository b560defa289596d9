"""`journeyman logs`: what was logged, filtered, after the daemon has stopped too."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_one_tasks_lines_tell_its_pay_its_cost_and_how_long_it_took(
    run: Run, lived: Path
) -> None:
    where = ("--data-dir", str(lived))
    [task, *_] = run("tasks", "--state", "completed", *where, "--json").answer

    lines = run("logs", "--task", task["task_id"], *where, "--json").answer

    assert {line["task_id"] for line in lines} == {task["task_id"]}
    completed = lines[-1]
    assert completed["event"] == "task.completed"
    assert completed["credits"] > 0
    assert completed["cost"] == 0
    assert completed["seconds"] > 0


def test_the_start_line_names_the_version_of_the_events(run: Run, lived: Path) -> None:
    lines = run("logs", "--data-dir", str(lived), "--json").answer

    [started] = [line for line in lines if line["event"] == "daemon.started"]
    assert started["events_version"] == 1


@pytest.mark.parametrize(
    "options",
    [("--level", "error"), ("--strategy", "nobody"), ("--task", "task_nobody")],
)
def test_what_was_never_logged_is_said_to_be_so(
    run: Run, lived: Path, options: tuple[str, str]
) -> None:
    told = run("logs", *options, "--data-dir", str(lived))

    assert told.out == "No line of the log is like this.\n"


def test_lines_are_dated_and_limited(run: Run, lived: Path) -> None:
    told = run("logs", "--limit", "2", "--since", "1d", "--data-dir", str(lived))

    lines = told.out.splitlines()
    assert len(lines) == 2
    assert lines[-1].startswith("20")
    assert "daemon.stopped" in lines[-1]


def test_a_crash_that_cut_a_line_short_hides_no_other(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "journeyman.log"
    line = '{"time":"2026-11-21T14:03:59.000Z","level":"info","event":"daemon.stopped"}'
    log.write_text(f'{line}\n{{"time":"2026\n{line}\n')

    assert len(run("logs", "--data-dir", str(tmp_path), "--json").answer) == 2


def test_where_no_log_is_it_says_what_writes_one(run: Run, tmp_path: Path) -> None:
    told = run("logs", "--data-dir", str(tmp_path))

    assert told.code == 3
    assert "log.file_mb" in told.err
