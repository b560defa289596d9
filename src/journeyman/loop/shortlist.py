"""The tasks that will be claimed next, in order.

They are ranked now and then and not at each step: a rank is good for some seconds, and
a thousand waiting tasks must not be sorted for every slot that falls free.
"""

from collections import deque
from collections.abc import Collection
from typing import Final

from journeyman.domain import Clock, TaskId, TaskState
from journeyman.journal import Journal, TaskRecord
from journeyman.loop.ranking import Ranking

GOOD_FOR_SECONDS: Final = 5.0
"""How long a ranking is used; so long a better task that was just seen may wait."""
MOST_RANKED: Final = 1_000
"""The best paid so many are ranked; the others wait for the next time."""


class Shortlist:
    """Gives the next tasks to claim."""

    def __init__(self, journal: Journal, ranking: Ranking, clock: Clock) -> None:
        self._journal = journal
        self._ranking = ranking
        self._clock = clock
        self._line: deque[TaskId] = deque()
        self._good_until = 0.0

    def take(self, limit: int, excluding: Collection[TaskId]) -> list[TaskRecord]:
        """Give the next that may be claimed now, at most `limit`.

        They stay WANTED, and are given again after the next ranking, unless they are
        in `excluding` or were moved.
        """
        if limit <= 0:
            return []
        is_old = self._clock.monotonic() >= self._good_until
        if is_old:
            self._rank(excluding)
        taken = self._next(limit, excluding)
        if not taken and not is_old:
            self._rank(excluding)
            taken = self._next(limit, excluding)
        return taken

    def _rank(self, excluding: Collection[TaskId]) -> None:
        now = self._clock.now()
        waiting = self._journal.waiting.best_paid(now, MOST_RANKED, excluding)
        self._line = deque(self._ranking(waiting) if waiting else ())
        self._good_until = self._clock.monotonic() + GOOD_FOR_SECONDS

    def _next(self, limit: int, excluding: Collection[TaskId]) -> list[TaskRecord]:
        """Give the front of the line, which stays there until it is moved."""
        front: list[TaskRecord] = []
        now = self._clock.now()
        while self._line and len(front) < limit:
            task_id = self._line.popleft()
            if task_id in excluding:
                continue
            record = self._journal.tasks.get(task_id)
            if record.state is TaskState.WANTED and record.is_due(now):
                front.append(record)
        self._line.extendleft(record.task_id for record in reversed(front))
        return front
