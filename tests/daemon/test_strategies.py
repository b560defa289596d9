"""Which strategies are in force, and what makes a new generation of them."""

from pathlib import Path

import pytest

from journeyman.daemon.strategies import (
    load_strategies,
    ready_strategies,
    strategy_folders,
)
from journeyman.daemon.strategy_source import generation_of
from journeyman.lifecycle.reload import StrategyWatch
from journeyman.settings.sections import StrategySettings
from journeyman.strategies.loading.loader import Folders

ECHO = """
from journeyman import Strategy, param


class Echo(Strategy):
    api, version = 1, "1"
    kinds = frozenset({"echo"})
    loud: int = param(1, ge=0, help="how loud")

    def run(self, task):
        return task.text
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "echo.py").write_text(ECHO)
    (tmp_path / "other.py").write_text(ECHO.replace("Echo", "Other"))
    return tmp_path


def test_the_setting_goes_before_the_local_folder_and_that_before_the_ready_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    unset, named = StrategySettings(), StrategySettings(directory=tmp_path / "mine")

    assert strategy_folders(unset) == Folders((), ready_strategies())
    (tmp_path / "strategies").mkdir()
    assert strategy_folders(unset) == Folders((Path("strategies"),))
    assert strategy_folders(named) == Folders((tmp_path / "mine",))


def test_folders_of_yours_are_loaded_beside_the_ready_ones_each_once(
    tmp_path: Path,
) -> None:
    mine, team = tmp_path / "mine", tmp_path / "team"
    settings = StrategySettings(
        directory=mine, more_directories=(team, ready_strategies(), mine), ready=True
    )

    folders = strategy_folders(settings)

    assert folders == Folders((mine, team), ready_strategies())
    assert str(folders) == f"{mine}, {team} and the ready strategies"


def test_a_change_in_any_of_the_folders_is_noticed_once_it_is_over(
    tmp_path: Path,
) -> None:
    folders, seen = [tmp_path / "mine", tmp_path / "team"], list[str]()
    for folder in folders:
        folder.mkdir()
    watch = StrategyWatch(lambda: folders, lambda: seen.append("changed"))

    for folder in folders:
        (folder / "echo.py").write_text(ECHO)
        watch.look()
        watch.look()

    assert seen == ["changed", "changed"]


def test_the_ready_strategies_are_there() -> None:
    assert (ready_strategies() / "count_words.py").is_file()


def test_a_disabled_strategy_is_given_no_work(folder: Path) -> None:
    settings = StrategySettings(directory=folder, disabled=("echo",))

    assert [one.name for one in load_strategies(settings).strategies] == ["other"]


def test_a_generation_is_the_same_until_a_file_or_a_parameter_changes(
    folder: Path,
) -> None:
    def now(**params: int) -> str:
        settings = StrategySettings(directory=folder, params={"echo": {**params}})
        return generation_of(load_strategies(settings)).name

    first = now()
    assert now() == first
    louder = now(loud=2)
    (folder / "echo.py").write_text(ECHO + "# changed\n")

    assert len({first, louder, now()}) == 3
