"""How strategies fare: who made errors, who rests, who cannot work at all."""

import json
from dataclasses import dataclass
from enum import StrEnum

from journeyman.domain.tasks import TaskId
from journeyman.journal.database import Database, Row


class Condition(StrEnum):
    """What is to be thought of a strategy."""

    #: It may work.
    SOUND = "sound"
    #: It made too many errors: it rests, and after that is tried with one task.
    RESTING = "resting"
    #: It said that it cannot work until its file or its settings change.
    MISCONFIGURED = "misconfigured"


@dataclass(frozen=True, kw_only=True, slots=True)
class Health:
    """How one strategy fares. All moments are in seconds since 1970."""

    strategy: str
    fingerprint: str
    """Of the file and the settings that this is about."""
    condition: Condition = Condition.SOUND
    errors: tuple[float, ...] = ()
    """When they happened, oldest first; those that still count."""
    rest_seconds: float = 0.0
    """The length of its last rest; 0 before the first."""
    problem: str = ""
    """What went wrong last."""
    fix: str = ""
    """What the strategy's author says to that."""
    task_id: TaskId | None = None
    """At which task it went wrong last; None: at no task."""
    since: float = 0.0
    """When it came into this condition."""

    @property
    def rests_until(self) -> float:
        """When its rest is over; infinite when only a change can help."""
        if self.condition is Condition.MISCONFIGURED:
            return float("inf")
        is_resting = self.condition is Condition.RESTING
        return self.since + self.rest_seconds if is_resting else 0.0


class StrategyHealth:
    """The table of strategies that are, or were, not well."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> dict[str, Health]:
        """Give all that is known, by the strategy's name; who is not in it is sound."""
        rows = self._database.rows("SELECT * FROM strategy_health ORDER BY strategy")
        return {row["strategy"]: _to_health(row) for row in rows}

    def put(self, health: Health) -> None:
        """Write how a strategy fares, inside a transaction."""
        self._database.write(
            "INSERT OR REPLACE INTO strategy_health (strategy, fingerprint, "
            "condition, errors, rest_seconds, problem, fix, task_id, since) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(health.strategy, health.fingerprint, health.condition),
            *(json.dumps(health.errors), health.rest_seconds, health.problem),
            *(health.fix, health.task_id or "", health.since),
        )

    def forget(self, strategy: str) -> None:
        """Let a strategy be sound again, inside a transaction."""
        self._database.write(
            "DELETE FROM strategy_health WHERE strategy = ?",
            strategy,
        )


def _to_health(row: Row) -> Health:
    return Health(
        strategy=row["strategy"],
        fingerprint=row["fingerprint"],
        condition=Condition(row["condition"]),
        errors=tuple(json.loads(row["errors"])),
        rest_seconds=row["rest_seconds"],
        problem=row["problem"],
        fix=row["fix"],
        task_id=TaskId(row["task_id"]) if row["task_id"] else None,
        since=row["since"],
    )
