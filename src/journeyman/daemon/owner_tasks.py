"""What the owner decides about one task: to try it again now, or to give it up."""

from typing import TYPE_CHECKING

from journeyman.control.verbs import TaskRequest
from journeyman.daemon import events
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import (
    DEADLINE_PASSED,
    IN_FLIGHT,
    JSON,
    TaskId,
    TaskState,
    has_passed,
)
from journeyman.domain.text import escape
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import PastTask, TaskRecord
from journeyman.observability.events import Event

if TYPE_CHECKING:
    # Otherwise each command would import what serves and sends.
    from journeyman.daemon.environment import Environment

GIVEN_UP = frozenset({TaskState.FAILED, TaskState.DECLINED})
"""Ends that only we know of: the network may still wait for a result."""
_NOT_CLAIMED = "The network was asked for nothing yet"
_NO_RETRY = {
    TaskState.SKIPPED: f"{_NOT_CLAIMED}: `journeyman why ID` shows why it is not "
    "wanted.",
    TaskState.LOST: "Another agent has it, or it is gone.",
    TaskState.REJECTED: "The network has judged its result.",
    TaskState.COMPLETED: "It is done.",
}
_NO_ABANDONING = {
    TaskState.SKIPPED: "It is not wanted, and was not claimed.",
    TaskState.WANTED: f"{_NOT_CLAIMED}. To leave such tasks out, change what its "
    "strategy wants, or `journeyman strategies disable NAME`.",
}


def find_task(journal: Journal, task_id: TaskId) -> TaskRecord:
    """Return what is known of a task.

    Raises:
        UsageError: it was never seen here, or its rows are gone.
    """
    try:
        return journal.tasks.get(task_id)
    except KeyError:
        raise _unknown(escape(task_id), journal.tasks.past(task_id)) from None


def _unknown(task_id: str, past: PastTask | None) -> UsageError:
    if past is None:
        return UsageError(
            f"no task {task_id!r} was ever seen here",
            "`journeyman tasks` lists those that were.",
        )
    return UsageError(
        f"task {task_id!r} is past: it ended in {past.month}, {past.state}, and the "
        "journal has no more of it (work.keep_tasks_days)",
        f"What the archives have of it: journeyman journal archives {task_id}. They "
        "are kept with work.archive = true.",
    )


def retry(
    journal: Journal, environment: "Environment", request: TaskRequest
) -> dict[str, JSON]:
    """Make a task due now; one that failed or was given up continues where it was.

    Raises:
        UsageError: trying it again makes no sense.
    """
    record = find_task(journal, TaskId(request.task_id))
    if record.state not in IN_FLIGHT | GIVEN_UP | {TaskState.WANTED}:
        raise _refusal("retried", record, _NO_RETRY[record.state])
    if record.state in GIVEN_UP:
        if has_passed(record.task, environment.clock):
            raise _refusal("retried", record, f"It is too late: {DEADLINE_PASSED}.")
        if not record.task.raw:
            fix = "Its text was dropped since (work.keep_texts_days)."
            raise _refusal("retried", record, fix)
    with journal.tx("task retried"):
        moved = journal.tasks.retry(record, request.by)
    return _told(environment, events.RETRIED, record, moved, request)


def abandon(
    journal: Journal, environment: "Environment", request: TaskRequest
) -> dict[str, JSON]:
    """Give up a task in flight, on which nobody works at this moment.

    Raises:
        UsageError: there is nothing to give up.
    """
    record = require_in_flight(journal, TaskId(request.task_id))
    with journal.tx("task abandoned"):
        moved = journal.tasks.abandon(record, request.by)
    return _told(environment, events.ABANDONED, record, moved, request)


def require_in_flight(journal: Journal, task_id: TaskId) -> TaskRecord:
    """Return a task that can be given up.

    Raises:
        UsageError: there is nothing to give up.
    """
    record = find_task(journal, task_id)
    if record.state not in IN_FLIGHT:
        why = _NO_ABANDONING.get(record.state, "It has ended.")
        raise _refusal("abandoned", record, why)
    return record


def _refusal(word: str, record: TaskRecord, why: str) -> UsageError:
    shown = escape(record.task_id)
    return UsageError(
        f"{shown} cannot be {word}: it is {record.state}", why.replace("ID", shown)
    )


def _told(
    environment: "Environment",
    event: Event,
    record: TaskRecord,
    moved: TaskRecord,
    request: TaskRequest,
) -> dict[str, JSON]:
    fields = {"task_id": record.task_id, "before": record.state, "state": moved.state}
    environment.log.emit(event, **fields, strategy=record.strategy, by=request.by)
    return {**fields}
