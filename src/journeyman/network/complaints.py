"""Which fields a refusal names: as missing, as unknown, or as wrong.

The contract shows no errors. Read are the vocabularies that services commonly have:
pydantic and FastAPI (`loc`, `msg`), zod (`path`, `code`, `keys`), ajv (`instancePath`,
`params`), problem details (RFC 9457, `pointer`), Laravel, Rails and Django (a field
with its messages), and sentences ("missing field: task_id"). Nothing here raises.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from journeyman.domain.tasks import JSON
from journeyman.network.records import spelling

MAX_TEXT = 400
"""In characters: a complaint is short, and a longer text costs time to search."""


class FieldFault(Enum):
    """What is wrong with a field."""

    MISSING = auto()
    UNKNOWN = auto()
    WRONG = auto()


_QUOTE = r"[`'\"\u201c\u201d\u2018\u2019]?"
_NAME = r"[A-Za-z_][\w-]{0,60}(?:\.[A-Za-z_][\w-]{0,60}){0,5}"
_QUOTED = rf"{_QUOTE}{_NAME}{_QUOTE}"
_NAMES = rf"(?P<names>{_QUOTED}(?:(?:,\s*(?:and\s+)?|\s+and\s+){_QUOTED}){{0,12}})"
_NOUN = (
    r"(?:field|propert(?:y|ie)|parameter|param|argument|key|column|attribute|input)"
    r"(?:\(s\)|s)?(?![a-z])"
)
_GLUE = r"(?: in (?:the )?(?:object|body|request|payload))?(?: named)?\s*[:=]?\s*"
_BODY = r"(?: body| request| input)?"
_IS = r"(?:is|are|was|were)"

_UNKNOWN = (
    # PostgREST: Could not find the 'taskId' column of 'tasks' in the schema cache
    rf"could not find the {_NAMES} column",
    # PostgreSQL: column "taskId" of relation "tasks" does not exist
    rf"(?:column|field|property) {_NAMES}(?: of \w+ \S{{1,80}})? does not exist",
    # jsonschema: Additional properties are not allowed ('taskId' was unexpected)
    rf"\({_NAMES} (?:was|were) unexpected\)",
    # zod: Unrecognized key(s) in object: 'taskId'
    (
        r"(?:unknown|unrecogni[sz]ed|unexpected|unsupported|additional|extra|invalid)"
        rf"{_BODY} {_NOUN}{_GLUE}{_NAMES}"
    ),
    # as class-validator says it
    rf"property {_NAMES} should not exist",
    # as Joi says it
    (
        rf"{_NAMES}(?: {_NOUN})? {_IS} (?:not allowed|not permitted|not expected"
        r"|unknown|unexpected|not recogni[sz]ed)"
    ),
)
_MISSING = (
    # PostgreSQL: null value in column "task_id" violates not-null constraint
    rf"null value in column {_NAMES}",
    # Python: missing 1 required positional argument: 'task_id'
    rf"required (?:positional |keyword-only )?arguments?: {_NAMES}",
    # ajv: must have required property 'taskId'
    (
        r"(?:missing|required|requires|needs?|expected|provide|specify)(?: the| an?)?"
        rf"(?: required| mandatory)?{_BODY} {_NOUN}{_GLUE}{_NAMES}"
    ),
    rf"(?:missing|required)(?: required)?\s*:?\s*{_NAMES}",
    (
        rf"{_NAMES}(?: {_NOUN})? {_IS} (?:an? )?(?:missing|required|mandatory|undefined"
        r"|not provided|absent)(?! to )"
    ),
    (
        rf"{_NAMES}(?: {_NOUN})? (?:must be (?:provided|present|set|specified)"
        r"|(?:can ?not|can't|must not) be (?:blank|empty|null))"
    ),
)
_SENTENCES = tuple(
    (fault, re.compile(sentence, re.IGNORECASE))
    for fault, sentences in (
        (FieldFault.UNKNOWN, _UNKNOWN),
        (FieldFault.MISSING, _MISSING),
    )
    for sentence in sentences
)
"""In order: of one text, the first that matches tells."""

_WORDS = (
    (
        FieldFault.UNKNOWN,
        re.compile(
            r"unknown|unrecogni[sz]ed|unexpected|additional|\bextra\b|extra_forbidden"
            r"|not (?:be )?allowed|not permitted|not exist|superfluous",
            re.IGNORECASE,
        ),
    ),
    (
        FieldFault.MISSING,
        re.compile(
            r"missing|required|undefined|\bblank\b|not[_ -]?null|null value|absent"
            r"|(?:must not|can ?not|can't) be (?:empty|null)|is empty|not provided"
            r"|must be (?:provided|present|set)",
            re.IGNORECASE,
        ),
    ),
)
_CLAUSES = re.compile(r"[;\n]+\s*")
_NAME_ALONE = re.compile(_NAME)
_NO_NAMES = frozenset(
    [
        *("a", "an", "and", "any", "are", "at", "by", "cannot", "following", "for"),
        *("from", "has", "have", "in", "is", "it", "must", "no", "not", "of", "one"),
        *("or", "some", "that", "the", "these", "this", "to", "was", "were", "with"),
        *("you", "your", "argument", "arguments", "body", "column", "data", "error"),
        *(
            "field",
            "fields",
            "header",
            "input",
            "inputs",
            "invalid",
            "json",
            "key",
            "keys",
        ),
        *("missing", "number", "object", "param", "parameter", "parameters", "params"),
        *("positional", "properties", "property", "provided", "received", "request"),
        *("required", "string", "type", "undefined", "unknown", "value", "values"),
        *("authentication", "authorization", "content-type", "credentials", "login"),
        *("permission", "permissions", "role", "scope", "token"),
    ]
)
"""Words that stand where a name could, and are none of ours."""


def names_in(text: str) -> Iterator[tuple[str, FieldFault]]:
    """Return the fields that a text names, and what it says of them."""
    for clause in _CLAUSES.split(text[:MAX_TEXT]):
        before, _, said = clause.rpartition(": ")
        name, fault = before.rpartition(": ")[2].strip("`'\" "), fault_in(said)
        if fault and is_name(name) and name.lower() not in _NO_NAMES:
            yield name, fault  # as in `Bad Request: taskId: Field required`
        else:
            yield from _names_in_sentence(clause)


def _names_in_sentence(text: str) -> Iterator[tuple[str, FieldFault]]:
    for fault, sentence in _SENTENCES:
        for match in sentence.finditer(text):
            found = _NAME_ALONE.findall(match["names"])
            names = [name for name in found if name.lower() not in _NO_NAMES]
            if names:
                yield from ((name, fault) for name in names)
                return


def fault_in(said: str) -> FieldFault | None:
    """Judge what is said of a field that is named elsewhere; None tells nothing."""
    said = said[:MAX_TEXT]
    return next((fault for fault, words in _WORDS if words.search(said)), None)


def is_name(text: str) -> bool:
    """Return whether a text is nothing but the name of a field, or the way to one."""
    return bool(_NAME_ALONE.fullmatch(text))


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
_LISTS: Mapping[str, FieldFault] = {
    **dict.fromkeys(
        ("missing", "missingfields", "missingproperty", "required", "requiredfields"),
        FieldFault.MISSING,
    ),
    **dict.fromkeys(
        (
            *("unknown", "unknownfields", "unexpected", "unexpectedfields", "extra"),
            *("unrecognized", "unrecognizedkeys", "additionalproperty", "keys"),
        ),
        FieldFault.UNKNOWN,
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
"""Keys of a vocabulary, which are not names of fields."""
_ROOTS = frozenset({"", "body", "#", "$", "data", "payload", "json", "input"})
"""What a way may begin with that is the body itself, and no field of it."""
_INDEX = re.compile(r"\['?([^\]']*)'?\]")


@dataclass(frozen=True, slots=True)
class RefusedFields:
    """The fields that a refusal names, each as a place such as `task.id`."""

    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    """There, and understood, but with a value that is not liked."""

    @property
    def names_fields(self) -> bool:
        """Whether it says anything about which fields there should be."""
        return bool(self.missing or self.unknown)

    def and_also(self, other: "RefusedFields") -> "RefusedFields":
        """Return what both say."""
        return RefusedFields(
            _together(self.missing, other.missing),
            _together(self.unknown, other.unknown),
            _together(self.wrong, other.wrong),
        )


class _Finding(NamedTuple):
    """One field that is named."""

    place: str
    fault: FieldFault
    in_prose: bool = False


def refused_fields_in(body: JSON, message: str) -> RefusedFields:
    """Read a refusal's body; `message` is what is left of one that is not JSON."""
    found: dict[str, FieldFault] = {}
    findings = [*_Walk().findings(message if body is None else body)]
    structured = [spelling(finding.place) for finding in findings if not finding[2]]
    for place, fault, in_prose in findings:
        if in_prose and any(known.endswith(spelling(place)) for known in structured):
            continue  # "the task id field is required" beside {"task_id": [...]}
        # Sure beats unsure: `unknown` and `missing` are said in so many words.
        if found.get(place, FieldFault.WRONG) is FieldFault.WRONG:
            found[place] = fault

    def named(fault: FieldFault) -> tuple[str, ...]:
        return tuple(place for place in found if found[place] is fault)[:MAX_FIELDS]

    return RefusedFields(
        named(FieldFault.MISSING), named(FieldFault.UNKNOWN), named(FieldFault.WRONG)
    )


class _Walk:
    """Goes through a body, within limits."""

    def __init__(self) -> None:
        self._left = _MAX_NODES
        self._letters = _MAX_LETTERS

    def findings(self, value: JSON, depth: int = 0) -> Iterator[_Finding]:
        """Return each field that is named with what is said of it."""
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
            yield _Finding(place, fault_in(said) or FieldFault.WRONG)
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


def _fault_of(name: str, inner: JSON) -> FieldFault | None:
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
