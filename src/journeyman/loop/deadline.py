"""Deadlines: a task's own, and the lease that a claim was given.

The contract knows neither. A network that shows one takes no result after it, and may
give the task to another agent, so work past it is in vain (design 2).
"""

from datetime import datetime

from journeyman.domain import Clock, Task

PASSED = "its deadline or lease passed"


def has_passed(task: Task, clock: Clock) -> bool:
    """Tell whether it is too late to hand in a first result."""
    return task.deadline is not None and task.deadline <= clock.now()


def seconds_left(task: Task, clock: Clock) -> float | None:
    """Give the time until then, not below 0; None when the task shows no deadline."""
    if task.deadline is None:
        return None
    return max(0.0, (task.deadline - clock.now()).total_seconds())


def earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    """Give the first of two moments, where either may be missing."""
    return min((at for at in (one, other) if at is not None), default=None)
