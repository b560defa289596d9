"""Which strategies are in force, and what makes a new generation of them."""

from pathlib import Path

import pytest

from journeyman.daemon.strategies import (
    generation_of,
    load_strategies,
    ready_strategies,
    strategies_directory,
)
from journeyman.settings.sections import StrategySettings

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

    assert strategies_directory(unset) == ready_strategies()
    (tmp_path / "strategies").mkdir()
    assert strategies_directory(unset) == Path("strategies")
    assert strategies_directory(named) == tmp_path / "mine"


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
