"""Strategies with libraries of their own, command by command."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.wheels import write_wheel

from journeyman.journal.directory import DataDirectory
from journeyman.strategies.loading.libraries import named_in

Run = Callable[..., Any]

GREETS = """
# /// script
# dependencies = ["greeting{wanted}"]
# ///
import greeting
from journeyman import Strategy


class {name}(Strategy):
    kinds = {{"greet"}}

    def run(self, task):
        return {{"version": greeting.VERSION}}
"""


def write_strategy(name: str, wanted: str) -> Path:
    file = Path("strategies", f"{name}.py")
    file.parent.mkdir(exist_ok=True)
    file.write_text(GREETS.format(name=name.title(), wanted=wanted).lstrip())
    return file


def version_in(run: Run, name: str) -> str:
    done = run("try", name, "--kind", "greet", "--text", "x", "--json")
    version: str = done.answer["result"]["version"]
    return version


@pytest.fixture
def data(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> DataDirectory:
    del run  # it changes to an empty folder
    monkeypatch.setenv("JOURNEYMAN_DATA__DIRECTORY", str(tmp_path / "data"))
    return DataDirectory(tmp_path / "data")


def test_a_library_that_is_named_and_not_there_is_told_with_the_command(
    run: Run, data: DataDirectory
) -> None:
    write_strategy("old", "<2")

    done = run("check")

    assert done.code == 4
    assert "E102" in done.out
    assert "`journeyman strategies sync` installs" in done.out
    assert not data.libraries.exists()


@pytest.mark.endurance
def test_two_strategies_have_two_versions_of_one_library(
    run: Run, data: DataDirectory
) -> None:
    for name, wanted, version in (("old", "<2", "1.0"), ("new", ">=2", "2.0")):
        file = write_strategy(name, wanted)
        named = named_in(file, file.read_text())
        assert named is not None
        folder = named.folder(data.libraries)
        folder.mkdir(parents=True)
        (folder / "greeting.py").write_text(f"VERSION = {version!r}\n")

    assert run("check").code == 0
    assert (version_in(run, "old"), version_in(run, "new")) == ("1.0", "2.0")


def test_libraries_are_found_in_a_data_directory_that_is_given_as_in_the_readme(
    run: Run,
) -> None:
    file = write_strategy("old", "<2")
    named = named_in(file, file.read_text())
    assert named is not None
    folder = named.folder(Path("data", "libraries"))
    folder.mkdir(parents=True)
    (folder / "greeting.py").write_text("VERSION = '1.0'\n")

    assert run("check", "old", "--data-dir", "data").code == 0


@pytest.mark.endurance
def test_an_index_that_cannot_be_reached_is_said_in_one_line(
    run: Run, data: DataDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_strategy("old", "<2")
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/simple")
    for name in ("PIP_RETRIES", "UV_HTTP_RETRIES"):
        monkeypatch.setenv(name, "1")

    done = run("strategies", "sync")

    assert done.code == 1
    assert "old: the package index cannot be reached" in done.out
    assert "UV_DEFAULT_INDEX" in done.out.split("reached")[1]
    assert "Error" not in done.out
    assert not list(data.libraries.iterdir())


def test_without_libraries_there_is_nothing_to_install(
    run: Run, data: DataDirectory
) -> None:
    assert run("strategies", "new", "word_count").code == 0

    done = run("strategies", "sync")

    assert (done.code, done.out.strip()) == (
        0,
        "no strategy names libraries of its own (PEP 723)",
    )
    assert not data.libraries.exists()


def test_what_is_named_wrongly_is_told_with_its_line(
    run: Run, data: DataDirectory
) -> None:
    file = write_strategy("old", "=2")

    done = run("strategies", "sync")

    assert done.code == 1
    assert f"{file}:1: not a requirement: 'greeting=2'" in " ".join(done.out.split())
    assert not data.libraries.exists()


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have installers take what is in a folder, and nothing else."""
    folder = tmp_path / "wheels"
    for version in ("1.0", "2.0"):
        write_wheel(folder, version)
    for installer in ("PIP", "UV"):
        monkeypatch.setenv(f"{installer}_FIND_LINKS", str(folder))
    for alone in ("PIP_NO_INDEX", "UV_OFFLINE", "UV_NO_CACHE"):
        monkeypatch.setenv(alone, "1")
    return folder


@pytest.mark.endurance
def test_each_gets_what_it_names_once_and_works_without_a_network_then(
    run: Run, data: DataDirectory, wheels: Path
) -> None:
    write_strategy("old", "<2")
    write_strategy("new", ">=2")
    states = [
        row["state"] for row in run("strategies", "sync", "--json").answer["strategies"]
    ]
    for wheel in wheels.iterdir():
        wheel.unlink()
    again = [
        row["state"] for row in run("strategies", "sync", "--json").answer["strategies"]
    ]

    assert (states, again) == (["installed"] * 2, ["was there"] * 2)
    assert (version_in(run, "old"), version_in(run, "new")) == ("1.0", "2.0")
    assert not list(data.libraries.glob(".new-*"))


@pytest.mark.endurance
@pytest.mark.usefixtures("wheels")
def test_what_cannot_be_had_is_told_and_leaves_nothing_behind(
    run: Run, data: DataDirectory
) -> None:
    write_strategy("old", "<2")
    write_strategy("future", ">=3")

    done = run("strategies", "sync", "--prune")

    assert done.code == 1
    assert "greeting>=3" in done.out
    assert len(list(data.libraries.iterdir())) == 1
    assert version_in(run, "old") == "1.0"


@pytest.mark.endurance
@pytest.mark.usefixtures("wheels")
def test_what_no_strategy_names_any_more_is_removed_when_asked(
    run: Run, data: DataDirectory
) -> None:
    old = write_strategy("old", "<2")
    write_strategy("new", ">=2")
    run("strategies", "sync")
    old.unlink()

    done = run("strategies", "sync", "--prune", "--json")

    assert len(done.answer["removed"]) == len(list(data.libraries.iterdir())) == 1
    assert version_in(run, "new") == "2.0"


@pytest.mark.endurance
@pytest.mark.usefixtures("wheels", "data")
def test_a_lock_has_hashes_and_is_for_whoever_reads_the_strategy(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = str(Path(sys.executable).parent)  # where our uv is
    monkeypatch.setenv("PATH", beside, prepend=os.pathsep)
    file = write_strategy("old", "<2")
    file.chmod(0o644)

    done = run("strategies", "sync", "--lock")

    lock = file.with_suffix(".lock")
    assert done.code == 0
    assert "greeting==1.0" in lock.read_text()
    assert "--hash=sha256:" in lock.read_text()
    assert lock.stat().st_mode & 0o777 == 0o644
    assert version_in(run, "old") == "1.0"


@pytest.mark.endurance
def test_a_lock_that_does_not_fit_what_comes_is_refused(
    run: Run, data: DataDirectory, wheels: Path
) -> None:
    file = write_strategy("old", "<2")
    assert wheels.is_dir()
    file.with_suffix(".lock").write_text(f"greeting==1.0 --hash=sha256:{'0' * 64}\n")

    done = run("strategies", "sync")

    assert done.code == 1
    assert "hash" in done.out.lower()
    assert list(data.libraries.iterdir()) == []
