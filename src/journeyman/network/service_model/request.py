"""The shape of a request: where each value of an action stands in its body."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from itertools import islice
from uuid import UUID

from pydantic import JsonValue

from journeyman.domain.tasks import JSON, IdempotencyKey
from journeyman.network.endpoints import REGISTER
from journeyman.network.service_model.naming import FIRST, NUMERAL, Path
from journeyman.network.service_model.vocabulary import ASSUMED

Values = Mapping[str, JSON]
"""What a request may say, by source: `task_id`, `result`, what earlier answers gave as
`claim.assignment.id`, and what the task's record shows as `record.version`."""

HEADER = "header:"
"""Before the name of a header, which is then the whole path to a value."""
KEY_HEADER = HEADER + ASSUMED.idempotency_header
"""The client's own, of which the form may be asked for."""
QUERY = "query:"
"""Before the name of a parameter of the address, likewise."""
WHOLE = "body:"
"""As the whole path of a value: it is the body, as a text, and nothing is beside it."""
OBJECT = "{}"
"""As a source: the name is an object around others."""
WORDS = "words"
"""As a source: a text that may stand where some text has to."""
LENGTH, WORD_COUNT, LINE_COUNT = "length", "word_count", "line_count"
"""As sources: how many characters, words and lines the result has."""
TASK_TAIL = "task_tail"
"""As a source: the last part of a task's id, where that is a way, such as an IRI."""
RECORD = "record."
"""Before the sources that are fields of the task's record."""
LONGEST_VALUE = 200
"""In characters; a longer text in a record is work, and nothing a request repeats."""
LONGEST_GIVEN = 500
"""The same of an answer's texts."""
MOST_VALUES = 80
_DEEPEST = 7


def values_in(
    source: str, value: JSON, longest: int = LONGEST_GIVEN
) -> dict[str, JSON]:
    """Return single values that a request may say, by their source and the way to them.

    Of many, those nearest to the root.
    """
    found: dict[str, JSON] = {}
    level: list[tuple[str, JSON]] = [(source, value)]
    for _ in range(_DEEPEST):
        if not level:
            break
        below: list[tuple[str, JSON]] = []
        for way, inner in level:
            if isinstance(inner, dict):
                found |= _form_in(way, inner) if way != source else {}
                names = (*inner.items(), *_by_kind(inner), *_held_in(inner))
                below += [(f"{way}.{name}", one) for name, one in names]
            elif isinstance(inner, list):
                below += [
                    (f"{way}.{number}", one) for number, one in enumerate(inner[:3])
                ]
            elif inner is None and ".0." in way:
                found[way] = None  # to be filled in, perhaps
            elif inner is not None and 0 < len(f"{inner}") <= longest:
                found[way] = inner
        level = below[:1_000]
    return dict(islice(found.items(), MOST_VALUES))


def _form_in(way: str, inner: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the members of an object in which nothing is: to be filled in, perhaps."""
    is_form = all(one in (None, "") for one in inner.values())
    return {f"{way}.{name}": None for name in inner if is_form}


def _held_in(record: Mapping[str, JSON]) -> Iterator[tuple[str, JSON]]:
    """Return the values that stand in objects of their own, under the objects' names.

    Such as the `pincode` of `{"pincode": {"enabled": true, "value": "1207"}}`.
    """
    for name, inner in record.items():
        if isinstance(inner, dict):
            held = [inner[one] for one in _VALUE_NAMES if one in inner]
            yield from ((name, one) for one in held if not isinstance(one, dict | list))


_VALUE_NAMES = ("value", "#text", "_text", "$")


def _by_kind(record: Mapping[str, JSON]) -> Iterator[tuple[str, JSON]]:
    """Return the `id` of a record under what it says that it is, as `offer.id`.

    JSON-LD 1.1 has an `@id` and an `@type`.
    """
    names = ("object", "type", "kind", "resource", "__typename")
    for key, told in (("id", names), ("@id", ("@type",))):
        kinds = (record.get(name) for name in told if key in record)
        words = (one for one in kinds if isinstance(one, str) and one.isidentifier())
        yield from ((f"{kind}.id", record[key]) for kind in words)


@dataclass(frozen=True, slots=True)
class ActionValues:
    """The values of one action, by our own names."""

    essential: tuple[str, ...]
    """Without these the request says nothing."""
    optional: tuple[str, ...] = ()
    """Sent until the network says that it does not know them."""
    on_demand: tuple[str, ...] = ("key", WORDS)
    """Sent only where the network asks for them."""

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.essential, *self.optional, *self.on_demand)


ACTIONS: Mapping[str, ActionValues] = {
    "claim": ActionValues(("task_id",), ("agent_id",)),
    "submit": ActionValues(
        ("task_id", "result"),
        ("agent_id", "evidence"),
        ("key", WORDS, LENGTH, WORD_COUNT, LINE_COUNT),
    ),
    "complete": ActionValues(("task_id",), ("agent_id",)),
    "post_task": ActionValues(
        ("title", "description", "reward"), ("agent_id", "kind", "tags", "input")
    ),
}
"""By the names of the endpoints."""
STATE_OF: Mapping[str, str] = {
    "claim": "claimed",
    "submit": "submitted",
    "complete": "completed",
    "post_task": "open",
}
"""What a task is by each action."""
LONGEST_WORDS = 1_000
"""In characters."""


def words_for(action: str, values: Values) -> str:
    """Return a text for names that may mean anything: the work, or what is done."""
    said = f"{STATE_OF[action]} by an autonomous agent".capitalize()
    told = values.get("result", values.get("title", said))
    text = told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
    return text[:LONGEST_WORDS] or said


def counts_of(values: Values) -> dict[str, JSON]:
    """Return how long a result is, if it is a text."""
    result = values.get("result")
    if not isinstance(result, str):
        return {}
    lines, words = result.splitlines(), result.split()
    return {LENGTH: len(result), WORD_COUNT: len(words), LINE_COUNT: len(lines)}


def tail_of(task_id: JSON) -> dict[str, JSON]:
    """Return the last part of an id that is a way to its record, from its root."""
    *before, tail = re.split(r"[/:]", task_id) if isinstance(task_id, str) else [""]
    is_way = before and tail and ".." not in before
    return {TASK_TAIL: tail} if is_way else {}


OF_REGISTRATION = f"{REGISTER.name}."
"""Before those that the registration gave."""
GIVEN = (OF_REGISTRATION, *(f"{action}." for action in ACTIONS))
"""Before the sources that are values of an earlier answer."""
MOMENTS = ("now", "ahead")
"""The sources of times: of the first try, and one to come."""
_OPTIONAL = frozenset(name for one in ACTIONS.values() for name in one.optional) | {
    *("", *MOMENTS)  # a constant, and what is always known
}


@dataclass(frozen=True, slots=True)
class Placed:
    """One value at its place in a body."""

    path: Path
    source: str = ""
    """Empty for a constant."""
    kind: str = ""
    """The JSON type that it is sent as; empty sends it as it is."""
    constant: JsonValue = None


@dataclass(frozen=True)
class RequestShape:
    """Where the values of one action go."""

    placed: tuple[Placed, ...]
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent besides our own."""

    @property
    def repeats_values(self) -> bool:
        """Whether one value stands under several names."""
        sources = [one.source for one in self.placed if one.source]
        return len({*sources}) < len(sources)

    def body(self, values: Values) -> dict[str, JSON] | str:
        """Return the body: the same one for the same values, in the same order.

        A text is sent as it is.
        """
        if self._outside and (whole := self.at((WHOLE,))) is not None:
            return str(converted(values.get(whole.source), "string"))
        made: dict[str, JSON] = {}
        for one in self.placed:
            if one in self._outside:
                continue
            if not one.source:
                _put(made, one.path, deepcopy(one.constant))
            elif one.source in values:
                _put(made, one.path, converted(values[one.source], one.kind))
        return {name: _with_arrays(value) for name, value in made.items()}

    def headers_for(self, values: Values) -> dict[str, str]:
        """Return the headers that it has besides our own."""
        told = self._under(HEADER, values)
        told.pop(ASSUMED.idempotency_header, "")
        sendable = {k: v for k, v in told.items() if v.isascii() and v.isprintable()}
        return {**self.headers, **sendable}

    def key_for(self, key: IdempotencyKey) -> IdempotencyKey:
        """Return the key of this shape: networks may refuse one key with two bodies.

        It depends on nothing but the shape, so that a repeat has it again in any run.
        It is a UUID only where that was asked for, since a repeat of what an earlier
        release sent has to have the key that was sent.
        """
        own = key if self.is_plain else f"{key}-{self.mark}"
        return IdempotencyKey(str(converted(own, self.key_kind)))

    @property
    def key_kind(self) -> str:
        """The form of its key that was asked for; empty if none was."""
        asked = self.at((KEY_HEADER,))
        return asked.kind if asked else ""

    def query_for(self, values: Values) -> dict[str, str]:
        """Return what it says in the address."""
        return self._under(QUERY, values)

    def _under(self, prefix: str, values: Values) -> dict[str, str]:
        said = {
            one.path[0].removeprefix(prefix): converted(
                values.get(one.source, one.constant), one.kind
            )
            for one in self._outside
            if one.path[0].startswith(prefix)
        }
        is_text = {name: isinstance(value, str) for name, value in said.items()}
        return {k: str(v) if is_text[k] else json.dumps(v) for k, v in said.items()}

    @cached_property
    def _outside(self) -> tuple[Placed, ...]:
        return tuple(one for one in self.placed if is_outside(one.path))

    def fits(self, values: Values) -> bool:
        """Return whether all that it needs is there, and not empty as in a form."""
        return all(values.get(source) is not None for source in self._needed)

    @cached_property
    def _needed(self) -> frozenset[str]:
        return frozenset([one.source for one in self.placed]) - _OPTIONAL

    @cached_property
    def reads_record(self) -> bool:
        """Whether it says what only the task's record shows."""
        return any(one.source.startswith(RECORD) for one in self.placed)

    @cached_property
    def tells_time(self) -> bool:
        """Whether it says when it is sent, or a time to come."""
        return any(one.source in MOMENTS for one in self.placed)

    @cached_property
    def is_plain(self) -> bool:
        """Whether each value stands under our own name for it."""
        return all(one.path == (one.source,) for one in self.placed)

    @property
    def paths(self) -> frozenset[Path]:
        """The ways to all names in it, those of objects included."""
        ways = (
            one.path[:i] for one in self.placed for i in range(len(one.path), 0, -1)
        )
        return frozenset(ways)

    def at(self, path: Path) -> Placed | None:
        """Return what stands at a path."""
        return next((one for one in self.placed if one.path == path), None)

    def path_of(self, source: str) -> Path | None:
        """Return where a value stands."""
        return next((one.path for one in self.placed if one.source == source), None)

    @property
    def envelope(self) -> Path:
        """Return the objects that are around everything."""
        paths = [
            one.path if one.path[-1:] == (FIRST,) else one.path[:-1]
            for one in self.placed
            if one.source and not is_outside(one.path)
        ]
        shared: list[str] = []
        for parts in zip(*paths, strict=False):
            if len({*parts}) > 1:
                break
            shared.append(parts[0])
        # What is in an array is one of several, and the array is around nothing else.
        until = shared.index(FIRST) - 1 if FIRST in shared else len(shared)
        return tuple(shared[:until])

    @cached_property
    def mark(self) -> str:
        """A short name that no other shape has."""
        told = [[one.path, one.source, one.kind, one.constant] for one in self.placed]
        text = json.dumps([sorted(told, key=str), dict(self.headers)], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def is_header(path: Path) -> bool:
    """Return whether a value goes into a header, and not into the body."""
    return path[0].startswith(HEADER)


def is_outside(path: Path) -> bool:
    """Return whether a value goes into a header or the address, or is the body."""
    return path[0].startswith((HEADER, QUERY, WHOLE))


def _with_arrays(value: JSON) -> JSON:
    """Return a value in which each object of nothing but a "0" is an array of one."""
    if not isinstance(value, dict):
        return value
    inner = {name: _with_arrays(one) for name, one in value.items()}
    return [inner[FIRST]] if inner.keys() == {FIRST} else inner


def _put(body: dict[str, JSON], path: Path, value: JSON) -> None:
    for part in path[:-1]:
        inner = body.setdefault(part, {})
        if not isinstance(inner, dict):
            return  # the search puts nothing inside of a value
        body = inner
    there = body.get(path[-1])
    if not (isinstance(there, dict) and value == {}):
        body[path[-1]] = value


def leaves_of(body: JSON, above: Path = ()) -> Iterator[tuple[Path, JSON]]:
    """Return what a body has that is no object around others, and where."""
    if isinstance(body, list) and body and isinstance(body[0], dict):
        body = {FIRST: body[0]}
    if isinstance(body, Mapping) and (body or not above):
        for name, value in body.items():
            yield from leaves_of(value, (*above, name))
    else:
        yield above, body


def _as_number(text: str, *, is_whole: bool) -> JSON:
    """Return the number that a text is; the text where it is none."""
    if re.fullmatch(r"-?\d{1,18}", text.strip()):
        return int(text)
    return float(text) if NUMERAL.fullmatch(text) and not is_whole else text


def is_day(kind: str) -> bool:
    """Return whether it is a date without a time: `date`, or `date %d.%m.%Y`."""
    return kind.partition(" ")[0] == "date"


def _as_day(day: str, form: str) -> str:
    try:
        return date.fromisoformat(day).strftime(form) if form else day
    except ValueError:
        return day


def converted(  # noqa: C901, PLR0911, PLR0912  # one line for each type
    value: JSON, kind: str
) -> JSON:
    """Return a value as the JSON type that a network wants; as it is where it can't."""
    if not kind:
        return value
    if kind == "objectid" and re.fullmatch(r"[0-9a-f]{24}", str(value)):
        return {"$oid": value}
    if kind == "uuid":  # the same one for the same key
        digest = hashlib.blake2b(str(value).encode(), digest_size=16).digest()
        return str(UUID(bytes=digest, version=4))
    if is_day(kind):
        return _as_day(str(value)[: len("YYYY-MM-DD")], kind.partition(" ")[2])
    if kind == "id":  # of what is made: a key without the action before it
        return str(value).rpartition("-")[2]
    if kind == "json" or (kind == "string" and not isinstance(value, str)):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return str(value) if is_number else json.dumps(value)
    if kind in {"integer", "number"} and isinstance(value, str):
        return _as_number(value, is_whole=kind == "integer")
    if kind == "boolean" and str(value).lower() in {"true", "false"}:
        return str(value).lower() == "true"
    if kind == "array" and not isinstance(value, list):
        return [value]
    return value


def leaf_names(body: JSON) -> set[str]:
    """Return every name in a body."""
    return {name for path, _ in leaves_of(body) for name in path}
