"""Hold a claimed task whose strategy is in quarantine, until it may work again."""

from functools import partial
from typing import Final

from journeyman.domain import Clock, TaskId, TaskState
from journeyman.journal import Journal, TaskRecord
from journeyman.loop import events
from journeyman.loop.crew import Crew
from journeyman.loop.quarantine import Quarantine
from journeyman.observability import Log

HELD_SECONDS: Final = 60.0
"""How often to look again, should nobody be released meanwhile: a rest may be over, or
a reload may have brought another strategy that wants the task."""


class Hold:
    """Keeps claimed tasks waiting; a release of their strategy wakes them."""

    def __init__(
        self,
        *,
        crew: Crew,
        quarantine: Quarantine,
        journal: Journal,
        longest_seconds: float,
        clock: Clock,
        log: Log,
    ) -> None:
        """Hold a task for `longest_seconds` at most."""
        self._crew = crew
        self._journal = journal
        self._longest_seconds = longest_seconds
        self._clock = clock
        self._log = log
        self._held: dict[TaskId, str] = {}
        quarantine.on_release(self._wake)

    def may_help(self, record: TaskRecord) -> bool:
        """Tell whether waiting may help, and was not tried for too long."""
        moved_at = self._journal.tasks.history(record.task_id)[-1].at
        waited = (self._clock.now() - moved_at).total_seconds()
        is_in_time = waited < self._longest_seconds
        return is_in_time and self._crew.is_held(record.strategy)

    def let_go(self, record: TaskRecord) -> None:
        """Forget that a task was held: it is looked at again, whatever comes of it."""
        self._held.pop(record.task_id, None)

    async def __call__(self, record: TaskRecord) -> TaskRecord:
        """Let a task wait for its strategy."""
        self._held[record.task_id] = record.strategy
        reason = self._crew.absence(record.strategy)
        record = await self._journal.commit(partial(self._put_off, record, reason))
        self._log.emit(
            events.HELD,
            task_id=record.task_id,
            strategy=record.strategy,
            reason=reason,
            retry_in=HELD_SECONDS,
        )
        return record

    def _put_off(self, record: TaskRecord, reason: str) -> TaskRecord:
        tasks = self._journal.tasks
        next_at = self._clock.now().timestamp() + HELD_SECONDS
        if record.state is TaskState.EXECUTING:
            # It was claimed, and its strategy went into quarantine meanwhile.
            after = TaskState.CLAIMED
            return tasks.move(record, after, reason=reason, next_at=next_at)
        return tasks.postpone(
            record, next_at=next_at, attempts=0, reason=reason, maybe_sent=False
        )

    def _wake(self, strategy: str) -> None:
        """Let the tasks of a strategy be due at once, inside its release's commit."""
        tasks = self._journal.tasks
        waiting = [one for one, name in self._held.items() if name == strategy]
        for task_id in waiting:
            del self._held[task_id]
            record = tasks.get(task_id)
            if record.state is TaskState.CLAIMED:
                tasks.postpone(
                    record,
                    next_at=0.0,
                    attempts=0,
                    reason=record.reason,
                    maybe_sent=False,
                )
