"""Small things to remember: single facts, and the states of strategies."""

import json
from collections.abc import Mapping

from journeyman.domain import JSON
from journeyman.journal.database import Database


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
