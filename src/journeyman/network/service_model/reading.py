"""The tolerant reader of values, fields and task records: nothing here raises."""

import math
import re
from collections import deque
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from dataclasses import fields as declared_fields
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import starmap
from types import MappingProxyType
from typing import TypeVar

from journeyman.domain.tasks import JSON, Task, TaskId
from journeyman.network.json_text import UnreadableJSONError, parse
from journeyman.network.service_model.naming import (
    TASK_WORDS,
    Path,
    id_name_score,
    leaves,
    value_at,
    word_set,
    words_of,
)
from journeyman.network.service_model.vocabulary import ASSUMED

T = TypeVar("T")

_CREDITS_SAID = re.compile(r"^\s*[\d.,]+\s*credits?\s*$", re.IGNORECASE)
CREDITS_OF_A_DOLLAR = 100
"""The contract's exchange rate (section 1)."""
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
_NOBODY = re.compile(
    r"[0-]+|13814000-1dd2-11b2-8080-808080808080|none|null|nil|nobody|false|n/a",
    re.IGNORECASE,
)
"""A claimant that is none: also the UUID of zeros, and that which ThingsBoard has."""
_LARGEST_CODE = 1000
"""A state that is a larger number is something else."""
_WORD_KEYS = ("name", "label", "slug", "tag", "value", "title", "code")
"""Inside a word that is an object."""
_TAG_SEPARATORS = re.compile(r"[,;|]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DIGITS = re.compile(r"\d{10,19}(?:\.\d+)?")
_IN_DOLLARS = re.compile(r"(?:US|USD)? ?\$ ?(\d+\.\d\d)|(?:(\d+\.\d\d) ?USD)")
"""Each hundredth of a US dollar is worth a credit (contract, section 1)."""
_NUMBER_WITH_UNIT = re.compile(
    r"\s*(?P<number>[+-]?(?:\d{1,3}(?:[,_ ]\d{3})+|\d{1,18})(?:\.\d{1,18}|,\d{1,2})?)"
    r"\s*(?P<unit>[^\W\d_]*)\s*",
)


def as_string(value: JSON) -> str | None:
    """Return a string that is not blank, as it is."""
    return value if isinstance(value, str) and value.strip() else None


def as_word(value: JSON) -> str | None:
    """Return a string in lower case without outer spaces, unless blank or too long."""
    word = value.strip().lower() if isinstance(value, str) else ""
    return word if 0 < len(word) <= LONGEST_WORD else None


_FLAGS: Mapping[str, bool] = {
    **dict.fromkeys(("true", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "no", "n", "0"), False),
}


def as_flag(value: JSON) -> bool | None:
    """Return whether a value says yes or no, also where it is no boolean."""
    if isinstance(value, bool):
        return value
    return _FLAGS.get(str(value).lower()) if isinstance(value, int | str) else None


def as_label(value: JSON) -> str | None:
    """Return a word, also out of an object that has a name."""
    if isinstance(value, dict):
        value = _inside(value, _WORD_KEYS)
    return as_word(value)


def as_state(value: JSON) -> str | None:
    """Return a state as a word, also where it is a small number."""
    if isinstance(value, dict):
        value = _inside(value, _WORD_KEYS) or _tag_of(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if 0 <= value < _LARGEST_CODE else None
    return as_word(value)


def _tag_of(value: dict[str, JSON]) -> JSON:
    """Return the name of a state that is an object around more: `{"leased": {}}`."""
    is_tagged = len(value) == 1 and all(isinstance(one, dict) for one in value.values())
    return next(iter(value)) if is_tagged else None


def as_identifier(value: JSON) -> str | None:
    """Return an id as a string, also where it is a whole number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, float):
        if not value.is_integer():
            return None
        value = int(value)
    name = str(value).strip()
    usable = 0 < len(name) <= MAX_ID_LENGTH and name.isprintable()
    return name if usable else None


def as_amount(value: JSON) -> int | None:
    """Return credits as a whole number, rounded down, from a number or a string."""
    exact = as_exact_amount(value)
    return None if exact is None else math.floor(exact)


def as_exact_amount(value: JSON) -> float | None:
    """Return credits, with a fraction if they have one, from a number or a string."""
    if isinstance(value, str):
        if dollars := _IN_DOLLARS.fullmatch(value.strip()):
            return _from_dollars(dollars[1] or dollars[2])
        match = _NUMBER_WITH_UNIT.fullmatch(value)
        if not match or not is_credits(match["unit"]):
            return None
        with_point = re.sub(r",(\d{1,2})$", r".\1", match["number"])  # as in "4,50"
        value = float(re.sub(r"[,_ ]", "", with_point))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not abs(value) <= MAX_CREDITS:  # nor what is no number
        return None
    return int(value) if value == math.floor(value) else value


def is_credits(unit: str) -> bool:
    """Return whether a unit is credits, in one of some languages."""
    unit = unit.lower()
    return unit in ASSUMED.credit_units or unit.startswith(ASSUMED.credit_stems)


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
    value = unquoted(value)
    return value if isinstance(value, dict) else None


def unquoted(value: JSON) -> JSON:
    """Return what a text says that is itself JSON: some services encode twice."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return parse(value)
    except UnreadableJSONError:
        return value


def _split(text: str) -> list[JSON]:
    listed = unquoted(text)
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
_LONGEST_NAME = 64
"""In characters; what follows tells no name that we know from another."""


@lru_cache(maxsize=4096)
def _reduced(name: str) -> str:
    return name.translate(_SEPARATORS).lower()


def spelling(name: str) -> str:
    """Reduce a name to what all its spellings share: `taskId` to `taskid`."""
    return _reduced(name[:_LONGEST_NAME])


def spellings(names: Iterable[str]) -> tuple[str, ...]:
    """Reduce several names, keeping their order."""
    return tuple([spelling(name) for name in names])


_PARTS = {"deci": 10, "centi": 100, "milli": 1_000, "micro": 1_000_000}
"""Parts of a unit, by their prefixes in the SI."""
_PARTS_OF_CREDITS = tuple(f"{prefix}credits" for prefix in _PARTS)
_PART_OF_CREDITS = re.compile(rf"(.+?)_?({'|'.join(_PARTS)})_?credits", re.IGNORECASE)


def _in_whole_credits(name: str, value: JSON) -> tuple[str, JSON]:
    """Return `fee_centicredits` as `fee_credits`, and what is in it in credits."""
    if not spelling(name).endswith(_PARTS_OF_CREDITS):
        return name, value
    part, amount = _PART_OF_CREDITS.fullmatch(name), as_exact_amount(value)
    if part is None or amount is None:
        return name, value
    return f"{part[1]}_credits", amount / _PARTS[part[2].lower()]


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
                    reduced = _reduced(name[:_LONGEST_NAME])
                    if reduced.endswith(_PARTS_OF_CREDITS):
                        name, value = _in_whole_credits(name, value)  # noqa: PLW2901
                        reduced = spelling(name)
                    self.setdefault(reduced, value)

    def value(self, names: Iterable[str]) -> JSON:
        """Return the first value under these names, whatever it is."""
        for name in names:
            if name in self:
                return self[name]
        return None

    def has(self, names: Iterable[str]) -> bool:
        """Return whether one of the names is there."""
        return not self.keys().isdisjoint(names)

    def says(self, names: Iterable[str], *, flag: bool, is_loose: bool = False) -> bool:
        """Return whether one of the names is there with just this value.

        Of booleans, since a 0 may be a number; `is_loose` takes what `as_flag` does.
        """
        found = [self[name] for name in names if name in self]
        return flag in [
            as_flag(one) for one in found if is_loose or isinstance(one, bool)
        ]

    def pick(self, names: Iterable[str], read: Callable[[JSON], T | None]) -> T | None:
        """Return the first value under these names that `read` can use."""
        for name in names:
            if name in self:
                value = read(self[name])
                if value is not None:
                    return value
        return None

    def objects(self, names: Iterable[str]) -> dict[str, dict[str, JSON]]:
        """Return the values under these names that are objects."""
        found: dict[str, dict[str, JSON]] = {}
        for name in names:
            value = self.get(name)
            if isinstance(value, dict):
                found[name] = value
        return found

    def opened(self, names: Iterable[str]) -> "Fields":
        """Return the same fields under those of the objects that these names hold."""
        inner = self.objects(names).values()
        return Fields(*inner, self) if inner else self


DEEPEST = 12
"""Levels of objects and arrays that are looked into for something."""
MOST_OBJECTS = 5_000
"""Of one answer or document."""


@dataclass(frozen=True, slots=True)
class Found:
    """One object of a document or an answer."""

    words: tuple[str, ...]
    """The keys under which it stands, spelled without case and `_`, the outer first."""
    fields: Fields
    body: dict[str, JSON]
    """As it was sent."""

    @property
    def key(self) -> str:
        """The last of the words; of an object in a list, the list's."""
        return self.words[-1] if self.words else ""


def objects_in(document: JSON) -> Iterator[Found]:
    """Yield the objects of a document, the outer ones first."""
    waiting: deque[tuple[tuple[str, ...], JSON, int]] = deque([((), document, 0)])
    for _ in range(MOST_OBJECTS):
        if not waiting:
            return
        words, value, depth = waiting.popleft()
        inner: list[tuple[tuple[str, ...], JSON]] = []
        if isinstance(value, dict):
            yield Found(words, Fields(value), value)
            inner = [((*words, spelling(name)), one) for name, one in value.items()]
        elif isinstance(value, list):
            inner = [(words, one) for one in value]
        if depth < DEEPEST:
            waiting += (
                (path, one, depth + 1)
                for path, one in inner
                if isinstance(one, dict | list)
            )


NAMES: Mapping[str, tuple[str, ...]] = {
    item.name: spellings(value)
    for item in declared_fields(ASSUMED)
    if isinstance(value := getattr(ASSUMED, item.name), tuple)
    and all(isinstance(name, str) for name in value)
}
"""The vocabulary's lists of names, reduced to what their spellings share."""


def as_credits(value: JSON) -> int | None:
    """Return whole credits, rounded down, as `as_exact_credits` finds them."""
    exact = as_exact_credits(value)
    return None if exact is None else math.floor(exact)


def as_exact_credits(value: JSON) -> float | None:
    """Return credits, also out of an object with the amount and its unit.

    None for other money, and for what is no amount.
    """
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value = value[0]
    if isinstance(value, dict):
        inside = Fields(value)
        unit, cents = unit_in(inside), inside.value(NAMES["reward_cents"])
        if cents is None and unit == "usd":
            cents = inside.value(NAMES["reward_hundredths"])
        if cents is not None and unit in {"", "usd"}:
            return as_amount(cents)
        return _in_units(inside, unit)
    return as_exact_amount(value)


def unit_in(inside: "Fields") -> str:
    """Return the unit of an amount: under its name or, under any other, by itself.

    As in `{"cents": 9, "devise": "EUR"}`, which is not 9 credits. "" without one.
    """
    return inside.pick(NAMES["reward_unit"], as_label) or unit_by_itself(inside)


def unit_by_itself(inside: "Fields") -> str:
    """Return the unit that a text is, whatever its name; "" where none is one."""
    texts = [one.strip() for one in inside.values() if isinstance(one, str)]
    short = [one for one in texts if 0 < len(one) <= LONGEST_WORD]
    units = [
        *(one for one in short if is_credits(one)),
        *(one.lower() for one in short if one.lower() == "usd"),
        *(one for one in short if one.isupper() and one.lower() in ASSUMED.currencies),
    ]
    return units[0] if units else ""


def _in_units(inside: "Fields", unit: str) -> float | None:
    """Return the credits of an amount that has a unit, or is written out."""
    value = inside.value(NAMES["reward_amount"])
    ratio = next((n for n in inside if _MINOR_UNITS.search(n)), "")
    if value is None and unit:
        others = _IDS | {ratio, *NAMES["reward_scale"]}
        named = (o for name, o in inside.items() if name not in others)
        amounts = [one for one in named if as_exact_amount(one) is not None]
        value = amounts[0] if len(amounts) == 1 else None  # whatever it is called
    if value is None and not unit:
        told = [one for name, one in inside.items() if name in _CREDIT_AMOUNTS]
        value, unit = (told[0], "credits") if len(told) == 1 else (None, "")
    if unit == "usd":
        return _from_dollars(value)
    # Written out for people, as "18.00 credits", it is in no other unit.
    said = [one for one in inside.values() if _CREDITS_SAID.search(f"{one}")]
    if len(said) == 1:
        return as_exact_amount(said[0])
    scale, exact = inside.value(NAMES["reward_scale"]), as_exact_amount(value)
    if not is_credits(unit) or exact is None:
        return None
    if minor := as_exact_amount(inside.get(ratio)) if ratio else None:
        return as_exact_amount(exact / minor)
    usual = _USUAL_PLACES if any("minor" in name for name in inside) else 0
    is_told = isinstance(scale, int) and 0 <= scale <= _MOST_PLACES
    places = int(str(scale)) if is_told else usual
    return as_exact_amount(exact / 10**places) if places else exact


_CREDIT_AMOUNTS = frozenset({"creditamount", "creditsamount", "amountcredits"})
_MINOR_UNITS = re.compile(r"per(?:credit|unit|major\w*)$|^divisor$")
"""Names of how many minor units there are to one, as `MinorUnitsPerCredit`."""
_IDS = frozenset({"id", "uuid", "pk", "key"})
"""A currency that is told as an object may have one, which is no amount. A `number`
or a `code` may be one."""
_MOST_PLACES = 6
_USUAL_PLACES = 2
"""Of what is told in minor units, as in an `amount_minor`, where nothing says how many
there are to one: most currencies have two (ISO 4217)."""


def _from_dollars(value: JSON) -> float | None:
    """Return credits for US dollars; None for a whole number, which may be cents."""
    if not re.fullmatch(r"\d{1,12}\.\d\d", str(value)):
        return None
    return as_exact_amount(round(float(str(value)) * CREDITS_OF_A_DOLLAR))


_PAID_WORDS = word_set("earned earnings awarded paid credited")
_PAY_WORDS = _PAID_WORDS | word_set(
    "credit credits amount reward points payout bounty honorarium stipend wage wages "
    "salary commission royalty fee fees price pay remuneration tip u x cents"
)


def paid_credits(
    records: Iterable[Mapping[str, JSON]], *, is_other_money: bool = False
) -> float | None:
    """Return credits that a name says were paid, such as `points_awarded`.

    Of other money, only what is called credits. A total over time is none of them.
    """
    found = [
        ({"credit", "credits"}.isdisjoint(words), amount)
        for record in records
        for name, value in starmap(_in_whole_credits, record.items())
        if not _PAID_WORDS.isdisjoint(words := words_of(name))
        and _PAY_WORDS.issuperset(words)
        and (amount := as_exact_credits(value)) is not None
    ]
    likely = [one for one in found if not (one[0] and is_other_money)]
    return min(likely, key=lambda one: one[0])[1] if likely else None


_Objects = dict[str, dict[str, JSON]]
Places = Mapping[str, Path]
"""Where a listing's records have a role, such as their id, under no known name."""
SCOPE = "scope"
"""The role of what an id is only unique in, such as the repository of a number."""
FLAG = "flag"
"""The role of a flag whose name is the state of the records in which it is true."""
GENERAL = "general"
"""The role of a description that is the same in all records: it is of no task."""
KEY_FIELD = "@key"
"""In `Task.raw`: the name under which a record without an id was found."""
_AGENT_NAMES = ("login", "username", "handle", "slug", "name")
"""Inside an agent without an id."""
_OF_SCOPE = "#"
"""Between the two parts of an id."""
_ID_SCORE = 4
"""A field's name that scores higher is that of an id."""
LONGEST_TITLE = 500
"""In characters; the rest is cut, since a title is only shown."""
MOST_FORMS = 1_000
"""Sets of names of which is remembered what there is in each role."""
MOST_NAMES = 100
"""In such a set."""
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

    def __init__(self, places: Places = MappingProxyType({})) -> None:
        """Read known names, and before them what is at the places of some roles."""
        self._given = places
        self._places = {f"@{role}": path for role, path in places.items()}
        self._names = {
            field: (f"@{field}", *names) if field in places else names
            for field, names in NAMES.items()
        }
        self._role_of = {
            name: role for role in (*self.FEATURES, "id") for name in self._names[role]
        }
        flags = self._all_of("open_flags", "closed_flags")
        self._flags = flags | {f"{name}at" for name in self._names["closed_flags"]}
        self._telling = self._all_of(*self.TELLING)
        self._wrapping = self._all_of("record_wrappers", "record_wrappers_without_id")
        self._present: dict[tuple[str, ...], Mapping[str, Sequence[str]]] = {}
        """By the names of a record, those of each role."""
        self._readers: dict[str, Callable[[JSON], object]] = {
            "id": as_identifier,
            **dict.fromkeys(("title", "description", "text"), as_string),
            "kind": self._kind,
            "tags": as_words,
            "reward": self.amount,
            "input": lambda value: value,
            "status": as_state,
            "deadline": as_moment,
            "poster": self.agent,
            "claimant": self.claimant,
        }

    def _all_of(self, *fields: str) -> frozenset[str]:
        return frozenset(name for field in fields for name in self._names[field])

    def _names_in(self, seen: Fields) -> Mapping[str, Sequence[str]]:
        """Return, by role, the names that are in a record.

        Most records of a listing have the same, and few of the many that are known.
        """
        form = tuple(seen)
        if len(form) > MOST_NAMES:
            return self._names
        if form not in self._present:
            if len(self._present) >= MOST_FORMS:
                self._present.clear()
            self._present[form] = {
                role: [name for name in self._names[role] if name in seen]
                for role in (*self.FEATURES, "id")
            }
        return self._present[form]

    def at(self, places: Places) -> "RecordReader":
        """Return a reader that also knows where some other roles are."""
        return RecordReader({**places, **self._given}) if places else self

    def task(self, record: JSON, key: str | None = None) -> Task | None:
        """Read a record; None when it is not an object or has no usable id.

        `key` is the name under which it was found, and its id if it has none itself.
        """
        if not isinstance(record, dict):
            return None
        seen = self.open(record)
        name = self._id(seen)
        if name is None and (name := as_identifier(key)):
            record = {KEY_FIELD: key, **record}
        return self._build(TaskId(name), seen, record) if name else None

    def likeness(self, record: JSON, key: str | None = None) -> int:
        """Count how much of a task a record shows: 0 without an id, at most 12."""
        if not isinstance(record, dict):
            return 0
        seen = self.open(record)
        has_id = self._id(seen) or as_identifier(key)
        return 1 + self._features(seen) if has_id else 0

    def described(self, record: dict[str, JSON], task_id: TaskId) -> Task | None:
        """Read a record if it is this task and says what there is to do."""
        seen = self.open(record)
        if not seen.has(self._telling):
            return None
        is_it = self._id(seen) == task_id or _names_itself(record, task_id)
        return self._build(task_id, seen, record) if is_it else None

    def promises_reward(self, record: JSON) -> bool:
        """Return whether a record has a reward that can be read."""
        seen = self.open(record) if isinstance(record, dict) else Fields()
        return self.read(seen, "reward") is not None

    def state_of(self, record: JSON) -> str | None:
        """Return the word for the state of a record, if it has one."""
        seen = self.open(record) if isinstance(record, dict) else Fields()
        word = self.read(seen, "status")
        return str(word) if word else None

    def not_understood(self, record: Mapping[str, JSON]) -> dict[str, JSON]:
        """Return the fields of a record that we do not understand, as they were sent.

        Fields of an object that was opened are named by their path, as `task.colour`.
        """
        opened = self._wrappers(Fields(record))
        rest: dict[str, JSON] = {}
        for name, value in record.items():
            inner = opened.get(spelling(name))
            fields = {name: value} if inner is None else inner
            above = "" if inner is None else f"{name}."
            rest |= {
                f"{above}{field}": held
                for field, held in fields.items()
                if held is not None and not self._is_understood(field, held)
            }
        return rest

    def _is_understood(self, name: str, value: JSON) -> bool:
        if name == KEY_FIELD or spelling(name) in self._flags:
            return True
        role = self.role_of(name)
        return bool(role) and self._readers[role](value) is not None

    def agent(self, value: JSON) -> str | None:
        """Read who an agent is: an id, or an object that has one."""
        if isinstance(value, list) and len(value) == 1:
            (value,) = value
        if not isinstance(value, dict):
            return as_identifier(value)
        seen = Fields(value).opened(self._names["account_wrappers"])
        return seen.pick((*self._names["agent_id"], *_AGENT_NAMES), as_identifier)

    def claimant(self, value: JSON) -> str | None:
        """Read who holds a task; None for the ways of writing "nobody"."""
        name = self.agent(value)
        return None if name is None or _NOBODY.fullmatch(name) else name

    def amount(self, value: JSON) -> int | None:
        """Read a reward in credits."""
        amount = as_credits(value)
        return amount if amount is not None and amount >= 0 else None

    def _build(self, name: TaskId, seen: Fields, record: dict[str, JSON]) -> Task:
        names = self._names_in(seen)
        description = seen.pick(names["description"], as_string) or ""
        given = seen.value(names["input"])
        return Task(
            id=name,
            title=(seen.pick(names["title"], as_string) or "").strip()[:LONGEST_TITLE],
            description=description,
            kind=seen.pick(names["kind"], self._kind) or "",
            tags=seen.pick(names["tags"], as_words) or (),
            reward=seen.pick(names["reward"], self.amount) or 0,
            text=self.own_text(seen) or description,
            input=given,
            status=self._status(seen),
            deadline=seen.pick(names["deadline"], as_moment),
            poster=seen.pick(names["poster"], self.agent),
            claimant=seen.pick(names["claimant"], self.claimant),
            raw=record,
        )

    def role_of(self, name: str) -> str:
        """Return the role of a known name; empty where it has none."""
        return self._role_of.get(spelling(name), "")

    def read(self, seen: Fields, role: str) -> object | None:
        """Return what a record has in a role, if it can be read."""
        return seen.pick(self._names_in(seen)[role], self._readers[role])

    def open(self, record: dict[str, JSON]) -> Fields:
        """Lay what a record's wrappers hold over what is outside of them."""
        opened = Fields(record)
        for _ in range(MOST_WRAPPERS):
            if not (inner := self._wrappers(opened)):
                break
            outer = {n: held for n, held in opened.items() if n not in inner}
            opened = Fields(*inner.values(), outer)
        for role, path in self._places.items():
            value = value_at(record, path)
            if value is not None:
                opened[role] = value
        return opened

    def _wrappers(self, outer: Fields) -> _Objects:
        """Find the objects in a record that hold (part of) the task itself."""
        objects = {
            name: held
            for name, held in outer.items()
            if isinstance(held, dict)
            and (name in self._wrapping or self._may_hold_all(name))
        }
        if not objects:
            return {}
        inner = outer.objects(self._names["record_wrappers"])
        more = outer.objects(self._names["record_wrappers_without_id"])
        others = {n: h for n, h in objects.items() if self._may_hold_all(n)} | more
        # Who has it, its state and its type may stand outside of what it is.
        outside = {self.role_of(name) for name in outer if name not in others}
        is_bare = outside.isdisjoint((*self.TELLING, "reward"))
        if not self._id(outer):
            # The one with the id is the record; `data` beside it is its input.
            every = inner | more
            named = self._with_id(every) or (self._best(others) if is_bare else {})
            return named or (inner if self._features(outer, less=every) else every)
        is_task = not TASK_WORDS.isdisjoint(words_of(str(outer.get("type"))))
        if is_bare and not inner and not is_task:
            # With a reward, or two other features, it is a task and not a task's input.
            return {n: h for n, h in others.items() if self._features(Fields(h)) > 1}
        return inner

    def _best(self, objects: _Objects) -> _Objects:
        """Return the object with an id that shows most of a task, by its name."""
        named = self._with_id(objects)
        shown = {name: self._features(Fields(one)) for name, one in named.items()}
        best = max(shown, key=lambda name: shown[name], default=None)
        return {} if best is None else {best: named[best]}

    def _with_id(self, objects: _Objects) -> _Objects:
        return {name: one for name, one in objects.items() if self._id(Fields(one))}

    def _may_hold_all(self, name: str) -> bool:
        """Return whether a whole task may be in an object of this name."""
        return self.role_of(name) in {"", "title", "description", "text"}

    def _features(self, seen: Fields, less: Collection[str] = ()) -> int:
        """Count what tells a task from other things, as far as a record shows it."""
        roles = {self._role_of.get(name) for name in seen if name not in less}
        return len(roles - {None, "id"})

    def _id(self, seen: Fields) -> str | None:
        name = seen.pick(self._names_in(seen)["id"], as_identifier)
        scope = as_identifier(seen.get(f"@{SCOPE}"))
        return f"{scope}{_OF_SCOPE}{name}" if scope and name else name

    def _kind(self, value: JSON) -> str | None:
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        word = as_label(value)
        return None if word in ASSUMED.kind_of_everything else word

    def _status(self, seen: Fields) -> str:
        """Read the network's word for it; a flag that the task is taken wins."""
        names = self._names_in(seen)
        status = seen.pick(names["status"], as_state) or self._flagged(seen)
        if not seen.has(self._flags):
            return status
        for name in self._names["closed_flags"]:
            if seen.get(name) is True:
                return name.removeprefix("is")
        is_closed = seen.says(self._names["open_flags"], flag=False)
        return "closed" if is_closed else status or self._since(seen)

    def is_flagged(self, seen: Fields) -> bool:
        """Return whether a flag says if the task is to be had."""
        return any(isinstance(seen.get(name), bool) for name in self._flags)

    def _flagged(self, seen: Fields) -> str:
        """Return the name of the flag that tells some records from others."""
        is_true = seen.get(f"@{FLAG}") is True
        return " ".join(words_of(self._places[f"@{FLAG}"][-1])) if is_true else ""

    def _since(self, seen: Fields) -> str:
        """Return what has happened by the moments of a record without a state."""
        names = self._names["closed_flags"]
        moments = (n for n in names if as_moment(seen.get(f"{n}at")) is not None)
        return next(moments, "")

    def own_text(self, seen: Fields) -> str | None:
        """Read the text to work on, where it is more than the description."""
        names = self._names_in(seen)
        own = seen.pick(names["text"], as_string)
        if own:
            return own
        given = seen.value(names["input"])
        inside = as_object(given)
        text = Fields(inside).pick(self._names["text"], as_string) if inside else None
        return text or as_string(given)


def wire_id(task: Task) -> JSON:
    """Return a task's id as the network wrote it: a number as a number."""
    path = id_path(task)
    return value_at(task.raw, path) if path else task.id


def id_path(task: Task) -> Path:
    """Return where a task's record has its id; empty where it has none.

    Of an id in two parts it is the second: the first has a name of its own.
    """
    scope, _, name = task.id.rpartition(_OF_SCOPE)
    path = _where(task.raw, task.id)
    if path is None and scope and _where(task.raw, TaskId(scope)):
        path = _where(task.raw, TaskId(name))
    return path or ()


def id_name(task: Task) -> str | None:
    """Return the name of the field with the id, such as `uuid` or `attributes.id`.

    None where the id stands in no field: the record was found under it, or it is the
    first in a row.
    """
    path = id_path(task)
    is_position = path and path[-1].isdecimal()
    return None if is_position or path in {(), (KEY_FIELD,)} else ".".join(path)


def _names_itself(record: Mapping[str, JSON], task_id: TaskId) -> bool:
    """Return whether a field that looks like an id says that this is the task."""
    path = _where(record, task_id)
    return path is not None and len(path) == 1 and id_name_score(path) > _ID_SCORE


def _where(record: Mapping[str, JSON], task_id: TaskId) -> Path | None:
    """Return where a record says its id; of several places the likeliest."""
    paths = [
        path
        for path, value in leaves(record)
        if (value.strip() if isinstance(value, str) else as_identifier(value))
        == task_id
    ]
    return paths[0] if len(paths) == 1 else max(paths, key=id_name_score, default=None)


class WrongShapeError(Exception):
    """A 2xx answer lacks what makes it an answer; the message says what."""
