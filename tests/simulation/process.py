"""One life of the simulated daemon, from its start to its end or to a kill.

A kill is not a cancellation. At its very moment the files are copied as the operating
system would hold them, and the copy is what the next life starts from; from then on
the old life is mute: nothing it does is sent, seen, or kept. Only then it is wound up,
which frees its files and its memory. So what a `finally` writes is lost, as it is in
a real kill.
"""

import shutil
from collections.abc import Callable
from datetime import datetime
from enum import Enum, auto
from pathlib import Path

from tests.simulation.errors import Killed
from tests.simulation.loop import SimulationLoop, seeded
from tests.simulation.plan import FailingDisk, Plan
from tests.simulation.trace import Trace

from journeyman.domain.tasks import Identity
from journeyman.journal.identity import save_identity
from journeyman.journal.journal import Journal

SURVIVING = (
    "registration.answer",
    "identity.json",
    "journal.db",
    "journal.db-wal",
)
"""What a life leaves to the next. The index of the log is rebuilt from the log."""


class Process:
    """A life."""

    def __init__(
        self,
        *,
        number: int,
        root: Path,
        loop: SimulationLoop,
        on_point: Callable[[str, str], bool],
        on_commit: Callable[[str], None],
        on_token: Callable[[str], None],
        disk: FailingDisk | None = None,
    ) -> None:
        """Begin one.

        Args:
            number: 1 is the first.
            root: where each life has a folder.
            loop: what it runs on.
            on_point: told of each crash point, its kind and what it is about; True
                kills there.
            on_commit: told of each commit, once it is durable.
            on_token: told of a token, once it is durable.
            disk: what its files lie on; None works always.
        """
        self.number = number
        self.loop = loop
        self.directory = root / str(number)
        self.is_alive = True
        self.journal: Journal | None = None
        self.heir = root / str(number + 1)
        """Where its files are left for the next life."""
        self._on_point = on_point
        self._on_commit = on_commit
        self._on_token = on_token
        self._disk = disk or FailingDisk({})

    def point(self, kind: str, about: str) -> None:
        """Pass a point at which the process may be killed.

        Raises:
            Killed: it is.
        """
        if self.is_alive and self._on_point(kind, about):
            self.kill()

    def kill(self) -> None:
        """Die, if it lives.

        Raises:
            Killed: it did.
        """
        if not self.is_alive:
            return
        self.is_alive = False
        self.bequeath()
        self.loop.is_crashed = True
        raise Killed

    def end(self) -> None:
        """End by itself: the next life finds what this one has left."""
        self.is_alive = False
        self.bequeath()

    def bequeath(self) -> None:
        """Copy the files to where the next life looks for them."""
        self.heir.mkdir(mode=0o700, parents=True)
        for name in SURVIVING:
            if (self.directory / name).exists():
                shutil.copy2(self.directory / name, self.heir / name)

    # -- what the daemon is handed -------------------------------------------

    def open_journal(self, path: Path, now: Callable[[], datetime]) -> Journal:
        """Open the real journal, with a crash point at each side of a commit."""
        self.journal = Journal(path, now)
        self.journal.database.observe(self)
        return self.journal

    def before(self, label: str) -> None:
        """Pass the point before a commit, which the disk may refuse."""
        self.point("before commit", label)
        if self.is_alive and self.journal is not None:
            self._disk.before_commit(self.journal)

    def after(self, label: str) -> None:
        """Pass the point after a commit."""
        if self.is_alive:
            self._on_commit(label)
        self.point("after commit", label)

    def save_identity(self, path: Path, identity: Identity) -> None:
        """Write the real file, with a crash point at each side."""
        self.point("before file", "identity")
        if self.is_alive and not self._disk.takes_identity():
            path = path.parent / "no such folder" / path.name
        save_identity(path, identity)
        if self.is_alive:
            self._on_token(identity.access_token.reveal())
        self.point("after file", "identity")


SOON = 24
"""Of its first points, one ends a life in a crash loop."""


class Fate(Enum):
    """What happens at a point."""

    #: Nothing.
    LIVE = auto()
    #: The daemon is told to stop, as by SIGTERM, and goes on until it has.
    STOP = auto()
    #: It is killed, as by SIGKILL.
    KILL = auto()


class CrashPoints:
    """Counts the points of a run, over all lives, and decides about each."""

    def __init__(self, plan: Plan, trace: Trace, seconds: Callable[[], float]) -> None:
        self._plan = plan
        self._trace = trace
        self._seconds = seconds
        self._kill_chance = seeded(plan.seed, "kills")
        self._stop_chance = seeded(plan.seed, "stops")
        self._loop_chance = seeded(plan.seed, "crash loop")
        self._fatal = 0
        """The point at which a life of a crash loop ends."""
        self._spots = 0
        self.passed = 0
        """How many there were: the last one's number."""
        self.stops = 0
        """At how many the daemon was told to stop."""
        self.loop_kills = 0
        """At how many it was killed because it is in a crash loop."""

    def begin(self, life: int) -> None:
        """Begin a life; 1 is the first."""
        is_in_loop = life <= self._plan.crash_loop
        soon = self._loop_chance.randint(1, SOON)
        self._fatal = self.passed + soon if is_in_loop else 0

    def decide(self, kind: str, about: str) -> Fate:
        """Count a point, and say what happens there."""
        self.passed += 1
        plan = self._plan
        if self.passed in plan.kill_at or self._is_the_spot(kind, about):
            self._trace.add("kill", point=self.passed, kind=kind, about=about)
            return Fate.KILL
        if self.passed == self._fatal:
            self.loop_kills += 1
            return Fate.KILL
        is_calm = self._seconds() >= plan.fault_seconds
        if not is_calm and self._kill_chance.random() < plan.kill_rate:
            return Fate.KILL
        stops_by_chance = self._stop_chance.random() < plan.stop_rate and not is_calm
        if self.passed in plan.stop_at or stops_by_chance:
            self._trace.add("told to stop", point=self.passed, kind=kind, about=about)
            self.stops += 1
            return Fate.STOP
        return Fate.LIVE

    def _is_the_spot(self, kind: str, about: str) -> bool:
        spot = self._plan.kill_on
        if spot is None or spot.kind != kind or spot.about not in about:
            return False
        self._spots += 1
        return self._spots == spot.number
