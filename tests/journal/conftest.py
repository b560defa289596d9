"""Real journals on disk, and tasks to put into them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from journeyman.domain.tasks import Result, Task, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord
from journeyman.testing import FakeClock

#: How a task comes from its discovery into each state that it can be moved from.
WAYS: dict[TaskState, tuple[TaskState, ...]] = {
    TaskState.WANTED: (),
    TaskState.CLAIMING: (TaskState.CLAIMING,),
    TaskState.LOST: (TaskState.CLAIMING, TaskState.LOST),
    TaskState.CLAIMED: (TaskState.CLAIMING, TaskState.CLAIMED),
}
WAYS[TaskState.EXECUTING] = (*WAYS[TaskState.CLAIMED], TaskState.EXECUTING)
for ended in (TaskState.DECLINED, TaskState.FAILED, TaskState.EXECUTED):
    WAYS[ended] = (*WAYS[TaskState.EXECUTING], ended)
WAYS[TaskState.SUBMITTING] = (*WAYS[TaskState.EXECUTED], TaskState.SUBMITTING)
for ended in (TaskState.SUBMITTED, TaskState.REJECTED):
    WAYS[ended] = (*WAYS[TaskState.SUBMITTING], ended)
WAYS[TaskState.COMPLETING] = (*WAYS[TaskState.SUBMITTED], TaskState.COMPLETING)
WAYS[TaskState.COMPLETED] = (*WAYS[TaskState.COMPLETING], TaskState.COMPLETED)

RESULT = Result("4", evidence={"by": "hand"})

Open = Callable[[], Journal]


def task(task_id: str = "t1", **fields: object) -> Task:
    return replace(Task(id=TaskId(task_id), title="Count", reward=3), **fields)  # type: ignore[arg-type]  # any field of Task


def sight(journal: Journal, one: Task, state: TaskState = TaskState.WANTED) -> None:
    with journal.tx("decision"):
        journal.tasks.record_decision(
            one, state, reason="why", strategy="count", fingerprint="f1"
        )


def move(
    journal: Journal, record: TaskRecord, after: TaskState, reason: str = ""
) -> TaskRecord:
    result = RESULT if after is TaskState.EXECUTED else None
    with journal.tx("move"):
        return journal.tasks.move(record, after, reason=reason, result=result)


def brought_to(journal: Journal, state: TaskState, task_id: str = "t1") -> TaskRecord:
    """Walk a new task to a state, by allowed moves alone."""
    if state is TaskState.SKIPPED:
        sight(journal, task(task_id), state)
        return journal.tasks.get(TaskId(task_id))
    sight(journal, task(task_id))
    record = journal.tasks.get(TaskId(task_id))
    for after in WAYS[state]:
        record = move(journal, record, after)
    return record


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def path(journal_path: Path) -> Path:
    return journal_path


@pytest.fixture
def open_journal(path: Path, clock: FakeClock) -> Iterator[Open]:
    opened: list[Journal] = []

    def make() -> Journal:
        opened.append(Journal(path, clock.now))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def journal(open_journal: Open) -> Journal:
    return open_journal()
