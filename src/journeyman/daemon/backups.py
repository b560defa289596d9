"""Keeps the journal sound: checks all of it once a day, and copies it."""

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TypeVar

from anyio import to_thread

from journeyman.daemon import events
from journeyman.daemon.disk import MEBIBYTE, FreeBytes
from journeyman.domain.clock import Clock
from journeyman.domain.errors import StateError
from journeyman.journal.backups import backups, damaged, make_backup
from journeyman.journal.database import Now
from journeyman.journal.directory import DataDirectory
from journeyman.journal.journal import Journal
from journeyman.journal.maintenance import damage, quick_faults
from journeyman.observability.events import Log

EVERY = timedelta(days=1)
DAMAGE = "damage"
"""The fact that holds what a full check found, so that no restart works on it."""
T = TypeVar("T")


def require_sound(journal: Journal) -> None:
    """Refuse to work on a damaged journal; a quick check, unless a full one found any.

    Raises:
        StateError: it is damaged.
    """
    known = journal.facts.get(DAMAGE)
    if found := quick_faults(journal) or (damage(journal) if known else []):
        raise damaged(journal.database.path, found)
    if known:
        with journal.tx("sound again"):
            journal.facts.put(DAMAGE, None)


@dataclass(frozen=True, kw_only=True, eq=False)
class JournalBackups:
    """Makes them, of a journal in which there is something to lose."""

    journal: Journal
    directory: DataDirectory
    keep: int
    """How many; 0 makes none."""
    min_free_mb: int
    """In MiB: what must be free beside the copy."""
    free: FreeBytes
    has_threads: bool
    """Whether it is done beside the event loop; simulated time has no threads."""
    clock: Clock
    log: Log

    async def keep_up(self) -> None:
        """Check and copy, if the newest copy is more than a day old.

        Raises:
            StateError: the journal is damaged.
        """
        ages = (self.clock.now() - one.made_at for one in backups(self.directory))
        # One from the future was made by a clock that was wrong.
        is_new = any(timedelta() <= age < EVERY for age in ages)
        if is_new or not self.keep or not self.journal.totals.get("tasks.seen"):
            return
        now = self.clock.now
        found = await self._aside(partial(_damage, self.directory, now))
        if found:
            with suppress(StateError), self.journal.tx("damaged"):
                self.journal.facts.put(DAMAGE, list(found))
            raise damaged(self.directory.journal, found)
        try:
            self._require_room()
            copy = partial(make_backup, self.directory, now, keep=self.keep)
            backup = await self._aside(copy)
        except StateError as error:
            self.log.emit(events.BACKUP_FAILED, message=error.problem)
        else:
            self.log.emit(events.BACKED_UP, path=str(backup.path))

    def _require_room(self) -> None:
        with suppress(OSError):
            needed = 1 + self.directory.journal.stat().st_size // MEBIBYTE
            free_mb = self.free(self.directory.path) // MEBIBYTE
            if free_mb < needed + self.min_free_mb:
                raise StateError(
                    f"{free_mb} MiB are free, and a copy needs {needed} beside the "
                    f"{self.min_free_mb} of data.min_free_mb"
                )

    async def _aside(self, work: Callable[[], T]) -> T:
        """Do what takes seconds on a large journal, with a connection of its own."""
        if not self.has_threads:
            return work()
        return await to_thread.run_sync(work, abandon_on_cancel=True)


def _damage(directory: DataDirectory, now: Now) -> list[str]:
    try:
        with closing(Journal(directory.journal, now, read_only=True)) as journal:
            return damage(journal)
    except StateError as error:
        return [error.problem]
