"""Small things to remember: single facts, and the states of strategies."""

import json
from collections import Counter
from collections.abc import Mapping

from journeyman.domain.tasks import JSON
from journeyman.journal.database import Database, Now


class Facts:
    """Named JSON values, written inside a transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str) -> JSON:
        """Give a fact; None when it was never written."""
        row = self._database.row("SELECT value FROM facts WHERE name = ?", name)
        value: JSON = json.loads(row["value"]) if row else None
        return value

    def put(self, name: str, value: JSON) -> None:
        """Write or replace a fact."""
        self._database.write(
            "INSERT INTO facts (name, value) VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value "
            "WHERE value != excluded.value",
            name,
            json.dumps(value),
        )


class StrategyStates:
    """What each strategy asked to remember (`ctx.state`)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, strategy: str) -> dict[str, JSON]:
        """Give a strategy's state; empty when it has none."""
        row = self._database.row(
            "SELECT state FROM strategy_states WHERE strategy = ?",
            strategy,
        )
        state: dict[str, JSON] = json.loads(row["state"]) if row else {}
        return state

    def put(self, strategy: str, state: Mapping[str, JSON]) -> None:
        """Write or replace a strategy's state, inside a transaction."""
        self._database.write(
            "INSERT INTO strategy_states (strategy, state) VALUES (?, ?) "
            "ON CONFLICT (strategy) DO UPDATE SET state = excluded.state",
            strategy,
            json.dumps(dict(state)),
        )


class Observations:
    """One JSON record for each endpoint; the network client knows what is in it."""

    def __init__(self, database: Database, now: Now) -> None:
        self._database = database
        self._now = now

    def of(self, network: str) -> dict[str, JSON]:
        """Give the records of one network, by its base address, by endpoint.

        Raises:
            StateError: the file cannot be read.
        """
        rows = self._database.rows(
            "SELECT endpoint, record FROM observations WHERE network = ? "
            "ORDER BY endpoint",
            network,
        )
        return {str(row["endpoint"]): json.loads(row["record"]) for row in rows}

    def networks(self) -> list[str]:
        """Give the base addresses of which something is known, the latest first."""
        rows = self._database.rows(
            "SELECT network FROM observations GROUP BY network "
            "ORDER BY max(at) DESC, network",
        )
        return [str(row["network"]) for row in rows]

    def put(self, network: str, endpoint: str, record: JSON) -> None:
        """Write or replace the record of one endpoint, inside a transaction."""
        self._database.write(
            "INSERT INTO observations (network, endpoint, record, at) "
            "VALUES (?, ?, ?, ?) ON CONFLICT (network, endpoint) DO UPDATE "
            "SET record = excluded.record, at = excluded.at",
            *(network, endpoint, json.dumps(record), self._now().isoformat()),
        )


class Totals:
    """Named whole numbers that only grow or shrink by what a transaction adds."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pending: Counter[str] = Counter()
        database.before_commit(self._write_pending)
        database.after_rollback(self._pending.clear)

    def add(self, name: str, amount: int = 1) -> None:
        """Add to a total, inside the transaction that makes it true.

        It is written with the commit, so that a step that moves a task twice does
        not write its totals twice.
        """
        self._pending[name] += amount

    def _write_pending(self) -> None:
        for name, amount in self._pending.items():
            if amount:
                self._database.write(
                    "INSERT INTO totals (name, value) VALUES (?, ?) "
                    "ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
                    name,
                    amount,
                )
        self._pending.clear()

    def get(self, name: str) -> int:
        """Give a total; 0 when nothing was ever added."""
        row = self._database.row("SELECT value FROM totals WHERE name = ?", name)
        return int(row["value"]) if row else 0

    def starting_with(self, prefix: str) -> dict[str, int]:
        """Give the totals of a family, by the rest of their names."""
        rows = self._database.rows(
            "SELECT name, value FROM totals WHERE name >= ? AND name < ? ORDER BY name",
            prefix,
            prefix + "\U0010ffff",
        )
        return {str(row["name"])[len(prefix) :]: int(row["value"]) for row in rows}
