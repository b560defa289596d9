"""The tolerant reader of values, fields and task records: nothing here raises."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields as declared_fields
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import TypeVar

from journeyman.domain.tasks import JSON, Task, TaskId
from journeyman.network.dialect import ASSUMED, Dialect
from journeyman.network.http import UnreadableJSONError, parse

T = TypeVar("T")

MAX_CREDITS = 2**53
"""Beyond it, JSON readers disagree and a database integer may overflow."""
LONGEST_WORD = 200
"""In characters; a longer tag or kind is something else."""
MOST_WORDS = 100
"""Tags of one task; a task with more hides something among them."""
MAX_ID_LENGTH = 500
"""In characters; a longer "id" is something else."""

_EARLIEST_EPOCH = 1_000_000_000
"""In seconds, September 2001: a smaller number is a duration, not a moment."""
_UNITS = ((100_000_000_000, 1), (10**14, 10**3), (10**17, 10**6), (10**20, 10**9))
"""Below the first number, how many of them are a second: so each unit has the years
from 1973 to 5138."""
_MOMENT_KEYS = ("$date", "iso", "date", "timestamp", "seconds", "_seconds")
"""Inside a moment that is an object, as document databases have it."""
_IDENTIFIER_KEYS = ("$oid", "$uuid", "$numberLong")
_WORD_KEYS = ("name", "label", "slug", "tag", "value", "title", "code")
"""Inside a word that is an object."""
_TAG_SEPARATORS = re.compile(r"[,;|]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DIGITS = re.compile(r"\d{10,19}(?:\.\d+)?")
_NUMBER_WITH_UNIT = re.compile(
    r"\s*(?P<number>[+-]?(?:\d{1,3}(?:[,_ ]\d{3})+|\d{1,18})(?:\.\d{1,18})?)"
    r"\s*(?P<unit>[A-Za-z]*)\s*",
)


def as_string(value: JSON) -> str | None:
    """Return a string that is not blank, as it is."""
    return value if isinstance(value, str) and value.strip() else None


def as_word(value: JSON) -> str | None:
    """Return a string in lower case without outer spaces, unless blank or too long."""
    word = value.strip().lower() if isinstance(value, str) else ""
    return word if 0 < len(word) <= LONGEST_WORD else None


def as_label(value: JSON) -> str | None:
    """Return a word, also out of an object that has a name."""
    if isinstance(value, dict):
        value = _inside(value, _WORD_KEYS)
    return as_word(value)


def as_identifier(value: JSON) -> str | None:
    """Return an id as a string, also where it is a whole number."""
    if isinstance(value, dict):
        value = _inside(value, _IDENTIFIER_KEYS)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, float):
        if not value.is_integer():
            return None
        value = int(value)
    name = str(value).strip()
    usable = 0 < len(name) <= MAX_ID_LENGTH and name.isprintable()
    return name if usable else None


def as_amount(value: JSON, units: frozenset[str]) -> int | None:
    """Return credits as a whole number, rounded down, from a number or a string.

    `units` are the words that may follow the number in a string.
    """
    if isinstance(value, str):
        match = _NUMBER_WITH_UNIT.fullmatch(value)
        if not match or match["unit"].lower() not in units:
            return None
        value = float(re.sub(r"[,_ ]", "", match["number"]))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    amount = math.floor(value)
    return amount if abs(amount) <= MAX_CREDITS else None


def as_moment(value: JSON) -> datetime | None:
    """Return a moment in UTC: from ISO 8601, from an HTTP date, or from an epoch.

    An epoch counts seconds, or thousandths, millionths or billionths of them. A time
    without a zone is taken as UTC.
    """
    if isinstance(value, dict):
        value = _inside(value, _MOMENT_KEYS)
    if isinstance(value, str):
        if not _EPOCH_DIGITS.fullmatch(value.strip()):
            return _from_text(value.strip())
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _from_epoch(value) if value >= _EARLIEST_EPOCH else None


def as_words(value: JSON) -> tuple[str, ...] | None:
    """Return tags, in lower case and each once.

    From a list of words or of objects with a name, from an object with a true value
    for each, or from a text: with commas, as a JSON list, or as PostgreSQL writes one.
    """
    if isinstance(value, str):
        value = _split(value)
    elif isinstance(value, dict):
        value = [name for name, there in value.items() if there is True]
    if not isinstance(value, list):
        return None
    words = [as_label(item) for item in value]
    return tuple(dict.fromkeys(word for word in words if word))[:MOST_WORDS] or None


def as_object(value: JSON) -> dict[str, JSON] | None:
    """Return an object, also one that was sent as a JSON text."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = parse(value)
        except UnreadableJSONError:
            return None
    return value if isinstance(value, dict) else None


def _split(text: str) -> list[JSON]:
    try:
        listed = parse(text) if text.lstrip().startswith("[") else None
    except UnreadableJSONError:
        listed = None
    if isinstance(listed, list):
        return listed
    plain = text.strip().removeprefix("{").removesuffix("}")
    return [word.strip(' "#') for word in _TAG_SEPARATORS.split(plain)]


def _inside(value: dict[str, JSON], names: Iterable[str]) -> JSON:
    return next((value[name] for name in names if name in value), None)


def _from_epoch(value: float) -> datetime | None:
    try:
        scale = next(scale for below, scale in _UNITS if value < below)
        return _EPOCH + timedelta(seconds=value / scale)
    except (StopIteration, OverflowError):
        return None


def _from_text(text: str) -> datetime | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
            zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return zoned.astimezone(UTC)
        except (ValueError, OverflowError):
            continue
    return None


_SEPARATORS = str.maketrans("", "", "_-. ")
_LONGEST_KNOWN = 64
"""In characters; an answer may have names of any length, not worth keeping."""


def spelling(name: str) -> str:
    """Reduce a name to what all its spellings share: `taskId` to `taskid`."""
    return _known(name) if len(name) <= _LONGEST_KNOWN else _reduced(name)


def _reduced(name: str) -> str:
    return name.translate(_SEPARATORS).lower()


_known = lru_cache(maxsize=4096)(_reduced)
"""The names in a network's answers are few, and come again and again."""


def spellings(names: Iterable[str]) -> tuple[str, ...]:
    """Reduce several names, keeping their order."""
    return tuple([spelling(name) for name in names])


class Fields(dict[str, JSON]):
    """One or more JSON objects read as one; earlier objects hide later ones.

    A null counts as absent. Names are reduced by `spelling`, so all that are asked for
    must be, too.
    """

    def __init__(self, *layers: Mapping[str, JSON]) -> None:
        super().__init__()
        for layer in layers:
            for name, value in layer.items():
                if value is not None:
                    known = len(name) <= _LONGEST_KNOWN
                    self.setdefault(_known(name) if known else _reduced(name), value)

    def value(self, names: Iterable[str]) -> JSON:
        """Return the first value under these names, whatever it is."""
        for name in names:
            if name in self:
                return self[name]
        return None

    def has(self, names: Iterable[str]) -> bool:
        """Return whether one of the names is there."""
        return not self.keys().isdisjoint(names)

    def says(self, names: Iterable[str], *, flag: bool) -> bool:
        """Return whether one of the names is there with just this value."""
        # Only real booleans: in Python, 0 equals False.
        return flag in [self[n] for n in names if isinstance(self.get(n), bool)]

    def pick(
        self,
        names: Iterable[str],
        read: Callable[[JSON], T | None],
    ) -> T | None:
        """Return the first value under these names that `read` can use."""
        for name in names:
            if name in self:
                value = read(self[name])
                if value is not None:
                    return value
        return None

    def find(
        self,
        names: Iterable[str],
        read: Callable[[JSON], T | None],
    ) -> str | None:
        """Return the name whose value `pick` returns."""
        there = (name for name in names if name in self)
        return next((n for n in there if read(self[n]) is not None), None)

    def objects(self, names: Iterable[str]) -> dict[str, dict[str, JSON]]:
        """Return the values under these names that are objects."""
        found: dict[str, dict[str, JSON]] = {}
        for name in names:
            value = self.get(name)
            if isinstance(value, dict):
                found[name] = value
        return found

    def without(self, names: Collection[str]) -> "Fields":
        """Return the same fields less these."""
        return Fields({n: value for n, value in self.items() if n not in names})

    def under(self, *layers: Mapping[str, JSON]) -> "Fields":
        """Return the same fields with these objects laid over them."""
        return Fields(*layers, self) if layers else self


@lru_cache(maxsize=8)
def names_of(dialect: Dialect) -> Mapping[str, tuple[str, ...]]:
    """Return a dialect's lists of names, reduced to what their spellings share."""
    return {
        item.name: spellings(value)
        for item in declared_fields(dialect)
        if isinstance(value := getattr(dialect, item.name), tuple)
        and all(isinstance(name, str) for name in value)
    }


LONGEST_TITLE = 500
"""In characters; the rest is cut, since a title is only shown."""
MOST_WRAPPERS = 2
"""Inside each other, such as the attributes of a JSON:API record in a GraphQL node."""


class RecordReader:
    """Reads one record of a listing as a task."""

    #: What tells a task from any other thing that has an id.
    FEATURES = (
        *("title", "description", "kind", "text", "input", "tags"),
        *("reward", "status", "deadline", "poster", "claimant"),
    )

    #: Of them, what says that there is something to do.
    TELLING = ("title", "description", "text", "input")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._names = names_of(dialect)
        self._feature_of = {
            name: feature for feature in self.FEATURES for name in self._names[feature]
        }
        self._flags = self._all_of("open_flags", "closed_flags")
        self._telling = self._all_of(*self.TELLING)
        self._maybe_wrappers = self._all_of(
            "record_wrappers",
            "record_wrappers_without_id",
            "record_wrappers_of_bare_ids",
        )

    def _all_of(self, *fields: str) -> frozenset[str]:
        return frozenset(name for field in fields for name in self._names[field])

    def task(self, record: JSON, key: str | None = None) -> Task | None:
        """Read a record; None when it is not an object or has no usable id.

        `key` is the name under which it was found, and its id if it has none itself.
        """
        if not isinstance(record, dict):
            return None
        seen = self._open(record)
        name = self._id(seen) or as_identifier(key)
        return self._build(TaskId(name), seen, record) if name else None

    def likeness(self, record: JSON, key: str | None = None) -> int:
        """Count how much of a task a record shows: 0 without an id, at most 12."""
        if not isinstance(record, dict):
            return 0
        seen = self._open(record)
        if not (self._id(seen) or as_identifier(key)):
            return 0
        return 1 + self._features(seen)

    def described(self, record: JSON, task_id: TaskId) -> Task | None:
        """Read a record if it is this task and says what there is to do."""
        if not isinstance(record, dict):
            return None
        seen = self._open(record)
        if self._id(seen) != task_id or not seen.has(self._telling):
            return None
        return self._build(task_id, seen, record)

    def promises_reward(self, record: JSON) -> bool:
        """Return whether a record has a reward that can be read."""
        seen = self._open(record) if isinstance(record, dict) else Fields()
        return seen.pick(self._names["reward"], self._reward) is not None

    def not_understood(self, record: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return the fields of a record that we do not understand, as they were sent.

        Fields of an object that was opened are named by their path, as `task.colour`.
        """
        outer = Fields(record)
        opened = self._wrappers(outer)
        seen = self._laid_over(outer, opened)
        readers = self._readers().items()
        used = {seen.find(self._names[field], read) for field, read in readers}
        used |= self._flags
        rest: dict[str, JSON] = {}
        for name, value in record.items():
            inner = opened.get(spelling(name))
            if inner is not None:
                left = (item for item in inner.items() if spelling(item[0]) not in used)
                rest |= {f"{name}.{field}": inside for field, inside in left}
            elif spelling(name) not in used and value is not None:
                rest[name] = value
        return rest

    def agent(self, value: JSON) -> str | None:
        """Read who an agent is: an id, or an object that has one."""
        if not isinstance(value, dict):
            return as_identifier(value)
        seen = Fields(value)
        inner = seen.objects(self._names["account_wrappers"]).values()
        return seen.under(*inner).pick(self._names["agent_id"], as_identifier)

    def _readers(self) -> dict[str, Callable[[JSON], object]]:
        return {
            "id": as_identifier,
            "title": as_string,
            "description": as_string,
            "kind": self._kind,
            "tags": as_words,
            "reward": self._reward,
            "text": as_string,
            "input": lambda value: value,
            "status": as_label,
            "deadline": as_moment,
            "poster": self.agent,
            "claimant": self.agent,
        }

    def _build(self, name: TaskId, seen: Fields, record: dict[str, JSON]) -> Task:
        names = self._names
        description = seen.pick(names["description"], as_string) or ""
        given = seen.value(names["input"])
        return Task(
            id=name,
            title=(seen.pick(names["title"], as_string) or "").strip()[:LONGEST_TITLE],
            description=description,
            kind=seen.pick(names["kind"], self._kind) or "",
            tags=seen.pick(names["tags"], as_words) or (),
            reward=seen.pick(names["reward"], self._reward) or 0,
            text=self._text(seen, given) or description,
            input=given,
            status=self._status(seen),
            deadline=seen.pick(names["deadline"], as_moment),
            poster=seen.pick(names["poster"], self.agent),
            claimant=seen.pick(names["claimant"], self.agent),
            raw=record,
        )

    def _open(self, record: dict[str, JSON]) -> Fields:
        """Lay what a record's wrappers hold over what is outside of them."""
        opened = Fields(record)
        for _ in range(MOST_WRAPPERS):
            if not opened.has(self._maybe_wrappers):
                break
            opened = self._laid_over(opened, self._wrappers(opened))
        return opened

    def _laid_over(self, outer: Fields, inner: dict[str, dict[str, JSON]]) -> Fields:
        return outer.without(inner).under(*inner.values()) if inner else outer

    def _wrappers(self, outer: Fields) -> dict[str, dict[str, JSON]]:
        """Find the objects in a record that hold (part of) the task itself."""
        inner = outer.objects(self._names["record_wrappers"])
        more = outer.objects(self._names["record_wrappers_without_id"])
        if not self._id(outer):
            # The one with the id is the record; `data` beside it is its input.
            named = {k: v for k, v in (inner | more).items() if self._id(Fields(v))}
            is_bare = self._features(outer.without([*inner, *more])) == 0
            return named or (inner | more if is_bare else inner)
        more |= outer.objects(self._names["record_wrappers_of_bare_ids"])
        if more and not inner and self._features(outer.without(more)) == 0:
            # With a reward, or two other features, it is a task and not a task's input.
            return {k: v for k, v in more.items() if self._features(Fields(v)) > 1}
        return inner

    def _features(self, seen: Fields) -> int:
        """Count what tells a task from other things, as far as a record shows it."""
        features = self._feature_of
        return len({features[name] for name in seen if name in features})

    def _id(self, seen: Fields) -> str | None:
        return seen.pick(self._names["id"], as_identifier)

    def _kind(self, value: JSON) -> str | None:
        word = as_label(value)
        return None if word in self._dialect.kind_of_everything else word

    def _status(self, seen: Fields) -> str:
        """Read the network's word for it; a flag that the task is taken wins."""
        status = seen.pick(self._names["status"], as_label) or ""
        if not seen.has(self._flags):
            return status
        for name in self._names["closed_flags"]:
            if seen.get(name) is True:
                return name.removeprefix("is")
        is_closed = seen.says(self._names["open_flags"], flag=False)
        return "closed" if is_closed else status

    def _text(self, seen: Fields, given: JSON) -> str | None:
        own = seen.pick(self._names["text"], as_string)
        if own:
            return own
        inside = as_object(given)
        if inside is not None:
            text = Fields(inside).pick(self._names["text"], as_string)
            return text or (given if isinstance(given, str) else None)
        return as_string(given)

    def _reward(self, value: JSON) -> int | None:
        units = self._dialect.credit_units
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            value = value[0]
        if isinstance(value, dict):
            inside = Fields(value)
            unit = inside.pick(self._names["reward_unit"], as_label) or ""
            if unit not in units:
                return None
            value = inside.value(self._names["reward_amount"])
        amount = as_amount(value, units)
        return amount if amount is not None and amount >= 0 else None


def not_understood(
    record: Mapping[str, JSON], dialect: Dialect = ASSUMED
) -> dict[str, JSON]:
    """Return the fields of a task's record that we do not understand."""
    return RecordReader(dialect).not_understood(record)
