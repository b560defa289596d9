"""What `journeyman replay` does: it finds the code, and plays the tape to it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from journeyman.cli.progress import Tell, progress
from journeyman.cli.session import Session
from journeyman.cli.strategy_shelf import Shelf, open_shelf, pick, refusal
from journeyman.daemon.isolation import isolation_of
from journeyman.daemon.replay import (
    Balance,
    Change,
    Replayed,
    Rerun,
    Then,
    old_version,
    recorded,
    replay,
    rerun,
)
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import StateError, UsageError
from journeyman.loop import Prospects
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.loader import load_class, load_file
from journeyman.strategies.runners import Runner
from journeyman.strategies.validation import params_of

if TYPE_CHECKING:
    from journeyman.journal import Journal

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
HOW_IT_FILLS = (
    "A running daemon keeps each task that its strategies are asked about, unless "
    "tape.max_mb is 0: start one with `journeyman run`, and come back later."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What was said on the command line."""

    name: str
    last: int
    since: str | None
    compare: Path | None
    run: bool
    folder: Path | None


@dataclass(slots=True)
class Played:
    """All that came of it."""

    strategy: Loaded
    compared_with: Path | None
    """The file of the other version; None: what was decided then."""
    tasks: list[tuple[Replayed, Rerun | None]] = field(default_factory=list)
    """Oldest first; with what was made of it, where it was done again."""
    balance: Balance = field(default_factory=Balance)
    has_run: bool = False

    @property
    def has_failed(self) -> bool:
        """Tell whether the new code failed anywhere."""
        crashed = any(one and one.word == "failed" for _, one in self.tasks)
        return bool(self.balance.failed) or crashed


def play(session: Session, wish: Wish) -> Played:
    """Play the tape to a strategy.

    Raises:
        ConfigurationError: there is no such strategy, or it did not load.
        UsageError: `since` is no age.
        NotRunningError: no agent ever lived in the data directory.
        StateError: nothing is on the tape.
    """
    shelf = open_shelf(session, wish.folder)
    loaded = pick(shelf, wish.name)
    since = moment_of(wish.since, SystemClock().now())
    old = _other_version(wish.compare, loaded, shelf) if wish.compare else None
    played = Played(loaded, wish.compare, has_run=wish.run)
    with session.journal() as journal:
        total = _length(journal, wish.last, since)
        with progress(f"{total} tasks", total, shown=not session.as_json) as tell:
            then = old or recorded(loaded.name, journal.shadows.said(loaded.name))
            prospects = Prospects(journal.track_records.all())
            tape = journal.tape.last(wish.last, since)
            made = replay(tape, loaded, then, prospects)
            anyio.run(_collect, made, played, _runner(session, shelf), tell)
    if not played.tasks:  # a daemon has just dropped what was counted
        raise StateError("no task is recorded here any more", HOW_IT_FILLS)
    return played


def moment_of(age: str | None, now: datetime) -> datetime | None:
    """Give the moment that is `7d`, `12h`, `30m` or `2w` ago.

    Raises:
        UsageError: it is no such age.
    """
    if age is None:
        return None
    found = re.fullmatch(r"(\d{1,4})([mhdw])", age.strip())
    if found is None:
        raise UsageError(
            f"--since {age!r} is no age", "Write for example 30m, 12h, 7d or 2w."
        )
    return now - timedelta(**{UNITS[found[2]]: int(found[1])})


def _length(journal: "Journal", last: int, since: datetime | None) -> int:
    """Give how many tasks will be played at most."""
    count = journal.tape.count(since)
    if not count and since is not None and journal.tape.count():
        raise StateError(
            f"no task was recorded since {since:%Y-%m-%d %H:%M} UTC",
            "Go further back with --since, or leave it out.",
        )
    if not count:
        raise StateError("no task is recorded here yet", HOW_IT_FILLS)
    return min(last, count)


def _other_version(path: Path, loaded: Loaded, shelf: Shelf) -> Then:
    """Load another version of a strategy, with the same parameters as far as it can."""
    if not path.is_file():
        raise UsageError(
            f"--compare {path} is no file",
            "Name a file with another version of the strategy; from git, say: "
            f"git show HEAD~1:{loaded.path.name} > old.py",
        )
    loading = load_file(path)
    if loading.problems:
        raise refusal(loading.problems)
    found = [one for one in loading.strategies if one.name == loaded.name]
    found = found or list(loading.strategies)
    if len(found) != 1:
        names = ", ".join(one.name for one in loading.strategies)
        raise UsageError(
            f"--compare {path} has no strategy {loaded.name!r}, and several others",
            f"It has {names}. Name a file with one strategy.",
        )
    cls = type(found[0].instance)
    given = shelf.params_of(loaded.name)
    known = {name: given[name] for name in params_of(cls) if name in given}
    again = load_class(cls, known)
    if again.problems:
        raise refusal(again.problems)
    return old_version(again.strategies[0])


def _runner(session: Session, shelf: Shelf) -> Runner:
    """Give the daemon's limits; the data directory is neither read nor written."""
    limits = isolation_of(shelf.settings.settings.isolation, session.directory())
    return Runner(SystemClock(), isolation=replace(limits, homes=None))


async def _collect(
    made: Iterator[Replayed], played: Played, runner: Runner, tell: Tell
) -> None:
    async with runner.running():
        if played.has_run:
            runner.serve([played.strategy])
        for one in made:
            again = None
            if played.has_run and one.change in (Change.KEPT, Change.GAINED):
                again = await rerun(one.sighting, played.strategy, runner)
            played.balance.add(one)
            played.tasks.append((one, again))
            tell(len(played.tasks))
