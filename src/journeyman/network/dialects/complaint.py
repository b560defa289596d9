"""Which fields a refusal names: as missing, as unknown, or as wrong.

The contract shows no errors. Read are the vocabularies that services commonly have:
pydantic and FastAPI (`loc`, `msg`), zod (`path`, `code`, `keys`), ajv (`instancePath`,
`params`), problem details (RFC 9457, `pointer`), Laravel, Rails and Django (a field
with its messages), and sentences ("missing field: task_id"). Nothing here raises.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from journeyman.domain import JSON
from journeyman.network.dialects.complaint_words import (
    MAX_TEXT,
    Fault,
    fault_in,
    is_name,
    names_in,
)
from journeyman.network.fields import spelling

MAX_FIELDS = 40
"""Of each sort; a request of ours has at most ten."""

_MAX_DEPTH = 6
_MAX_NODES = 400
_MAX_LETTERS = 4_000
"""Of sentences, in all: searching them is what costs time."""

#: Where a vocabulary says which field it speaks about; the first that is there.
_FIELD_KEYS = (
    *("loc", "path", "pointer", "instancePath", "dataPath", "propertyName"),
    *("param", "parameter", "field", "property", "attribute", "name", "key"),
)
#: Where it says what is wrong with it.
_SAYING_KEYS = (
    *("type", "code", "keyword", "rule", "reason", "msg", "message", "detail"),
    *("error", "title", "description", "received", "constraints"),
)
#: Where whole lists of names are, as `spelling` reduces it.
_LISTS: Mapping[str, Fault] = {
    **dict.fromkeys(
        ("missing", "missingfields", "missingproperty", "required", "requiredfields"),
        Fault.MISSING,
    ),
    **dict.fromkeys(
        (
            *("unknown", "unknownfields", "unexpected", "unexpectedfields", "extra"),
            *("unrecognized", "unrecognizedkeys", "additionalproperty", "keys"),
        ),
        Fault.UNKNOWN,
    ),
}
_ENVELOPES = frozenset(
    [
        *("error", "errors", "detail", "details", "issues", "message", "messages"),
        *("validation", "violations", "invalidparams", "data", "fielderrors"),
        *("formerrors", "params", "meta", "fields", "hint"),
        *map(spelling, (*_SAYING_KEYS, *_FIELD_KEYS)),
    ]
)
"""Keys of a vocabulary, which are no names of fields."""
_ROOTS = frozenset({"", "body", "#", "$", "data", "payload", "json", "input"})
"""What a way may begin with that is the body itself, and no field of it."""
_INDEX = re.compile(r"\['?([^\]']*)'?\]")


@dataclass(frozen=True, slots=True)
class Complaint:
    """The fields that a refusal names, each as a place such as `task.id`."""

    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    """There, and understood, but with a value that is not liked."""

    @property
    def names_fields(self) -> bool:
        """Whether it says anything about which fields there should be."""
        return bool(self.missing or self.unknown)

    def and_also(self, other: "Complaint") -> "Complaint":
        """Give what both say."""
        return Complaint(
            _together(self.missing, other.missing),
            _together(self.unknown, other.unknown),
            _together(self.wrong, other.wrong),
        )


class _Finding(NamedTuple):
    """One field that is named."""

    place: str
    fault: Fault
    in_prose: bool = False


def complaint_in(body: JSON, message: str) -> Complaint:
    """Read a refusal's body; `message` is what is left of one that is no JSON."""
    found: dict[str, Fault] = {}
    findings = [*_Walk().findings(message if body is None else body)]
    structured = [spelling(finding.place) for finding in findings if not finding[2]]
    for place, fault, in_prose in findings:
        if in_prose and any(known.endswith(spelling(place)) for known in structured):
            continue  # "the task id field is required" beside {"task_id": [...]}
        # Sure beats unsure: `unknown` and `missing` are said in so many words.
        if found.get(place, Fault.WRONG) is Fault.WRONG:
            found[place] = fault

    def named(fault: Fault) -> tuple[str, ...]:
        return tuple(place for place in found if found[place] is fault)[:MAX_FIELDS]

    return Complaint(named(Fault.MISSING), named(Fault.UNKNOWN), named(Fault.WRONG))


class _Walk:
    """Goes through a body, within limits."""

    def __init__(self) -> None:
        self._left = _MAX_NODES
        self._letters = _MAX_LETTERS

    def findings(self, value: JSON, depth: int = 0) -> Iterator[_Finding]:
        """Give each field that is named with what is said of it."""
        self._left -= 1
        if depth > _MAX_DEPTH or self._left < 0:
            return
        if isinstance(value, str):
            text = value[: min(MAX_TEXT, self._letters)]
            self._letters -= len(text)
            yield from (_Finding(*named, in_prose=True) for named in names_in(text))
        elif isinstance(value, list):
            for item in value:
                yield from self.findings(item, depth + 1)
        elif isinstance(value, dict):
            yield from self._in_object(value, depth)

    def _in_object(self, value: dict[str, JSON], depth: int) -> Iterator[_Finding]:
        said = " ".join(_sayings(value))
        place = _place_in(value) if said else ""
        listed = [*_listed(value, place)]
        yield from listed
        if place and not listed:
            yield _Finding(place, fault_in(said) or Fault.WRONG)
        if place or listed:
            return
        for name, inner in value.items():
            fault = _fault_of(name, inner)
            if fault is not None:
                yield _Finding(_place(name), fault)
            else:
                yield from self.findings(inner, depth + 1)


def _listed(value: Mapping[str, JSON], above: str) -> Iterator[_Finding]:
    """Read lists of names: `{"missing": ["task_id"]}`, and ajv's `params`."""
    more = value.get("params")
    for layer in (value, more if isinstance(more, dict) else {}):
        for key, inner in layer.items():
            fault = _LISTS.get(spelling(key))
            names = inner if isinstance(inner, list) else [inner]
            if fault is None or not all(isinstance(name, str) for name in names):
                continue
            for place in filter(is_name, map(_place, map(str, names))):
                yield _Finding(f"{above}.{place}" if above else place, fault)


def _fault_of(name: str, inner: JSON) -> Fault | None:
    """Judge an entry that is a field's name with its messages; None: it is none."""
    texts = inner if isinstance(inner, list) else [inner]
    if spelling(name) in _ENVELOPES or not is_name(_place(name)):
        return None
    if not all(isinstance(text, str) for text in texts):
        return None
    return fault_in(" ".join(map(str, texts)))


def _sayings(value: Mapping[str, JSON]) -> Iterator[str]:
    for key in _SAYING_KEYS:
        said = value.get(key)
        if isinstance(said, str):
            yield said
        elif isinstance(said, dict):
            yield " ".join(said)


def _place_in(value: Mapping[str, JSON]) -> str:
    """Find which field an object speaks about; empty when it names none."""
    for key in _FIELD_KEYS:
        named = value.get(key)
        if isinstance(named, list):
            named = ".".join(map(str, named[:_MAX_DEPTH]))
        place = _place(named) if isinstance(named, str) else ""
        if is_name(place):
            return place
    return ""


def _place(named: str) -> str:
    """Write `#/task/id`, `body.task.id` and `task['id']` as `task.id`."""
    plain = _INDEX.sub(r".\1", named[:MAX_TEXT]).replace("/", ".")
    parts = [part.strip("`'\" ") for part in plain.split(".")]
    while len(parts) > 1 and parts[0].lower() in _ROOTS:
        parts.pop(0)
    return ".".join(filter(None, parts))


def _together(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))[:MAX_FIELDS]
