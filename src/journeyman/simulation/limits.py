"""The time limits of a network: leases on claims, and deadlines of tasks.

The contract shows neither. The sandbox has none; here a claim whose time is over is
taken back, so that the task is open again for whoever comes first.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from journeyman.sandbox.state import State
from journeyman.simulation.clock import START
from journeyman.simulation.personality import Personality


@dataclass(frozen=True, kw_only=True, slots=True)
class Expired:
    """A claim that was taken back."""

    task_id: str
    agent_id: str
    at: float
    """In simulated seconds."""


class TimeLimits:
    """Knows until when each claim holds, and takes back those that are over."""

    def __init__(
        self,
        state: State,
        personality: Personality,
        seconds: Callable[[], float],
        released_at: Callable[[str], float],
    ) -> None:
        """Begin without claims; `released_at` says when a task came to the market."""
        self._db = state.db
        self._lease = personality.lease_seconds
        self._deadline = personality.deadline_seconds
        self._shown = personality.shows_limits
        self._seconds = seconds
        self._released_at = released_at
        self._until: dict[str, tuple[str, float]] = {}
        self.expired: list[Expired] = []
        self.counts: Counter[str] = Counter()
        """How often a lease ended, a deadline passed, a late claim was refused."""

    @property
    def exist(self) -> bool:
        """Whether this network has any limit at all."""
        return self._lease is not None or self._deadline is not None

    def claimed(self, task_id: str, agent_id: str) -> None:
        """Note a claim that was granted, unless it only repeats one."""
        until = self.until(task_id)
        if until is not None:
            self._until[task_id] = agent_id, until

    def until(self, task_id: str) -> float | None:
        """Give when a claim that is made now ends, or one that was made."""
        if task_id in self._until:
            return self._until[task_id][1]
        ends = [self.deadline(task_id)]
        ends += [] if self._lease is None else [self._seconds() + self._lease]
        return min((end for end in ends if end is not None), default=None)

    def deadline(self, task_id: str) -> float | None:
        """Give when a task can no longer be handed in; None if at any time."""
        if self._deadline is None:
            return None
        return self._released_at(task_id) + self._deadline

    def is_too_late(self, task_id: str) -> bool:
        """Tell whether a task may no longer be claimed."""
        deadline = self.deadline(task_id)
        is_late = deadline is not None and deadline <= self._seconds()
        self.counts["late claim"] += is_late
        return is_late

    def shown(self, name: str, at: float | None) -> dict[str, Any]:
        """Give a field that shows a moment, where this network shows such things."""
        if at is None or not self._shown:
            return {}
        return {name: moment(at)}

    def enforce(self) -> None:
        """Take back every claim whose time is over, unless its result came in time."""
        now = self._seconds()
        over = [task for task, (_, until) in self._until.items() if until <= now]
        for task_id in over:
            agent_id, until = self._until.pop(task_id)
            taken = self._db.execute(
                "UPDATE tasks SET status = 'open', claimant = NULL "
                "WHERE task_id = ? AND status = 'claimed' AND claimant = ?",
                (task_id, agent_id),
            )
            if taken.rowcount:
                deadline = self.deadline(task_id)
                is_deadline = deadline is not None and until >= deadline
                self.counts["deadline passed" if is_deadline else "lease ended"] += 1
                self.expired.append(
                    Expired(task_id=task_id, agent_id=agent_id, at=until)
                )


def moment(seconds: float) -> str:
    """Write a moment of the network's time as the sandbox does, to the millisecond."""
    at = datetime.fromtimestamp(START.timestamp() + seconds, UTC)
    return at.isoformat(timespec="milliseconds")
