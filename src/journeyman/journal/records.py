"""Tasks as rows: how a task is written to the journal and read back."""

import json
from dataclasses import dataclass, fields, replace
from datetime import datetime

from journeyman.domain import Result, Task, TaskId, TaskState, UntrustedText
from journeyman.journal.database import Row


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskRecord:
    """A task and where it stands."""

    task: Task
    state: TaskState
    strategy: str
    """The strategy that wanted it; empty for a skipped task."""
    reason: str
    """Why it is in this state."""
    result: Result | None
    """What the strategy made; never changed once written."""
    attempts: int
    """Requests sent for the current intent."""
    doubts: int
    """Refusals in a row that may be mistaken, such as a gateway's 404."""
    executions: int
    """How often a strategy was started on it."""
    maybe_sent: bool
    """A request for the current intent may have left."""
    next_at: float
    """Not to be touched before; seconds since 1970."""
    seen_at: datetime
    updated_at: datetime
    unsent: bool = False
    """This process has just committed the intent and has not sent its request yet.
    Not stored: after a restart, a committed intent counts as sent."""

    def is_due(self, now: datetime) -> bool:
        """Tell whether it may be touched.

        A wait that begins in the future was written before the clock was set back: it
        would last for as long as the clock was wrong, so it counts as over.
        """
        return self.next_at <= now.timestamp() or self.updated_at > now

    @property
    def task_id(self) -> TaskId:
        """The network's name for the task."""
        return self.task.id


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskEvent:
    """One move of a task."""

    before: str
    after: str
    reason: str
    at: datetime


def slim(task: Task) -> Task:
    """Leave away the bulk of a task that we only remember having seen."""
    nothing = UntrustedText()
    return replace(task, description=nothing, text=nothing, input=None, raw={})


def encode_task(task: Task) -> str:
    """Write a task as JSON."""
    # Not by `asdict`, which copies the whole record deeply, once for each task.
    content = {field.name: getattr(task, field.name) for field in fields(task)}
    content["deadline"] = task.deadline.isoformat() if task.deadline else None
    content["raw"] = dict(task.raw)
    return json.dumps(content)


def decode_task(text: str) -> Task:
    """Read a task written by `encode_task`."""
    content = json.loads(text)
    content["tags"] = tuple(content["tags"])
    if content["deadline"] is not None:
        content["deadline"] = datetime.fromisoformat(content["deadline"])
    return Task(**content)


def encode_result(result: Result) -> str:
    """Write a result as JSON; the same bytes are sent at every repeat."""
    return json.dumps({"output": result.output, "evidence": dict(result.evidence)})


def decode_result(text: str) -> Result:
    """Read a result written by `encode_result`."""
    content = json.loads(text)
    return Result(output=content["output"], evidence=content["evidence"])


def to_event(row: Row) -> TaskEvent:
    """Read a row of the table `task_events`."""
    return TaskEvent(
        before=row["before"],
        after=row["after"],
        reason=row["reason"],
        at=datetime.fromisoformat(row["at"]),
    )


def to_record(row: Row) -> TaskRecord:
    """Read a row of the view `full_tasks`."""
    return TaskRecord(
        task=decode_task(row["record"]),
        state=TaskState(row["state"]),
        strategy=row["strategy"],
        reason=row["reason"],
        result=decode_result(row["result"]) if row["result"] is not None else None,
        attempts=row["attempts"],
        doubts=row["doubts"],
        executions=row["executions"],
        maybe_sent=bool(row["maybe_sent"]),
        next_at=row["next_at"] or 0.0,
        seen_at=datetime.fromisoformat(row["seen_at"]),
        updated_at=datetime.fromisoformat(row["updated_at"]),
    )
