"""Learns from each call; the daemon keeps what it has learned."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from journeyman.domain import JSON
from journeyman.network.observation.endpoint import EndpointRecord
from journeyman.network.observation.sight import Observed
from journeyman.network.observation.stored import MalformedRecordError


class Observer:
    """What is known of some endpoints, in memory, growing with each call."""

    def __init__(self, endpoints: Iterable[str], now: Callable[[], datetime]) -> None:
        """Watch these endpoints, by name; calls of others are not kept."""
        self._watched = frozenset(endpoints)
        self._now = now
        self._records: dict[str, EndpointRecord] = {}
        self._changed: set[str] = set()
        self.has_news = False
        """Something was seen, since `written`, that was not known: not only counts."""

    def __call__(self, seen: Observed) -> None:
        """Learn from a call that has ended."""
        if seen.endpoint not in self._watched:
            return
        record = self._records.setdefault(seen.endpoint, EndpointRecord())
        at = self._now().isoformat(timespec="seconds")
        self.has_news = record.learn(seen, at) or self.has_news
        self._changed.add(seen.endpoint)

    def load(self, stored: Mapping[str, JSON]) -> None:
        """Go on from what an earlier run has learned."""
        self._records = records_from(stored)

    def changed(self) -> dict[str, JSON]:
        """Give the records that changed since `written`, by endpoint."""
        return {name: self._records[name].to_json() for name in sorted(self._changed)}

    def written(self) -> None:
        """Take note that all of it was kept."""
        self._changed.clear()
        self.has_news = False


def records_from(stored: Mapping[str, JSON]) -> dict[str, EndpointRecord]:
    """Read stored records; one that cannot be read is begun anew."""
    return {
        name: record
        for name, told in stored.items()
        if (record := _read(told)) is not None
    }


def _read(told: JSON) -> EndpointRecord | None:
    try:
        return EndpointRecord.from_json(told)
    except MalformedRecordError:
        return None
