"""What a daemon does now and then, so that it can run for months."""

from datetime import timedelta
from typing import Final

from journeyman.daemon import events
from journeyman.daemon.agent import Agent, World
from journeyman.daemon.compose import Works

MOST_FORGOTTEN: Final = 2_000
"""At once, which takes some 50 ms on the event loop; the others go the next time."""


class Housekeeping:
    """Keeps the data directory small and in order."""

    def __init__(
        self, agent: Agent, works: Works, world: World, forget_skipped_days: float
    ) -> None:
        self._agent = agent
        self._works = works
        self._days = forget_skipped_days
        self._clock = world.clock
        self._log = world.log

    def keep(self) -> None:
        """Do all of it.

        Raises:
            StateError: the disk refused.
        """
        self._works.disk.look()
        self._works.staff.recorder.trim()
        self._forget_passed_over()
        self._agent.learning.keep()
        self._agent.journal.database.checkpoint()

    def _forget_passed_over(self) -> None:
        journal = self._agent.journal
        before = self._clock.now() - timedelta(days=self._days)
        with journal.tx("passed over"):
            forgotten = journal.passed_over.forget_before(before, MOST_FORGOTTEN)
        if forgotten:
            self._log.emit(events.FORGOTTEN, tasks=forgotten, days=self._days)
