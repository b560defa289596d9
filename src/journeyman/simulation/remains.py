"""What a run has left on both sides."""

import json
from dataclasses import dataclass

from journeyman.domain import Identity
from journeyman.journal import Journal
from journeyman.simulation.plan import Plan
from journeyman.simulation.server import SimulatedNetwork
from journeyman.simulation.watch import Watch


@dataclass(frozen=True, kw_only=True, slots=True)
class Remains:
    """What a run has left on both sides."""

    plan: Plan
    seconds: float
    """When it ended, on the daemon's machine."""
    network_seconds: float
    """The same on the network's, which is never suspended."""
    network: SimulatedNetwork
    watch: Watch
    journal: Journal
    identity: Identity | None
    shapes_exhausted: int
    """How often an action was given up for the day, since no shape of it was taken."""


def dump(journal: Journal) -> list[str]:
    """Give all rows of all tables as text, in an order that repeats."""
    tables = journal.database.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' "
        "AND name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    return sorted(
        json.dumps([table, *tuple(row)], default=repr)
        for (table,) in tables
        for row in journal.database.rows(f"SELECT * FROM {table}")  # noqa: S608 - names of ours
    )
