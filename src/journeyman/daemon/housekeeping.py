"""Housekeeping: what a daemon does now and then, so that it can run for months."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import anyio
import anyio.lowlevel

from journeyman.daemon import events
from journeyman.daemon.disk import MEBIBYTE, DiskWatch
from journeyman.daemon.network import Learning
from journeyman.domain.clock import Clock
from journeyman.domain.tasks import JSON
from journeyman.economy.reconcile import write_off_old
from journeyman.journal.archives import Archives
from journeyman.journal.journal import Journal
from journeyman.journal.ledger_archives import LedgerArchives
from journeyman.journal.tasks import EVENTS_DROPPED, TASKS_DROPPED, TEXTS_DROPPED
from journeyman.lifecycle.recording import DecisionRecording
from journeyman.observability.events import Log

MOST_FORGOTTEN = 100
"""At once, which takes some milliseconds on the event loop."""
MOST_ARCHIVED = 50
"""At once, since they are compressed, too."""
MOST_STEPS = 1_000
"""Of each kind in one go, so that a busy market is kept up with: 50,000 tasks."""
LEAST_DAYS = 1.0
"""What ended within them is kept, however large the journal is."""
LEAST_LEDGER_DAYS = 40.0
"""What the daemon itself looks back to in the ledger, at most."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What ended tasks lose."""

    fact: str
    """That holds until when they have lost it."""
    after: Sequence[str]
    """The facts of what they must have lost before."""
    read: Callable[[str, str], list[dict[str, JSON]]]
    drop: Callable[[str, str], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Housekeeping:
    """Keeps the data directory small and in order."""

    journal: Journal
    learning: Learning
    recording: DecisionRecording
    disk: DiskWatch
    forget_skipped_days: float
    keep_texts_days: float
    """How long the texts and the result of an ended task are kept."""
    keep_events_days: float
    """How long all moves of an ended task are kept."""
    keep_tasks_days: float
    """How long anything of an ended task is kept."""
    write_off_days: float
    """After how long work that nobody says is paid is not counted as owed."""
    max_journal_mb: int
    """In MiB; 0 sets no limit."""
    archives: Archives | None
    """Get what is taken out of the journal; None: that is gone."""
    ledger_archives: LedgerArchives
    max_archives_mb: int
    """In MiB; 0 sets no limit."""
    clock: Clock
    log: Log

    async def keep(self) -> None:
        """Do all of it; between two steps other work goes on.

        Raises:
            StateError: the disk refused.
        """
        self.disk.look()
        self.recording.trim()
        await self._forget_skipped()
        texts, events_, tasks = self._parts()
        await self._drop(texts, self.keep_texts_days)
        await self._drop(events_, self.keep_events_days)
        await self._drop(tasks, self.keep_tasks_days)
        await self._archive_ledger(self.keep_tasks_days)
        await self._shorten()
        self._bound_archives()
        await self._write_off()
        self.learning.keep()
        self.journal.database.checkpoint()

    async def _write_off(self) -> None:
        """Stop counting on old results of which nobody says whether they are paid."""
        for _ in range(MOST_STEPS):
            now, days = self.clock.now(), self.write_off_days
            if not write_off_old(self.journal, self.log, now, days):
                break
            await anyio.lowlevel.checkpoint()

    async def _forget_skipped(self) -> None:
        before, forgotten = self._ago(self.forget_skipped_days), 0
        for _ in range(MOST_STEPS):
            with self.journal.tx("skipped"):
                number = self.journal.tasks.forget_skipped(before, MOST_FORGOTTEN)
            forgotten += number
            if number < MOST_FORGOTTEN:
                break
            await anyio.lowlevel.checkpoint()
        if forgotten:
            self.log.emit(
                events.FORGOTTEN, tasks=forgotten, days=self.forget_skipped_days
            )

    async def _shorten(self) -> None:
        """Drop more while the journal is too large: the oldest first, texts first."""
        if not self._is_too_large():
            return
        for part in self._parts():
            await self._drop(part, LEAST_DAYS, self._is_too_large)
        await self._archive_ledger(LEAST_LEDGER_DAYS, self._is_too_large)
        self.log.emit(
            events.SHORTENED,
            texts_from=self.journal.facts.get(TEXTS_DROPPED),
            moves_from=self.journal.facts.get(EVENTS_DROPPED),
            tasks_from=self.journal.facts.get(TASKS_DROPPED),
            used_mb=self.journal.database.used_bytes() // MEBIBYTE,
            max_mb=self.max_journal_mb,
        )

    async def _archive_ledger(
        self, days: float, is_needed: Callable[[], bool] = lambda: True
    ) -> None:
        """Archive the entries of tasks of the past that are older."""
        past = str(self.journal.facts.get(TASKS_DROPPED) or "")
        before = self._ago(max(days, LEAST_LEDGER_DAYS))
        if not past:
            return
        before = min(before, datetime.fromisoformat(past))
        for _ in range(MOST_STEPS):
            if not is_needed() or not self.ledger_archives.add(
                before, self.clock.now()
            ):
                break
            await anyio.lowlevel.checkpoint()

    def _is_too_large(self) -> bool:
        used = self.journal.database.used_bytes()
        return 0 < self.max_journal_mb * MEBIBYTE < used

    def _parts(self) -> tuple[_Part, _Part, _Part]:
        tasks, before = self.journal.tasks, (TEXTS_DROPPED, EVENTS_DROPPED)
        return (
            _Part(TEXTS_DROPPED, (), tasks.texts_of_ended, tasks.drop_texts),
            _Part(EVENTS_DROPPED, (), tasks.moves_of_ended, tasks.drop_events),
            # All that an archive has of a task is archived with the other two.
            _Part(TASKS_DROPPED, before, lambda *_: [], tasks.drop_tasks),
        )

    async def _drop(
        self,
        part: _Part,
        days: float,
        is_needed: Callable[[], bool] = lambda: True,
    ) -> None:
        """Drop what is older, from where the last time ended, as far as needed."""
        facts = self.journal.facts
        lost = [str(facts.get(one) or "") for one in part.after]
        before = min([self._ago(days).isoformat(), *lost])
        most = MOST_ARCHIVED if self.archives else MOST_FORGOTTEN
        for _ in range(MOST_STEPS):
            after = str(facts.get(part.fact) or "")
            if after >= before or not is_needed():
                break
            until = self.journal.tasks.ended_until(after, before, most)
            archived = part.read(after, until) if self.archives else []
            if self.archives and archived:
                until = self.archives.add(archived, until)
            with self.journal.tx("history"):
                part.drop(after, until)
                facts.put(part.fact, until)
                if self.archives and archived:
                    self.archives.note_dropped()
            await anyio.lowlevel.checkpoint()

    def _bound_archives(self) -> None:
        """Delete the oldest archives where they are too large."""
        most = self.max_archives_mb * MEBIBYTE
        for gone in self.archives.bound(most) if self.archives and most else ():
            self.log.emit(
                events.ARCHIVE_DELETED,
                file=gone.path.name,
                mb=round(gone.bytes / MEBIBYTE, 1),
                max_mb=self.max_archives_mb,
            )

    def _ago(self, days: float) -> datetime:
        return self.clock.now() - timedelta(days=days)
