"""The tasks that are wanted and wait for a slot, as little of each as ranking needs."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from journeyman.domain import TaskId, TaskState
from journeyman.journal.database import Database
from journeyman.journal.track_records import Group


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """A task that a strategy wants."""

    task_id: TaskId
    group: Group
    """Its strategy and its kind."""
    reward: int
    """In credits, as listed."""
    chance: float = 1.0
    """Of being paid, 0 to 1, as its strategy says."""
    cost: float = 0.0
    """In credits, as its strategy says."""
    number: int = 0
    """Counts up in the order of first sightings."""


class WaitingTasks:
    """The line in front of the slots."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def best_paid(
        self,
        now: datetime,
        limit: int,
        excluding: Collection[TaskId] = (),
    ) -> list[Waiting]:
        """Give those that may be claimed now, best paid first, at most `limit`."""
        marks = ", ".join("?" * len(excluding))
        rows = self._database.rows(
            "SELECT task_id, strategy, kind, reward, chance, cost, rowid AS number "  # noqa: S608 - only question marks are put in
            "FROM tasks WHERE state = ? "
            "AND next_at IS NOT NULL AND (next_at <= ? OR updated_at > ?) "
            f"AND task_id NOT IN ({marks}) ORDER BY reward DESC, rowid LIMIT ?",
            *(TaskState.WANTED, now.timestamp(), now.isoformat(), *excluding, limit),
        )
        return [
            Waiting(
                task_id=TaskId(row["task_id"]),
                group=(row["strategy"], row["kind"]),
                reward=row["reward"],
                chance=row["chance"],
                cost=row["cost"],
                number=row["number"],
            )
            for row in rows
        ]
