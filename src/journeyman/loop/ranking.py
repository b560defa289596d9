"""In which order the tasks that wait for a slot are claimed.

A slot is what is scarce: while it holds one task, it cannot hold a better one. So the
best task is the one that brings the most credits for each second of a slot, not the
one that pays best or came first.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from journeyman.domain import Randomness, TaskId
from journeyman.journal import Forecast, Journal, Waiting
from journeyman.loop.prospects import Draws, Prospects, draw

READ_AGAIN_AFTER: Final = 1_000
"""Events that taught nothing are noted as read when so many have come."""


Ranking: TypeAlias = Callable[[Sequence[Waiting]], list[TaskId]]
"""Puts waiting tasks in order: the one to be claimed first at the front."""


def by_reward(waiting: Sequence[Waiting]) -> list[TaskId]:
    """Let the best paid go first."""
    return [one.task_id for one in sorted(waiting, key=lambda w: (-w.reward, w.number))]


def by_age(waiting: Sequence[Waiting]) -> list[TaskId]:
    """Let the one that was seen first go first."""
    return [one.task_id for one in sorted(waiting, key=lambda w: w.number)]


class ByExpectation:
    """Lets the task go first that is expected to bring most for each second of a slot.

    What is expected is learned from the journal. A task that is expected to lose
    credits goes last.
    """

    def __init__(
        self,
        journal: Journal,
        randomness: Randomness,
        exploration: float,
    ) -> None:
        """Learn from a journal; `exploration` 0 always trusts the mean."""
        self._journal = journal
        self._randomness = randomness
        self._exploration = exploration
        self._prospects = Prospects(journal.track_records.all())
        self._read_until = 0

    def __call__(self, waiting: Sequence[Waiting]) -> list[TaskId]:
        """Learn what there is to be learned, then put the tasks in order."""
        self.learn()
        # In the order of their names, so that a seed repeats the draws.
        groups = sorted({one.group for one in waiting})
        luck = {group: draw(self._randomness, self._exploration) for group in groups}

        def worth(one: Waiting) -> tuple[bool, float, int]:
            forecast = self.forecast(one, luck[one.group])
            loses = forecast.credits < 0
            return loses, -forecast.credits / forecast.seconds, one.number

        return [one.task_id for one in sorted(waiting, key=worth)]

    def forecast(self, one: Waiting, draws: Draws = (0.0, 0.0)) -> Forecast:
        """Foretell what a waiting task brings."""
        return self._prospects.forecast(
            one.group,
            reward=one.reward,
            chance=one.chance,
            cost=one.cost,
            draws=draws,
        )

    def learn(self) -> None:
        """Read what came to an end, and compare it with what was expected of it."""
        records = self._journal.track_records
        judged, until = records.unread()
        if not judged and until - self._read_until < READ_AGAIN_AFTER:
            return
        lessons = [
            (
                one,
                self._prospects.forecast(
                    one.group,
                    reward=one.reward,
                    chance=one.chance,
                    cost=one.cost,
                ),
            )
            for one in judged
        ]
        with self._journal.tx("track records"):
            records.learn(lessons, until)
        self._read_until = until
        self._prospects = Prospects(records.all())


RANKINGS: dict[str, Ranking] = {
    "reward": by_reward,
    "first": by_age,
}
"""The orders that need to know nothing but the tasks themselves."""
