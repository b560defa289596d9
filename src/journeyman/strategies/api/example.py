"""An example on a strategy: a task, and what to answer. `journeyman check` runs it."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from journeyman.domain import JSON, Task, TaskId
from journeyman.strategies.api.endings import Decline

FIELDS = frozenset(field.name for field in fields(Task))


class Example:
    """A task and the output expected for it; `expect=Decline` means: gives it up."""

    def __init__(
        self, task: Task | Mapping[str, Any], *, expect: "JSON | type[Decline]"
    ) -> None:
        """Take a whole task, or just the fields that matter.

        Raises:
            ValueError: a field that tasks do not have.
        """
        self.task = task if isinstance(task, Task) else _task(task)
        self.expect = expect

    def __repr__(self) -> str:
        return f"Example({self.task!r}, expect={self.expect!r})"


def _task(given: Mapping[str, Any]) -> Task:
    if unknown := sorted(set(given) - FIELDS):
        raise ValueError(
            f"Example: a task has no field {unknown[0]!r}; "
            f"its fields are {', '.join(sorted(FIELDS))}"
        )
    content: dict[str, Any] = {"id": TaskId("example"), "reward": 1, **given}
    content["tags"] = tuple(content.get("tags", ()))
    content.setdefault("text", _text(content))
    return Task(**content)


def _text(content: Mapping[str, Any]) -> str:
    """Find the text where the network client finds it: in the input, else outside."""
    given = content.get("input")
    text = given.get("text") if isinstance(given, Mapping) else None
    return text if isinstance(text, str) else str(content.get("description", ""))
