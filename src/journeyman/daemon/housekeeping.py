"""Housekeeping: what a daemon does now and then, so that it can run for months."""

from dataclasses import dataclass
from datetime import timedelta

from journeyman.daemon import events
from journeyman.daemon.disk import DiskWatch
from journeyman.daemon.network import Learning
from journeyman.domain.clock import Clock
from journeyman.journal.journal import Journal
from journeyman.lifecycle.recording import DecisionRecording
from journeyman.observability.events import Log

MOST_FORGOTTEN = 2_000
"""At once, which takes some 50 ms on the event loop; the others go the next time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Housekeeping:
    """Keeps the data directory small and in order."""

    journal: Journal
    learning: Learning
    recording: DecisionRecording
    disk: DiskWatch
    forget_skipped_days: float
    clock: Clock
    log: Log

    def keep(self) -> None:
        """Do all of it.

        Raises:
            StateError: the disk refused.
        """
        self.disk.look()
        self.recording.trim()
        self._forget_skipped()
        self.learning.keep()
        self.journal.database.checkpoint()

    def _forget_skipped(self) -> None:
        before = self.clock.now() - timedelta(days=self.forget_skipped_days)
        with self.journal.tx("skipped"):
            forgotten = self.journal.tasks.forget_skipped(before, MOST_FORGOTTEN)
        if forgotten:
            self.log.emit(
                events.FORGOTTEN, tasks=forgotten, days=self.forget_skipped_days
            )
