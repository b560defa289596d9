"""What listings show of results that wait for a verdict.

Some networks tell it nowhere else, or there first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from journeyman.domain.tasks import AgentId, Progress, Task, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord
from journeyman.network.sightings import Sighting, read_sighting

MOST_WAITING = 200
"""Results that are looked for at once."""
_TOLD = frozenset({Progress.PAID, Progress.DONE, Progress.REJECTED})


@dataclass(kw_only=True, eq=False)
class VerdictWatch:
    """Remembers what a listing says of delivered tasks, and has them looked at then."""

    agent_id: AgentId
    journal: Journal
    sightings: dict[TaskId, Sighting] = field(init=False, default_factory=dict)
    """What was shown last of a task that waits, once it says more than before."""

    def note(
        self, tasks: Sequence[Task], is_busy_with: Callable[[TaskId], bool]
    ) -> bool:
        """Look for delivered tasks in a listing; returns whether one is to be woken."""
        if not self.journal.tasks.count_in({TaskState.COMPLETING}):
            self.sightings.clear()
            return False
        waiting = self.journal.tasks.recent(TaskState.COMPLETING, MOST_WAITING)
        idle = {one.task_id: one for one in waiting if not is_busy_with(one.task_id)}
        listed = [(one, idle[one.id]) for one in tasks if one.id in idle]
        woken = [record for task, record in listed if self._is_news(task, record)]
        if woken:
            with self.journal.tx("shown in a listing"):
                for record in woken:
                    self.journal.tasks.postpone(record, next_at=0.0)
        return bool(woken)

    def _is_news(self, task: Task, record: TaskRecord) -> bool:
        """Keep what is shown of a task of ours, unless it was so from the start."""
        if task.claimant not in {None, self.agent_id}:
            return False
        now, before = read_sighting(task), self.sightings.get(task.id)
        if now.progress not in _TOLD or (before and before.progress is now.progress):
            return False
        if read_sighting(record.task).progress is now.progress:
            return False  # such as "paid", of any work that is not for free
        self.sightings[task.id] = now
        return True
