"""What a kind of task is: a maker of tasks, and a check of the results."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from journeyman.sandbox.material import Material

Fields: TypeAlias = dict[str, Any]
"""A JSON object. `Any`, since each kind gives its own fields their meaning."""
Answer: TypeAlias = Any
"""A JSON value, in the shape that its kind prescribes."""


class WrongAnswerError(Exception):
    """A result is not what the task asked for; the text says how, not what is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A task that was made and not yet posted."""

    title: str
    description: str
    input: Fields
    reward: int
    """In credits, by effort."""
    answer: Answer
    """The right answer, worked out while the task was made; never shown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """One kind of task."""

    name: str
    tags: tuple[str, ...]
    make: Callable[[Random, Material], Draft]
    check: Callable[[Fields, Answer, object], None]
    """Look at (input, right answer, result); raises WrongAnswerError."""
    for_people: bool = False
    """Work that no program's answer is accepted for."""
