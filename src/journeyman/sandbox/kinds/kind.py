"""What a kind of task is: it creates tasks, and checks the results."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple, NoReturn

from journeyman.sandbox.material import Material

Fields = dict[str, Any]
"""A JSON object. `Any`, since each kind gives its own fields their meaning."""
Answer = Any
"""A JSON value, in the shape that its kind prescribes."""


class WrongAnswerError(Exception):
    """A result is wrong; the text does not reveal the right answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A task that is not yet posted."""

    title: str
    description: str
    input: Fields
    reward: int
    """In credits, by effort."""
    answer: Answer
    """The right answer, computed when the task is created; never shown."""


class Kind(NamedTuple):
    """One kind of task."""

    name: str
    tags: tuple[str, ...]
    make: Callable[[Random, Material], Draft]
    check: Callable[[Fields, Answer, object], None]
    """Check (input, right answer, result); raise WrongAnswerError."""
    for_people: bool = False
    """Work for which no result of a program is accepted."""


def read_number(result: object) -> Fraction:
    """Read a number, or a string of digits."""
    value = _decoded(result)
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, float) and math.isfinite(value):
        return Fraction(value)
    raise WrongAnswerError(f"expected a number, got {_described(value)}")


def read_string(result: object) -> str:
    """Read a string; an integer stands for its digits."""
    if isinstance(result, int) and not isinstance(result, bool):
        return str(result)
    # Only a quoted text is read as JSON: digits may be a checksum, zeros and all.
    value = _decoded(result) if str(result).lstrip().startswith('"') else result
    if not isinstance(value, str):
        raise WrongAnswerError(f"expected a string, got {_described(value)}")
    return value.strip()


def read_list(result: object) -> list[Any]:
    """Read a list."""
    value = _decoded(result)
    if not isinstance(value, list):
        raise WrongAnswerError(f"expected a list, got {_described(value)}")
    return value


def read_strings(result: object) -> list[str]:
    """Read a list of strings."""
    values = read_list(result)
    for position, value in enumerate(values, start=1):
        if not isinstance(value, str):
            raise WrongAnswerError(
                f"expected a list of strings; entry {position} is {_described(value)}",
            )
    return values


def read_object(result: object) -> dict[str, Any]:
    """Read an object."""
    value = _decoded(result)
    if not isinstance(value, dict):
        raise WrongAnswerError(f"expected an object, got {_described(value)}")
    return value


def require_length(values: list[Any], expected: int) -> None:
    """Refuse a list that has too few or too many entries."""
    if len(values) != expected:
        raise WrongAnswerError(f"expected {expected} entries, got {len(values)}")


def require_same(values: list[Any], expected: list[Any]) -> None:
    """Refuse the first entry that differs, by its position."""
    require_length(values, len(expected))
    for position, (value, right) in enumerate(
        zip(values, expected, strict=True), start=1
    ):
        if not same_json(value, right):
            raise WrongAnswerError(f"entry {position} is wrong")


def same_json(one: object, other: object) -> bool:
    """Return whether two JSON values are equal; true is not 1, and 1 is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            same_json(one[key], other[key]) for key in one
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return one == other


def _decoded(result: object) -> object:
    if not isinstance(result, str):
        return result
    try:
        return json.loads(result, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return result


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _described(value: object) -> str:
    names = {str: "a string", list: "a list", dict: "an object", bool: "a boolean"}
    if value is None:
        return "null"
    return names.get(type(value), "a number")
