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
from pathlib import Path

from journeyman.domain import Identity
from journeyman.journal import Journal, save_identity
from journeyman.simulation.disk import FailingDisk
from journeyman.simulation.errors import Killed
from journeyman.simulation.loop import SimulationLoop

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
