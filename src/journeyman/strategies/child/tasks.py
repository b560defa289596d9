"""A task and its surroundings as a message, and back."""

from dataclasses import fields
from datetime import datetime
from typing import Any

from journeyman.domain import Task
from journeyman.strategies.api import BudgetView, Context

_NAMES = tuple(field.name for field in fields(Task))
_BUDGET = tuple(field.name for field in fields(BudgetView))


def task_message(task: Task) -> dict[str, Any]:
    """Give a task as JSON."""
    message = {name: getattr(task, name) for name in _NAMES}
    return message | {
        "deadline": _text(task.deadline),
        "tags": list(task.tags),
        "raw": dict(task.raw),
    }


def task_from(message: dict[str, Any]) -> Task:
    """Read a task back."""
    deadline, tags = _moment(message["deadline"]), tuple(message["tags"])
    return Task(**message | {"deadline": deadline, "tags": tags})


def run_message(number: int, task: Task, context: Context) -> dict[str, Any]:
    """Give one run: its number, the task, and what the context holds."""
    return {
        "run": number,
        "task": task_message(task),
        "state": context.state,
        "now": context.now.isoformat(),
        "deadline": _text(context.deadline),
        "budget": {name: getattr(context.budget, name) for name in _BUDGET},
        "canary": context.canary,
    }


def budget_from(message: dict[str, Any]) -> BudgetView:
    """Read the owner's figures."""
    return BudgetView(**message["budget"])


def moment_in(message: dict[str, Any], name: str) -> datetime | None:
    """Read a moment; None where there is none."""
    return _moment(message[name])


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
