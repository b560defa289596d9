"""A disk that fails: at a commit, or when the identity is saved."""

from collections import Counter
from enum import StrEnum

from journeyman.journal import DiskRefusal, Journal


class DiskFault(StrEnum):
    """How a disk fails."""

    #: SQLITE_FULL by SQLite itself: from this commit on, the file may not grow.
    FULL = "full"
    #: SQLITE_IOERR at this commit.
    IO_ERROR = "io error"
    #: SQLITE_BUSY at this commit: something else holds the file.
    BUSY = "busy"
    #: The identity cannot be saved, the next time.
    IDENTITY = "identity"


_WORDS = {
    DiskFault.IO_ERROR: "disk I/O error",
    DiskFault.BUSY: "database is locked",
}
"""As SQLite says it."""


class FailingDisk:
    """Fails at the commits that a plan names, counted over all lives."""

    def __init__(self, plan: dict[int, DiskFault]) -> None:
        self._plan = plan
        self._commits = 0
        self._fails_identity = False
        self.has_failed = False
        """In this life, so that it may have to stop."""
        self.counts: Counter[str] = Counter()

    def heal(self) -> None:
        """Begin a new life, with room and a disk that works."""
        self.has_failed = False

    def before_commit(self, journal: Journal) -> None:
        """Count a commit, and let it fail if the plan says so.

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

    def takes_identity(self) -> bool:
        """Tell whether the identity can be saved now."""
        fails, self._fails_identity = self._fails_identity, False
        self.has_failed = self.has_failed or fails
        return not fails


def _fill(journal: Journal) -> None:
    """Let the file grow no more, for as long as this connection is open."""
    pages = journal.database.row("PRAGMA page_count")
    if pages is not None:
        journal.database.row(f"PRAGMA max_page_count = {int(pages[0])}")
