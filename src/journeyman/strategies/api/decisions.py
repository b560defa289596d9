"""What `wants` may answer: True, False, `skip("reason")` or `score(0.7, cost=0.2)`."""

import math
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Skip:
    """A "no" that says why."""

    reason: str
    specific: bool = True
    """False for "not my kind of task at all", which tells an owner little."""

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Score:
    """A "yes" with a price on it. The best `value * reward - cost` gets the task."""

    value: float = 1.0
    """How likely the work is to be accepted, 0 to 1."""
    cost: float = 0.0
    """What doing it costs us, in credits."""

    def offer(self, reward: int) -> float:
        """Give what the task is expected to bring, in credits."""
        return self.value * reward - self.cost


Decision: TypeAlias = bool | Skip | Score


def skip(reason: str, *, specific: bool = True) -> Skip:
    """Say no, and why; the owner reads the reason in `journeyman why`.

    `specific=False` says that the task is none of its kind at all: such a reason is
    told only where no other strategy gave a better one.
    """
    return Skip(reason, specific)


def score(value: float, *, cost: float = 0.0) -> Score:
    """Say yes with a likelihood of success (0 to 1) and a cost in credits.

    Raises:
        ValueError: the value is outside 0 to 1, or the cost is negative.
    """
    if not 0 <= value <= 1:
        raise ValueError(f"score({value!r}): give a likelihood between 0 and 1")
    if not (math.isfinite(cost) and cost >= 0):
        raise ValueError(f"score(cost={cost!r}): give a cost in credits, 0 or more")
    return Score(value, cost)
