"""The shape of the JSON values that were seen at one place."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from journeyman.domain.tasks import JSON
from journeyman.network.records import spelling

LONGEST_NAME = 40
"""In characters."""
MOST_FIELDS = 40
"""With more keys than these, an object is a table of something."""

_NAME = re.compile(r"[$@_]{0,2}[A-Za-z]+(?:[_.:-][A-Za-z]+)*_?")
#: The few names with digits that are common; any other digit belongs to an id.
_WITH_DIGITS = re.compile(
    r"md5|sha(?:1|256|512)|base64|utf8|oauth2?|p(?:50|9[0-9])|(?:address|line)_?[12]",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LONG = 12
"""From this many letters on, the words of a name are counted."""
_SHORTEST_MEAN_WORD = 2.6
"""In letters: `createdAt` has 4.5, a random string in both cases has about 2."""
_LONGEST_WORD = 24
_FEWEST_ALIKE = 4
"""So many objects of one form under one object make it a table."""
_FEWEST_NUMBERS = 8
_FEWEST_STRINGS = 16
_SHORTEST_SECRET = 4


def is_name(key: str, secrets: Iterable[str]) -> bool:
    """Return whether a key is surely the name of a field.

    Names are ASCII words of letters, joined by case or by one of `_ - . :`. Keys that
    hold a secret, a digit, a space, an `@` inside, or random letters are data.
    """
    if not 0 < len(key) <= LONGEST_NAME:
        return False
    if any(len(s) >= _SHORTEST_SECRET and s in key for s in secrets):
        return False
    if not _NAME.fullmatch(key):
        return bool(_WITH_DIGITS.fullmatch(key))
    return not _is_random(key)


def are_alike(value: Mapping[str, JSON]) -> bool:
    """Return whether what stands under all keys has one form, as rows of a table do."""
    kinds = {type(inner) for inner in value.values()}
    if kinds == {dict}:
        forms = {frozenset(row) for row in value.values() if isinstance(row, dict)}
        return (
            len(value) >= _FEWEST_ALIKE and len(forms) == 1 and forms != {frozenset()}
        )
    if kinds <= {int, float}:
        return len(value) >= _FEWEST_NUMBERS
    return kinds == {str} and len(value) >= _FEWEST_STRINGS


def _is_random(key: str) -> bool:
    words = _WORDS.findall(key)
    letters = sum(map(len, words))
    if max(map(len, words)) > _LONGEST_WORD:
        return True
    return letters >= _LONG and letters / len(words) < _SHORTEST_MEAN_WORD


class MalformedRecordError(Exception):
    """What the journal holds is not a valid record; the message says why."""


def object_in(told: JSON) -> dict[str, JSON]:
    """Return an object; an absent one is empty.

    Raises:
        MalformedRecordError: it is something else.
    """
    if told is None:
        return {}
    if not isinstance(told, dict):
        raise MalformedRecordError("an object was stored here")
    return told


def count_in(told: JSON) -> int:
    """Return a count.

    Raises:
        MalformedRecordError: it is something else.
    """
    if isinstance(told, bool) or not isinstance(told, int) or told < 0:
        raise MalformedRecordError("a count was stored here")
    return told


def counts_in(told: JSON) -> dict[str, int]:
    """Return counts by name.

    Raises:
        MalformedRecordError: they are something else.
    """
    return {name: count_in(count) for name, count in object_in(told).items()}


def text_in(told: JSON) -> str:
    """Return a text; an absent one is empty.

    Raises:
        MalformedRecordError: it is something else.
    """
    if not isinstance(told, str | None):
        raise MalformedRecordError("a text was stored here")
    return told or ""


def number_in(told: JSON) -> float | None:
    """Return a number, or nothing.

    Raises:
        MalformedRecordError: it is something else.
    """
    if told is None:
        return None
    if isinstance(told, bool) or not isinstance(told, int | float):
        raise MalformedRecordError("a number was stored here")
    return float(told)


DEEPEST = 8
"""Levels of objects and arrays; below, only the kind of a value is kept."""
MOST_PLACES = 300
"""That one endpoint's record may have in all; what is new after that is left out."""
MOST_LOOKS = 400
"""At values of one answer: a huge listing costs no more than a long one."""
SAMPLE = 4
"""How many items of an array are looked at; over time each has its turn."""

KINDS: Mapping[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
"""JSON's kinds of values, with whole numbers told apart as JSON Schema does."""


@dataclass(slots=True)
class Looking:
    """The bounds while one body is looked at, and the result."""

    secrets: tuple[str, ...] = ()
    places: int = MOST_PLACES
    """How many new places may still be added."""
    looks: int = MOST_LOOKS
    has_news: bool = False
    is_cut: bool = False
    """Something new was left out because there was no room for it."""
    closed: frozenset[str] = frozenset()
    """Fields, as `spelling` gives their names, that are not looked into."""

    def may_open(self, count: int) -> bool:
        """Ask to look at so many values inside another one."""
        if self.looks < count:
            return False
        self.looks -= count
        return True

    def new_place(self) -> "Shape | None":
        """Return an empty shape, if there is room for one more."""
        if self.places <= 0:
            self.is_cut = True
            return None
        self.places -= 1
        self.has_news = True
        return Shape()


@dataclass(slots=True)
class Shape:
    """Kinds, fields and items; it grows with each value that it learns."""

    kinds: dict[str, int] = field(default_factory=dict)
    """How many values of each kind stood here."""
    fields: dict[str, "Shape"] = field(default_factory=dict)
    """Of objects, by name."""
    entries: "Shape | None" = None
    """Of objects: what stands under keys that are data, whatever they are."""
    items: "Shape | None" = None
    """Of arrays."""
    opened: int = 0
    """How many of the objects were looked into."""
    is_table: bool = False
    """All keys of the objects here are data, since once they clearly were."""

    @property
    def seen(self) -> int:
        """How many values stood here."""
        return sum(self.kinds.values())

    def is_optional(self, name: str) -> bool:
        """Return whether an object here lacked a field that others had."""
        return self.fields[name].seen < self.opened

    def places(self) -> int:
        """Count the places in it, itself among them."""
        return 1 + sum(inner.places() for inner in self._inner())

    def learn(self, value: JSON, looking: Looking, depth: int = 0) -> None:
        """Learn from one value; nothing of it is kept but its shape."""
        kind = KINDS[type(value)]
        if kind not in self.kinds:
            looking.has_news = True
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if depth >= DEEPEST:
            return
        if isinstance(value, dict) and looking.may_open(len(value)):
            self._learn_object(value, looking, depth + 1)
        elif isinstance(value, list) and looking.may_open(min(len(value), SAMPLE)):
            self._learn_array(value, looking, depth + 1)

    def absorb(self, other: "Shape") -> None:
        """Add what another place has learned."""
        self.opened += other.opened
        self.is_table = self.is_table or other.is_table
        for kind, count in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count
        for name, inner in other.fields.items():
            self.fields.setdefault(name, Shape()).absorb(inner)
        if other.entries is not None:
            self.entries = self.entries or Shape()
            self.entries.absorb(other.entries)
        if other.items is not None:
            self.items = self.items or Shape()
            self.items.absorb(other.items)

    def to_json(self) -> dict[str, JSON]:
        """Return it for the journal, without what is empty."""
        told: dict[str, JSON] = {"kinds": dict(self.kinds)}
        if self.opened:
            told["opened"] = self.opened
        if self.is_table:
            told["is_table"] = True
        if self.fields:
            told["fields"] = {n: inner.to_json() for n, inner in self.fields.items()}
        if self.entries is not None:
            told["entries"] = self.entries.to_json()
        if self.items is not None:
            told["items"] = self.items.to_json()
        return told

    @classmethod
    def from_json(cls, told: JSON) -> Self:
        """Read what `to_json` gave.

        Raises:
            MalformedRecordError: it is something else.
        """
        shape = object_in(told)
        return cls(
            counts_in(shape.get("kinds")),
            {n: cls.from_json(f) for n, f in object_in(shape.get("fields")).items()},
            cls.from_json(shape["entries"]) if "entries" in shape else None,
            cls.from_json(shape["items"]) if "items" in shape else None,
            count_in(shape.get("opened", 0)),
            bool(shape.get("is_table")),
        )

    def _learn_object(
        self, value: dict[str, JSON], looking: Looking, depth: int
    ) -> None:
        self.opened += 1
        if not value.keys() <= self.fields.keys():
            self._make_room(value, looking)
        for key, inner in value.items():
            place = self.fields.get(key, self.entries)
            if place is not None:
                is_closed = looking.closed and spelling(key) in looking.closed
                place.learn(inner, looking, DEEPEST if is_closed else depth)

    def _make_room(self, value: dict[str, JSON], looking: Looking) -> None:
        """Add a place for each new name, or one for all keys that are data."""
        if self.is_table:
            return
        strange = [key for key in value if key not in self.fields]
        names = [key for key in strange if is_name(key, looking.secrets)]
        if len(self.fields) + len(strange) > MOST_FIELDS or are_alike(value):
            self._become_table(looking)
            return
        if 2 * len(names) <= len(strange) and len(value) == len(strange):
            names = []  # among so many ids, a word is somebody's name
        for name in names:
            place = looking.new_place()
            if place is not None:
                self.fields[name] = place
        if len(names) < len(strange):
            self._add_entries(looking)

    def _become_table(self, looking: Looking) -> None:
        """Treat the names that were known here as data, too."""
        self._add_entries(looking)
        if self.entries is None:
            return
        self.is_table = looking.has_news = True
        known, self.fields = self.fields, {}
        for inner in known.values():
            self.entries.absorb(inner)

    def _add_entries(self, looking: Looking) -> None:
        if self.entries is None:
            self.entries = looking.new_place()

    def _learn_array(self, value: list[JSON], looking: Looking, depth: int) -> None:
        if self.items is None and value:
            self.items = looking.new_place()
        if self.items is None:
            return
        for item in _sample(value, self.kinds["array"]):
            self.items.learn(item, looking, depth)

    def _inner(self) -> Iterator["Shape"]:
        yield from self.fields.values()
        yield from (s for s in (self.entries, self.items) if s is not None)


def _sample(items: list[JSON], turn: int) -> list[JSON]:
    """Choose a few items: both ends, and others in turn, the same ones every time."""
    if len(items) <= SAMPLE:
        return items
    others = ((turn * step) % len(items) for step in range(1, SAMPLE - 1))
    return [items[0], *(items[index] for index in others), items[-1]]
