"""What Firestore's REST interface says of the values of a document, which have a type.

A field is an object with one name, that of its type: `{"stringValue": "..."}`. What is
wrong with one is told by its place (`document.fields[0].value`), and the document is
the whole body.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.lazy_pattern import LazyPattern
from journeyman.network.service_model.naming import value_at, walk
from journeyman.network.service_model.refusals.faults import (
    MAX_NODES,
    MAX_TEXT,
    Fault,
    FieldFault,
)
from journeyman.network.service_model.refusals.words import fault_in

_FIELDS = "fields"
_PLACE = LazyPattern(
    r"(?:document\.)?fields(?:\[(?P<number>\d{1,3})\]\.value|\.(?P<name>[\w-]{1,60}))"
)
_TYPE = LazyPattern(
    r"\b(?:string|integer|double|boolean|timestamp|reference|array|map|null)Value\b"
)
_BESIDE = LazyPattern(r"Unknown name \"(\w+)\"")
"""What stands beside the type of a value, where nothing may."""
_WANTS = {
    "stringValue": "string",
    "integerValue": "integer",
    "doubleValue": "number",
    "booleanValue": "boolean",
    "timestampValue": "datetime",
}
"""Which types of JSON their values have; an integer may be a text, too."""
_IS_TYPED = "google.firestore"
_REFERENCE = LazyPattern(r"projects/[^/]+/databases/.+/documents/.+")


def typed_values(body: JSON, sent: JSON) -> list[FieldFault]:
    """Return which types of values a document lacks, and which fields are too many."""
    told = (one for _, one in islice(walk(body), MAX_NODES) if isinstance(one, dict))
    found = (fault for one in told for fault in _told_of_field(one, sent))
    return [*{one.path: one for one in found}.values()]


def _told_of_field(told: Mapping[str, JSON], sent: JSON) -> Iterator[FieldFault]:
    place, said = told.get("field"), str(told.get("description"))[:MAX_TEXT]
    match = _PLACE.fullmatch(place) if isinstance(place, str) else None
    shown = value_at(sent, (_FIELDS,))
    there = shown if isinstance(shown, dict) else {}
    names = [*there]
    number = match["number"] if match else None
    name = names[int(number)] if number and int(number) < len(names) else ""
    way = (_FIELDS, (match["name"] if match else "") or name)
    kind, beside = _TYPE.search(said), _BESIDE.search(said)
    if not way[-1]:
        return
    typed = (*way, kind[0] if kind else _type_of(value_at(sent, way)))
    if not kind and _IS_TYPED in said and any(map(_is_typed, there.values())):
        yield FieldFault(way, Fault.UNKNOWN)  # a guess of ours beside what was told
    elif kind or _IS_TYPED in said:
        if value_at(sent, typed) is None:
            yield FieldFault(typed, Fault.MISSING, _WANTS.get(typed[-1], ""))
    elif fault_in(said) is Fault.UNKNOWN:
        yield FieldFault((*way, beside[1]) if beside else way, Fault.UNKNOWN)


def _is_typed(value: JSON) -> bool:
    return isinstance(value, dict) and any(map(_TYPE.fullmatch, value))


def _type_of(value: JSON) -> str:
    if isinstance(value, int):
        return "integerValue"
    is_reference = isinstance(value, str) and _REFERENCE.fullmatch(value)
    return "referenceValue" if is_reference else "stringValue"
