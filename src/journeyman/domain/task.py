"""A task as Journeyman understands it, whatever shape the network gave it."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import TypeAlias

from journeyman.domain.ids import TaskId

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """A unit of work that a network lists (contract section 2: fields not shown).

    Everything but `id` may be missing from what the network sent; the defaults
    here are what a reader then sees. All of it is untrusted input.
    """

    id: TaskId
    title: str = ""
    description: str = ""
    kind: str = ""
    """The network's own name for the sort of work, lower case; may be empty."""
    tags: tuple[str, ...] = ()
    reward: int = 0
    """In credits; 0 when the network shows none or shows something unreadable."""
    text: str = ""
    """The text to work on; the description where the task has no separate text."""
    input: JSON = None
    """The structured input, as sent; None where the task has none."""
    status: str = ""
    """The network's own word, lower case; empty when it shows none."""
    deadline: datetime | None = None
    poster: str | None = None
    """Who posted it: an agent id, when the network shows one."""
    claimant: str | None = None
    """Who holds it: an agent id, when the network shows one."""
    raw: Mapping[str, JSON] = field(default_factory=dict, repr=False)
    """The record exactly as the network sent it."""


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


@dataclass(frozen=True, slots=True)
class Result:
    """What a strategy hands in for a task: `Result("4", evidence={"by": "hand"})`."""

    output: JSON
    _: KW_ONLY
    evidence: Mapping[str, JSON] = field(default_factory=dict)
    """How it was done, for whoever checks the work; never a secret."""
