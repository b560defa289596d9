"""What was learned about each endpoint of a network, kept between runs (design 5)."""

import json

from journeyman.domain import JSON
from journeyman.journal.database import Database, Now


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
