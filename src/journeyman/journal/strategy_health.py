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


Part = tuple[str, str]
"""A strategy and a kind of task; where the kind is empty, all that it does."""


class Condition(StrEnum):
    """What is to be thought of a strategy, or of one kind of its work."""

    #: It may work.
    SOUND = "sound"
    #: It made too many errors, or brought nothing: after a while it is given one task
    #: as a trial run.
    QUARANTINED = "quarantined"
    #: It said that it cannot work until its file or its settings change.
    MISCONFIGURED = "misconfigured"
    #: It stopped the event loop: nothing of it is called until its file or its settings
    #: change.
    STUCK = "stuck"


ONLY_A_CHANGE_HELPS = frozenset({Condition.MISCONFIGURED, Condition.STUCK})


@dataclass(frozen=True, kw_only=True, slots=True)
class Health:
    """How one strategy, or one kind of its work, fares.

    All moments are in seconds since 1970.
    """

    strategy: str
    kind: str = ""
    """Of the tasks that this is about; empty: the whole strategy, and its errors."""
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
    window: int = 0
    """How many of its tasks may be undecided at once; 0 for the strategy as a whole."""
    gains: Annotated[tuple[float, ...], FROM_JSON, AS_JSON] = ()
    """What its last results brought, in credits, net of their cost; oldest first."""

    @property
    def part(self) -> Part:
        """What this is about."""
        return self.strategy, self.kind

    @property
    def label(self) -> str:
        """What this is about, in words."""
        return f"{self.strategy}, kind {self.kind!r}" if self.kind else self.strategy

    @property
    def quarantined_until(self) -> float:
        """When its quarantine ends; infinite when only a change can help."""
        if self.condition in ONLY_A_CHANGE_HELPS:
            return float("inf")
        is_quarantined = self.condition is Condition.QUARANTINED
        return self.since + self.quarantine_seconds if is_quarantined else 0.0


@dataclass(eq=False)
class StrategyHealth:
    """The table of strategies that are, or were, not well."""

    database: Database

    def all(self) -> dict[Part, Health]:
        """Return all that is known; what is missing is sound."""
        query = "SELECT * FROM strategy_health ORDER BY strategy, kind"
        known = [load(Health, row) for row in self.database.rows(query)]
        return {health.part: health for health in known}

    def put(self, health: Health) -> None:
        """Write how a strategy fares, inside a transaction."""
        self.database.upsert("strategy_health", "strategy", "kind", **dump(health))

    def forget(self, part: Part) -> None:
        """Make a strategy, or a kind of its work, sound again, inside a transaction."""
        self.database.write(
            "DELETE FROM strategy_health WHERE strategy = ? AND kind = ?", *part
        )
