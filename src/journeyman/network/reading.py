"""The tolerant reader of task records (design 5): nothing here raises."""

from collections.abc import Callable, Mapping
from dataclasses import fields as declared_fields
from functools import lru_cache
from typing import Final

from journeyman.domain import JSON, Task, TaskId
from journeyman.network.dialect import ASSUMED, Dialect
from journeyman.network.fields import Fields, spelling, spellings
from journeyman.network.values import (
    as_amount,
    as_identifier,
    as_label,
    as_moment,
    as_object,
    as_string,
    as_words,
)

LONGEST_TITLE = 500
"""In characters; the rest is cut, since a title is only shown."""
MOST_WRAPPERS: Final = 2
"""Inside each other, such as the attributes of a JSON:API record in a GraphQL node."""


class Names:
    """The dialect's names, reduced once to what their spellings share."""

    def __init__(self, dialect: Dialect) -> None:
        self._reduced = {
            item.name: spellings(value)
            for item in declared_fields(dialect)
            if isinstance(value := getattr(dialect, item.name), tuple)
            and all(isinstance(name, str) for name in value)
        }

    def __getitem__(self, field: str) -> tuple[str, ...]:
        return self._reduced[field]


@lru_cache(maxsize=8)
def names_of(dialect: Dialect) -> Names:
    """Give a dialect's names, which several readers share and nobody changes."""
    return Names(dialect)


class RecordReader:
    """Reads one record of a listing as a task."""

    #: What tells a task from any other thing that has an id.
    FEATURES = (
        "title",
        "description",
        "kind",
        "text",
        "input",
        "tags",
        "reward",
        "status",
        "deadline",
        "poster",
        "claimant",
    )

    #: Of them, what says that there is something to do.
    TELLING = ("title", "description", "text", "input")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._names = names_of(dialect)
        self._flags = self._all_of("open_flags", "closed_flags")
        self._maybe_wrappers = self._all_of(
            "record_wrappers",
            "record_wrappers_without_id",
            "record_wrappers_of_bare_ids",
        )

    def _all_of(self, *fields: str) -> frozenset[str]:
        return frozenset(name for field in fields for name in self._names[field])

    def task(self, record: JSON, key: str | None = None) -> Task | None:
        """Read a record; None when it is no object or has no usable id.

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

    def describes_work(self, record: JSON) -> bool:
        """Tell whether a record says what is to be done, not just an id and state."""
        if not isinstance(record, dict):
            return False
        seen = self._open(record)
        return any(seen.has(self._names[feature]) for feature in self.TELLING)

    def promises_reward(self, record: JSON) -> bool:
        """Tell whether a record has a reward that can be read."""
        seen = self._open(record) if isinstance(record, dict) else Fields()
        return seen.pick(self._names["reward"], self._reward) is not None

    def not_understood(self, record: Mapping[str, JSON]) -> dict[str, JSON]:
        """Give the fields of a record that told us nothing, as they were sent.

        Fields of an object that was opened are named by their way, as `task.colour`.
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
                rest |= {f"{name}.{field}": held for field, held in left}
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
            opened = self._laid_over(opened, self._wrappers(opened))
        return opened

    def _laid_over(self, outer: Fields, inner: dict[str, dict[str, JSON]]) -> Fields:
        return outer.without(inner).under(*inner.values()) if inner else outer

    def _wrappers(self, outer: Fields) -> dict[str, dict[str, JSON]]:
        """Find the objects in a record that hold (part of) the task itself."""
        if not outer.has_some(self._maybe_wrappers):
            return {}
        inner = outer.objects(self._names["record_wrappers"])
        more = outer.objects(self._names["record_wrappers_without_id"])
        if not self._id(outer):
            # The one with the id is the record; `data` beside it is its input.
            named = {k: v for k, v in (inner | more).items() if self._id(Fields(v))}
            is_bare = self._features(outer.without([*inner, *more])) == 0
            return named or (inner | more if is_bare else inner)
        more |= outer.objects(self._names["record_wrappers_of_bare_ids"])
        if more and not inner and self._features(outer.without(more)) == 0:
            # With a reward, or two other signs, it is a task and no task's input.
            return {k: v for k, v in more.items() if self._features(Fields(v)) > 1}
        return inner

    def _features(self, seen: Fields) -> int:
        return sum(seen.has(self._names[feature]) for feature in self.FEATURES)

    def _id(self, seen: Fields) -> str | None:
        return seen.pick(self._names["id"], as_identifier)

    def _kind(self, value: JSON) -> str | None:
        word = as_label(value)
        return None if word in self._dialect.kind_of_everything else word

    def _status(self, seen: Fields) -> str:
        """Read the network's word for it; a flag that the task is taken is stronger."""
        status = seen.pick(self._names["status"], as_label) or ""
        if not seen.has_some(self._flags):
            return status
        closed = (n for n in self._names["closed_flags"] if seen.get(n) is True)
        is_shut = any(seen.get(name) is False for name in self._names["open_flags"])
        flag = next(closed, "closed" if is_shut else "")
        return flag.removeprefix("is") or status

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
    """Give what a task's record says that we did not understand."""
    return RecordReader(dialect).not_understood(record)
