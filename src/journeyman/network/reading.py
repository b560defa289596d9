"""The tolerant reader of task records (design 5): nothing here raises."""

from dataclasses import fields as declared_fields

from journeyman.domain import JSON, Task, TaskId
from journeyman.network.dialect import Dialect
from journeyman.network.fields import Fields, spellings
from journeyman.network.values import (
    as_amount,
    as_identifier,
    as_moment,
    as_string,
    as_word,
    as_words,
)


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

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._names = Names(dialect)

    def task(self, record: JSON) -> Task | None:
        """Read a record; None when it is no object or has no usable id."""
        if not isinstance(record, dict):
            return None
        seen = self._open(record)
        name = self._id(seen)
        return self._build(TaskId(name), seen, record) if name else None

    def likeness(self, record: JSON) -> int:
        """Count how much of a task a record shows: 0 without an id, at most 12."""
        if not isinstance(record, dict):
            return 0
        seen = self._open(record)
        if not self._id(seen):
            return 0
        return 1 + sum(seen.has(self._names[feature]) for feature in self.FEATURES)

    def describes_work(self, record: JSON) -> bool:
        """Tell whether a record says what is to be done, not just an id and state."""
        if not isinstance(record, dict):
            return False
        telling = ("title", "description", "text", "input")
        seen = self._open(record)
        return any(seen.has(self._names[feature]) for feature in telling)

    def agent(self, value: JSON) -> str | None:
        """Read who an agent is: an id, or an object that has one."""
        if isinstance(value, dict):
            return Fields(value).pick(self._names["agent_id"], as_identifier)
        return as_identifier(value)

    def _build(self, name: TaskId, seen: Fields, record: dict[str, JSON]) -> Task:
        names = self._names
        description = seen.pick(names["description"], as_string) or ""
        given = seen.value(names["input"])
        return Task(
            id=name,
            title=(seen.pick(names["title"], as_string) or "").strip(),
            description=description,
            kind=seen.pick(names["kind"], self._kind) or "",
            tags=seen.pick(names["tags"], as_words) or (),
            reward=seen.pick(names["reward"], self._reward) or 0,
            text=self._text(seen, given) or description,
            input=given,
            status=seen.pick(names["status"], as_word) or "",
            deadline=seen.pick(names["deadline"], as_moment),
            poster=seen.pick(names["poster"], self.agent),
            claimant=seen.pick(names["claimant"], self.agent),
            raw=record,
        )

    def _open(self, record: dict[str, JSON]) -> Fields:
        """Lay what a record's wrappers hold over what is outside of them."""
        outer = Fields(record)
        inner = outer.objects(self._names["record_wrappers"])
        if not self._id(outer):
            inner |= outer.objects(self._names["record_wrappers_without_id"])
            # The one with the id is the record; `data` beside it is its input.
            inner = {k: v for k, v in inner.items() if self._id(Fields(v))} or inner
        return outer.without(inner).under(*inner.values()) if inner else outer

    def _id(self, seen: Fields) -> str | None:
        return seen.pick(self._names["id"], as_identifier)

    def _kind(self, value: JSON) -> str | None:
        word = as_word(value)
        return None if word in self._dialect.kind_of_everything else word

    def _text(self, seen: Fields, given: JSON) -> str | None:
        own = seen.pick(self._names["text"], as_string)
        if own:
            return own
        if isinstance(given, dict):
            return Fields(given).pick(self._names["text"], as_string)
        return as_string(given)

    def _reward(self, value: JSON) -> int | None:
        units = self._dialect.credit_units
        if isinstance(value, dict):
            inside = Fields(value)
            unit = inside.pick(self._names["reward_unit"], as_word) or ""
            if unit not in units:
                return None
            value = inside.value(self._names["reward_amount"])
        amount = as_amount(value, units)
        return amount if amount is not None and amount >= 0 else None
