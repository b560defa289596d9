"""Pages as a reader follows them: files are written, commands are typed, in order."""

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from journeyman.cli import main

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\S+\.(?:py|toml))\n")
PLUGIN = "journeyman.testing.plugin"


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    text: str

    @property
    def file(self) -> str:
        """The path in its first line, where the reader is to write it down."""
        found = FILE.match(self.text)
        return found[1] if found else ""


def blocks_of(page: str) -> list[Block]:
    """Return the fenced blocks of a page, by its path below docs/."""
    text = (DOCS / page).read_text("utf-8")
    return [Block(*found.groups()) for found in FENCE.finditer(text)]


def _steps(text: str) -> Iterator[tuple[str, list[str]]]:
    """Return each command of a console block, with what is shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        yield command, shown


def _pattern(line: str) -> re.Pattern[str]:
    """Match a line in which `...` stands for anything, and gaps are of any width."""
    words = [".*".join(map(re.escape, word.split("..."))) for word in line.split()]
    return re.compile(r"\s*" + r"\s*".join(words) + r"\s*")


def missing(shown: list[str], printed: list[str]) -> list[str]:
    """Return the lines that were promised and not printed in that order."""
    rest = iter(printed)
    return [
        line for line in shown if not any(_pattern(line).fullmatch(one) for one in rest)
    ]


Follow = Callable[[str], None]


class Reader:
    """Someone who does what a page says, in an empty folder."""

    def __init__(self, folder: Path, read_output: Callable[[], str]) -> None:
        self._folder = folder
        self._read_output = read_output

    def follow(self, page: str) -> None:
        for block in blocks_of(page):
            if block.file:
                path = self._folder / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text)
            elif block.language == "console":
                self._type_in_all(block.text)

    def _type_in_all(self, text: str) -> None:
        for command, shown in _steps(text):
            self._read_output()
            self._type_in(command)
            printed = self._read_output()
            lost = missing(shown, printed.splitlines())
            assert not lost, f"$ {command}\n{printed}\nlacks {lost}"

    def _type_in(self, command: str) -> None:
        program, *arguments = shlex.split(command)
        if program == "journeyman":
            main(arguments)
        elif program == "pytest":
            # In this process: another one would import everything once more.
            options = ["--import-mode=importlib", "-p", "no:cacheprovider"]
            pytest.main([*options, *_plugin(), *arguments])
        elif program == "rm":
            (self._folder / arguments[0]).unlink()
        else:
            raise ValueError(f"no reader is asked to type {command!r} here")


@pytest.fixture
def follow(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Follow:
    """Follow a page, far from the settings of whoever tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nobody"))
    # What a reader sees, who has a terminal.
    monkeypatch.setenv("JOURNEYMAN_LOG__FORMAT", "text")

    def read_output() -> str:
        captured = capsys.readouterr()
        return captured.out + captured.err

    return Reader(tmp_path, read_output).follow


def _plugin() -> list[str]:
    """Name our plugin where the tree is not installed with it yet."""
    known = {point.value for point in entry_points(group="pytest11")}
    return [] if PLUGIN in known else ["-p", PLUGIN]
