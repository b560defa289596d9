"""The worker: takes tasks from step to step, as many at once as it has slots."""

import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from enum import Enum, auto

import anyio
from anyio.abc import TaskGroup

from journeyman.domain.clock import Clock
from journeyman.domain.errors import JourneymanError
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import IN_FLIGHT, TERMINAL, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import REPEATS, WORK, TaskRecord, Workload
from journeyman.lifecycle.gate import Gate
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.claim import Claim
from journeyman.worker.complete import Complete
from journeyman.worker.execute import Execute
from journeyman.worker.proof import Proof
from journeyman.worker.ranking import Shortlist
from journeyman.worker.submit import Submit

OPEN = IN_FLIGHT | {TaskState.WANTED}
"""States in which there is something to do for a task."""
LONGEST_WAIT_SECONDS = 30.0
"""Until the worker looks again by itself, should the wall clock jump."""


TraceStep = Callable[
    [str, TaskRecord], AbstractContextManager[Callable[[TaskRecord], TaskRecord]]
]
"""Is told the name of a step and its task, and, inside, how the step has ended."""


class SlotKind(Enum):
    """What a running task takes up until it ends or must wait."""

    #: One of the slots.
    SLOT = auto()
    #: A place for repeats, so that they take no slot from new work.
    REPEAT = auto()


@dataclass(frozen=True, slots=True, eq=False)
class _Carried:
    """A task that is being worked on."""

    kind: SlotKind
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ended: anyio.Event = field(default_factory=anyio.Event)


@dataclass(slots=True)
class RunProgress:
    """What this run has brought to an end."""

    ended: int = 0
    """Tasks that were claimed and then reached a final state."""
    completed: int = 0
    lost: int = 0


@dataclass(kw_only=True, eq=False)
class Worker:
    """Fills slots with due tasks until it is cancelled."""

    journal: Journal
    claim: Claim
    execute: Execute
    submit: Submit
    complete: Complete
    gate: Gate
    proof: Proof
    shortlist: Shortlist
    slots: int
    max_tasks: int | None
    retry: RetryPolicy
    clock: Clock
    log: Log
    trace: TraceStep | None = field(init=False, default=None)
    """None: nobody wants traces."""
    progress: RunProgress = field(init=False, default_factory=RunProgress)
    wakeup: Wakeup = field(init=False, default_factory=Wakeup)
    """Notified when there may be something to do."""
    _running: dict[TaskId, _Carried] = field(init=False, default_factory=dict)
    _pause_listeners: list[Callable[[], None]] = field(init=False, default_factory=list)
    _end_listeners: list[Callable[[TaskRecord], None]] = field(
        init=False, default_factory=list
    )

    @property
    def in_flight(self) -> int:
        """Tasks that are being worked on right now."""
        return len(self._running)

    @property
    def has_room(self) -> bool:
        """More tasks could be worked on than are waiting."""
        waiting = self.journal.tasks.count_in({TaskState.WANTED})
        return not self.gate.obstacle and waiting < self.slots

    @property
    def is_done(self) -> bool:
        """As many tasks have ended as this run was asked for."""
        return self.max_tasks is not None and self.progress.ended >= self.max_tasks

    @property
    def is_idle(self) -> bool:
        """Nothing is being worked on, and nothing is due."""
        return not self._running and not self._due(self._workload())

    def is_busy_with(self, task_id: TaskId) -> bool:
        """Return whether a task is being worked on right now."""
        return task_id in self._running

    async def break_off(self, task_id: TaskId) -> None:
        """End the work on a task, if there is any, and leave it where it is then.

        Nothing is lost by that, as by a crash: what was decided before is written.
        """
        carried = self._running.get(task_id)
        if carried is not None:
            carried.scope.cancel()
            await carried.ended.wait()

    def on_pause(self, listener: Callable[[], None]) -> None:
        """Call this whenever a task frees its slot: it has ended, or must wait."""
        self._pause_listeners.append(listener)

    def on_end(self, listener: Callable[[TaskRecord], None]) -> None:
        """Call this with each task that a strategy wanted and that has now ended."""
        self._end_listeners.append(listener)

    async def run(self, group: TaskGroup) -> None:
        """Fill slots forever; cancel to stop."""
        while True:
            workload = self._workload()
            for kind, record in self._due(workload):
                self._running[record.task_id] = _Carried(kind)
                group.start_soon(self._work_on, record, name=f"task {record.task_id}")
            await self.wakeup.wait(self._seconds_until_due(workload))

    def _taken(self) -> list[SlotKind]:
        return [carried.kind for carried in self._running.values()]

    def _workload(self) -> Workload:
        """Ask once for all that is decided about now."""
        return self.journal.tasks.workload(self.clock.now(), self._running)

    def _due(self, workload: Workload) -> list[tuple[SlotKind, TaskRecord]]:
        if self.gate.suspended_for:
            return []
        taken = self._taken()
        repeats: list[TaskRecord] = []
        if workload.due_repeats:
            repeats = self._take(REPEATS, self.slots - taken.count(SlotKind.REPEAT))
        work: list[TaskRecord] = []
        if workload.due_work and not self.gate.is_closed:
            work = self._take(WORK, self.slots - taken.count(SlotKind.SLOT))
        if workload.due_new and not self.gate.obstacle:
            room = self._room_for_new(work, workload)
            work += self.shortlist.take(room, self._running)
        due = [(SlotKind.REPEAT, record) for record in repeats]
        return due + [(SlotKind.SLOT, record) for record in work]

    def _take(self, states: frozenset[TaskState], limit: int) -> list[TaskRecord]:
        if limit <= 0:
            return []
        return self.journal.tasks.due(
            states,
            self.clock.now(),
            limit,
            excluding=self._running,
        )

    def _room_for_new(self, work: list[TaskRecord], workload: Workload) -> int:
        """Return how many tasks may be claimed now, besides the work that goes on."""
        busy = self._taken().count(SlotKind.SLOT) + len(work)
        window = self.proof.window - busy
        if window <= 0:
            return 0
        room = self.proof.room(workload, len(self._running))
        return min(window, self._allowance(workload), room)

    def _allowance(self, workload: Workload) -> int:
        """Return how many more tasks this run may begin, besides those it has begun."""
        if self.max_tasks is None:
            return self.slots
        begun = len(self._running) + workload.in_flight
        return self.max_tasks - self.progress.ended - begun

    def _seconds_until_due(self, workload: Workload) -> float:
        """Return when the next repeat is due; a clock that jumps costs 30 s at most."""
        now, held = self.clock.now(), self.proof.held_seconds
        first = workload.next_at
        due = [held] if held else []
        due += [] if first is None else [max(first - now.timestamp(), 1.0)]
        return min(*due, LONGEST_WAIT_SECONDS, LONGEST_WAIT_SECONDS)

    async def _work_on(self, record: TaskRecord) -> None:
        """Take one task as far as it goes now."""
        task_id = record.task_id
        carried = self._running[task_id]
        try:
            with carried.scope:
                while not self._must_wait(record):
                    record = await self._advance(record)
                self.count_end(record)
        except JourneymanError:
            raise
        except Exception as error:  # noqa: BLE001 - a bug in one task must not end the others
            self._postpone(task_id, error)
        finally:
            del self._running[task_id]
            carried.ended.set()
            self.wakeup.notify()
            for listener in self._pause_listeners:
                listener()

    async def _advance(self, record: TaskRecord) -> TaskRecord:
        """Take the next step of a task."""
        verb = self._verb(record.state)
        if self.trace is None:
            return await verb.run(record)
        with self.trace(type(verb).__name__.lower(), record) as ended:
            return ended(await verb.run(record))

    def _verb(self, state: TaskState) -> Claim | Execute | Submit | Complete:
        """Return what takes the next step from a state; each knows two of them."""
        match state:
            case TaskState.WANTED | TaskState.CLAIMING:
                return self.claim
            case TaskState.CLAIMED | TaskState.EXECUTING:
                return self.execute
            case TaskState.EXECUTED | TaskState.SUBMITTING:
                return self.submit
            case _:
                return self.complete

    def _postpone(self, task_id: TaskId, error: Exception) -> None:
        """Leave a task as it is for a while, after a bug of ours.

        One that was executed waits for its next execution; they are counted, so that
        a bug cannot go on forever.
        """
        tasks, record = self.journal.tasks, self.journal.tasks.get(task_id)
        next_at = self.clock.now().timestamp() + self.retry.bug_seconds
        reason = f"{type(error).__name__}: {error}"
        with self.journal.tx("bug"):
            if record.state is TaskState.EXECUTING:
                after = TaskState.CLAIMED
                tasks.move(record, after, reason=reason, next_at=next_at)
            else:
                tasks.postpone(replace(record, reason=reason), next_at)
        self.log.emit(
            events.BUG,
            task_id=task_id,
            state=record.state,
            traceback="".join(traceback.format_exception(error)),
        )

    def _must_wait(self, record: TaskRecord) -> bool:
        if record.state is TaskState.EXECUTING:
            return False  # nothing is sent, and nobody else would take it up
        if record.state not in OPEN or self.gate.suspended_for:
            return True
        return not record.is_due(self.clock.now())

    def count_end(self, record: TaskRecord) -> None:
        """Count a task that has come to an end, and tell who wants to know."""
        if record.state is TaskState.LOST:
            self.progress.lost += 1
        elif record.state in TERMINAL:
            self.progress.ended += 1
            self.progress.completed += record.state is TaskState.COMPLETED
        if record.state in TERMINAL:
            for listener in self._end_listeners:
                listener(record)
