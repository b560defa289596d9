"""The journal: the daemon's durable memory, one SQLite file, one writer."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from journeyman.journal.database import CommitGroup, Database, Now
from journeyman.journal.facts import Facts, Observations, StrategyStates, Totals
from journeyman.journal.ledger import Ledger
from journeyman.journal.owner_pauses import OwnerPauses
from journeyman.journal.posts import Posts
from journeyman.journal.recordings import Recordings
from journeyman.journal.shadows import Shadows
from journeyman.journal.spends import Spends
from journeyman.journal.strategy_health import StrategyHealth
from journeyman.journal.tasks import Tasks
from journeyman.journal.track_records import TrackRecords, WaitingTasks

T = TypeVar("T")


class Journal:
    """All tables of one journal, and the transaction that binds them."""

    def __init__(self, path: Path, now: Now, *, read_only: bool = False) -> None:
        """Open it, creating or migrating the file unless it is only read.

        Raises:
            StateError: the file is damaged, unreadable, or from a newer version.
        """
        self.database = Database(path, read_only=read_only)
        self._group = CommitGroup(self.database)
        self.totals = Totals(self.database)
        self.facts = Facts(self.database)
        self.strategy_states = StrategyStates(self.database)
        self.strategy_health = StrategyHealth(self.database)
        self.owner_pauses = OwnerPauses(self.database)
        self.tasks = Tasks(self.database, self.totals, now)
        self.ledger = Ledger(self.database, self.totals, now)
        self.spends = Spends(self.database, now)
        self.posts = Posts(self.database, now)
        self.observations = Observations(self.database, now)
        self.waiting = WaitingTasks(self.database)
        self.track_records = TrackRecords(self.database, self.facts)
        self.recordings = Recordings(self.database, self.totals, now)
        self.shadows = Shadows(self.database, self.facts, now)
        # The last, as what the others write then adds to them.
        self.database.before_commit(self.totals.write_pending)

    def tx(self, label: str, *, waits: bool = True) -> AbstractContextManager[None]:
        """Make the writes inside one durable, all-or-nothing step. No await inside.

        `waits`: for the disk; see `Database.tx`.
        """
        return self.database.tx(label, waits=waits)

    async def commit(self, write: Callable[[], T]) -> T:
        """Run `write` in a transaction that tasks ready at this moment share.

        Raises:
            StateError: the disk refused; nothing was kept.
        """
        return await self._group.commit(write)

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
