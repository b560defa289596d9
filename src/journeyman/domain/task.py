"""A task as Journeyman understands it, whatever shape the network gave it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from journeyman.domain.ids import TaskId
from journeyman.domain.untrusted import UntrustedText

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
"""What a reader of JSON gives."""
Output: TypeAlias = (
    "bool | int | float | str | Sequence[Output] | Mapping[str, Output] | None"
)
"""What may be written as JSON: a `list[str]` is one, although it is no `list[JSON]`."""


@dataclass(frozen=True, kw_only=True, slots=True, init=False)
class Task:
    """A unit of work that a network lists (contract section 2: fields not shown).

    Everything but `id` may be missing from what the network sent; the defaults
    here are what a reader then sees. All of it is untrusted input, and what people
    write freely has a type that says so.
    """

    id: TaskId
    title: UntrustedText
    description: UntrustedText
    kind: str
    """The network's own name for the sort of work, lower case; may be empty."""
    tags: tuple[str, ...]
    reward: int
    """In credits; 0 when the network shows none or shows something unreadable."""
    text: UntrustedText
    """The text to work on; the description where the task has no separate text."""
    input: JSON
    """The structured input, as sent; None where the task has none."""
    status: str
    """The network's own word, lower case; empty when it shows none."""
    deadline: datetime | None
    poster: str | None
    """Who posted it: an agent id, when the network shows one."""
    claimant: str | None
    """Who holds it: an agent id, when the network shows one."""
    raw: Mapping[str, JSON] = field(repr=False)
    """The record exactly as the network sent it."""

    def __init__(  # noqa: PLR0913 - a record with many fields, each by name
        self,
        *,
        id: TaskId,  # noqa: A002 - the field's name
        title: str = "",
        description: str = "",
        kind: str = "",
        tags: tuple[str, ...] = (),
        reward: int = 0,
        text: str = "",
        input: JSON = None,  # noqa: A002 - the field's name
        status: str = "",
        deadline: datetime | None = None,
        poster: str | None = None,
        claimant: str | None = None,
        raw: Mapping[str, JSON] | None = None,
    ) -> None:
        """Take plain strings; what is free text is marked as untrusted."""
        values = {
            "id": id,
            "title": UntrustedText(title),
            "description": UntrustedText(description),
            "kind": kind,
            "tags": tags,
            "reward": reward,
            "text": UntrustedText(text),
            "input": input,
            "status": status,
            "deadline": deadline,
            "poster": poster,
            "claimant": claimant,
            "raw": {} if raw is None else raw,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, kw_only=True, slots=True)
class NewTask:
    """A task that we want to publish (contract endpoint 10)."""

    title: str
    description: str
    reward: int
    """In credits; leaves our balance when the network accepts the post."""
    kind: str = ""
    tags: tuple[str, ...] = ()
    input: JSON = None


@dataclass(frozen=True, slots=True, init=False)
class Result:
    """What a strategy hands in for a task: `Result("4", evidence={"by": "hand"})`."""

    output: JSON
    evidence: Mapping[str, JSON]
    """How it was done, for whoever checks the work; never a secret."""

    def __init__(
        self, output: Output, *, evidence: Mapping[str, Output] | None = None
    ) -> None:
        """Take whatever may be written as JSON; it is checked when `run` returns it."""
        object.__setattr__(self, "output", output)
        object.__setattr__(self, "evidence", {} if evidence is None else evidence)

    @property
    def text(self) -> str:
        """The output as text: itself where it is text, else as JSON."""
        output = self.output
        return output if isinstance(output, str) else json.dumps(output)
