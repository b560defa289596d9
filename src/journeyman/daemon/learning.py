"""Keeps what the network client learns about the network, now and then.

Never on the way of a request: a call is observed in memory, and what was new is
written with the next heartbeat. A kill loses at most what a minute has taught.
"""

from contextlib import suppress

from journeyman.domain import Clock
from journeyman.domain.errors import StateError
from journeyman.journal import Journal
from journeyman.network import ENDPOINTS, Observer

SHORTEST_PAUSE = 60.0
"""In seconds, between two writes of what is new."""


class Learning:
    """One network's observations, in memory and in the journal."""

    def __init__(self, journal: Journal, network: str, clock: Clock) -> None:
        """Go on from what is known of the network of this base address."""
        self._journal = journal
        self._network = network.rstrip("/")
        self._clock = clock
        self.observer = Observer([one.name for one in ENDPOINTS], clock.now)
        self.observer.load(journal.observations.of(self._network))
        self._kept_at = clock.monotonic() - SHORTEST_PAUSE

    def keep_news(self) -> None:
        """Write what was learned if something is new, at most once a minute."""
        paused = self._clock.monotonic() - self._kept_at
        if self.observer.has_news and paused >= SHORTEST_PAUSE:
            self.keep()

    def keep(self) -> None:
        """Write what was learned, also where only counts have changed.

        A disk that refuses is told by those whose work is lost by it; this waits.
        """
        changed = self.observer.changed()
        if not changed:
            return
        self._kept_at = self._clock.monotonic()
        with suppress(StateError):
            with self._journal.tx("observations"):
                for endpoint, record in changed.items():
                    self._journal.observations.put(self._network, endpoint, record)
            self.observer.written()
