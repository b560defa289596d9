"""The tables that hold values by name: facts, totals, states, observations."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from journeyman.domain.tasks import JSON
from journeyman.journal.codec import from_json
from journeyman.journal.database import Database, Memo, Now

ABSENT = "null"
"""What is kept of a fact that was never written, as JSON."""


@dataclass(eq=False)
class Facts:
    """Single JSON values by name, written inside a transaction."""

    database: Database
    _memo: Memo = field(init=False)

    def __post_init__(self) -> None:
        self._memo = Memo(self.database)

    def get(self, name: str) -> JSON:
        """Return a fact; None when it was never written."""
        text = self._memo.get(name, lambda: self._read(name))
        # Decoded each time: whoever gets a list or an object may change it.
        value: JSON = from_json(text) if text != ABSENT else None
        return value

    def _read(self, name: str) -> str:
        row = self.database.row("SELECT value FROM facts WHERE name = ?", name)
        return str(row["value"]) if row else ABSENT

    def put(self, name: str, value: JSON) -> None:
        """Write or replace a fact."""
        self._memo.clear()
        self.database.upsert("facts", "name", name=name, value=json.dumps(value))


@dataclass(eq=False)
class StrategyStates:
    """What each strategy keeps from task to task (`ctx.state`)."""

    database: Database

    def get(self, strategy: str) -> dict[str, JSON]:
        """Return a strategy's state; empty when it has none."""
        query = "SELECT state FROM strategy_states WHERE strategy = ?"
        row = self.database.row(query, strategy)
        state: dict[str, JSON] = from_json(row["state"]) if row else {}
        return state

    def put(self, strategy: str, state: Mapping[str, JSON]) -> None:
        """Write or replace a strategy's state, inside a transaction."""
        encoded = json.dumps(dict(state))
        self.database.upsert(
            "strategy_states", "strategy", strategy=strategy, state=encoded
        )


@dataclass(eq=False)
class Observations:
    """One JSON record for each endpoint; the network client knows what is in it."""

    database: Database
    now: Now

    def of(self, network: str) -> dict[str, JSON]:
        """Return the records of one network, by its base address, by endpoint.

        Raises:
            StateError: the file cannot be read.
        """
        rows = self.database.rows(
            "SELECT endpoint, record FROM observations WHERE network = ? "
            "ORDER BY endpoint",
            network,
        )
        return {str(row["endpoint"]): from_json(row["record"]) for row in rows}

    def networks(self) -> list[str]:
        """Return the base addresses of which something is known, the latest first."""
        rows = self.database.rows(
            "SELECT network FROM observations GROUP BY network "
            "ORDER BY max(at) DESC, network"
        )
        return [str(row["network"]) for row in rows]

    def put(self, network: str, endpoint: str, record: JSON) -> None:
        """Write or replace the record of one endpoint, inside a transaction."""
        self.database.upsert(
            "observations",
            *("network", "endpoint"),
            network=network,
            endpoint=endpoint,
            record=json.dumps(record),
            at=self.now().isoformat(),
        )


LAST_CHARACTER = "\U0010ffff"
"""Sorts after all others."""


@dataclass(eq=False)
class Totals:
    """Named whole numbers that change only by what a transaction adds."""

    database: Database
    pending: Counter[str] = field(init=False, default_factory=Counter)
    _memo: Memo = field(init=False)

    def __post_init__(self) -> None:
        self._memo = Memo(self.database)
        self.database.after_rollback(self.pending.clear)

    def add(self, name: str, amount: int = 1) -> None:
        """Add to a total, inside the transaction that makes it true.

        It is written with the commit, so that a step that moves a task twice does
        not write its totals twice.
        """
        self.pending[name] += amount

    def write_pending(self) -> None:
        """Write what was added; with each commit, after all else."""
        changed = {name: amount for name, amount in self.pending.items() if amount}
        self.pending.clear()
        if not changed:
            return
        self._memo.clear()
        self.database.write(
            "INSERT INTO totals (name, value) "  # noqa: S608 - only question marks are put in
            f"VALUES {', '.join(['(?, ?)'] * len(changed))} "
            "ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
            *(one for total in changed.items() for one in total),
        )

    def drop_zeros(self, prefix: str) -> None:
        """Drop what came back to 0 in a family whose names have no end.

        A total that is 0 only after this commit is dropped the next time.
        """
        self.database.write(
            "DELETE FROM totals WHERE value = 0 AND name >= ? AND name < ?",
            *(prefix, prefix + LAST_CHARACTER),
        )

    def get(self, name: str) -> int:
        """Return a total; 0 when nothing was ever added."""
        query = "SELECT value FROM totals WHERE name = ?"
        return self._memo.get(name, lambda: self.database.number(query, name))

    def starting_with(self, prefix: str) -> dict[str, int]:
        """Return the totals of a family, by the rest of their names."""
        return dict(self._memo.get(("family", prefix), lambda: self._family(prefix)))

    def _family(self, prefix: str) -> dict[str, int]:
        rows = self.database.rows(
            "SELECT name, value FROM totals WHERE name >= ? AND name < ? ORDER BY name",
            prefix,
            prefix + LAST_CHARACTER,
        )
        return {str(row["name"])[len(prefix) :]: int(row["value"]) for row in rows}
