"""The owner decides where strategies run, and their processes end with the daemon."""

import os
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.conftest import MakeSite, Site

from journeyman.daemon.strategies import Runs, load_strategies
from journeyman.daemon.strategy_source import generation_of
from journeyman.daemon.untrusted import isolation_of
from journeyman.journal.directory import DataDirectory
from journeyman.settings.sections import IsolationSettings, StrategySettings
from journeyman.strategies.child.kernel import children_of

PLAIN = """
from journeyman import strategy

@strategy(tags={"x"})
def plain(task): return 1

@strategy(tags={"x"})
async def patient(task): return 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "files"
    made.mkdir()
    (made / "both.py").write_text(PLAIN)
    return made


def settings(folder: Path, **runners: Runs) -> StrategySettings:
    return StrategySettings(directory=folder, runners=runners)


def test_the_owners_word_goes_before_what_a_strategy_declares(folder: Path) -> None:
    usual = load_strategies(settings(folder))
    moved = load_strategies(settings(folder, plain="process", patient="process"))

    assert {one.name: one.runner for one in usual.strategies} == {
        "plain": "thread",
        "patient": "loop",
    }
    assert {one.runner for one in moved.strategies} == {"process"}
    before, after = generation_of(usual), generation_of(moved)
    assert before.fingerprints["plain"] != after.fingerprints["plain"]


def test_an_async_strategy_is_not_put_into_a_thread(folder: Path) -> None:
    registry = load_strategies(settings(folder, patient="thread"))

    (problem,) = registry.problems
    assert (problem.code, problem.line) == ("E110", 8)
    assert "choose one of loop, process" in problem.fix
    assert [one.name for one in registry.strategies] == ["plain"]


def test_a_runner_for_a_strategy_that_is_not_there_is_a_problem(folder: Path) -> None:
    registry = load_strategies(settings(folder, plian="process"))

    (problem,) = registry.problems
    assert "strategies.runners names 'plian'" in problem.message
    assert problem.fix == "did you mean 'plain'?"


def test_every_limit_of_the_settings_reaches_the_processes(tmp_path: Path) -> None:
    chosen: dict[str, Any] = {
        "cpu_seconds": 1.5,
        "memory_mb": 64,
        "file_mb": 2,
        "open_files": 33,
        "processes": 3,
        "output_bytes": 7,
        "warm_children": 0,
        "idle_seconds": 4.0,
        "tasks_per_child": 9,
        "environment": ("KEY",),
    }
    assert set(chosen) == set(IsolationSettings.model_fields)

    isolation = isolation_of(IsolationSettings(**chosen), DataDirectory(tmp_path))

    assert {name: getattr(isolation, name) for name in chosen} == chosen
    assert isolation.private == (tmp_path,)
    assert isolation.homes == tmp_path / "workspaces"


async def test_a_whole_daemon_works_in_processes_and_leaves_none(
    make_site: MakeSite,
) -> None:
    site = await make_site(tasks=3)
    others = children_of(os.getpid())

    await site.run(
        strategies__runners={"count_words": "process"},
        isolation__warm_children=1,
        work__slots=2,
        work__once=True,
    )

    assert site.log.names.count("task.completed") == 3
    names = ("isolation.complete", "isolation.incomplete")
    (told,) = [line for name in names for line in site.log.named(name)]
    assert set(told) >= {"network", "files", "signals", "memory_of_others"}
    assert set(children_of(os.getpid())) <= set(others)
    assert homes_of(site) == []


def homes_of(site: Site) -> list[str]:
    return [path.name for path in (site.data / "workspaces").iterdir()]
