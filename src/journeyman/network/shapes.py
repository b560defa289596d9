"""Where the values of an action go in its request: a small table, and no code.

A shape is written as in the configuration:

    task_id = "task.id"                     {"task": {"id": ...},
    agent_id = "agent"                       "agent": ...,
    constants = { source = "journeyman" }    "source": "journeyman"}

A place is the way to a field, with dots between the objects that are around it.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from difflib import get_close_matches

from journeyman.domain.tasks import JSON


@dataclass(frozen=True, slots=True)
class ActionValues:
    """The values of one action, by our own names."""

    essential: tuple[str, ...]
    """Without these the request says nothing."""
    others: tuple[str, ...] = ()
    """A dialect may leave these away."""
    droppable: frozenset[str] = frozenset()
    """Left out of a request where they are empty."""

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.essential, *self.others)


_TASK_OF_AGENT = ActionValues(("task_id",), ("agent_id",))

ACTIONS: Mapping[str, ActionValues] = {
    "claim": _TASK_OF_AGENT,
    "submit": ActionValues(
        ("task_id", "result"),
        ("agent_id", "evidence"),
        frozenset({"evidence"}),
    ),
    "complete": _TASK_OF_AGENT,
    "post_task": ActionValues(
        ("title", "description", "reward"),
        ("agent_id", "kind", "tags", "input"),
        frozenset({"kind", "tags", "input"}),
    ),
}
"""By the names of the endpoints."""


Table = Mapping[str, JSON]
"""A shape as in the configuration."""

NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
"""What a dialect may be called."""
RESERVED_NAMES = frozenset({"auto", "mended"})
OWN_HEADERS = frozenset(
    {
        *("accept", "accept-encoding", "authorization", "connection"),
        *("content-length", "content-type", "cookie", "expect", "host"),
        *("idempotency-key", "proxy-authorization", "te", "transfer-encoding"),
        *("upgrade", "user-agent"),
    }
)
"""Headers that a shape may not set: they are the client's, or frame the message."""
MAX_DEPTH = 8
"""Objects around a field; more is a slip of the pen."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VISIBLE = re.compile(r"[\x20-\x7e]*")
_EMPTY: tuple[JSON, ...] = (None, "", [], {})


@dataclass(frozen=True, slots=True)
class ActionShape:
    """Where the values of one action go."""

    places: Mapping[str, str]
    """From our name for a value to its place on the wire."""
    constants: Mapping[str, JSON] = field(default_factory=dict)
    """Sent along with the values, as they are."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent besides our own."""

    def body(self, action: str, values: Mapping[str, JSON]) -> dict[str, JSON]:
        """Build the body: the same one for the same values, in the same order."""
        droppable = ACTIONS[action].droppable
        made: dict[str, JSON] = {}
        for name, place in self.places.items():
            if not (name in droppable and values[name] in _EMPTY):
                _put(made, place.split("."), values[name])
        return _merged(made, self.constants)

    def has(self, path: str) -> bool:
        """Return whether a request of this shape has such a field or object."""
        return any(_is_within(place, path) for place in self._all_places())

    def says(self, path: str) -> bool:
        """Return whether a request of this shape has a value there, not an object."""
        return path in self._all_places()

    def value_at(self, path: str) -> str | None:
        """Return the value whose place this is; None for an object around one."""
        found = (name for name, place in self.places.items() if place == path)
        return next(found, None)

    def as_table(self) -> dict[str, JSON]:
        """Return the shape as in the configuration."""
        table: dict[str, JSON] = dict(self.places)
        if self.constants:
            table["constants"] = dict(self.constants)
        if self.headers:
            table["headers"] = dict(self.headers)
        return table

    @property
    def mark(self) -> str:
        """A short name that no other shape has."""
        text = json.dumps(self.as_table(), sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()

    def _all_places(self) -> Iterator[str]:
        yield from self.places.values()
        yield from _leaves(self.constants)


@dataclass(frozen=True, slots=True)
class WritingDialect:
    """A named way to write requests: a shape for some actions, or for all."""

    name: str
    shapes: Mapping[str, ActionShape]
    """By action, as in `journeyman.domain.ACTIONS`."""


def writing_dialect(name: str, tables: Mapping[str, Table]) -> WritingDialect:
    """Read a dialect out of the configuration.

    Raises:
        ValueError: something in it cannot be sent; the message has all that is wrong.
    """
    checked_name(name)
    problems: list[str] = []
    shapes: dict[str, ActionShape] = {}
    for action, table in tables.items():
        found = [*_problems(action, table)]
        problems += found
        if not found:
            shapes[action] = _shape_from(table)
    if not tables:
        problems.append(
            f"it does not describe an action; wanted one of {_listed(ACTIONS)}"
        )
    if problems:
        raise ValueError("; ".join(problems))
    return WritingDialect(name, shapes)


def remembered_shape(action: str, table: JSON) -> ActionShape | None:
    """Read a shape that was written down as a table; None when it cannot be used."""
    if not isinstance(table, dict) or any(_problems(action, table)):
        return None
    return _shape_from(table)


def _shape_from(table: Table) -> ActionShape:
    """Read a shape out of a table that has no problems."""
    places = {name: place for name, place in table.items() if isinstance(place, str)}
    constants, headers = table.get("constants"), table.get("headers")
    return ActionShape(
        places,
        dict(constants) if isinstance(constants, dict) else {},
        {k: str(v) for k, v in headers.items()} if isinstance(headers, dict) else {},
    )


def checked_name(name: str) -> str:
    """Return a name back that a dialect may have.

    Raises:
        ValueError: it may not.
    """
    if not NAME.fullmatch(name):
        raise ValueError("is not a valid name: use small letters, digits, `-` and `_`")
    if name in RESERVED_NAMES:
        raise ValueError("is not a valid name: the word is reserved")
    return name


def _problems(action: str, table: Table) -> Iterator[str]:
    if action not in ACTIONS:
        yield f"there is no action {action!r}; wanted one of {_listed(ACTIONS)}"
        return
    wanted = ACTIONS[action]
    for name in table:
        if name not in {*wanted.names, "constants", "headers"}:
            near = get_close_matches(name, wanted.names, n=1)
            also = f", did you mean {near[0]}" if near else ""
            known = _listed(wanted.names)
            yield f"{action} has no value {name!r}{also}; it has {known}"
    missing = [name for name in wanted.essential if name not in table]
    if missing:
        yield f"{action} needs {_listed(missing)}"
    yield from _problems_of_places(action, table)
    yield from _problems_of_headers(action, table.get("headers", {}))


def _problems_of_places(action: str, table: Table) -> Iterator[str]:
    extra = table.get("constants", {})
    if not isinstance(extra, dict):
        yield f"{action}.constants must be a table"
        extra = {}
    taken: list[str] = [*_leaves(extra)]
    for name in ACTIONS[action].names:
        if name not in table:
            continue
        place = table[name]
        if not _is_place(place):
            yield f"{action}.{name} must be a place such as 'task.id', not {place!r}"
            continue
        clash = [other for other in taken if _overlap(str(place), other)]
        if clash:
            yield f"{action}.{name} has the place that {clash[0]!r} already has"
        taken.append(str(place))


def _is_place(place: JSON) -> bool:
    parts = place.split(".") if isinstance(place, str) else []
    return 0 < len(parts) <= MAX_DEPTH and all(part.strip() for part in parts)


def _problems_of_headers(action: str, headers: JSON) -> Iterator[str]:
    if not isinstance(headers, dict):
        yield f"{action}.headers must be a table"
        return
    for name, value in headers.items():
        if name.lower() in OWN_HEADERS:
            yield f"{action}.headers.{name} is set by Journeyman itself"
        elif not _TOKEN.fullmatch(name):
            yield f"{action}.headers has {name!r}, which is not a valid header name"
        if not (isinstance(value, str) and _VISIBLE.fullmatch(value)):
            # The value is not quoted: it may be a key.
            yield f"{action}.headers.{name} must be text in visible ASCII"


def _listed(names: Mapping[str, object] | tuple[str, ...] | list[str]) -> str:
    return ", ".join(names)


def _put(body: dict[str, JSON], path: list[str], value: JSON) -> None:
    for part in path[:-1]:
        inner = body.setdefault(part, {})
        if isinstance(inner, dict):  # always: `writing_dialect` refuses a clash
            body = inner
    body[path[-1]] = value


def _merged(body: dict[str, JSON], more: Mapping[str, JSON]) -> dict[str, JSON]:
    for name, value in more.items():
        inner = body.get(name)
        if isinstance(inner, dict) and isinstance(value, dict):
            body[name] = _merged(inner, value)
        else:
            body[name] = deepcopy(value)
    return body


def _leaves(constants: Mapping[str, JSON], above: str = "") -> Iterator[str]:
    for name, value in constants.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}"


def _is_within(place: str, path: str) -> bool:
    return place == path or place.startswith(f"{path}.")


def _overlap(one: str, other: str) -> bool:
    return _is_within(one, other) or _is_within(other, one)


_IN_ORDER = (
    *("task_id", "agent_id", "result", "evidence"),
    *("title", "description", "reward", "kind", "tags", "input"),
)


def _ready(
    name: str, places: Mapping[str, str], *, without: Collection[str] = ()
) -> WritingDialect:
    """Return a dialect with the same places in all actions; else a value's own name."""
    tables: dict[str, Table] = {}
    for action, values in ACTIONS.items():
        left = [one for one in _IN_ORDER if one in values.names and one not in without]
        tables[action] = {one: places.get(one, one) for one in left}
    return writing_dialect(name, tables)


SNAKE = _ready("snake", {})
"""As in the bodies that the contract does show; tried first."""
CAMEL = _ready("camel", {"task_id": "taskId", "agent_id": "agentId"})
"""As in the checkout's answer (contract section 2: sessionId, agentId)."""
ID_ONLY = _ready("id-only", {"task_id": "id"}, without=("agent_id", "evidence"))
"""For networks that take the agent from its token."""
WRAPPED = _ready(
    "wrapped",
    {
        "task_id": "task.id",
        "result": "submission.result",
        "evidence": "submission.evidence",
        **{name: f"task.{name}" for name in ACTIONS["post_task"].names},
        "agent_id": "agent.id",
    },
)
"""Objects in an object."""

READY: tuple[WritingDialect, ...] = (SNAKE, CAMEL, ID_ONLY, WRAPPED)
