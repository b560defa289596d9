"""Facts of the container image that can be checked without building it."""

import json
import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from packaging.specifiers import SpecifierSet

from journeyman.settings.sections import Settings
from journeyman.settings.sources import load_settings


class Instruction(NamedTuple):
    """One line of a Dockerfile, its continuations joined."""

    word: str
    rest: str


def read(dockerfile: Path) -> Iterator[Instruction]:
    lines = dockerfile.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if line.strip():
            yield Instruction(*line.strip().split(maxsplit=1))


@pytest.fixture
def instructions(root: Path) -> list[Instruction]:
    return list(read(root / "Dockerfile"))


@pytest.fixture
def shipped(instructions: list[Instruction]) -> dict[str, str]:
    """The last stage: the last instruction of each kind."""
    start = max(i for i, one in enumerate(instructions) if one.word == "FROM")
    return dict(instructions[start:])


def test_the_image_runs_as_an_ordinary_numeric_user(shipped: dict[str, str]) -> None:
    user, group = shipped["USER"].split(":")

    assert int(user) > 0
    assert int(group) == 0, "any uid of an operator's choice belongs to the root group"


def test_the_daemon_is_process_one_and_hears_sigterm(
    shipped: dict[str, str], pyproject: dict[str, Any]
) -> None:
    # The shell form would put a shell between the engine's signal and the daemon.
    (program,) = json.loads(shipped["ENTRYPOINT"])

    assert program in pyproject["project"]["scripts"]
    assert json.loads(shipped["CMD"]) == ["run"]
    assert shipped["STOPSIGNAL"] == "SIGTERM"


def test_the_engine_asks_the_daemon_for_its_health(shipped: dict[str, str]) -> None:
    options, command = shipped["HEALTHCHECK"].split("CMD ")

    assert json.loads(command) == ["journeyman", "health"]
    assert "--start-period=" in options


def test_state_lives_on_the_volume(shipped: dict[str, str], tmp_path: Path) -> None:
    environment = dict(pair.split("=", 1) for pair in shlex.split(shipped["ENV"]))

    loaded = load_settings(environ=environment, cwd=tmp_path)

    assert loaded.settings.data.directory == Path(shipped["VOLUME"])


def test_the_image_loads_your_strategies_beside_the_ready_ones(
    instructions: list[Instruction], shipped: dict[str, str], tmp_path: Path
) -> None:
    environment = dict(pair.split("=", 1) for pair in shlex.split(shipped["ENV"]))
    made = " ".join(one.rest for one in instructions if one.word == "RUN")

    chosen = load_settings(environ=environment, cwd=tmp_path).settings.strategies

    assert (chosen.directory, chosen.ready) == (Path("/strategies"), True)
    assert str(chosen.directory) in made.split()


def test_the_image_has_a_python_that_the_project_supports(
    instructions: list[Instruction], pyproject: dict[str, Any]
) -> None:
    bases = {one.rest.split()[0] for one in instructions if one.word == "FROM"}

    (version,) = {base.removeprefix("python:").removesuffix("-slim") for base in bases}

    assert SpecifierSet(pyproject["project"]["requires-python"]).contains(version)


def test_nothing_is_installed_into_the_image_without_a_hash(
    instructions: list[Instruction],
) -> None:
    steps = [
        step
        for one in instructions
        if one.word == "RUN"
        for step in one.rest.split("&&")
        if re.search(r"\bpip\b.*\b(install|wheel)\b", step)
    ]

    assert steps
    assert [
        s for s in steps if "--require-hashes" not in s and "--no-deps" not in s
    ] == []


def test_every_copied_path_exists_and_reaches_the_builder(
    root: Path, instructions: list[Instruction]
) -> None:
    ignore = (root / ".dockerignore").read_text(encoding="utf-8").splitlines()
    admitted = [line[1:] for line in ignore if line.startswith("!")]
    copied = [
        source
        for one in instructions
        if one.word == "COPY" and not one.rest.startswith("--from")
        for source in one.rest.split()[:-1]
    ]

    assert copied
    assert [path for path in copied if not (root / path).exists()] == []
    assert [p for p in copied if not any(fnmatch(p, a) for a in admitted)] == []


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("deploy/compose.yaml", r"stop_grace_period: (\d+)s"),
        ("deploy/journeyman.service", r"TimeoutStopSec=(\d+)"),
        ("deploy/kubernetes/agents.yaml", r"terminationGracePeriodSeconds: (\d+)"),
    ],
)
def test_a_stop_waits_longer_than_the_daemons_own_grace(
    root: Path, file: str, pattern: str
) -> None:
    text = (root / file).read_text(encoding="utf-8")

    (seconds,) = re.findall(pattern, text)

    assert int(seconds) > Settings().work.grace_seconds
