"""The tasks that we know, and the only way to move one from state to state."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from journeyman.domain import tasks
from journeyman.journal.codec import damaged_row, from_json
from journeyman.journal.database import Database, Memo, Now, Row, marks
from journeyman.journal.facts import Totals

STATE_TOTAL = "state."
ENDED_TOTAL = "ended."
"""The day (UTC), the state and the strategy follow."""
SKIPPED_TOTAL = "skipped."
"""The reason follows."""
SEEN_TOTAL = "tasks.seen"
FORGOTTEN_TOTAL = "tasks.forgotten"
TEXTS_DROPPED, EVENTS_DROPPED = "texts.dropped_until", "events.dropped_until"
"""The facts that hold until when ended tasks have lost theirs."""
TASKS_DROPPED = "tasks.dropped_until"
"""The fact that holds until when ended tasks are past: see `PastTask`."""
PAST_STATES = (
    tasks.TaskState.COMPLETED,
    tasks.TaskState.LOST,
    tasks.TaskState.DECLINED,
    tasks.TaskState.FAILED,
    tasks.TaskState.REJECTED,
)
"""How a task of the past ended. The journal holds places: more only go to the end."""
LONG_REVIEW = 6
"""After so many answers, which take a minute, a review is long: where nothing was ever
paid, other tasks need not wait for its end."""
LONG_DOUBT = 8
"""After so many requests, which take some minutes, a doubt about one task is long."""
_BEGUN = tasks.IN_FLIGHT - {tasks.TaskState.CLAIMING, tasks.TaskState.CLAIMED}
_IN_SLOT = frozenset({tasks.TaskState.CLAIMING, tasks.TaskState.EXECUTING})
WORK = frozenset({tasks.TaskState.CLAIMED, tasks.TaskState.CLAIMING})
"""Ours, or perhaps ours, and not done: these need a slot."""
REPEATS = tasks.IN_FLIGHT - WORK - {tasks.TaskState.EXECUTING}
"""Requests that are repeated, or results that wait to be sent."""
DUE = "next_at IS NOT NULL AND (next_at <= ? OR updated_at > ?)"
"""As `TaskRecord.is_due` says it of one; the index of open tasks asks for the first
half."""


@dataclass(frozen=True, kw_only=True)
class TaskRecord:
    """A task and where it stands; without slots, for `replaced`."""

    task: tasks.Task
    state: tasks.TaskState
    strategy: str
    """The strategy that wanted it; empty for a skipped task."""
    reason: str
    """Why it is in this state."""
    result: tasks.Result | None
    """What the strategy made; never changed once written."""
    attempts: int
    """Requests sent for the current intent."""
    doubts: int
    """Refusals in a row that may be mistaken, such as a gateway's 404."""
    executions: int
    """How often a strategy was started on it."""
    maybe_sent: bool
    """A request for the current intent may have left."""
    next_at: float
    """Not to be touched before; seconds since 1970."""
    seen_at: datetime
    updated_at: datetime
    reviews: int = 0
    """Answers in a row that it is still being looked at; 0 where nobody does."""
    given: tasks.Given = field(default_factory=dict)
    """What the network's answers gave for it."""
    unsent: bool = False
    """This process has just committed the intent and has not sent its request yet.
    Not stored: after a restart, a committed intent counts as sent."""
    claimed_at: datetime | None = field(default=None, compare=False)
    """When this process began to claim it. Not stored: the history tells it, too."""

    def is_due(self, now: datetime) -> bool:
        """Return whether it may be touched.

        A wait that begins in the future was written before the clock was set back: it
        would last for as long as the clock was wrong, so it counts as over.
        """
        return self.next_at <= now.timestamp() or self.updated_at > now

    @property
    def task_id(self) -> tasks.TaskId:
        """The network's name for the task."""
        return self.task.id


if TYPE_CHECKING:
    replaced = replace
else:

    def replaced(record: TaskRecord, **values: Any) -> TaskRecord:  # noqa: ANN401 - of any field
        """Return a record with other values, in a quarter of `replace`'s time.

        A task is moved ten times, each time into another record.
        """
        other = object.__new__(TaskRecord)
        other.__dict__.update(record.__dict__, **values)
        return other


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownTask:
    """What was decided last about a task that is listed again."""

    state: tasks.TaskState
    reason: str
    fingerprint: str
    seen_at: str
    strategy: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """How much there is to do, at one moment, besides the tasks that are running."""

    due_repeats: bool
    """A request may be repeated, or a result sent."""
    due_work: bool
    """A task that is ours, or perhaps ours, may be worked on."""
    due_new: bool
    """A task may be claimed."""
    next_at: float | None
    """When the next task falls due, in seconds since 1970."""
    in_flight: int
    put_off: int
    """Of those in flight, tasks that are claimed and not executed."""
    in_review: int
    """Of those in flight, tasks that the network looks at, whether for long or not."""
    in_long_review: int
    in_long_doubt: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskEvent:
    """One move of a task."""

    before: str
    after: str
    reason: str
    at: datetime


class Decided(NamedTuple):
    """What was decided about a listed task."""

    task: tasks.Task
    state: tasks.TaskState
    """WANTED or SKIPPED."""
    reason: str
    fingerprint: str
    strategy: str = ""
    """That wants it; empty: nobody."""
    chance: float = 1.0
    """Of being paid, 0 to 1, as the strategy says."""
    cost: float = 0.0
    """In credits, as the strategy says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PastTask:
    """What is left of a task that ended long ago: its rows are gone."""

    state: tasks.TaskState
    month: str
    """In which it ended (UTC), such as 2026-11."""


def with_given(record: TaskRecord, given: tasks.Given) -> TaskRecord:
    """Return a record with what an answer gave besides; its next move keeps it."""
    return replaced(record, given={**record.given, **given}) if given else record


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskEnd:
    """How a task ended, without what it was about."""

    task_id: str
    strategy: str
    state: str
    reason: str


_TASK_FIELDS = tuple(one.name for one in fields(tasks.Task))


_BULK = ("description", "text", "input", "raw")
"""What takes room, and has a default where it is gone."""
_FIELDS_WITHOUT_BULK = tuple(name for name in _TASK_FIELDS if name not in _BULK)


def encode_task(task: tasks.Task, *, with_bulk: bool = True) -> str:
    """Return a task as JSON; without its bulk, if we only remember to have seen it.

    For why not by the codec, see there.
    """
    # Not by `asdict`, which copies the whole record deeply, once for each task.
    names = _TASK_FIELDS if with_bulk else _FIELDS_WITHOUT_BULK
    content = {name: getattr(task, name) for name in names}
    content["deadline"] = task.deadline.isoformat() if task.deadline else None
    if with_bulk:
        content["raw"] = dict(task.raw)
    return json.dumps(content)


def decode_task(text: str) -> tasks.Task:
    """Read a task written by `encode_task`."""
    content = from_json(text)
    content["tags"] = tuple(content["tags"])
    if content["deadline"] is not None:
        content["deadline"] = datetime.fromisoformat(content["deadline"])
    return tasks.Task(**content)


def encode_result(result: tasks.Result) -> str:
    """Return a result as JSON; the same bytes are sent at every repeat."""
    return json.dumps({"output": result.output, "evidence": dict(result.evidence)})


def decode_result(text: str) -> tasks.Result:
    """Read a result written by `encode_result`."""
    content = from_json(text)
    return tasks.Result(output=content["output"], evidence=content["evidence"])


def to_record(row: Row) -> TaskRecord:
    """Read a row of the view `full_tasks`.

    Raises:
        StateError: it is damaged.
    """
    try:
        return _to_record(row)
    except (ValueError, KeyError, TypeError) as error:
        raise damaged_row(error) from error


def _to_record(row: Row) -> TaskRecord:
    return TaskRecord(
        task=decode_task(row["record"]),
        state=tasks.TaskState(row["state"]),
        strategy=row["strategy"],
        reason=row["reason"],
        result=decode_result(row["result"]) if row["result"] is not None else None,
        attempts=row["attempts"],
        doubts=row["doubts"],
        executions=row["executions"],
        maybe_sent=bool(row["maybe_sent"]),
        next_at=row["next_at"] or 0.0,
        seen_at=datetime.fromisoformat(row["seen_at"]),
        updated_at=datetime.fromisoformat(row["updated_at"]),
        reviews=row["reviews"],
        given=from_json(row["given"]),
    )


class IllegalMoveError(AssertionError):
    """The table of transitions has no such move: a bug, not a user's mistake."""


class StaleMoveError(AssertionError):
    """The task was not in the state that the move starts from: a bug."""


_OLDEST_SKIPPED = (
    "SELECT task_id FROM tasks WHERE state = 'skipped' AND updated_at < ? "
    "ORDER BY updated_at, task_id LIMIT ?"
)
_REASONS = (
    "SELECT reason, count(*) AS n FROM tasks "  # noqa: S608 - ours
    f"WHERE task_id IN ({_OLDEST_SKIPPED}) GROUP BY reason"
)
_NOT_NEWEST = "AND event_id < (SELECT max(event_id) FROM task_events)"
_FORGET = (
    # The tasks last: by them the others are found.
    f"DELETE FROM task_texts WHERE task_id IN ({_OLDEST_SKIPPED})",  # noqa: S608 - ours
    # Its number would be given again to a later event, which then counts as read.
    f"DELETE FROM task_events WHERE task_id IN ({_OLDEST_SKIPPED}) {_NOT_NEWEST}",  # noqa: S608 - ours
    f"DELETE FROM tasks WHERE task_id IN ({_OLDEST_SKIPPED})",  # noqa: S608 - ours
)


def _named(states: Collection[tasks.TaskState]) -> str:
    return ", ".join(f"'{state}'" for state in sorted(states))


_DUE_BY_NUMBER = "(next_at <= ?2 OR updated_at > ?3)"
_WORKLOAD = (
    # Only open tasks are read: their index leaves out all history.
    "WITH busy AS (SELECT value FROM json_each(?1)), "  # noqa: S608 - names of ours
    f"open AS (SELECT state, reviews, attempts, {_DUE_BY_NUMBER} AS due FROM tasks "
    f"WHERE state IN ({_named(tasks.IN_FLIGHT)}) AND next_at IS NOT NULL "
    "AND task_id NOT IN busy) "
    "SELECT count(*) AS in_flight, sum(state = 'claimed') AS put_off, "
    "sum(reviews >= 1) AS in_review, "
    f"sum(reviews >= {LONG_REVIEW}) AS in_long_review, "
    f"sum(attempts >= {LONG_DOUBT} AND reviews = 0 "
    "AND state IN ('submitting', 'completing')) AS in_long_doubt, "
    f"max(due AND state IN ({_named(REPEATS)})) AS due_repeats, "
    f"max(due AND state IN ({_named(WORK)})) AS due_work, "
    "EXISTS(SELECT 1 FROM tasks WHERE state = 'wanted' AND next_at IS NOT NULL "
    f"AND {_DUE_BY_NUMBER} AND task_id NOT IN busy) AS due_new, "
    "(SELECT min(next_at) FROM tasks WHERE next_at > ?2) AS next_at FROM open"
)


_ENDED_BETWEEN = (
    "SELECT task_id FROM tasks "
    "WHERE next_at IS NULL AND updated_at > ? AND updated_at <= ?"
)
_SHOWN_OF_ENDED = ("task_id", "ended_at", "state", "strategy", "reason")
_TEXTS_OF_ENDED = (
    "SELECT *, updated_at AS ended_at FROM full_tasks WHERE strategy != '' "
    "AND next_at IS NULL AND updated_at > ? AND updated_at <= ? ORDER BY updated_at"
)
_SHOWN_OF_MOVES = ("before", "after", "reason", "at")
_MOVES_OF_ENDED = (
    "SELECT updated_at AS ended_at, task_id, before, after, task_events.reason, at "
    "FROM tasks JOIN task_events USING (task_id) WHERE strategy != '' "
    "AND next_at IS NULL AND updated_at > ? AND updated_at <= ? "
    "ORDER BY updated_at, task_id, event_id"
)
_PATHS_OF_BULK = ", ".join(f"'$.{name}'" for name in _BULK)
_DROP_TEXTS = (
    "UPDATE task_texts SET result = NULL, record = json_remove(record, "  # noqa: S608 - ours
    f"{_PATHS_OF_BULK}) "
    f"WHERE task_id IN ({_ENDED_BETWEEN})"
)
_DROP_GIVEN = (
    "UPDATE tasks SET given = '{}' WHERE given != '{}' "
    "AND next_at IS NULL AND updated_at > ? AND updated_at <= ?"
)
_DROP_EVENTS = (
    # All but the last, which says how the task ended.
    f"DELETE FROM task_events WHERE task_id IN ({_ENDED_BETWEEN}) "  # noqa: S608 - ours
    "AND event_id < (SELECT max(event_id) FROM task_events AS last "
    "WHERE last.task_id = task_events.task_id)"
)
_GONE = (
    "SELECT task_id, state, updated_at FROM tasks "  # noqa: S608 - names of ours
    f"WHERE state IN ({_named(tasks.TERMINAL)}) "
    "AND next_at IS NULL AND updated_at > ? AND updated_at <= ?"
)
_NAMED = "task_id IN (SELECT value FROM json_each(?))"
_DROP_TASKS = (
    f"DELETE FROM task_texts WHERE {_NAMED}",  # noqa: S608 - ours
    f"DELETE FROM task_events WHERE {_NAMED} {_NOT_NEWEST}",  # noqa: S608 - ours
    f"DELETE FROM tasks WHERE {_NAMED}",  # noqa: S608 - ours
)


@dataclass(eq=False)
class Tasks:
    """The table of tasks.

    Decisions and events are written with the commit: many with each statement.
    """

    database: Database
    totals: Totals
    now: Now
    _decided: dict[tasks.TaskId, dict[str, object]] = field(
        init=False, default_factory=dict
    )
    _texts: dict[tasks.TaskId, dict[str, object]] = field(
        init=False, default_factory=dict
    )
    _events: list[dict[str, object]] = field(init=False, default_factory=list)
    _memo: Memo = field(init=False)

    def __post_init__(self) -> None:
        self._memo = Memo(self.database)
        self.database.before_commit(self._write_pending)
        for pending in (self._decided, self._texts, self._events):
            self.database.after_rollback(pending.clear)

    def _write_pending(self) -> None:
        self._write_decided()
        if self._events:
            self.database.insert_all("task_events", self._events)
            self._events.clear()

    def _write_decided(self) -> None:
        if self._decided:
            tables = {"tasks": self._decided, "task_texts": self._texts}
            for table, rows in tables.items():
                self.database.upsert_all(table, "task_id", rows=[*rows.values()])
                rows.clear()

    # -- decisions about listed tasks -------------------------------------

    def last_decision(
        self, task_id: tasks.TaskId
    ) -> tuple[tasks.TaskState, str] | None:
        """Return the state and fingerprint under which a listed task is known."""
        known = self.last_decisions([task_id]).get(task_id)
        return (known.state, known.fingerprint) if known else None

    def last_decisions(
        self, task_ids: Collection[tasks.TaskId]
    ) -> dict[tasks.TaskId, KnownTask]:
        """Return what is known of listed tasks; what is missing was never seen."""
        self._write_decided()
        rows = self.database.rows(
            "SELECT task_id, state, reason, fingerprint, seen_at, strategy FROM tasks "
            "WHERE task_id IN (SELECT value FROM json_each(?))",
            json.dumps([*task_ids]),
        )
        known = {
            tasks.TaskId(row["task_id"]): KnownTask(
                state=tasks.TaskState(row["state"]),
                reason=row["reason"],
                fingerprint=row["fingerprint"],
                seen_at=row["seen_at"],
                strategy=row["strategy"],
            )
            for row in rows
        }
        past = self._past(task_id for task_id in task_ids if task_id not in known)
        for task_id, one in past.items():
            known[task_id] = KnownTask(
                state=one.state, reason="", fingerprint="", seen_at="", strategy=""
            )
        return known

    def past(self, task_id: tasks.TaskId) -> PastTask | None:
        """Return what is left of a task of which the rows are gone."""
        return self._past([task_id]).get(task_id)

    def _past(self, task_ids: Iterable[tasks.TaskId]) -> dict[tasks.TaskId, PastTask]:
        numbers = {
            _number_of(task_id): task_id
            for task_id in (task_ids if self._memo.get("past", self._has_past) else ())
        }
        if not numbers:  # as for most pages of a listing
            return {}
        rows = self.database.rows(
            "SELECT number, month, state FROM past_tasks "
            "WHERE number IN (SELECT value FROM json_each(?))",
            json.dumps([*numbers]),
        )
        return {
            numbers[row["number"]]: PastTask(
                state=PAST_STATES[row["state"]],
                month=f"{row['month'] // 100}-{row['month'] % 100:02}",
            )
            for row in rows
        }

    def _has_past(self) -> bool:
        return self.database.row("SELECT 1 FROM past_tasks LIMIT 1") is not None

    def record_decision(
        self,
        task: tasks.Task,
        state: tasks.TaskState,
        *,
        reason: str,
        strategy: str = "",
        chance: float = 1.0,
        cost: float = 0.0,
        fingerprint: str,
    ) -> None:
        """Record what was decided about a listed task: WANTED or SKIPPED.

        `chance` (of being paid, 0 to 1) and `cost` (in credits) are what the strategy
        that wants it says.

        Raises:
            IllegalMoveError: the task is past being decided about.
        """
        known = self.last_decisions([task.id])
        decision = Decided(
            task=task,
            state=state,
            reason=reason,
            strategy=strategy,
            chance=chance,
            cost=cost,
            fingerprint=fingerprint,
        )
        self.record_decided(decision, known.get(task.id))

    def record_decided(self, decided: Decided, known: KnownTask | None) -> None:
        """Record a decision about a task that `last_decisions` told of just now.

        One that is skipped again for the same reason gets no further event: a listing
        that is decided about anew whenever a strategy changes would fill the journal.

        Raises:
            IllegalMoveError: the task is past being decided about.
        """
        task, state, reason = decided.task, decided.state, decided.reason
        before = known.state if known else tasks.TaskState.SEEN
        _require(task.id, before, state)
        at = self.now().isoformat()
        self._decided[task.id] = {
            "task_id": task.id,
            "state": state,
            "strategy": decided.strategy,
            "reason": reason,
            "reward": task.reward,
            "kind": task.kind,
            "chance": decided.chance,
            "cost": decided.cost,
            "fingerprint": decided.fingerprint,
            "next_at": _due_at(state, 0.0),
            "seen_at": known.seen_at if known else at,
            "updated_at": at,
        }
        is_skipped = state is tasks.TaskState.SKIPPED
        self._texts[task.id] = {
            "task_id": task.id,
            "record": encode_task(task, with_bulk=not is_skipped),
        }
        if known:
            self._count(known.state, known.strategy, known.reason, at, -1)
        else:
            self.totals.add(SEEN_TOTAL)
        self._count(state, decided.strategy, reason, at)
        if before is not state or known is None or known.reason != reason:
            self._append_event(task.id, before, state, reason, at)

    def _count(
        self,
        state: tasks.TaskState,
        strategy: str,
        reason: str,
        at: str,
        number: int = 1,
    ) -> None:
        """Count a task that comes to a state, or leaves it where `number` is -1."""
        self.totals.add(STATE_TOTAL + state, number)
        if state is tasks.TaskState.SKIPPED:
            self.totals.add(SKIPPED_TOTAL + reason, number)
        if strategy and _due_at(state, 0.0) is None:
            day = at[: len("2026-01-01")]
            self.totals.add(f"{ENDED_TOTAL}{day}.{state}.{strategy}", number)

    def forget_skipped(self, moment: datetime, most: int) -> int:
        """Drop skipped tasks that nothing has changed since then, in a transaction.

        Returns how many they were: at most `most`, those that are longest unchanged.
        """
        forgotten, before = 0, moment.isoformat()
        for row in self.database.rows(_REASONS, before, most):
            self.totals.add(SKIPPED_TOTAL + row["reason"], -row["n"])
        for statement in _FORGET:
            forgotten = self.database.write(statement, before, most)
        self.totals.add(STATE_TOTAL + tasks.TaskState.SKIPPED, -forgotten)
        self.totals.add(FORGOTTEN_TOTAL, forgotten)
        self.totals.drop_zeros(SKIPPED_TOTAL)
        return forgotten

    def texts_of_ended(self, after: str, until: str) -> list[dict[str, tasks.JSON]]:
        """Return what `drop_texts` would drop, but for tasks that nobody wanted."""
        rows = self.database.rows(_TEXTS_OF_ENDED, after, until)
        return [
            {
                **{name: row[name] for name in _SHOWN_OF_ENDED},
                "task": json.loads(row["record"]),
                "result": json.loads(row["result"] or "null"),
            }
            for row in rows
        ]

    def drop_texts(self, after: str, until: str) -> None:
        """Drop what takes room of tasks that ended in a time, in a transaction.

        Texts, results, and what the network gave for requests that are over.
        """
        self.database.write(_DROP_TEXTS, after, until)
        self.database.write(_DROP_GIVEN, after, until)

    def moves_of_ended(self, after: str, until: str) -> list[dict[str, tasks.JSON]]:
        """Return the moves of which `drop_events` would drop some, as above."""
        rows = self.database.rows(_MOVES_OF_ENDED, after, until)
        return [
            {
                "task_id": task_id,
                "ended_at": ended_at,
                "moves": [{name: row[name] for name in _SHOWN_OF_MOVES} for row in own],
            }
            for (ended_at, task_id), own in groupby(rows, itemgetter(0, 1))
        ]

    def drop_events(self, after: str, until: str) -> None:
        """Drop the moves of tasks that ended in a time, but for the last."""
        self.database.write(_DROP_EVENTS, after, until)

    def drop_tasks(self, after: str, until: str) -> None:
        """Drop all rows of tasks that ended in a time, in a transaction.

        A number stays, by which each is known when it is listed again, and how it
        ended.
        """
        gone = self.database.rows(_GONE, after, until)
        past = [
            {
                "number": _number_of(row["task_id"]),
                "month": int(row["updated_at"][:7].replace("-", "")),
                "state": PAST_STATES.index(row["state"]),
            }
            for row in gone
        ]
        self.database.upsert_all("past_tasks", "number", rows=past)
        self._memo.clear()
        task_ids = json.dumps([row["task_id"] for row in gone])
        for statement in _DROP_TASKS:
            self.database.write(statement, task_ids)

    def ended_until(self, after: str, before: str, most: int) -> str:
        """Return when the last of so many tasks ended, or the end of the time."""
        row = self.database.row(
            "SELECT updated_at FROM tasks WHERE next_at IS NULL AND updated_at > ? "
            "AND updated_at < ? ORDER BY updated_at LIMIT 1 OFFSET ?",
            *(after, before, most - 1),
        )
        return str(row["updated_at"]) if row else max(after, before)

    # -- moves ------------------------------------------------------------

    def move(
        self,
        record: TaskRecord,
        after: tasks.TaskState,
        *,
        through: tasks.TaskState | None = None,
        reason: str = "",
        result: tasks.Result | None = None,
        next_at: float = 0.0,
        attempts: int = 0,
        doubts: int = 0,
        reviews: int = 0,
    ) -> TaskRecord:
        """Move a task, if it still stands where `record` says; write the event.

        Each state starts with its own `attempts`, `doubts` and `reviews`. An intent is
        marked as maybe sent from the start, since the process may die right after this
        commit. `through` is a state on the way that needs nothing: one write serves
        both moves, and the history has an event for each.

        Raises:
            IllegalMoveError: the table of transitions has no such move.
            StaleMoveError: somebody else moved it meanwhile.
        """
        path = [record.state, *([through] if through else []), after]
        for one, other in pairwise(path):
            _require(record.task_id, one, other)
        at = self.now()
        stored = encode_result(result) if result and not record.result else None
        moved = replaced(
            record,
            state=after,
            reason=reason,
            maybe_sent=after in tasks.INTENTS,
            unsent=after in tasks.INTENTS,
            next_at=next_at,
            attempts=attempts,
            doubts=doubts,
            reviews=reviews,
            executions=record.executions + path[1:].count(tasks.TaskState.EXECUTING),
            # As it would be read back, so that every sending is the same.
            result=decode_result(stored) if stored else record.result,
            updated_at=at,
            claimed_at=at if after is tasks.TaskState.CLAIMING else record.claimed_at,
        )
        written = self._update(moved, record.state)
        if stored is not None:
            self.database.write(
                "UPDATE task_texts SET result = coalesce(result, ?) WHERE task_id = ?",
                *(stored, moved.task_id),
            )
        self._count(record.state, record.strategy, record.reason, written, -1)
        self._count(after, record.strategy, reason, written)
        for one, other in pairwise(path):
            self._append_event(moved.task_id, one, other, reason, written)
        return moved

    def forget_decision(self, task_id: tasks.TaskId) -> None:
        """Have a task that is skipped now decided about again when it is listed."""
        self.database.write(
            "UPDATE tasks SET fingerprint = '' WHERE task_id = ?", task_id
        )

    def postpone(self, record: TaskRecord, next_at: float) -> TaskRecord:
        """Keep a task in its state until `next_at`, with what `record` says of it.

        Raises:
            StaleMoveError: somebody else moved it meanwhile.
        """
        later = replaced(record, next_at=next_at, unsent=False, updated_at=self.now())
        self._update(later, record.state)
        return later

    def retry(self, record: TaskRecord, by: str) -> TaskRecord:
        """Make a task due, as its owner wants; one that was given up, where it was.

        Raises:
            StaleMoveError: somebody else moved it meanwhile.
        """
        due = replaced(record, reason=f"retried by {by}", next_at=0.0, unsent=False)
        if record.state not in tasks.TERMINAL:
            return self._move_by_owner(record, due)
        left = tasks.TaskState(self.history(record.task_id)[-1].before)
        if left is tasks.TaskState.EXECUTING:
            left = tasks.TaskState.CLAIMED
        again = replaced(
            due,
            state=left,
            # What was sent before it was given up may have been processed.
            maybe_sent=left in tasks.INTENTS,
            attempts=0,
            doubts=0,
            executions=0,
        )
        return self._move_by_owner(record, again)

    def abandon(self, record: TaskRecord, by: str) -> TaskRecord:
        """Give up a task in flight, as its owner wants.

        Raises:
            StaleMoveError: somebody else moved it meanwhile.
        """
        is_ours = record.state is not tasks.TaskState.CLAIMING
        after = tasks.TaskState.DECLINED if is_ours else tasks.TaskState.LOST
        given_up = replaced(
            record, state=after, reason=f"abandoned by {by}", maybe_sent=False
        )
        return self._move_by_owner(record, given_up)

    def _move_by_owner(self, record: TaskRecord, moved: TaskRecord) -> TaskRecord:
        """Write what the owner decided, which the table of transitions need not have.

        A task that leaves its end is no longer counted on the day of that.
        """
        moved = replaced(moved, updated_at=self.now())
        left, now = record.updated_at.isoformat(), self._update(moved, record.state)
        self._count(record.state, record.strategy, record.reason, left, -1)
        self._count(moved.state, moved.strategy, moved.reason, now)
        self._append_event(moved.task_id, record.state, moved.state, moved.reason, now)
        return moved

    def _update(self, record: TaskRecord, before: tasks.TaskState) -> str:
        """Write where a task stands now, if it still stands where it did before.

        Returns the time of it, as it is written.
        """
        at, given = record.updated_at.isoformat(), record.given
        changed = self.database.write(
            "UPDATE tasks SET state = ?, reason = ?, maybe_sent = ?, next_at = ?, "
            "attempts = ?, doubts = ?, executions = ?, reviews = ?, given = ?, "
            "updated_at = ? WHERE task_id = ? AND state = ?",
            *(str(record.state), record.reason, int(record.maybe_sent)),
            *(_due_at(record.state, record.next_at), record.attempts, record.doubts),
            *(record.executions, record.reviews),
            *(json.dumps(dict(given)) if given else "{}", at),
            *(record.task_id, str(before)),
        )
        if not changed:
            raise StaleMoveError(f"{record.task_id} is no longer {before}")
        return at

    def enrich(self, record: TaskRecord, task: tasks.Task, strategy: str) -> TaskRecord:
        """Keep what a later answer told about a task, and who does it now."""
        if task is record.task and strategy == record.strategy:
            return record
        if task != record.task:
            self._write_text(task)
        if strategy != record.strategy:
            self.database.write(
                "UPDATE tasks SET strategy = ? WHERE task_id = ?",
                strategy,
                record.task_id,
            )
        return replaced(record, task=task, strategy=strategy)

    # -- questions --------------------------------------------------------

    def get(self, task_id: tasks.TaskId) -> TaskRecord:
        """Return a task.

        Raises:
            KeyError: it was never seen.
        """
        self._write_decided()
        row = self.database.row("SELECT * FROM full_tasks WHERE task_id = ?", task_id)
        if row is None:
            raise KeyError(task_id)
        return to_record(row)

    def due(
        self,
        states: Collection[tasks.TaskState],
        now: datetime,
        limit: int,
        *,
        excluding: Iterable[tasks.TaskId] = (),
    ) -> list[TaskRecord]:
        """Return the tasks in these states that may be touched now, best paid first."""
        names, left_out = sorted(states), list(excluding)
        rows = self.database.rows(
            f"SELECT * FROM full_tasks WHERE state IN ({marks(names)}) "  # noqa: S608 - only question marks are put in
            f"AND {DUE} AND task_id NOT IN (SELECT value FROM json_each(?)) "
            "ORDER BY reward DESC, number LIMIT ?",
            *(*names, now.timestamp(), now.isoformat(), json.dumps(left_out), limit),
        )
        return [to_record(row) for row in rows]

    def workload(
        self, now: datetime, running: Collection[tasks.TaskId] = ()
    ) -> Workload:
        """Return how much there is to do, besides the tasks that are running."""
        excluding = json.dumps([*running])
        moment = now.timestamp(), now.isoformat()
        row = self.database.rows(_WORKLOAD, excluding, *moment)[0]
        return Workload(
            due_repeats=bool(row["due_repeats"]),
            due_work=bool(row["due_work"]),
            due_new=bool(row["due_new"]),
            next_at=row["next_at"],
            in_flight=row["in_flight"],
            put_off=row["put_off"] or 0,
            in_review=row["in_review"] or 0,
            in_long_review=row["in_long_review"] or 0,
            in_long_doubt=row["in_long_doubt"] or 0,
        )

    def recent(self, state: str | None, limit: int) -> list[TaskRecord]:
        """Return the tasks that moved last, newest first, all or of one state."""
        if state is None:
            which, values = "1", list[str]()
        else:
            is_open = _due_at(tasks.TaskState(state), 0.0) is not None
            # So that the index of those that are open, or have ended, is used.
            which = f"state = ? AND next_at IS {'NOT NULL' if is_open else 'NULL'}"
            values = [state]
        rows = self.database.rows(
            f"SELECT * FROM full_tasks WHERE {which} "  # noqa: S608 - our own words
            "ORDER BY updated_at DESC, number DESC LIMIT ?",
            *(*values, limit),
        )
        return [to_record(row) for row in rows]

    def counts(self) -> dict[str, int]:
        """Return how many tasks are in each state that has any."""
        counts = self.totals.starting_with(STATE_TOTAL)
        return {state: count for state, count in counts.items() if count}

    def count_in(self, states: Collection[tasks.TaskState]) -> int:
        """Return how many tasks are in one of these states."""
        return sum(self.totals.get(STATE_TOTAL + state) for state in states)

    def undecided_by_kind(
        self, running: Collection[tasks.TaskId]
    ) -> Counter[tuple[str, str]]:
        """Return how many tasks of each strategy and kind were begun and not decided.

        What a strategy has put off is not counted unless it runs, nor what has been
        looked at, or in doubt, for long: nobody should wait for that.
        """
        rows = self.database.rows(
            "SELECT task_id, strategy, kind FROM tasks "  # noqa: S608 - only question marks are put in
            f"WHERE next_at IS NOT NULL AND state IN ({marks(_BEGUN)}) "
            "AND reviews < ? AND attempts < ? UNION "
            f"SELECT task_id, strategy, kind FROM tasks "
            f"WHERE task_id IN ({marks(running)})",
            *_BEGUN,
            LONG_REVIEW,
            LONG_DOUBT,
            *running,
        )
        return Counter((row["strategy"], row["kind"]) for row in rows)

    def history(self, task_id: tasks.TaskId) -> list[TaskEvent]:
        """Return all moves of a task, oldest first."""
        if self._events:
            self._write_pending()
        return history_of(self.database, task_id)

    def arrivals(
        self, task_id: tasks.TaskId, state: tasks.TaskState
    ) -> list[TaskEvent]:
        """Return the moves that led to a state; what happened in it is no move."""
        if self._events:
            self._write_pending()
        return _moves(
            self.database, "AND after = ? AND before != after", task_id, state
        )

    def outcomes_by_strategy(self) -> dict[str, dict[str, int]]:
        """Return, for each strategy that ever wanted a task, its tasks by state.

        Of those that have ended, also what is no longer stored.
        """
        rows = self.database.rows(
            "SELECT strategy, state, count(*) AS n FROM tasks "
            "WHERE next_at IS NOT NULL GROUP BY strategy, state"
        )
        counts = Counter({(row["strategy"], row["state"]): row["n"] for row in rows})
        for name, number in self.totals.starting_with(ENDED_TOTAL).items():
            _, state, strategy = name.split(".", 2)
            counts[strategy, state] += number
        outcomes: dict[str, dict[str, int]] = {}
        for (strategy, state), number in sorted(counts.items()):
            if number:
                outcomes.setdefault(strategy, {})[state] = number
        return outcomes

    def skip_reasons(self, limit: int) -> dict[str, int]:
        """Return the commonest reasons for which tasks are skipped."""
        counts = Counter(self.totals.starting_with(SKIPPED_TOTAL))
        ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        return {reason: number for reason, number in ranked[:limit] if number > 0}

    def open_since(
        self, states: Collection[tasks.TaskState]
    ) -> list[tuple[tasks.TaskId, datetime]]:
        """Return the open tasks in these states, with when they came to it."""
        rows = self.database.rows(
            "SELECT task_id, (SELECT max(at) FROM task_events "  # noqa: S608 - only question marks are put in
            "WHERE task_id = tasks.task_id AND after = tasks.state "
            "AND before <> after) AS since "
            f"FROM tasks WHERE state IN ({marks(states)}) AND next_at IS NOT NULL "
            "ORDER BY since",
            *states,
        )
        return [
            (row["task_id"], datetime.fromisoformat(row["since"]))
            for row in rows
            if row["since"]
        ]

    def last_ends(
        self, states: Collection[tasks.TaskState], limit: int
    ) -> Iterator[TaskEnd]:
        """Return how the last tasks came to one of these states, newest first.

        The states are such as need nothing more. The last of each are found by an
        index: among all tasks, many that were skipped may have come since.
        """
        newest = "ORDER BY updated_at DESC, number DESC LIMIT ?"
        of_one = (
            "SELECT * FROM (SELECT *, rowid AS number FROM tasks "  # noqa: S608 - as above
            f"WHERE state = ? AND next_at IS NULL {newest})"
        )
        rows = self.database.rows(
            "SELECT task_id, strategy, state, reason "  # noqa: S608 - our own words
            f"FROM ({' UNION ALL '.join([of_one] * len(states))}) {newest}",
            *(value for state in states for value in (state, limit)),
            limit,
        )
        return (TaskEnd(**dict(row)) for row in rows)

    def last_reason(self, state: tasks.TaskState) -> str:
        """Return why the last task came to a state that ends it; empty for none."""
        row = self.database.row(
            "SELECT reason FROM tasks WHERE state = ? AND next_at IS NULL "
            "ORDER BY updated_at DESC, rowid DESC LIMIT 1",
            state,
        )
        return str(row["reason"]) if row else ""

    def _write_text(self, task: tasks.Task) -> None:
        self.database.upsert(
            "task_texts", "task_id", task_id=task.id, record=encode_task(task)
        )

    def _append_event(
        self, task_id: tasks.TaskId, before: str, after: str, reason: str, at: str
    ) -> None:
        # As plain texts: for each enum, SQLite's module looks for what adapts it.
        event = {"task_id": task_id, "before": str(before), "after": str(after)}
        self._events.append({**event, "reason": reason, "at": at})


def _number_of(task_id: str) -> int:
    """Return what a task of the past is known by; two have the same by no chance."""
    digest = hashlib.sha256(task_id.encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _require(
    task_id: tasks.TaskId, before: tasks.TaskState, after: tasks.TaskState
) -> None:
    if not tasks.is_allowed(before, after):
        raise IllegalMoveError(f"task {task_id} cannot go from {before} to {after}")


def _due_at(state: tasks.TaskState, next_at: float) -> float | None:
    """Return what is stored: one without a date is not in the index of due tasks."""
    needs_something = state in tasks.IN_FLIGHT or state is tasks.TaskState.WANTED
    return next_at if needs_something else None


def history_of(database: Database, task_id: str) -> list[TaskEvent]:
    """Return all moves of a task, oldest first."""
    return _moves(database, "", task_id)


def _moves(database: Database, condition: str, *values: object) -> list[TaskEvent]:
    rows = database.rows(
        "SELECT before, after, reason, at FROM task_events "  # noqa: S608 - ours
        f"WHERE task_id = ? {condition} ORDER BY event_id",
        *values,
    )
    return [
        TaskEvent(
            before=row["before"],
            after=row["after"],
            reason=row["reason"],
            at=datetime.fromisoformat(row["at"]),
        )
        for row in rows
    ]


def slot_seconds(moves: Iterable[tuple[str, datetime]]) -> float:
    """Add up how long a task was claimed and executed; a clock set back counts as 0.

    `moves` are the states that it came to, and when. While it waits for a repeat it has
    no slot.
    """
    spans = (
        (later - earlier).total_seconds()
        for (state, earlier), (_, later) in pairwise(moves)
        if state in _IN_SLOT
    )
    return sum(max(0.0, span) for span in spans)


SLOT_SECONDS = (
    "SELECT task_id, sum(max(0, julianday(left_at) - julianday(at)) * 86400) AS "  # noqa: S608 - names of ours
    "seconds FROM (SELECT task_id, after, at, lead(at) OVER "
    "(PARTITION BY task_id ORDER BY event_id) AS left_at FROM task_events "
    "WHERE task_id IN (SELECT task_id FROM ended)) "
    f"WHERE left_at IS NOT NULL AND after IN ({_named(_IN_SLOT)}) GROUP BY task_id"
)
"""The same for each task of a table `ended`, but for those whose moves were dropped."""
