"""A simulated process: one run of the daemon, on a disk that may fail.

A kill is not a cancellation. At its very moment the files are copied as the operating
system would have them, and the copy is what the next process starts from; from then on
nothing that the killed one does is sent, seen, or kept. Only then it is cancelled,
which frees its files and its memory. So what a `finally` writes is lost, as it is in a
real kill.
"""

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.simulation.loop import Killed, SimulationLoop
from tests.simulation.plan import DiskFault, Plan
from tests.simulation.trace import Trace
from tests.simulation.virtual_time import seeded

from journeyman.domain.tasks import Identity
from journeyman.journal.database import DiskRefusal
from journeyman.journal.identity import save_identity
from journeyman.journal.journal import Journal

SURVIVING = (
    "registration.answer",
    "identity.json",
    "journal.db",
    "journal.db-wal",
)
"""The files that the next process finds. SQLite rebuilds the index of the log."""

_WORDS = {
    DiskFault.IO_ERROR: "disk I/O error",
    DiskFault.BUSY: "database is locked",
}
"""As SQLite says it."""


class FailingDisk:
    """Fails at the commits that a plan names, counted over all processes."""

    def __init__(self, plan: dict[int, DiskFault]) -> None:
        self._plan = plan
        self._commits = 0
        self._fails_identity = False
        self.has_failed = False
        """In this process, so that it may have to stop."""
        self.counts: Counter[str] = Counter()

    def repair(self) -> None:
        """Begin a new process, on a disk that works and has room."""
        self.has_failed = False

    def before_commit(self, journal: Journal) -> None:
        """Count a commit, which fails if the plan names it.

        Raises:
            DiskRefusal: it does.
        """
        self._commits += 1
        fault = self._plan.get(self._commits)
        if fault is None:
            return
        self.counts[f"disk: {fault}"] += 1
        if fault is DiskFault.IDENTITY:
            self._fails_identity = True
            return
        self.has_failed = True
        if fault is DiskFault.FULL:
            _fill(journal)
        else:
            raise DiskRefusal(_WORDS[fault])

    def can_save_identity(self) -> bool:
        """Return whether the identity can be saved now."""
        fails, self._fails_identity = self._fails_identity, False
        self.has_failed = self.has_failed or fails
        return not fails


def _fill(journal: Journal) -> None:
    """Keep the file from growing, for as long as this connection is open."""
    pages = journal.database.row("PRAGMA page_count")
    if pages is not None:
        journal.database.row(f"PRAGMA max_page_count = {int(pages[0])}")


@dataclass(kw_only=True, eq=False)
class Process:
    """One run of the daemon."""

    number: int
    """1 is the first."""
    root: Path
    """Where each process has a folder."""
    loop: SimulationLoop
    on_point: Callable[[str, str], bool]
    """Called at each crash point with its kind and what it is about; True kills."""
    on_commit: Callable[[str], None]
    """Called after each commit, once it is durable."""
    on_token: Callable[[str], None]
    """Called with a token, once it is durable."""
    disk: FailingDisk
    is_alive: bool = field(default=True, init=False)
    journal: Journal | None = field(default=None, init=False)

    @property
    def directory(self) -> Path:
        """Where its files are."""
        return self.root / str(self.number)

    @property
    def next_directory(self) -> Path:
        """Where its files are copied for the next process."""
        return self.root / str(self.number + 1)

    def point(self, kind: str, about: str) -> None:
        """Pass a point at which the process may be killed.

        Raises:
            Killed: it is.
        """
        if self.is_alive and self.on_point(kind, about):
            self.kill()

    def kill(self) -> None:
        """Kill it, if it is alive.

        Raises:
            Killed: it was.
        """
        if not self.is_alive:
            return
        self.is_alive = False
        self.copy_files()
        self.loop.is_crashed = True
        raise Killed

    def end(self) -> None:
        """End without a kill."""
        self.is_alive = False
        self.copy_files()

    def copy_files(self) -> None:
        """Copy the files to where the next process looks for them."""
        self.next_directory.mkdir(mode=0o700, parents=True)
        for name in SURVIVING:
            if (self.directory / name).exists():
                shutil.copy2(self.directory / name, self.next_directory / name)

    # -- what the daemon uses -------------------------------------------

    def open_journal(self, path: Path, now: Callable[[], datetime]) -> Journal:
        """Open the real journal, with a crash point at each side of a commit."""
        if not path.exists():
            path.write_bytes(_new_journal())
        self.journal = Journal(path, now)
        self.journal.database.observe(self)
        return self.journal

    def before(self, label: str) -> None:
        """Pass the point before a commit, which the disk may refuse."""
        self.point("before commit", label)
        if self.is_alive and self.journal is not None:
            self.disk.before_commit(self.journal)

    def after(self, label: str) -> None:
        """Pass the point after a commit."""
        if self.is_alive:
            self.on_commit(label)
        self.point("after commit", label)

    def save_identity(self, path: Path, identity: Identity) -> None:
        """Write the real file, with a crash point at each side."""
        self.point("before file", "identity")
        if self.is_alive and not self.disk.can_save_identity():
            path = path.parent / "no such folder" / path.name
        save_identity(path, identity)
        if self.is_alive:
            self.on_token(identity.access_token.reveal())
        self.point("after file", "identity")


@cache
def _new_journal() -> bytes:
    """Return the file of a journal without a row, which takes 20 ms to make."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "journal.db"
        Journal(path, lambda: datetime(2026, 1, 1, tzinfo=UTC)).close()
        return path.read_bytes()


SOON = 24
"""At one of its first so many points a process in a crash loop is killed."""


class PointAction(Enum):
    """What happens at a point."""

    #: Nothing.
    CONTINUE = auto()
    #: The daemon is told to stop, as by SIGTERM, and goes on until it has.
    STOP = auto()
    #: It is killed, as by SIGKILL.
    KILL = auto()


class CrashPoints:
    """Counts the crash points of a run, over all processes, and decides about each."""

    def __init__(self, plan: Plan, trace: Trace, seconds: Callable[[], float]) -> None:
        self._plan = plan
        self._trace = trace
        self._seconds = seconds
        self._kill_chance = seeded(plan.seed, "kills")
        self._stop_chance = seeded(plan.seed, "stops")
        self._loop_chance = seeded(plan.seed, "crash loop")
        self._fatal_point = 0
        """The point at which a process of a crash loop is killed."""
        self._occurrences = 0
        self.passed = 0
        """How many there were: the last one's number."""
        self.stops = 0
        """At how many the daemon was told to stop."""
        self.loop_kills = 0
        """At how many it was killed because it is in a crash loop."""

    def begin(self, start: int) -> None:
        """Begin a process; 1 is the first."""
        is_in_loop = start <= self._plan.crash_loop
        soon = self._loop_chance.randint(1, SOON)
        self._fatal_point = self.passed + soon if is_in_loop else 0

    def decide(self, kind: str, about: str) -> PointAction:
        """Count a point, and return what happens there."""
        self.passed += 1
        plan = self._plan
        if self.passed in plan.kill_at or self._is_planned_kill(kind, about):
            self._trace.add("kill", point=self.passed, kind=kind, about=about)
            return PointAction.KILL
        if self.passed == self._fatal_point:
            self.loop_kills += 1
            return PointAction.KILL
        is_calm = self._seconds() >= plan.fault_seconds
        if not is_calm and self._kill_chance.random() < plan.kill_rate:
            return PointAction.KILL
        stops_by_chance = self._stop_chance.random() < plan.stop_rate and not is_calm
        if self.passed in plan.stop_at or stops_by_chance:
            self._trace.add("told to stop", point=self.passed, kind=kind, about=about)
            self.stops += 1
            return PointAction.STOP
        return PointAction.CONTINUE

    def _is_planned_kill(self, kind: str, about: str) -> bool:
        planned = self._plan.kill_on
        if planned is None or planned.kind != kind or planned.about not in about:
            return False
        self._occurrences += 1
        return self._occurrences == planned.number
