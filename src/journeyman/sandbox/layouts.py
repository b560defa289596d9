"""Where a listing's tasks are."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

from pydantic.alias_generators import to_camel, to_pascal

Naming = Literal["snake", "camel", "pascal", "kebab"]
Spell: TypeAlias = Callable[[str], str]
"""From a name in snake_case."""


def _as_it_is(name: str) -> str:
    return name


def _to_kebab(name: str) -> str:
    return name.replace("_", "-")


SPELLINGS: Mapping[Naming, Spell] = MappingProxyType(
    {"snake": _as_it_is, "camel": to_camel, "pascal": to_pascal, "kebab": _to_kebab},
)


ContainerName = Literal[
    "tasks",
    "data",
    "items",
    "results",
    "bare",
    "nested",
    "keyed",
    "edges",
    "embedded",
    "paged",
]


class Entry(NamedTuple):
    """One task of a listing."""

    id: str
    record: dict[str, Any]


Entries: TypeAlias = Sequence[Entry]
Arrange: TypeAlias = Callable[[Entries, Spell], Any]


def _under(name: str) -> Arrange:
    def arrange(entries: Entries, spell: Spell) -> dict[str, Any]:
        records = _records(entries)
        return {spell("ok"): True, spell("count"): len(records), spell(name): records}

    return arrange


def _records(entries: Entries) -> list[dict[str, Any]]:
    return [entry.record for entry in entries]


def _bare(entries: Entries, _spell: Spell) -> list[dict[str, Any]]:
    return _records(entries)


def _nested(entries: Entries, spell: Spell) -> dict[str, Any]:
    inside = {spell("total"): len(entries), spell("tasks"): _records(entries)}
    return {spell("success"): True, spell("data"): inside}


def _keyed(entries: Entries, spell: Spell) -> dict[str, Any]:
    """By id, which is in no record then, as in Firebase."""
    ids = {"id", spell("id")}
    kept = {
        entry.id: {k: v for k, v in entry.record.items() if k not in ids}
        for entry in entries
    }
    return {spell("tasks"): kept}


def _edges(entries: Entries, spell: Spell) -> dict[str, Any]:
    """As a GraphQL connection."""
    edges = [
        {spell("cursor"): entry.id, spell("node"): entry.record} for entry in entries
    ]
    page = {spell("has_next_page"): False}
    connection = {spell("edges"): edges, spell("page_info"): page}
    return {spell("data"): {spell("marketplace_tasks"): connection}}


def _embedded(entries: Entries, spell: Spell) -> dict[str, Any]:
    """As in the Hypertext Application Language."""
    links = {"self": {"href": "/functions/v1/get-marketplace-tasks"}}
    return {"_links": links, "_embedded": {spell("tasks"): _records(entries)}}


def _paged(entries: Entries, spell: Spell) -> dict[str, Any]:
    """A page of an endless list, with another list beside it."""
    return {
        spell("page_number"): 0,
        spell("total_elements"): len(entries),
        spell("sort"): [{spell("property"): "created_at", spell("ascending"): True}],
        spell("content"): _records(entries),
    }


CONTAINERS: Mapping[ContainerName, Arrange] = MappingProxyType(
    {
        "tasks": _under("tasks"),
        "data": _under("data"),
        "items": _under("items"),
        "results": _under("results"),
        "bare": _bare,
        "nested": _nested,
        "keyed": _keyed,
        "edges": _edges,
        "embedded": _embedded,
        "paged": _paged,
    },
)


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
