"""A decision as the tape keeps it: what was shown, what was said, what came of it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from journeyman.domain import Result, Task, TaskId


@dataclass(frozen=True, kw_only=True, slots=True)
class Opinion:
    """What one strategy said to one task."""

    wanted: bool
    reason: str
    offer: float = 0.0
    """What it expected to earn, in credits; 0 for a no."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewSighting:
    """A decision to be kept."""

    task_id: TaskId
    task: str
    """As `encode_shown` gives it."""
    in_part: bool
    """The text was cut, or a secret was taken out of it."""
    strategy: str
    """Who got the task; empty: nobody."""
    reason: str
    opinions: str
    """As `encode_opinions` gives them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """How a task went on after the decision, as far as it is known now."""

    state: str
    strategy: str
    """Who did it in the end."""
    credits: int = 0
    """That it brought."""
    seconds: float = 0.0
    """That it held a slot."""
    result: Result | None = None
    task: Task | None = None
    """As it was worked on: a claim's answer may have told more. None: never was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sighting:
    """A decision as it was kept."""

    task: Task
    """As it was shown then, without the record as sent."""
    at: datetime
    in_part: bool
    strategy: str
    reason: str
    opinions: Mapping[str, Opinion]
    """By strategy, of all that were asked."""
    ending: Ending


def shown(task: Task) -> dict[str, Any]:
    """Give what a strategy was shown of a task, but for the record as sent.

    What is empty is left away, and so is a text that only repeats the description.
    """
    texts = {
        "title": task.title,
        "description": task.description,
        "kind": task.kind,
        "status": task.status,
    }
    others = {
        "tags": list(task.tags) or None,
        "reward": task.reward,
        "input": task.input,
        "deadline": task.deadline.isoformat() if task.deadline else None,
        "poster": task.poster,
        "claimant": task.claimant,
    }
    kept: dict[str, Any] = {name: text for name, text in texts.items() if text}
    kept |= {name: value for name, value in others.items() if value is not None}
    return kept if task.text == task.description else {**kept, "text": task.text}


def decode_shown(task_id: str, text: str) -> Task:
    """Read a task that `shown` made ready."""
    content = json.loads(text)
    content.setdefault("text", content.get("description", ""))
    content["tags"] = tuple(content.get("tags", ()))
    if "deadline" in content:
        content["deadline"] = datetime.fromisoformat(content["deadline"])
    return Task(id=TaskId(task_id), **content)


def encode_opinions(said: Iterable[tuple[str, bool, str, float]]) -> str:
    """Write opinions as JSON: a text for a no, a text and the offer for a yes.

    Each is a strategy's name, whether it wants the task, its reason and its offer.
    """
    return json.dumps(
        {
            name: [reason, offer] if is_wanted else reason
            for name, is_wanted, reason, offer in said
        }
    )


def decode_opinions(text: str) -> dict[str, Opinion]:
    """Read opinions written by `encode_opinions`."""
    content: dict[str, Any] = json.loads(text)
    return {
        name: Opinion(wanted=False, reason=said)
        if isinstance(said, str)
        else Opinion(wanted=True, reason=said[0], offer=said[1])
        for name, said in content.items()
    }
