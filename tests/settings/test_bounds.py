"""Every documented bound holds, and it is the only one."""

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from journeyman.settings.schema import json_schema
from journeyman.settings.sources import LoadedSettings

Load = Callable[..., LoadedSettings]
Refuse = Callable[..., list[str]]


def _fields() -> Iterator[tuple[str, str, dict[str, Any]]]:
    schema = json_schema()
    for section, reference in schema["properties"].items():
        fields = schema["$defs"][reference["$ref"].rpartition("/")[2]]["properties"]
        for name, field in fields.items():
            choices = field.get("anyOf", [field])
            yield section, name, next(one for one in choices if one["type"] != "null")


def _edges(value: dict[str, Any]) -> Iterator[tuple[object, bool]]:
    """Yield values at each bound, and whether each is allowed."""
    is_whole = value["type"] == "integer"

    def beside(bound: float, *, above: bool) -> float:
        step = 1 if above else -1
        return bound + step if is_whole else math.nextafter(bound, step * math.inf)

    if "minimum" in value:
        yield value["minimum"], True
        yield beside(value["minimum"], above=False), False
    if "exclusiveMinimum" in value:
        yield value["exclusiveMinimum"], False
        yield beside(value["exclusiveMinimum"], above=True), True
    if "maximum" in value:
        yield value["maximum"], True
        yield beside(value["maximum"], above=True), False
    if value.get("minLength"):
        yield "x" * value["minLength"], True
        yield "x" * (value["minLength"] - 1), False


EDGES = [
    (f"{section}.{name}", edge, is_allowed)
    for section, name, value in _fields()
    for edge, is_allowed in _edges(value)
]
ALLOWED = [(key, edge) for key, edge, is_allowed in EDGES if is_allowed]
REFUSED = [(key, edge) for key, edge, is_allowed in EDGES if not is_allowed]


def _toml(key: str, value: object) -> str:
    section, _, name = key.partition(".")
    return f"[{section}]\n{name} = {json.dumps(value)}"


@pytest.mark.parametrize(("key", "value"), ALLOWED, ids=str)
def test_a_value_at_its_bound_is_accepted_as_it_is(
    load: Load, key: str, value: object
) -> None:
    section, _, name = key.partition(".")

    settings = load(_toml(key, value)).settings

    read = getattr(getattr(settings, section), name)
    assert (read.get_secret_value() if isinstance(read, SecretStr) else read) == value


@pytest.mark.parametrize(("key", "value"), REFUSED, ids=str)
def test_a_value_just_outside_its_bound_is_refused(
    refuse: Refuse, key: str, value: object
) -> None:
    (problem,) = refuse(_toml(key, value))

    assert problem.startswith(f"config/journeyman.toml:2: {key}: got ")


def test_every_number_has_a_lower_bound() -> None:
    numbers = [
        (f"{section}.{name}", value)
        for section, name, value in _fields()
        if value["type"] in {"integer", "number"}
    ]

    assert len(numbers) > 40
    assert [
        key
        for key, value in numbers
        if "minimum" not in value and "exclusiveMinimum" not in value
    ] == []
