"""What the names of fields say: their words, and whether they name an id."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from journeyman.domain.tasks import JSON

Path = tuple[str, ...]
"""Names from a record to a value in it, as the network writes them."""
FIRST = "0"
"""In a path: what the array before it has first."""

JSON_TYPES: Mapping[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
"""JSON's types of values, with whole numbers told apart as JSON Schema does."""


NUMERAL = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
"""A number as a text."""


def type_of(value: JSON) -> str:
    """Return the JSON type of a value."""
    return JSON_TYPES[type(value)]


_NESTED = frozenset({dict, list})
_DEPTH = 4
"""Objects inside each other in which fields are looked for."""

_CAPITAL = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0391-\u03a9\u0401-\u042f"
"""Of Latin, Greek and Cyrillic."""
_WORD_ENDS = re.compile(
    rf"[\W_]+|(?<=[^\W\d_{_CAPITAL}])(?=[{_CAPITAL}])"
    rf"|(?<=[{_CAPITAL}])(?=[{_CAPITAL}][^\W\d_{_CAPITAL}])"
)


def word_set(listed: str) -> frozenset[str]:
    """Split words at the spaces."""
    return frozenset(listed.split())


def in_order(listed: str) -> tuple[str, ...]:
    """Split words at the spaces, in their order."""
    return tuple(listed.split())


ID_WORDS = word_set(
    "id pk key ref reference uuid guid uid oid ulid no nr num number nummer numero "
    "identifier slug handle code serial ticket urn hash"
)
_ID_ENDINGS = ("id", "nr", "ref", "key", "uuid", "pk")
TASK_WORDS = word_set("task job gig quest order assignment bounty work item")
OTHERS_WORDS = word_set(
    "agent user owner poster creator author worker claimant assignee requester "
    "customer client account org organization organisation tenant parent category "
    "project group team batch trace request correlation session wallet currency "
    "schema version by company publisher issuer escrow nonce etag checksum"
)
"""A field with one of these in its name names another thing than the task."""


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name: `TaskKey`, `task_key` and `task-key` have two."""
    return tuple(_WORD_ENDS.sub(" ", name).lower().split())


def singular(word: str) -> str:
    """Return what one of several is called, such as a `watch` of `watches`."""
    for ending, one in _SINGULARS.items():
        if word.endswith(ending):
            return word.removesuffix(ending) + one
    return word.removesuffix("s")


_SINGULARS = {
    "ies": "y",
    "ches": "ch",
    "shes": "sh",
    "sses": "ss",
    "xes": "x",
    "ss": "ss",
}


def speaks_of(said: str, name: str) -> bool:
    """Return whether a sentence has a name, as in "Put SOURCE in capitals".

    Or its words, as in "the rough copy" of a `RoughCopy`, and with an ending, as in "a
    feliratot" of a `Felirat`.
    """
    words = r"[\s_-]?".join(map(re.escape, words_of(name) or [name]))
    ending = r"\w{0,3}" if len(name) > _SHORT_WORD else ""
    return bool(re.search(rf"(?<!\w){words}{ending}(?!\w)", said, re.IGNORECASE))


_SHORT_WORD = 5
"""Letters: a word that is no longer has other words that begin with it."""


def id_name_score(path: Path) -> int:
    """Weigh how much a field's name is that of a record's id."""
    words = words_of(path[-1]) or ("",)
    score = 1 - len(path)
    if not OTHERS_WORDS.isdisjoint(words):
        score -= 6
    if words[-1] in ID_WORDS:
        score += 5 + (not TASK_WORDS.isdisjoint(words))
    elif words[-1] in TASK_WORDS:
        score += 2
    elif words[-1].endswith(_ID_ENDINGS) or words[-1].startswith("ident"):
        score += 3
    return score


def leaves(record: Mapping[str, JSON], above: Path = ()) -> list[tuple[Path, JSON]]:
    """Return the fields of a record, those of the objects in it after each object.

    Of an array only the first object is entered, under the name `FIRST`.
    """
    found: list[tuple[Path, JSON]] = []
    for name, value in record.items():
        if value is None:
            continue
        path = (*above, name)
        found.append((path, value))
        if type(value) in _NESTED and len(path) < _DEPTH:
            found += leaves(_entered(value), path)
    return found


def _entered(value: object) -> Mapping[str, JSON]:
    if isinstance(value, dict):
        return value  # as nearly always
    if isinstance(value, list) and value and isinstance(value[0], dict | str):
        return {FIRST: value[0]}
    return value if isinstance(value, Mapping) else {}


def value_at(whole: object, path: Path) -> JSON:
    """Return what a record or a body has at a path; None where there is nothing."""
    inside, value = whole, None
    for name in path:
        inside = value = _entered(inside).get(name)
    return value


_DEEPEST = 12
"""Objects inside each other into which `walk` goes."""


def walk(value: JSON, above: Path = ()) -> Iterator[tuple[Path, JSON]]:
    """Yield a document and all that is in it, each with the names on the way to it.

    What is in an array stands where the array does.
    """
    yield above, value
    if isinstance(value, list):
        for inner in value:
            yield from walk(inner, above)
    elif isinstance(value, dict) and len(above) < _DEEPEST:
        for name, inner in value.items():
            yield from walk(inner, (*above, name))


def case_of(names: Iterable[str]) -> str:
    """Return the case that most of these names show; empty when none shows one.

    Where most begin small, those that do not are not the network's own, as GORM's
    `CreatedAt`.
    """
    seen = dict.fromkeys(("snake", "camel", "pascal", "kebab"), 0)
    small = 0
    for name in names:
        small += name[:1].islower()
        if "_" in name.strip("_"):
            seen["snake"] += 1
        elif "-" in name:
            seen["kebab"] += 1
        elif re.match(r"[a-z0-9]+[A-Z]", name):
            seen["camel"] += 1
        elif re.match(r"[A-Z][a-z]", name):
            seen["pascal"] += 1
    if seen["pascal"] < small:
        seen["pascal"] = 0
    best = max(seen, key=lambda case: seen[case])
    return best if seen[best] else ""
