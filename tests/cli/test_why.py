"""`journeyman why`: a task's whole story, and why not more is earned."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_a_task_that_was_paid_tells_each_step_from_listing_to_credits(
    run: Run, lived: Path
) -> None:
    where = ("--data-dir", str(lived))
    [task, *_] = run("tasks", "--state", "completed", *where, "--json").answer

    told = run("why", task["task_id"], *where, "--json").answer

    steps = [one["step"] for one in told["steps"]]
    assert steps[:2] == ["seen", "gates"]
    assert steps.index("yes") < steps.index("wanted") < steps.index("claimed")
    assert steps.index("submitting") < steps.index("owed") < steps.index("paid")
    assert steps.count("paid") == 1
    verdicts = [one["message"] for one in told["steps"] if one["step"] == "yes"]
    assert verdicts[0].startswith(f"{task['strategy']}: ")
    assert told["next"] == ""


def test_a_task_that_was_skipped_tells_what_each_strategy_said(
    run: Run, lived: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ("--data-dir", str(lived))
    skipped = run("tasks", "--state", "skipped", *where, "--json").answer
    monkeypatch.setattr("journeyman.cli.output.terminal_width", lambda: 80)

    told = run("why", skipped[0]["task_id"], *where)

    assert "count_words" in told.out
    assert "no strategy wants it" in told.out
    assert max(map(len, told.out.splitlines())) <= 80


def test_what_was_said_to_a_model_stands_between_the_steps(
    run: Run, lived: Path, tmp_path: Path
) -> None:
    data = shutil.copytree(lived, tmp_path / "data")
    where = ("--data-dir", str(data))
    done, other, *_ = run("tasks", "--state", "completed", *where, "--json").answer
    steps = run("why", done["task_id"], *where, "--json").answer["steps"]
    executing = next(one["at"] for one in steps if one["step"] == "executing")
    lines = [
        {
            "time": executing,
            "level": "info",
            "event": "strategy.transcript",
            "task_id": task["task_id"],
            "strategy": "ask_llm",
            "role": "answered",
            "said": f"it is {task['task_id']}" + 500 * " word",
        }
        for task in (done, other)
    ]
    with (data / "journeyman.log").open("a") as log:
        log.writelines(f"{json.dumps(line)}\n" for line in lines)
        log.write('{"event": "strategy.transcript", "task_id": "cut sho')

    told = run("why", done["task_id"], *where, "--json").answer["steps"]
    shown = run("why", done["task_id"], *where).out

    said = [one["message"] for one in told if one["step"] == "model"]
    assert said == [f"answered: {lines[0]['said']}"]
    assert f"answered: it is {done['task_id']} word" in shown
    assert shown.count(" word") < 100
    assert f"it is {other['task_id']}" not in shown


def test_a_stopped_agent_is_told_how_it_earns_again(run: Run, lived: Path) -> None:
    told = run("why", "--data-dir", str(lived))
    causes = run("why", "--data-dir", str(lived), "--json").answer["causes"]

    assert "no daemon runs" in told.out
    assert causes[0]["name"] == "not_running"
    assert causes[0]["fix"] == "journeyman run"


def test_a_task_that_was_never_seen_is_a_mistake_with_a_hint(
    run: Run, lived: Path
) -> None:
    told = run("why", "task_nobody", "--data-dir", str(lived))

    assert told.code == 2
    assert "journeyman tasks" in told.err
