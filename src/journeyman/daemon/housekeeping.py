"""What a daemon does now and then, so that it can run for months."""

from datetime import timedelta
from typing import Final

from journeyman.daemon import events
from journeyman.daemon.agent import Agent
from journeyman.daemon.environment import Environment
from journeyman.daemon.wiring import Components

MOST_FORGOTTEN: Final = 2_000
"""At once, which takes some 50 ms on the event loop; the others go the next time."""


class Housekeeping:
    """Keeps the data directory small and in order."""

    def __init__(
        self,
        agent: Agent,
        components: Components,
        environment: Environment,
        forget_skipped_days: float,
    ) -> None:
        self._agent = agent
        self._components = components
        self._days = forget_skipped_days
        self._clock = environment.clock
        self._log = environment.log

    def keep(self) -> None:
        """Do all of it.

        Raises:
            StateError: the disk refused.
        """
        self._components.disk.look()
        self._components.lifecycle.recorder.trim()
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
