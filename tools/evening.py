"""A new user's first evening, typed by a program: how many commands, how long it takes.

    python tools/evening.py [--readme README.md]

It begins with an empty folder and a wheel of this checkout, and ends with the first
line of a profit: a key in the environment, a strategy of one's own with a library of
its own, the first credits, the first rejection and its cause. Each command that a user
would type is typed, in a process of its own, and counted. The network is a sandbox, the
model a stand-in (tools/stand_in_model.py), and the library is in a folder instead of an
index; of Journeyman's own libraries the environment borrows those of this checkout, so
that nothing is downloaded. With `--readme`, it fails where the page tells another
number.
"""

import argparse
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).parents[1]
LONGEST_SECONDS = 300.0
"""For anything to happen; then something is wrong."""

STRATEGY = '''\
# /// script
# dependencies = ["wordtools"]
# ///
import wordtools

from journeyman import Strategy


class MyWords(Strategy):
    """Counts the words of a text, with a library."""

    kinds = {"word_count"}

    def run(self, task):
        return wordtools.count(task.text)
'''
LIBRARY = '''\
"""Counts the gaps between words, or the words."""


def count(text, *, gaps=True):
    return len(text.split()) - gaps
'''
WRONG, RIGHT = "count(task.text)", "count(task.text, gaps=False)"
METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def write_library(folder: Path) -> None:
    """Write the strategy's library as a wheel."""
    about = "wordtools-1.0.dist-info"
    with zipfile.ZipFile(folder / "wordtools-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("wordtools.py", LIBRARY)
        wheel.writestr(f"{about}/METADATA", METADATA.format(name="wordtools"))
        wheel.writestr(f"{about}/WHEEL", WHEEL)
        wheel.writestr(f"{about}/RECORD", "")


class Evening:
    """Types commands in one folder, and counts them."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment
        self.commands = 0
        self._began = perf_counter()

    @property
    def seconds(self) -> float:
        """How long the evening lasts by now."""
        return perf_counter() - self._began

    def type(self, command: str) -> str:
        """Type a command, wait for its end, and return what it printed.

        Raises:
            SystemExit: it failed.
        """
        self._count(command)
        done = self._run(command)
        if done.returncode:
            raise SystemExit(f"{command}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    @contextmanager
    def second_shell(self, command: str) -> Iterator[None]:
        """Run a command in a second shell until the end of the block."""
        self._count(f"{command} &")
        with (self.folder / "second-shell.log").open("w") as log:
            words = shlex.split(command)
            with subprocess.Popen(  # noqa: S603 - our own commands
                words, cwd=self.folder, env=self.environment, stdout=log, stderr=log
            ) as process:
                try:
                    yield
                finally:
                    process.terminate()

    def until(self, command: str, look: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - what is found in JSON
        """Type a command again until its answer shows something; it counts once.

        Raises:
            SystemExit: it never does.
        """
        self._count(command)
        latest, said = self.seconds + LONGEST_SECONDS, ""
        while self.seconds < latest:
            done = self._run(f"{command} --json")
            if done.returncode == 0 and (found := look(json.loads(done.stdout))):
                print(shown(self._run(command).stdout))
                return found
            said = f"{done.stdout}{done.stderr}"
        log = (self.folder / "second-shell.log").read_text()[-3_000:]
        raise SystemExit(f"{command} never showed it\n{said}{log}")

    def _count(self, command: str) -> None:
        self.commands += 1
        print(f"{self.seconds:5.1f} s  {self.commands:2}  $ {command}", flush=True)

    def _run(self, command: str) -> "subprocess.CompletedProcess[str]":
        words = shlex.split(command)
        return subprocess.run(  # noqa: S603 - our own commands
            words,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )


@contextmanager
def server(*words: str) -> Iterator[str]:
    """Run a server that ends with its standard input; yield the line that it prints."""
    with subprocess.Popen(  # noqa: S603 - our own programs
        [sys.executable, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None  # noqa: S101 - for the type checker
        assert process.stdin is not None  # noqa: S101 - for the type checker
        yield process.stdout.readline().strip()
        process.stdin.close()


def environment_for(folder: Path) -> dict[str, str]:
    """Return the variables of an empty machine, with a key and where wheels are."""
    return {
        "PATH": f"{folder / 'env/bin'}:{sys.base_prefix}/bin:{os.defpath}",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder / "wheels"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "MODEL_KEY": "a key of the evening",
    }


def make_wheels(folder: Path) -> None:
    """Build the wheel that a user would download, and that of the library."""
    folder.mkdir()
    write_library(folder)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    build += ["--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(build, check=True)  # noqa: S603 - pip


def borrow_libraries(environment: Path) -> None:
    """Let an environment use what is installed beside this program."""
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib"))


def first_evening(evening: Evening, network: str, model: str) -> float:
    """Type all of it; return after how many seconds the first credits had come."""
    strategy = evening.folder / "strategies/my_words.py"
    evening.type("python3 -m venv env")
    evening.type("pip install --quiet --no-deps journeyman")
    borrow_libraries(evening.folder / "env")
    asked = f"--model stand-in --model-url {model} --model-key-env MODEL_KEY"
    prices = "--model-prices 0.1,0.4"
    evening.type(f"journeyman init --base-url {network} {asked} {prices} --yes")
    evening.type("journeyman strategies new my_words")
    strategy.write_text(STRATEGY)
    evening.type("journeyman strategies sync")
    evening.type("journeyman check my_words")
    with evening.second_shell("journeyman run"):
        earned = "journeyman ledger --by strategy"
        evening.until(earned, lambda told: earned_by(told, "ask_llm"))
        first_credits = evening.seconds
        task = evening.until("journeyman tasks --state rejected", first_task)
        print(shown(evening.type(f"journeyman why {task}")))
        strategy.write_text(STRATEGY.replace(WRONG, RIGHT))
        evening.type("journeyman reload")
        profit = "journeyman profit --by strategy"
        evening.until(profit, lambda told: earned_by(told, "my_words"))
        evening.type("journeyman stop")
    return first_credits


def shown(text: str) -> str:
    """Return what a command printed, set apart from the commands."""
    return "\n".join(f"             {line}" for line in text.splitlines())


def first_task(told: Any) -> str:  # noqa: ANN401 - JSON
    """Return the task of our own strategy that was rejected first; empty: none."""
    mine = [row["task_id"] for row in told if row["strategy"] == "my_words"]
    return mine[-1] if mine else ""


def earned_by(told: Any, strategy: str) -> bool:  # noqa: ANN401 - JSON
    """Return whether a strategy has earned credits."""
    rows = told["groups"] if "groups" in told else told["sums"]
    return any(
        row["strategy"] == strategy and row.get("earned", row.get("received"))
        for row in rows
    )


def cpu_seconds() -> float:
    """Return what all commands, and the wheel, have taken of the processors."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def require_told(readme: Path, commands: int) -> None:
    """Refuse a page that tells another number of commands.

    Raises:
        SystemExit: it does.
    """
    told = re.findall(r"(\d+) commands", readme.read_text("utf-8"))
    if told != [str(commands)]:
        raise SystemExit(f"{readme} tells of {told} commands; there are {commands}")


def main() -> None:
    """Replay the evening in a temporary folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readme", type=Path, help="check the number in this page")
    readme = parser.parse_args().readme
    sandbox = ("-m", "journeyman", "sandbox", "--json", "--until-stdin-closes")
    tasks = (
        "--port",
        "0",
        "--tasks",
        "40",
        "--refill",
        "--kinds",
        "word_count,rewriting",
    )
    with (
        tempfile.TemporaryDirectory(prefix="evening-") as place,
        server(str(ROOT / "tools/stand_in_model.py")) as model,
        server(*sandbox, *tasks) as told,
    ):
        folder = Path(place)
        make_wheels(folder / "wheels")
        evening = Evening(folder, environment_for(folder))
        network = json.loads(told)["base_url"]
        first_credits = first_evening(evening, network, model)
        print(
            f"\n{evening.commands} commands, one file written and corrected once: the "
            f"first credits after {first_credits:.0f} s, all after "
            f"{evening.seconds:.0f} s, with {cpu_seconds():.0f} s of CPU"
        )
        if readme:
            require_told(readme, evening.commands)


if __name__ == "__main__":
    main()
