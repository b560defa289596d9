"""In which order the tasks that wait for a slot are claimed.

A slot is what is scarce: while it holds one task, it cannot hold a better one. So the
best task is the one that brings the most credits for each second of a slot, not the
one that pays best or came first.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from journeyman.domain import Randomness, TaskId
from journeyman.journal import Waiting
from journeyman.loop.lessons import Lessons
from journeyman.loop.prospects import draw

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
        lessons: Lessons,
        randomness: Randomness,
        exploration: float,
    ) -> None:
        """Foretell by these lessons; `exploration` 0 always trusts the mean."""
        self._lessons = lessons
        self._randomness = randomness
        self._exploration = exploration

    def __call__(self, waiting: Sequence[Waiting]) -> list[TaskId]:
        """Learn what there is to be learned, then put the tasks in order."""
        self._lessons.learn()
        # In the order of their names, so that a seed repeats the draws.
        groups = sorted({one.group for one in waiting})
        luck = {group: draw(self._randomness, self._exploration) for group in groups}

        def worth(one: Waiting) -> tuple[bool, float, int]:
            forecast = self._lessons.forecast(one, luck[one.group])
            loses = forecast.credits < 0
            return loses, -forecast.credits / forecast.seconds, one.number

        return [one.task_id for one in sorted(waiting, key=worth)]


RANKINGS: dict[str, Ranking] = {
    "reward": by_reward,
    "first": by_age,
}
"""The orders that need to know nothing but the tasks themselves."""
