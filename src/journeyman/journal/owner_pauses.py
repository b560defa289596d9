"""What the owner wants to stand still: all work, or one strategy."""

from dataclasses import dataclass, field
from datetime import datetime

from journeyman.journal.codec import Moment, dump, load
from journeyman.journal.database import Database

ALL_WORK = ""
"""In the place of a strategy's name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerPause:
    """Nothing new is begun until it is over, or taken back."""

    strategy: str = ALL_WORK
    by: str
    """Who wants it."""
    reason: str = ""
    since: Moment
    until: Moment | None = None
    """None: until it is taken back."""

    def __str__(self) -> str:
        """Return who, until when and why, for people."""
        until = f" until {self.until:%Y-%m-%d %H:%M} UTC" if self.until else ""
        reason = f": {self.reason}" if self.reason else ""
        return f"by {self.by} since {self.since:%Y-%m-%d %H:%M} UTC{until}{reason}"


@dataclass(eq=False)
class OwnerPauses:
    """The table of them. They outlive the process that was told."""

    database: Database
    _all: dict[str, OwnerPause] | None = field(init=False, default=None)
    """As stored; None until they are read."""

    def __post_init__(self) -> None:
        self.database.after_rollback(self._forget)

    @property
    def _stored(self) -> dict[str, OwnerPause]:
        if self._all is None:
            rows = self.database.rows("SELECT * FROM owner_pauses ORDER BY strategy")
            self._all = {row["strategy"]: load(OwnerPause, row) for row in rows}
        return self._all

    @property
    def are_none(self) -> bool:
        """Whether there are none, not even such as are over."""
        return not self._stored

    def current(self, now: datetime) -> dict[str, OwnerPause]:
        """Return those that are not over, by strategy."""
        return {
            strategy: pause
            for strategy, pause in self._stored.items()
            if pause.until is None or now < pause.until
        }

    def put(self, pause: OwnerPause) -> None:
        """Write or replace one, inside a transaction."""
        self._forget()
        self.database.upsert("owner_pauses", "strategy", **dump(pause))

    def remove(self, strategy: str) -> None:
        """Take one back, inside a transaction."""
        self._forget()
        self.database.write("DELETE FROM owner_pauses WHERE strategy = ?", strategy)

    def _forget(self) -> None:
        self._all = None
