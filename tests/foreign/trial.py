"""One foreign network and a real daemon on it: what an operator would start."""

import json
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.foreign.backend import Backend, Book, serve
from tests.simulation.environment import BUG_EVENTS

STRATEGY = Path(__file__).with_name("capitals.py")
LONGEST_SECONDS = 300.0
LONGEST_NEWS_SECONDS = 60.0
"""By when the daemon must have heard of what was paid last, if the answer was lost."""
BODY_STATUSES = {200, 400, 415, 417, 422}
"""By which networks say that they do not understand a body."""


@dataclass(frozen=True)
class Trial:
    """How it ended."""

    book: Book
    tasks: frozenset[str]
    """What there was to do."""
    seconds: float
    earned: int
    """What our own ledger says, without the starter credits."""
    log: list[dict[str, object]]
    errors: str

    @property
    def refusals(self) -> dict[str, int]:
        """Bodies that were not understood, by action of a task.

        A 409, a 410 or a 429 is about something else.
        """
        counted = Counter(
            action
            for action, _, status, _ in self.book.refusals
            if status in BODY_STATUSES
        )
        return {action: counted[action] for action in ("claim", "submit", "complete")}


def run_trial(
    backend: Backend,
    directory: Path,
    *,
    settings: str = "",
    until: Callable[[Book], bool] | None = None,
    seconds: float = LONGEST_SECONDS,
) -> Trial:
    """Run `journeyman run` on a network until all is paid, or for so long."""
    tasks = frozenset(backend.texts())
    is_over = until or (lambda book: len(book.paid) >= len(tasks))
    strategies = directory / "strategies"
    strategies.mkdir(parents=True)
    shutil.copy(STRATEGY, strategies)
    config = directory / "journeyman.toml"
    with serve(backend) as address:
        tables = settings_for(backend, address, directory)
        config.write_text(_config(tables) + settings)
        started = time.monotonic()
        with (directory / "log").open("w") as log, (directory / "err").open("w") as err:
            process = subprocess.Popen(_command("run", config), stdout=log, stderr=err)
            try:
                while not is_over(backend.book) and process.poll() is None:
                    if time.monotonic() - started > seconds:
                        break
                    time.sleep(0.05)
                took = time.monotonic() - started
                earned = _earned_in_the_end(config, backend.book)
            finally:
                process.terminate()
                process.wait(LONGEST_NEWS_SECONDS)
    return Trial(
        backend.book,
        tasks,
        took,
        earned,
        _read_log(directory / "log"),
        (directory / "err").read_text(),
    )


def _command(*words: object) -> list[str]:
    name, config, *more = map(str, words)
    return [sys.executable, "-m", "journeyman", name, "--config", config, *more]


def settings_for(
    backend: Backend, address: str, directory: Path
) -> dict[str, dict[str, object]]:
    """Return what the daemon is told, by the sections of its settings."""
    tables: dict[str, dict[str, object]] = {
        "network": {"base_url": address},
        "data": {"directory": str(directory / "data")},
        "strategies": {"directory": str(directory / "strategies")},
        "log": {"format": "json", "level": "debug"},
        # Some networks review work only when they are asked for the listing.
        "schedule": {"discover_max_seconds": 30},
    }
    for name, more in backend.settings.items():
        tables.setdefault(name, {}).update(more)
    return tables


def _config(tables: dict[str, dict[str, object]]) -> str:
    return "".join(f"[{name}]\n{_lines(table)}" for name, table in tables.items())


def _lines(table: dict[str, object]) -> str:
    return "".join(f"{name} = {_toml(value)}\n" for name, value in table.items())


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value)


def _earned_in_the_end(config: Path, book: Book) -> int:
    """Return what our ledger says, once it agrees with the network's book, or at last."""
    latest = time.monotonic() + LONGEST_NEWS_SECONDS
    while (earned := _earned(config)) != sum(book.paid.values()):
        if time.monotonic() > latest:
            break
    return earned


def _earned(config: Path) -> int:
    done = subprocess.run(
        _command("ledger", config, "--json", "--limit", "1000"),
        capture_output=True,
        text=True,
        check=False,
    )
    with suppress(ValueError):
        entries = json.loads(done.stdout)
        entries = (
            entries.get("entries", entries) if isinstance(entries, dict) else entries
        )
        return sum(one["amount"] for one in entries if one["kind"] == "earned")
    return -1


def _read_log(path: Path) -> list[dict[str, object]]:
    lines = path.read_text().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def faults(trial: Trial) -> list[str]:
    """Return what the daemon did not do as it should on any network."""
    book, refusals = trial.book, trial.refusals.values()
    expected = {
        "all tasks are paid": {*book.paid} == trial.tasks,
        "the ledger has what was paid": trial.earned == sum(book.paid.values()),
        "it registers once": book.registrations == 1,
        "no action is refused more than 6 times": max(refusals) <= 6,
        "actions are refused at most 3 times": statistics.median(refusals) <= 3,
        "one task is held before the first pay": book.most_held_before_first_pay == 1,
        "no task is held in the end": not book.held,
        "no bug of ours is logged": not any(
            one.get("event") in BUG_EVENTS for one in trial.log
        ),
    }
    return [what for what, holds in expected.items() if not holds]


def report(name: str, trial: Trial) -> str:
    """Return a line for a person."""
    book = trial.book
    return (
        f"{name:18} paid {len(book.paid):2}/{len(trial.tasks)} in {trial.seconds:5.1f} s"
        f"  earned {trial.earned:3} of {sum(book.paid.values()):3}"
        f"  registered {book.registrations}  refused {trial.refusals}"
        f"  most held {book.most_held_before_first_pay}/{book.most_held}"
    )
