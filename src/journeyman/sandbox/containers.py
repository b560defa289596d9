"""Where a listing's tasks are."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

from journeyman.sandbox.spelling import Spell

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
