"""JSON that carries another form of data, turned into plain objects, lists and values.

Databases write a value with its type, forms write a list of names and values, gateways
write XML, data frames write columns, editors write a text as a tree. What they say is
the same, and so it is read in one way only: everything that reads an answer reads it
after this. An answer that has none of these forms is returned as it is, uncopied: most
have none, and a listing may have many records.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from operator import is_not

from journeyman.domain.tasks import JSON
from journeyman.network.json_text import UnreadableJSONError, parse
from journeyman.network.service_model.naming import type_of, word_set, words_of
from journeyman.network.service_model.vocabulary import ASSUMED

Object = dict[str, JSON]

_NESTING = frozenset({dict, list})
"""The types of parsed JSON that hold other values."""
TYPE_KEYS = frozenset(
    {
        *("S", "N", "BOOL", "stringValue", "integerValue", "doubleValue"),
        *("booleanValue", "timestampValue", "nullValue", "referenceValue"),
        *("$oid", "$uuid"),
        "$numberInt",
        *("$numberLong", "$numberDouble", "$numberDecimal", "#text"),
    }
)
"""The only key of a value that a document database writes with its type."""
_HOLDERS: Mapping[str, tuple[str, JSON]] = {
    "mapValue": ("fields", {}),
    "arrayValue": ("values", []),
}
"""Firestore's only key of an object or a list: where that is below, and what else."""
_TYPES = word_set(
    "string str text integer int long short number float double decimal boolean bool "
    "date datetime json object null"
)
"""What stands beside a value to say only of which type it is."""
_LABELS = (
    *("name", "key", "code", "field", "attribute_code", "attribute", "property"),
    *("trait_type", "label", "rel", "relation", "url", "type"),
)
"""Under which a member of a list of names and values has its name, in order."""
_RELATIONS = frozenset({"rel", "relation"})
_ADDRESSES = ("href", "url", "uri")
"""What stands beside a relation."""
_BESIDE = word_set("type prompt label title method display data_type datatype")
"""What may stand beside a name and its value."""
_LABEL_OF = ("text", "name", "code", "label", "display")
"""In a name that is an object."""
_FEWEST_COLUMNS = 3
_VALUE_NAMES = ("value", "target_id")
"""Of the value in an item of a field, as content management systems write them."""
_TEXTS = ("text", "plain_text")
_ADDRESS_ENDS = re.compile(r"[/#]")


def plain(value: JSON) -> JSON:
    """Return a JSON value without the form in which other data is carried by it.

    An answer stays an object, whatever its fields are called.
    """
    return _plain_member(_with_references(value))


def _plain_member(value: JSON) -> JSON:
    """Return what is in a list: a record stays one, whatever its fields are called."""
    found = _plain(value)
    if found is value or isinstance(found, dict | list):
        return found
    is_record = isinstance(value, dict) and len(value) > 1
    return value if is_record else found


def _plain(value: JSON) -> JSON:
    if isinstance(value, list):
        return _plain_list(value) if _nests(value) else value
    if not isinstance(value, dict):
        return value
    value = _unquoted(value)
    return _plain_object(value) if _nests(value.values()) else _untyped(value)


def _plain_object(value: Object) -> JSON:
    if (text := _text_of(value)) is not None:
        return text
    changed = {
        name: found
        for name, one in value.items()
        if type(one) in _NESTING and (found := _plain(one)) is not one
    }
    if changed:
        value = {**value, **changed}
    for form in (_untyped, _element, _frame, _fields):
        if (found := form(value)) is not value:
            return found
    return value


def _plain_list(value: list[JSON]) -> JSON:
    if (text := _text_of(value)) is not None:
        return text
    members = [*map(_plain_member, value)]
    if not any(map(is_not, members, value)):
        members = value
    return _named(members) or members


def _nests(values: Collection[JSON]) -> bool:
    return not _NESTING.isdisjoint(map(type, values))


def _untyped(value: Object) -> JSON:
    """Return what an object holds that only says the type of its value."""
    if len(value) == 1:
        ((name, inner),) = value.items()
        if name in _HOLDERS and isinstance(inner, dict):
            below, empty = _HOLDERS[name]
            return inner.get(below, empty) if inner.keys() <= {below} else value
        return inner if name in TYPE_KEYS else value
    kind = value.get("type")
    if not isinstance(kind, str):
        return value
    if kind in value and value.keys() <= {kind, "type", "id", "name"}:
        return _with_id(value, value[kind])
    # With more beside it, it is a record that has a value, such as a stored result.
    is_alone = len(value.keys() - {"value", "id", "name", *_BESIDE}) <= 1
    is_typed = "value" in value and kind.lower() in _TYPES and is_alone
    return value["value"] if is_typed else value


def _with_id(value: Object, inner: JSON) -> JSON:
    """Return what a typed object holds, with its id: such as that of a call."""
    if isinstance(inner, dict) and "id" in value:
        return {"id": value["id"], **inner}
    return None if inner == [] else inner


def _element(value: Object) -> JSON:
    """Return an element of XML: its attributes are fields, a list of one is its one."""
    attributes = value.get("$")
    if not isinstance(attributes, dict):
        return value
    rest = {
        "value" if name == "_" else name: _lone(inner)
        for name, inner in value.items()
        if name != "$"
    }
    return {**attributes, **rest}


def _lone(inner: JSON) -> JSON:
    """Return what is alone in a list, unless that has objects or lists of its own."""
    if not isinstance(inner, list) or len(inner) != 1:
        return inner
    (only,) = inner
    is_record = isinstance(only, dict) and _nests(only.values())
    return inner if is_record else only


def _frame(value: Object) -> JSON:
    """Return the records of a table that is written by its columns.

    What is of one type is a column: records hold values of several types.
    """
    if not _NESTING.issuperset(map(type, value.values())):
        return value
    columns = {name: _cells(one) for name, one in value.items()}
    first = next(iter(columns.values()), None)
    kinds = [_kinds(cells) for cells in columns.values() if cells]
    is_table = (
        first is not None
        and len(kinds) == len(columns) >= _FEWEST_COLUMNS
        and all(cells and cells.keys() == first.keys() for cells in columns.values())
        and all(len(one) <= 1 for one in kinds)
        and len(frozenset().union(*kinds)) > 1
    )
    if not is_table or first is None:
        return value
    rows: dict[str, JSON] = {
        at: {name: cells[at] for name, cells in columns.items() if cells}
        for at in first
    }
    is_list = all(isinstance(one, list) for one in value.values())
    return [*rows.values()] if is_list else rows


def _fields(value: Object) -> Object:
    """Return a record with its fields' values, where each is a list of one."""
    if not all(isinstance(one, list) for one in value.values()):
        return value
    lone = {
        name: found
        for name, one in value.items()
        if (found := _lone_value(one)) is not None
    }
    is_record = len(lone) >= _FEWEST_COLUMNS and 2 * len(lone) > len(value)
    return {**value, **lone} if is_record else value


def _lone_value(items: JSON) -> JSON:
    """Return the value, or what is referred to, of the only item of a field."""
    item = items[0] if isinstance(items, list) and len(items) == 1 else None
    if not isinstance(item, dict):
        return None
    return next((item[name] for name in _VALUE_NAMES if name in item), None)


def _cells(column: JSON) -> Object | None:
    """Return a column's values by their rows; None for what is no column."""
    if isinstance(column, list):
        column = {str(at): one for at, one in enumerate(column)}
    is_column = isinstance(column, dict) and not _nests(column.values())
    return column if is_column and isinstance(column, dict) else None


def _kinds(cells: Object) -> frozenset[str]:
    """Return the types of a column's values; a null may stand in any."""
    kinds = {type_of(one) for one in cells.values() if one is not None}
    return frozenset({"number" if one == "integer" else one for one in kinds})


def _unquoted(value: Object) -> Object:
    """Open the texts in a record that are JSON and tell its pay, which it does not.

    Or its text, if it has none: what is called one is work, even if that is JSON.
    """
    opened = {
        name: _parsed(one)
        for name, one in value.items()
        if type(one) is str and one[:1] == "{"
    }
    if not opened:
        return value
    for tells in (_pays, _has_text):
        quoted = {name: one for name, one in opened.items() if tells(one)}
        value = value if tells(value) else {**value, **quoted}
    return value


def _parsed(text: str) -> JSON:
    try:
        return parse(text)
    except UnreadableJSONError:
        return None


def _has_text(value: JSON) -> bool:
    names = (*ASSUMED.text, *ASSUMED.input)
    return isinstance(value, dict) and any(value.get(name) for name in names)


def _pays(value: JSON, depth: int = 2) -> bool:
    """Return whether an object has a reward, under one of its usual names."""
    return isinstance(value, dict) and any(
        (name.lower() in ASSUMED.reward and isinstance(one, int | float | str))
        or (depth > 0 and _pays(one, depth - 1))
        for name, one in value.items()
    )


# -- references ------------------------------------------------------------------------

_Resources = Mapping[tuple[str, str], Object]
_REFERENCE = frozenset({"type", "id"})
_BESIDE_THE_RECORDS = "included"
"""Where JSON:API has the resources that its records refer to."""


def _with_references(document: JSON) -> JSON:
    """Put the resources that stand beside the records where those refer to them."""
    beside = document.get(_BESIDE_THE_RECORDS) if isinstance(document, dict) else None
    if not isinstance(beside, list) or not isinstance(document, dict):
        return document
    known = {
        (str(one["type"]), str(one["id"])): one
        for one in beside
        if isinstance(one, dict) and one.keys() >= _REFERENCE
    }
    return {
        name: _resolved(one, known)
        for name, one in document.items()
        if name != _BESIDE_THE_RECORDS
    }


def _resolved(value: JSON, known: _Resources) -> JSON:
    if isinstance(value, list):
        return [_resolved(one, known) for one in value]
    if not isinstance(value, dict):
        return value
    referring = value["data"] if isinstance(value.get("data"), dict) else value
    if isinstance(referring, dict) and referring.keys() == _REFERENCE:
        name = str(referring["type"]), str(referring["id"])
        return known.get(name, value)
    return {name: _resolved(one, known) for name, one in value.items()}


# -- a list of names and values ---------------------------------------------------


def _named(members: Sequence[JSON]) -> Object | None:
    """Return the object that a list of names and values is; None for another list."""
    named: Object = {}
    for entry in map(_entry, members):
        if entry is None or entry[0] in named:
            return None
        named[entry[0]] = entry[1]
    return named or None


def _entry(member: JSON) -> tuple[str, JSON] | None:
    if not isinstance(member, dict):
        return None
    key = next((one for one in _LABELS if one in member), None)
    label = _label(member[key]) if key else ""
    held = [name for name in member if words_of(name)[:1] == ("value",)]
    if key in _RELATIONS and not held:
        held = [name for name in _ADDRESSES if name in member]
    if not label or len(held) != 1:
        return None
    rest = member.keys() - {key, *held} - _BESIDE
    return None if rest else (label, member[held[0]])


def _label(value: JSON) -> str:
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    if isinstance(value, dict):
        value = next((value[name] for name in _LABEL_OF if name in value), None)
    text = value.strip() if isinstance(value, str) else ""
    return _ADDRESS_ENDS.split(text)[-1] if "://" in text else text


# -- a text that is a tree -----------------------------------------------------------


def _text_of(node: JSON) -> str | None:
    """Return the text of a document: of nodes with types, and texts at the leaves."""
    if isinstance(node, list):
        return _text_of_all(node)
    if not isinstance(node, dict):
        return None
    inner = [one for one in node.values() if type(one) is list and one]
    text = _text_of_all(inner[0]) if len(inner) == 1 else None
    return text if text is not None and _has_type(node) else None


def _text_of_all(nodes: list[JSON]) -> str | None:
    texts: list[str] = []
    is_of_blocks = bool(nodes)
    for node in nodes:
        leaf = _leaf(node)
        text = _text_of(node) if leaf is None else leaf
        if text is None:
            return None
        is_of_blocks = is_of_blocks and leaf is None
        texts.append(text)
    return ("\n" if is_of_blocks else "").join(texts)


def _leaf(node: JSON) -> str | None:
    """Return the text of a leaf: beside it are only its type and how it looks."""
    if not isinstance(node, dict) or "id" in node:
        return None
    text = next((node[name] for name in _TEXTS if name in node), None)
    if not isinstance(text, str) or not _has_type(node):
        return None
    others = (one for name, one in node.items() if name not in _TEXTS)
    is_plain = all(isinstance(one, str | bool | list | dict | None) for one in others)
    return text if is_plain else None


def _has_type(node: Object) -> bool:
    return any(name.lower().endswith("type") for name in node)
