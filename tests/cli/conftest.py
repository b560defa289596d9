"""The command line in this process, against a sandbox in another one."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from journeyman.cli import main


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> Any:  # noqa: ANN401 - whatever the command answers
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        return dict(json.loads(self.err))


Run = Callable[..., Outcome]


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """Call `main` in an empty folder, far from the settings of whoever tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nobody"))

    def call(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = main(arguments)
        return Outcome(code, *capsys.readouterr())

    return call


@contextmanager
def _process(command: Sequence[str]) -> Iterator[str]:
    """Run a server that ends with its stdin; give the first line that it prints."""
    with subprocess.Popen(  # noqa: S603 - our own programs
        [sys.executable, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline()
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="session")
def sandbox() -> Iterator[str]:
    """The address of a sandbox."""
    arguments = ("sandbox", "--json", "--port", "0", "--tasks", "30")
    with _process(["-m", "journeyman", *arguments, "--until-stdin-closes"]) as line:
        yield json.loads(line)["base_url"]


@pytest.fixture(scope="session")
def odd() -> Iterator[str]:
    """The address of a server whose path is the JSON or the page that it answers."""
    with _process([str(Path(__file__).parent / "odd_server.py")]) as line:
        yield line.strip()


@pytest.fixture(scope="session")
def lived(sandbox: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of an agent that has done four tasks and stopped."""
    data = tmp_path_factory.mktemp("lived") / "data"
    arguments = ("--base-url", sandbox, "--data-dir", str(data), "--max-tasks", "4")
    command = [sys.executable, "-m", "journeyman", "run", *arguments]
    subprocess.run(  # noqa: S603 - our own program
        command,
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=240,
    )
    return data


@pytest.fixture
def program() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command in a process of its own."""

    def call(
        *command: str, env: dict[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own program
            [*command],
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
            env=env,
            cwd=cwd,
        )

    return call
