"""What the ends of tasks teach, read from the journal now and then."""

from typing import Final

from journeyman.journal import Forecast, Journal, Judged, Waiting
from journeyman.loop.prospects import Draws, Prospects

READ_AGAIN_AFTER: Final = 1_000
"""Events that taught nothing are noted as read when so many have come."""


class Lessons:
    """Learns how the tasks of each strategy go, and foretells how others will."""

    def __init__(self, journal: Journal) -> None:
        """Begin with what was learned before."""
        self._journal = journal
        self._prospects = Prospects(journal.track_records.all())
        self._read_until = 0

    def learn(self) -> None:
        """Read what came to an end, and keep it beside what was expected of it."""
        records = self._journal.track_records
        judged, until = records.unread()
        if not judged and until - self._read_until < READ_AGAIN_AFTER:
            return
        # Foretold by what was known before: a forecast that knew the end is none.
        lessons = [(one, self.forecast(one)) for one in judged]
        with self._journal.tx("track records"):
            records.learn(lessons, until)
        self._read_until = until
        self._prospects = Prospects(records.all())

    def forecast(self, one: Waiting | Judged, draws: Draws = (0.0, 0.0)) -> Forecast:
        """Foretell what a task brings."""
        return self._prospects.forecast(
            one.group,
            reward=one.reward,
            chance=one.chance,
            cost=one.cost,
            draws=draws,
        )
