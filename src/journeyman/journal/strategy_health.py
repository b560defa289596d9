"""How strategies fare: who made errors, who is quarantined, who cannot work."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

from journeyman.domain.tasks import TaskId
from journeyman.journal.codec import AS_JSON, FROM_JSON, dump, load
from journeyman.journal.database import Database

_OR_NONE = BeforeValidator(lambda stored: stored or None)
_OR_EMPTY = PlainSerializer(lambda value: value or "")


class Condition(StrEnum):
    """What is to be thought of a strategy."""

    #: It may work.
    SOUND = "sound"
    #: It made too many errors: after a while it is given one task as a trial run.
    QUARANTINED = "quarantined"
    #: It said that it cannot work until its file or its settings change.
    MISCONFIGURED = "misconfigured"


@dataclass(frozen=True, kw_only=True, slots=True)
class Health:
    """How one strategy fares. All moments are in seconds since 1970."""

    strategy: str
    fingerprint: str
    """Of the file and the settings that this is about."""
    condition: Condition = Condition.SOUND
    errors: Annotated[tuple[float, ...], FROM_JSON, AS_JSON] = ()
    """When they happened, oldest first; those that still count."""
    quarantine_seconds: float = 0.0
    """The length of its last quarantine; 0 before the first."""
    problem: str = ""
    """What went wrong last."""
    fix: str = ""
    """What the strategy's author says to that."""
    task_id: Annotated[TaskId | None, _OR_NONE, _OR_EMPTY] = None
    """At which task it went wrong last; None: at no task."""
    since: float = 0.0
    """When it came into this condition."""

    @property
    def quarantined_until(self) -> float:
        """When its quarantine ends; infinite when only a change can help."""
        if self.condition is Condition.MISCONFIGURED:
            return float("inf")
        is_quarantined = self.condition is Condition.QUARANTINED
        return self.since + self.quarantine_seconds if is_quarantined else 0.0


@dataclass(eq=False)
class StrategyHealth:
    """The table of strategies that are, or were, not well."""

    database: Database

    def all(self) -> dict[str, Health]:
        """Return all that is known, by strategy; one that is missing is sound."""
        rows = self.database.rows("SELECT * FROM strategy_health ORDER BY strategy")
        return {row["strategy"]: load(Health, row) for row in rows}

    def put(self, health: Health) -> None:
        """Write how a strategy fares, inside a transaction."""
        self.database.upsert("strategy_health", "strategy", **dump(health))

    def forget(self, strategy: str) -> None:
        """Make a strategy sound again, inside a transaction."""
        self.database.write("DELETE FROM strategy_health WHERE strategy = ?", strategy)
