"""What a network showed while we worked: its statuses, shapes, words, limits, times.

Of bodies only the shapes are kept, and the words in which a network names states.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from typing import Annotated, NamedTuple, cast

from pydantic import Field, TypeAdapter, ValidationError

from journeyman.domain.tasks import JSON
from journeyman.network.call import CONTENT_TYPE, JSON_TYPE, Call, Reply
from journeyman.network.service_model.naming import JSON_TYPES

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
    lengths = [len(word) for word in _WORDS.findall(key)]
    is_short_worded = sum(lengths) < _SHORTEST_MEAN_WORD * len(lengths)
    is_random = sum(lengths) >= _LONG and is_short_worded
    return max(lengths) <= _LONGEST_WORD and not is_random


DEEPEST = 8
"""Levels of objects and arrays; below, only the kind of a value is kept."""
MOST_PLACES = 300
"""That one endpoint's record may have in all; what is new after that is left out."""
SAMPLE = 4
"""How many items of an array are looked at; over time each has its turn."""
MOST_STATE_WORDS = 24
_STATE_FIELDS = ("status", "state", "phase", "stage")
"""Ends of the names under which a network names states."""
_STATE_WORD = re.compile(r"[A-Za-z][A-Za-z _-]{0,30}|[0-9]{1,3}")

_NESTED = frozenset({"object", "array"})

Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class Shape:
    """The kinds of values that stood at one place, and what was in them."""

    kinds: tuple[str, ...] = ()
    """In alphabetical order, each once."""
    fields: dict[str, "Shape"] = field(default_factory=dict)
    """Of objects, by name."""
    required: tuple[str, ...] = ()
    """Of the fields, those that every object had."""
    entries: "Shape | None" = None
    """Of objects: what stands under keys that are data, whatever they are."""
    items: "Shape | None" = None
    """Of arrays."""
    words: tuple[str | int, ...] = ()
    """The states that were named here."""

    @property
    def size(self) -> int:
        """How many places there are in it."""
        inner = [*self.fields.values(), self.entries, self.items]
        return 1 + sum([one.size for one in inner if one is not None])

    def shows(self, value: JSON, turn: int = 0, closed: tuple[str, ...] = ()) -> bool:
        """Return whether a value adds nothing; of an array, some items are looked at.

        Asked for each answer, it is cheaper than to merge its shape. `closed` are ends
        of the names of fields that are not looked into.
        """
        kind = JSON_TYPES[type(value)]
        if kind not in self.kinds:
            return False
        if kind == "object":
            return self._shows_fields(cast("dict[str, JSON]", value), turn, closed)
        if kind == "array":
            some = _sample(cast("list[JSON]", value), turn)
            return all((self.items or NOTHING).shows(one, turn, closed) for one in some)
        return not self.words or value in self.words

    def _shows_fields(
        self, value: dict[str, JSON], turn: int, closed: tuple[str, ...]
    ) -> bool:
        fields = self.fields
        if not (value.keys() <= fields.keys() and value.keys() >= {*self.required}):
            return False
        for name, one in value.items():
            shape, kind = fields[name], JSON_TYPES[type(one)]
            if kind not in shape.kinds:
                return False
            # Most are neither states nor nested, and so need no call of their own.
            is_plain = not shape.words and kind not in _NESTED
            if is_plain or (closed and name.lower().endswith(closed)):
                continue
            if not shape.shows(one, turn, closed):
                return False
        return True


NOTHING = Shape()


@dataclass(frozen=True, slots=True)
class _Look:
    """How a body is looked at."""

    secrets: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    """Ends of the names of fields that are not looked into."""
    turn: int = 0
    """Which items of a long array are looked at."""
    deepest: int = DEEPEST

    def shape(self, value: JSON, depth: int = 0) -> Shape:
        """Return the shape of a value."""
        kinds = (JSON_TYPES[type(value)],)
        if isinstance(value, dict) and depth < self.deepest:
            names = self._names(value)
            fields = {n: self._field(n, value[n], depth + 1) for n in names}
            data = [inner for key, inner in value.items() if key not in fields]
            entries = self._together(data, depth + 1)
            return Shape(kinds, fields, tuple(sorted(names)), entries)
        if isinstance(value, list) and depth < self.deepest:
            return Shape(kinds, items=self._together(value, depth + 1))
        return Shape(kinds)

    def _together(self, values: list[JSON], depth: int) -> Shape | None:
        few = [self.shape(one, depth) for one in _sample(values, self.turn)]
        return reduce(merged, few) if few else None

    def _names(self, value: dict[str, JSON]) -> list[str]:
        """Return the keys of an object that are names of fields."""
        if len(value) > MOST_FIELDS or _are_rows(value):
            return []
        names = [key for key in value if is_name(key, self.secrets)]
        # Among more ids than words, a word is somebody's name.
        return names if 2 * len(names) >= len(value) else []

    def _field(self, name: str, value: JSON, depth: int) -> Shape:
        low = name.lower()
        if self.closed and low.endswith(self.closed):
            return Shape((JSON_TYPES[type(value)],))
        shape = self.shape(value, depth)
        is_state = low.endswith(_STATE_FIELDS) and self._is_word(value)
        return replace(shape, words=(value,)) if is_state else shape  # type: ignore[arg-type]  # a word is a text or a number

    def _is_word(self, value: JSON) -> bool:
        if not isinstance(value, str | int) or isinstance(value, bool):
            return False
        is_secret = any(secret in str(value) for secret in self.secrets)
        return bool(_STATE_WORD.fullmatch(str(value))) and not is_secret


def merged(one: Shape, other: Shape) -> Shape:
    """Return the shape of what has the one or the other."""
    if one in (NOTHING, other):
        return other
    names = dict.fromkeys((*one.fields, *other.fields))
    fields = {n: _either(one.fields.get(n), other.fields.get(n)) for n in names}
    entries = _either(one.entries, other.entries)
    if len(fields) > MOST_FIELDS or _is_table(one) or _is_table(other):
        entries = reduce(_either, fields.values(), entries)
        fields = {}
    objects = [set(it.required) for it in (one, other) if "object" in it.kinds]
    required = set.intersection(*objects) if objects else set()
    return Shape(
        tuple(sorted({*one.kinds, *other.kinds})),
        {name: shape for name, shape in fields.items() if shape is not None},
        tuple(sorted(required & fields.keys())),
        entries,
        _either(one.items, other.items),
        tuple(dict.fromkeys((*one.words, *other.words)))[:MOST_STATE_WORDS],
    )


def _either(one: Shape | None, other: Shape | None) -> Shape | None:
    if one is None or other is None:
        return one or other
    return merged(one, other)


def _is_table(shape: Shape) -> bool:
    """Return whether no key of an object was a name: then no other one is."""
    return shape.entries is not None and not shape.fields


def _are_rows(value: Mapping[str, JSON]) -> bool:
    """Return whether what stands under all keys has one form, as in a table."""
    kinds = {type(inner) for inner in value.values()}
    if kinds == {dict}:
        forms = {frozenset(row) for row in value.values() if isinstance(row, dict)}
        return (
            len(value) >= _FEWEST_ALIKE and len(forms) == 1 and forms != {frozenset()}
        )
    if kinds <= {int, float}:
        return len(value) >= _FEWEST_NUMBERS
    return kinds == {str} and len(value) >= _FEWEST_STRINGS


def _sample(items: list[JSON], turn: int) -> list[JSON]:
    """Choose a few items: both ends, and others in turn, the same ones every time."""
    if len(items) <= SAMPLE:
        return items
    others = ((turn * step) % len(items) for step in range(1, SAMPLE - 1))
    return [items[0], *(items[index] for index in others), items[-1]]


class Observed(NamedTuple):
    """A call that has ended; a tuple, because one is made for each call."""

    call: Call
    reply: Reply | None
    """None: no answer came."""
    seconds: float
    outcome: str
    """How it ended, as the log names it: `confirmed`, `refused: absent`, ..."""
    is_yes: bool
    secrets: tuple[str, ...]
    """What must not be kept, wherever it stands."""


Observe = Callable[[Observed], None]
"""Is shown each call that has ended; must not raise, and not take long."""


_MEDIA_TYPES = frozenset(
    {
        *("application/json", "application/problem+json", "application/vnd.api+json"),
        *("text/html", "text/plain", "application/xml", "text/xml"),
        *("application/octet-stream", "application/x-www-form-urlencoded"),
    },
)
"""Any other is `other`: a header may hold anything."""


@dataclass(slots=True)
class AnswerRecord:
    """The answers of one status that meant the same, a yes or a no."""

    status: Count
    is_yes: bool
    seen: Count = 0
    last_at: str = ""
    """ISO 8601, in UTC; as everywhere here."""
    media_types: dict[str, Count] = field(default_factory=dict)
    """How many answers said that they are of this type; empty for no type."""
    unreadable: Count = 0
    """How many bodies were not JSON, empty ones among them."""
    body: Shape = NOTHING
    last_text: Annotated[int | None, Field(exclude=True)] = field(
        default=None, repr=False
    )
    """A hash of the last body: an idle network answers the same again and again."""

    @property
    def key(self) -> str:
        """Its name in an endpoint's record: `200`, or `200 no`."""
        return _key(self.status, is_yes=self.is_yes)


def _key(status: int, *, is_yes: bool) -> str:
    return f"{status}" if is_yes else f"{status} no"


def _media_type(value: str) -> str:
    kind = value.partition(";")[0].strip().lower()
    return kind if kind in _MEDIA_TYPES or not kind else "other"


LONGEST_LOOKED_AT = 64 * 1024
"""In bytes; a longer body is counted, and not parsed a second time."""
_OURS = ("result", "output", "answer", "evidence", "input", "payload")
"""What a task or a strategy put under such names says nothing about the network."""
_NOT_UNDERSTOOD = "refused: invalid"


@dataclass(slots=True)
class RequestRecord:
    """Of one endpoint, the requests that were answered with a yes."""

    worked: Count = 0
    with_token: Count = 0
    """How many of them carried the token."""
    query: dict[str, Count] = field(default_factory=dict)
    """How often each parameter was among them."""
    body: Shape = NOTHING
    refused: Shape = NOTHING
    """Of the bodies that the network did not understand."""


MOST_HEADERS = 16
"""Names that one endpoint's record may have."""

#: Retry-After (RFC 9110, section 10.2.3), RateLimit and RateLimit-Policy (the IETF's
#: httpapi draft), and what is spelled X-RateLimit-Remaining, X-Rate-Limit-Reset, ...
_TELLING = re.compile(r"retry-after|(?:x-)?rate-?limit(?:-[a-z]{1,12}){0,3}")
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")


@dataclass(slots=True)
class HeaderRecord:
    """One header of an endpoint's answers."""

    seen: Count = 0
    least: float | None = None
    most: float | None = None
    """Of its values that were numbers."""

    def learn(self, value: str) -> None:
        """Count it; of a value that is not a number nothing is kept."""
        self.seen += 1
        if _NUMBER.fullmatch(value.strip()):
            number = float(value)
            self.least = number if self.least is None else min(self.least, number)
            self.most = number if self.most is None else max(self.most, number)


#: Upper bounds in seconds; what took longer lies in one more bucket behind them.
BOUNDS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05),
    *(0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0),
)
_BUCKETS = len(BOUNDS) + 1


@dataclass(slots=True)
class Latency:
    """A histogram of seconds."""

    counts: Annotated[list[Count], Field(min_length=_BUCKETS, max_length=_BUCKETS)] = (
        field(default_factory=lambda: [0] * _BUCKETS)
    )

    def learn(self, seconds: float) -> None:
        """Count one call."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1

    def quantile(self, part: float) -> float | None:
        """Return seconds within which this part (0 to 1) of all calls was answered.

        It is a bucket's upper bound. None: there were no calls, or they took longer
        than the last bound.
        """
        wanted, so_far = part * sum(self.counts), 0
        for bound, count in zip(BOUNDS, self.counts, strict=False):
            so_far += count
            if so_far and so_far >= wanted:
                return bound
        return None


MOST_ANSWERS = 24
"""Kinds of answers that one endpoint's record may have."""


@dataclass(slots=True)
class EndpointRecord:
    """Counts, shapes and times of one endpoint."""

    seen: Count = 0
    """How often it was called."""
    first_at: str = ""
    """ISO 8601, in UTC; so `last_at`."""
    last_at: str = ""
    outcomes: dict[str, Count] = field(default_factory=dict)
    """How the calls ended: `confirmed`, `refused: absent`, `not sent`, `unknown`."""
    answers: dict[str, AnswerRecord] = field(default_factory=dict)
    request: RequestRecord = field(default_factory=RequestRecord)
    headers: dict[str, HeaderRecord] = field(default_factory=dict)
    latency: Latency = field(default_factory=Latency)
    """Of the calls that were answered."""
    is_cut: bool = False
    """Something new was left out, because the record is full."""

    def learn(self, seen: Observed, at: str) -> bool:
        """Record one call; return whether it showed anything new: not only counts."""
        self.seen += 1
        self.first_at, self.last_at = self.first_at or at, at
        is_new = _count(self.outcomes, seen.outcome)
        if seen.reply is not None:
            self.latency.learn(seen.seconds)
            is_new |= self._learn_headers(seen.reply)
            is_new |= self._learn_answer(seen, seen.reply, at)
        return self._learn_request(seen) or is_new

    def _learn_headers(self, reply: Reply) -> bool:
        known = len(self.headers)
        for name, value in reply.headers.items():
            # Most headers are sorted out without a pattern: this is for each answer.
            if not ("limit" in name or "retry" in name) or not _TELLING.fullmatch(name):
                continue
            if name in self.headers or len(self.headers) < MOST_HEADERS:
                self.headers.setdefault(name, HeaderRecord()).learn(value)
            else:
                self.is_cut = True
        return len(self.headers) > known

    def _learn_answer(self, seen: Observed, reply: Reply, at: str) -> bool:
        key = _key(reply.status, is_yes=seen.is_yes)
        known, is_new = self.answers.get(key), False
        if known is None:
            if len(self.answers) >= MOST_ANSWERS:
                self.is_cut = True
                return False
            known = self.answers[key] = AnswerRecord(reply.status, seen.is_yes)
            is_new = True
        known.seen, known.last_at = known.seen + 1, at
        kind = _media_type(reply.headers.get("content-type", ""))
        is_new |= _count(known.media_types, kind)
        known.unreadable += bool(reply.problem)
        text, before = hash(reply.text), known.body
        if not reply.problem and text != known.last_text:
            known.last_text = text
            if not before.shows(reply.body, known.seen):
                look = _Look(seen.secrets, turn=known.seen)
                known.body = self._grown(before, reply.body, look)
        return is_new or known.body != before

    def _learn_request(self, seen: Observed) -> bool:
        """Record a request that worked, or the body of one that was not understood."""
        request, is_new = self.request, False
        if seen.is_yes:
            request.worked += 1
            request.with_token += seen.call.token is not None
            for name in seen.call.query:
                is_new |= _count(request.query, name)
        elif seen.outcome != _NOT_UNDERSTOOD:
            return False
        content, body = seen.call.content, seen.call.body
        is_json = seen.call.headers.get(CONTENT_TYPE, JSON_TYPE).endswith("json")
        if not is_json or content is None or body is None:
            return is_new
        if len(content) > LONGEST_LOOKED_AT:
            return is_new
        before = request.body if seen.is_yes else request.refused
        if before.shows(body, closed=_OURS):
            return is_new
        grown = self._grown(before, body, _Look(seen.secrets, closed=_OURS))
        if seen.is_yes:
            request.body = grown
        else:
            request.refused = grown
        return is_new or grown != before

    def _grown(self, shape: Shape, body: JSON, look: _Look) -> Shape:
        """Return a shape with that of another body, as deep as there is room for."""
        shapes = [one.body for one in self.answers.values()]
        shapes += [self.request.body, self.request.refused]
        room = MOST_PLACES - sum([one.size for one in shapes]) + shape.size
        for deepest in (DEEPEST, 2, 0):
            grown = merged(shape, replace(look, deepest=deepest).shape(body))
            if grown.size <= room:
                return grown
            self.is_cut = True
        return shape


def _count(counts: dict[str, int], name: str) -> bool:
    """Count a name; return whether it is new."""
    seen = counts.get(name, 0)
    counts[name] = seen + 1
    return not seen


_RECORD = TypeAdapter(EndpointRecord)


class Observer:
    """What is known of some endpoints, in memory, growing with each call."""

    def __init__(self, endpoints: Iterable[str], now: Callable[[], datetime]) -> None:
        """Watch these endpoints, by name; calls of others are not kept."""
        self._watched = frozenset(endpoints)
        self._now = now
        self._records: dict[str, EndpointRecord] = {}
        self._changed: set[str] = set()
        self.has_news = False
        """Something was seen, since `written`, that was not known: not only counts."""

    def learn(self, seen: Observed) -> None:
        """Learn from a call that has ended."""
        if seen.call.name not in self._watched:
            return
        name = seen.call.name
        # Not by `setdefault`: a new record has many parts, and this is for each call.
        record = self._records.get(name)
        if record is None:
            record = self._records[name] = EndpointRecord()
        at = self._now().isoformat(timespec="seconds")
        self.has_news = record.learn(seen, at) or self.has_news
        self._changed.add(name)

    @property
    def records(self) -> Mapping[str, EndpointRecord]:
        """What is known, by endpoint."""
        return self._records

    def load(self, stored: Mapping[str, JSON]) -> None:
        """Go on from what an earlier run has learned."""
        self._records = records_from(stored)

    def changed(self) -> dict[str, JSON]:
        """Return the records that changed since `written`, by endpoint, as JSON."""
        return {name: stored(self._records[name]) for name in sorted(self._changed)}

    def written(self) -> None:
        """Note that all of it was kept."""
        self._changed.clear()
        self.has_news = False


def stored(record: EndpointRecord) -> JSON:
    """Return a record for the journal, without what is empty."""
    content: JSON = _RECORD.dump_python(record, mode="json", exclude_defaults=True)
    return content


def records_from(stored: Mapping[str, JSON]) -> dict[str, EndpointRecord]:
    """Read stored records; one that cannot be read is begun anew."""
    records: dict[str, EndpointRecord] = {}
    for name, content in stored.items():
        try:
            records[name] = _RECORD.validate_python(content)
        except ValidationError:
            continue
    return records
