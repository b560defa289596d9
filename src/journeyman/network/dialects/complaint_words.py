"""What is said about a field in plain words: that it is missing, or not known.

Nothing here raises, and no pattern searches longer than its text is long.
"""

import re
from collections.abc import Iterator
from enum import Enum, auto

MAX_TEXT = 400
"""In characters: a complaint is short, and a longer text costs time to search."""


class Fault(Enum):
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
    for fault, sentences in ((Fault.UNKNOWN, _UNKNOWN), (Fault.MISSING, _MISSING))
    for sentence in sentences
)
"""In order: of one text, the first that matches tells."""

_WORDS = (
    (
        Fault.UNKNOWN,
        re.compile(
            r"unknown|unrecogni[sz]ed|unexpected|additional|\bextra\b|extra_forbidden"
            r"|not (?:be )?allowed|not permitted|not exist|superfluous",
            re.IGNORECASE,
        ),
    ),
    (
        Fault.MISSING,
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


def names_in(text: str) -> Iterator[tuple[str, Fault]]:
    """Give the fields that a text names, and what it says of them."""
    for clause in _CLAUSES.split(text[:MAX_TEXT]):
        before, _, said = clause.rpartition(": ")
        name, fault = before.rpartition(": ")[2].strip("`'\" "), fault_in(said)
        if fault and is_name(name) and name.lower() not in _NO_NAMES:
            yield name, fault  # as in `Bad Request: taskId: Field required`
        else:
            yield from _names_in_sentence(clause)


def _names_in_sentence(text: str) -> Iterator[tuple[str, Fault]]:
    for fault, sentence in _SENTENCES:
        for match in sentence.finditer(text):
            found = _NAME_ALONE.findall(match["names"])
            names = [name for name in found if name.lower() not in _NO_NAMES]
            if names:
                yield from ((name, fault) for name in names)
                return


def fault_in(said: str) -> Fault | None:
    """Judge what is said of a field that is named elsewhere; None tells nothing."""
    said = said[:MAX_TEXT]
    return next((fault for fault, words in _WORDS if words.search(said)), None)


def is_name(text: str) -> bool:
    """Tell whether a text is nothing but the name of a field, or the way to one."""
    return bool(_NAME_ALONE.fullmatch(text))
