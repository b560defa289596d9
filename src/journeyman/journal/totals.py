"""Running totals: questions about the whole history answered without counting it."""

from collections import Counter

from journeyman.journal.database import Database


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
