"""What a task looks like in an answer: its values, and the record around them."""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

RecordForm = Literal["plain", "attributes", "graphql"]
ValueForm = Literal["plain", "texts", "numbers", "objects"]
Fields: TypeAlias = dict[str, Any]
Rename: TypeAlias = Callable[[Fields], Fields]


def _plain_values(fields: Fields) -> Fields:
    return fields


def _texts(fields: Fields) -> Fields:
    """Amounts with their unit, and tags in one line."""
    return _changed(
        fields,
        reward=lambda amount: f"{amount} credits",
        credits_earned=lambda amount: f"{amount} credits",
        tags=", ".join,
    )


def _numbers(fields: Fields) -> Fields:
    """Moments as milliseconds since 1970, and ids as whole numbers."""
    return _changed(fields, id=_number, task_id=_number, created_at=_milliseconds)


def _objects(fields: Fields) -> Fields:
    """Amounts, agents and tags as objects."""
    return _changed(
        fields,
        reward=lambda amount: {"amount": amount, "unit": "credits"},
        poster=lambda agent_id: {"id": agent_id},
        tags=lambda tags: [{"name": tag} for tag in tags],
    )


def _changed(fields: Fields, **changes: Callable[[Any], Any]) -> Fields:
    return {
        name: changes[name](value) if name in changes else value
        for name, value in fields.items()
    }


def _number(task_id: str) -> int | str:
    """Give an id as a number, unless it was made before ids were."""
    return int(task_id) if task_id.isdecimal() else task_id


def _milliseconds(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1000)


def _plain_record(fields: Fields, rename: Rename) -> Fields:
    return rename(fields)


def _attributes(fields: Fields, rename: Rename) -> Fields:
    """As a JSON:API resource object; the format fixes the outer names."""
    inside = {name: value for name, value in fields.items() if name != "id"}
    return {"type": "tasks", "id": fields["id"], "attributes": rename(inside)}


def _graphql(fields: Fields, rename: Rename) -> Fields:
    return {"__typename": "Task", **rename(fields)}


VALUES: Mapping[ValueForm, Callable[[Fields], Fields]] = MappingProxyType(
    {
        "plain": _plain_values,
        "texts": _texts,
        "numbers": _numbers,
        "objects": _objects,
    },
)
RECORDS: Mapping[RecordForm, Callable[[Fields, Rename], Fields]] = MappingProxyType(
    {"plain": _plain_record, "attributes": _attributes, "graphql": _graphql},
)
