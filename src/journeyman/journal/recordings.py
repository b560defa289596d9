"""Recordings: what was shown of each task, and what was decided about it then.

How a task went on is not written again: it is read from the tables that know it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from journeyman.domain.tasks import Result, Task, TaskId
from journeyman.journal import tasks
from journeyman.journal.codec import from_json
from journeyman.journal.database import Database, Now, Row
from journeyman.journal.facts import Totals
from journeyman.journal.ledger import EntryKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Opinion:
    """What one strategy said to one task."""

    wanted: bool
    reason: str
    offer: float = 0.0
    """What it expected to earn, in credits; 0 for a no."""


class NewRecordedDecision(NamedTuple):
    """A decision to be kept."""

    task_id: TaskId
    task: str
    """What `shown` returns, as JSON."""
    in_part: bool
    """The text was cut, or a secret was taken out of it."""
    strategy: str
    """Who got the task; empty: nobody."""
    reason: str
    opinions: str
    """As `encode_opinions` returns them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedOutcome:
    """How a task went on after the decision, as far as it is known now."""

    state: str
    strategy: str
    """Who did it in the end."""
    credits: int = 0
    """That it brought."""
    seconds: float = 0.0
    """That it held a slot."""
    result: Result | None = None
    task: Task | None = None
    """As it was worked on: a claim's answer may have told more. None: never was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedDecision:
    """A decision as it was kept."""

    task: Task
    """As it was shown then, without the record as sent."""
    at: datetime
    in_part: bool
    strategy: str
    reason: str
    opinions: Mapping[str, Opinion]
    """By strategy, of all that were asked."""
    ending: RecordedOutcome


_TEXTS = ("title", "description", "kind", "status", "tags")
_VALUES = ("reward", "input", "poster", "claimant")


def shown(task: Task) -> dict[str, Any]:
    """Return what a strategy was shown of a task, but for the record as sent.

    What is empty is left out, and so is a text that only repeats the description.
    """
    texts = {name: getattr(task, name) for name in _TEXTS}
    values = {name: getattr(task, name) for name in _VALUES}
    kept: dict[str, Any] = {name: text for name, text in texts.items() if text}
    kept |= {name: value for name, value in values.items() if value is not None}
    if task.deadline:
        kept["deadline"] = task.deadline.isoformat()
    return kept if task.text == task.description else {**kept, "text": task.text}


def decode_shown(task_id: str, text: str) -> Task:
    """Return the task of which `shown` was written as JSON."""
    content = from_json(text)
    content.setdefault("text", content.get("description", ""))
    content["tags"] = tuple(content.get("tags", ()))
    if "deadline" in content:
        content["deadline"] = datetime.fromisoformat(content["deadline"])
    return Task(id=TaskId(task_id), **content)


def encode_opinions(said: Iterable[tuple[str, bool, str, float]]) -> str:
    """Return opinions as JSON: reason, offer (null for a no), and all who said so.

    Each is a strategy's name, whether it wants the task, its reason and its offer.
    """
    names: dict[tuple[str, float | None], list[str]] = {}
    for name, is_wanted, reason, offer in said:
        names.setdefault((reason, offer if is_wanted else None), []).append(name)
    return json.dumps([[*opinion, *them] for opinion, them in names.items()])


def decode_opinions(text: str) -> dict[str, Opinion]:
    """Return the opinions written by `encode_opinions`."""
    content: list[Any] | dict[str, Any] = from_json(text)
    if isinstance(content, dict):  # as it was written before reasons were shared
        pairs = {
            name: [s, None] if isinstance(s, str) else s for name, s in content.items()
        }
        content = [[*pair, name] for name, pair in pairs.items()]
    return {
        name: Opinion(wanted=offer is not None, reason=reason, offer=offer or 0.0)
        for reason, offer, *names in content
        for name in names
    }


BYTES_TOTAL = "recordings.bytes"
ROW_BYTES = 200
"""About what a row takes beside its texts, with its place in the index."""
SHORTENED_BY = 25
"""So many rows are dropped at a time."""


@dataclass(eq=False)
class Recordings:
    """The table of decisions: one row for each task, of the last one about it."""

    database: Database
    totals: Totals
    now: Now

    def add(self, *new: NewRecordedDecision) -> None:
        """Keep decisions about different tasks, inside their transaction.

        Earlier ones about the same tasks are replaced.
        """
        at = self.now().isoformat()
        sizes = [len(one.task) + len(one.opinions) + ROW_BYTES for one in new]
        self._drop(
            "task_id IN (SELECT value FROM json_each(?))",
            json.dumps([one.task_id for one in new]),
        )
        rows = [
            {"at": at, "bytes": size, **one._asdict()}
            for one, size in zip(new, sizes, strict=True)
        ]
        self.database.insert_all("recordings", rows)
        self.totals.add(BYTES_TOTAL, sum(sizes))

    def bytes(self) -> int:
        """Return about how much room they take."""
        return self.totals.get(BYTES_TOTAL)

    def forget_before(self, moment: datetime) -> None:
        """Drop what is older, inside a transaction."""
        self._drop("at < ?", moment.isoformat())

    def shrink(self, most_bytes: int) -> None:
        """Drop the oldest rows where there are too many, inside a transaction."""
        size = self.bytes()
        while size > most_bytes:
            dropped = self._drop(
                "number IN (SELECT number FROM recordings ORDER BY number LIMIT ?)",
                SHORTENED_BY,
            )
            if not dropped:
                return
            size -= dropped

    def _drop(self, condition: str, value: object) -> int:
        """Delete rows; return how many bytes they took."""
        size = self.database.number(
            f"SELECT sum(bytes) FROM recordings WHERE {condition}",  # noqa: S608 - the conditions are ours
            value,
        )
        if size:
            self.database.write(f"DELETE FROM recordings WHERE {condition}", value)  # noqa: S608 - as above
            self.totals.add(BYTES_TOTAL, -size)
        return size

    # -- questions ----------------------------------------------------------

    def count(self, since: datetime | None = None) -> int:
        """Return how many decisions are recorded, all or since a moment."""
        return self.database.number(
            "SELECT count(*) FROM recordings WHERE ?1 IS NULL OR at >= ?1",
            since.isoformat() if since else None,
        )

    def last(
        self, limit: int, since: datetime | None = None
    ) -> Iterator[RecordedDecision]:
        """Yield the last decisions, oldest first; each is read when it is asked for."""
        rows = self.database.rows(
            "SELECT number FROM recordings WHERE ?1 IS NULL OR at >= ?1 "
            "ORDER BY number DESC LIMIT ?2",
            since.isoformat() if since else None,
            limit,
        )
        earned = self._earned() if rows else {}
        for row in reversed(rows):
            found = self.database.row(
                "SELECT recordings.*, tasks.state AS state, tasks.strategy AS doer, "
                "record, result FROM recordings LEFT JOIN tasks USING (task_id) "
                "LEFT JOIN task_texts USING (task_id) WHERE recordings.number = ?",
                row["number"],
            )
            if found is not None:
                yield self._decision(found, earned.get(found["task_id"], 0))

    def of(self, task_id: TaskId) -> RecordedDecision | None:
        """Return the decision about one task; None where none is kept."""
        row = self.database.row(
            "SELECT recordings.*, tasks.state AS state, tasks.strategy AS doer, "
            "record, result FROM recordings LEFT JOIN tasks USING (task_id) "
            "LEFT JOIN task_texts USING (task_id) WHERE recordings.task_id = ?",
            task_id,
        )
        return None if row is None else self._decision(row, 0)

    def _earned(self) -> dict[str, int]:
        """Return what each task brought. It reads the whole ledger, once."""
        rows = self.database.rows(
            "SELECT subject, sum(amount) AS n FROM ledger WHERE kind = ? "
            "GROUP BY subject",
            EntryKind.EARNED,
        )
        return {row["subject"]: row["n"] for row in rows}

    def _decision(self, row: Row, credits_: int) -> RecordedDecision:
        history = tasks.history_of(self.database, row["task_id"])
        return RecordedDecision(
            task=decode_shown(row["task_id"], row["task"]),
            at=datetime.fromisoformat(row["at"]),
            in_part=bool(row["in_part"]),
            strategy=row["strategy"],
            reason=row["reason"],
            opinions=decode_opinions(row["opinions"]),
            ending=RecordedOutcome(
                state=row["state"] or "",
                strategy=row["doer"] or "",
                credits=credits_,
                seconds=tasks.slot_seconds((move.after, move.at) for move in history),
                result=tasks.decode_result(row["result"]) if row["result"] else None,
                task=tasks.decode_task(row["record"]) if row["result"] else None,
            ),
        )
