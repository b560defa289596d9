"""Tasks to order."""

from collections.abc import Collection, Mapping
from typing import Any

from journeyman.domain import JSON, Task, TaskId


def task(
    text: str = "",
    *,
    kind: str = "",
    tags: Collection[str] = (),
    reward: int = 1,
    input: JSON = None,  # noqa: A002 - the name that a task has for it
    **fields: Any,  # noqa: ANN401 - the other fields of a Task, each with its type
) -> Task:
    """Make a task, as a network would list it.

    `reward` is in credits. `fields` are the other fields of `journeyman.Task`. Where
    the input is an object with a `text` and no text is given, that is the text, as
    the daemon reads it.
    """
    if not text and isinstance(input, Mapping):
        given = input.get("text")
        text = given if isinstance(given, str) else ""
    content: dict[str, Any] = {
        "id": TaskId("task_1"),
        "title": "A task",
        "description": text,
        "status": "open",
        **fields,
    }
    return Task(
        kind=kind, tags=tuple(tags), reward=reward, input=input, text=text, **content
    )
