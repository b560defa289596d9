"""The worker: carries each task through the verbs, as many at once as it has slots."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from anyio.abc import TaskGroup

from journeyman.domain.clock import Clock
from journeyman.domain.errors import JourneymanError
from journeyman.domain.tasks import IN_FLIGHT, TERMINAL, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle.gate import Gate
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.claim import Claim
from journeyman.worker.complete import Complete
from journeyman.worker.execute import Execute
from journeyman.worker.ranking import Shortlist
from journeyman.worker.submit import Submit

WORK = frozenset({TaskState.CLAIMED, TaskState.CLAIMING})
"""Ours, or perhaps ours, and not done: these need a slot."""
REPEATS = IN_FLIGHT - WORK - {TaskState.EXECUTING}
"""Requests that are repeated, or results that wait to be sent."""
CARRIED = IN_FLIGHT | {TaskState.WANTED}
"""States in which there is something to do for a task."""
PROMISES_PER_SLOT = 4
"""How many claimed tasks may wait for a strategy, for each slot. A strategy that puts
every task off would otherwise claim the whole market and do none of it."""
BUG_PAUSE_SECONDS = 60.0
"""How long a task rests after a bug of ours, so that it cannot spin."""
LONGEST_WAIT_SECONDS = 30.0


class SlotKind(Enum):
    """What a carried task holds until it ends or must wait."""

    #: One of the slots.
    SLOT = auto()
    #: A place for repeats, so that they take no slot from new work.
    REPEAT = auto()


@dataclass(slots=True)
class Progress:
    """What this run has brought to an end."""

    ended: int = 0
    """Tasks that were claimed and then reached a final state."""
    completed: int = 0
    lost: int = 0


class Worker:
    """Fills slots with due tasks until it is told to stop."""

    def __init__(  # noqa: PLR0913  # its collaborators, each by its name
        self,
        *,
        journal: Journal,
        claim: Claim,
        execute: Execute,
        submit: Submit,
        complete: Complete,
        gate: Gate,
        shortlist: Shortlist,
        slots: int,
        max_tasks: int | None,
        clock: Clock,
        log: Log,
    ) -> None:
        self._journal = journal
        self._claim = claim
        self._execute = execute
        self._submit = submit
        self._complete = complete
        self._gate = gate
        self._shortlist = shortlist
        self._slots = slots
        self._max_tasks = max_tasks
        self._clock = clock
        self._log = log
        self._carried: dict[TaskId, SlotKind] = {}
        self._listeners: list[Callable[[], None]] = []
        self._end_listeners: list[Callable[[TaskRecord], None]] = []
        self.progress = Progress()
        self.wakeup = Wakeup()
        """Rung when there may be something to do."""

    @property
    def in_flight(self) -> int:
        """Tasks that are being carried right now."""
        return len(self._carried)

    @property
    def is_hungry(self) -> bool:
        """More tasks could be worked on than are waiting."""
        waiting = self._journal.tasks.count_in({TaskState.WANTED})
        return not self._gate.obstacle and waiting < self._slots

    @property
    def is_done(self) -> bool:
        """As many tasks have ended as this run was asked for."""
        return self._max_tasks is not None and self.progress.ended >= self._max_tasks

    @property
    def is_idle(self) -> bool:
        """Nothing is carried, and nothing is due."""
        return not self._carried and not self._due()

    def on_rest(self, listener: Callable[[], None]) -> None:
        """Call this whenever a task is put down: it has ended, or must wait."""
        self._listeners.append(listener)

    def on_end(self, listener: Callable[[TaskRecord], None]) -> None:
        """Call this with each task that a strategy wanted and that has now ended."""
        self._end_listeners.append(listener)

    async def run(self, group: TaskGroup) -> None:
        """Fill slots for ever; cancel to stop."""
        while True:
            for lane, record in self._due():
                self._carried[record.task_id] = lane
                group.start_soon(self._carry, record, name=f"task {record.task_id}")
            await self.wakeup.wait(self._seconds_until_due())

    def _due(self) -> list[tuple[SlotKind, TaskRecord]]:
        if self._gate.suspended_for or not self._is_anything_due():
            return []
        lanes = list(self._carried.values())
        repeats = self._take(REPEATS, self._slots - lanes.count(SlotKind.REPEAT))
        free = self._slots - lanes.count(SlotKind.SLOT)
        work = [] if self._gate.is_closed else self._take(WORK, free)
        if not self._gate.obstacle:
            new = min(free - len(work), self._allowance(), self._room_for_promises())
            work += self._shortlist.take(new, self._carried)
        due = [(SlotKind.REPEAT, record) for record in repeats]
        return due + [(SlotKind.SLOT, record) for record in work]

    def _is_anything_due(self) -> bool:
        """Ask once, before asking state by state: mostly the answer is no."""
        return self._journal.tasks.has_due(self._clock.now(), self._carried)

    def _take(self, states: frozenset[TaskState], limit: int) -> list[TaskRecord]:
        if limit <= 0:
            return []
        return self._journal.tasks.due(
            states,
            self._clock.now(),
            limit,
            excluding=self._carried,
        )

    def _allowance(self) -> int:
        """How many more tasks this run may begin; what waits for a repeat has begun."""
        if self._max_tasks is None:
            return self._slots
        waiting = self._journal.tasks.count_others(IN_FLIGHT, self._carried)
        return self._max_tasks - self.progress.ended - len(self._carried) - waiting

    def _room_for_promises(self) -> int:
        """How many more tasks may be claimed, beside those that wait to be done."""
        waiting = self._journal.tasks.count_others(WORK, self._carried)
        return PROMISES_PER_SLOT * self._slots - waiting

    def _seconds_until_due(self) -> float:
        """Until the next repeat is due; a wall clock that jumps costs 30 s at most."""
        now = self._clock.now()
        first = self._journal.tasks.next_due_at(now)
        if first is None:
            return LONGEST_WAIT_SECONDS
        return min(max(first - now.timestamp(), 1.0), LONGEST_WAIT_SECONDS)

    async def _carry(self, record: TaskRecord) -> None:
        """Take one task as far as it goes now."""
        task_id = record.task_id
        try:
            while not self._must_rest(record):
                record = await self._advance(record)
            self._count(record)
        except JourneymanError:
            raise
        except Exception as error:  # noqa: BLE001 - a bug in one task must not end the others
            self._rest(task_id, error)
        finally:
            del self._carried[task_id]
            self.wakeup.notify()
            for listener in self._listeners:
                listener()

    async def _advance(self, record: TaskRecord) -> TaskRecord:
        """Take the next step of a task; each verb knows two states."""
        match record.state:
            case TaskState.WANTED | TaskState.CLAIMING:
                return await self._claim.run(record)
            case TaskState.CLAIMED | TaskState.EXECUTING:
                return await self._execute.run(record)
            case TaskState.EXECUTED | TaskState.SUBMITTING:
                return await self._submit.run(record)
            case _:
                return await self._complete.run(record)

    def _rest(self, task_id: TaskId, error: Exception) -> None:
        """Leave a task as it is for a while, after a bug of ours.

        One that was executed waits for its next execution; they are counted, so that
        a bug cannot go on for ever.
        """
        tasks, record = self._journal.tasks, self._journal.tasks.get(task_id)
        next_at = self._clock.now().timestamp() + BUG_PAUSE_SECONDS
        reason = f"{type(error).__name__}: {error}"
        with self._journal.tx("bug"):
            if record.state is TaskState.EXECUTING:
                after = TaskState.CLAIMED
                tasks.move(record, after, reason=reason, next_at=next_at)
            else:
                tasks.postpone(
                    record,
                    next_at=next_at,
                    attempts=record.attempts,
                    doubts=record.doubts,
                    reason=reason,
                    maybe_sent=record.maybe_sent,
                )
        self._log.emit(
            events.BUG,
            task_id=task_id,
            state=record.state,
            traceback="".join(traceback.format_exception(error)),
        )

    def _must_rest(self, record: TaskRecord) -> bool:
        if record.state is TaskState.EXECUTING:
            return False  # nothing is sent, and nobody else would take it up
        if record.state not in CARRIED or self._gate.suspended_for:
            return True
        return not record.is_due(self._clock.now())

    def _count(self, record: TaskRecord) -> None:
        if record.state is TaskState.LOST:
            self.progress.lost += 1
        elif record.state in TERMINAL:
            self.progress.ended += 1
            self.progress.completed += record.state is TaskState.COMPLETED
        if record.state in TERMINAL:
            for listener in self._end_listeners:
                listener(record)
