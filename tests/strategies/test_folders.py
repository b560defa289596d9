"""Several folders of strategies: the owner's, and those that come with Journeyman."""

from collections.abc import Callable
from pathlib import Path

import pytest

from journeyman.strategies.loading.loader import Folders, Loading, load

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return what writes a strategy into a folder."""

    def write(folder: str, name: str, version: str = "1") -> Path:
        path = tmp_path / folder / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            "from journeyman import strategy\n\n\n"
            f"@strategy(tags={{'x'}}, version={version!r})\n"
            f"def {name}(task):\n    return task.text\n"
        )
        return path

    return write


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[[], Loading]:
    """Return what loads `mine`, `team` and, as the ready ones, `ready`."""

    def load_all() -> Loading:
        own = tuple(
            folder for name in ("mine", "team") if (folder := tmp_path / name).is_dir()
        )
        return load(Folders(own, tmp_path / "ready"))

    return load_all


def test_strategies_of_all_folders_are_loaded(
    write: Write, loaded: Callable[[], Loading]
) -> None:
    for folder, name in (("ready", "echo"), ("mine", "count"), ("team", "join")):
        write(folder, name)

    assert [one.name for one in loaded().strategies] == ["count", "join", "echo"]
    assert loaded().problems == ()


def test_your_strategy_takes_the_place_of_a_ready_one_of_its_name(
    write: Write, loaded: Callable[[], Loading]
) -> None:
    write("ready", "echo")
    write("ready", "count")
    write("mine", "echo", version="2")

    found = {one.name: one.version for one in loaded().strategies}

    assert found == {"count": "1", "echo": "2"}
    assert loaded().problems == ()


def test_a_ready_one_does_not_step_in_for_yours_that_is_broken(
    write: Write, loaded: Callable[[], Loading]
) -> None:
    write("ready", "echo")
    write("mine", "echo").write_text("def echo(:\n")

    assert loaded().strategies == ()
    assert [problem.code for problem in loaded().problems] == ["E101"]


def test_a_file_that_is_nested_too_deeply_is_told_so(
    write: Write, loaded: Callable[[], Loading]
) -> None:
    write("ready", "count")
    write("mine", "echo").write_text("import journeyman\nx = " + "-" * 100_000 + "1\n")

    (problem,) = loaded().problems
    assert problem.code == "E101"
    assert problem.message.endswith("an expression in it is nested too deeply")
    assert "UTF-8" not in problem.fix


def test_of_two_in_your_own_folders_neither_wins(
    write: Write, loaded: Callable[[], Loading]
) -> None:
    mine, team = write("mine", "echo"), write("team", "echo")
    write("ready", "echo")

    first, second = loaded().problems

    assert loaded().strategies == ()
    assert (first.code, first.path, second.path) == ("E109", mine, team)
    assert str(team) in first.message


def test_a_folder_that_is_missing_stops_no_other(write: Write, tmp_path: Path) -> None:
    write("ready", "echo")

    found = load(Folders((tmp_path / "nowhere",), tmp_path / "ready"))

    assert [one.name for one in found.strategies] == ["echo"]
    assert [problem.code for problem in found.problems] == ["E100"]
