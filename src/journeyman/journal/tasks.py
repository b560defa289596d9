"""The tasks that we know, and the only way to move one from state to state."""

import json
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from itertools import pairwise

from journeyman.domain import tasks
from journeyman.domain.text import UntrustedText
from journeyman.journal.database import Database, Now, Row, marks
from journeyman.journal.facts import Totals

STATE_TOTAL = "state."
SEEN_TOTAL = "tasks.seen"
FORGOTTEN_TOTAL = "tasks.forgotten"
LONG_REVIEW = 6
"""After so many answers, which take a minute, a review is long: where nothing was ever
paid, other tasks need not wait for its end."""
LONG_DOUBT = 8
"""After so many requests, which take some minutes, a doubt about one task is long."""
_BEGUN = tasks.IN_FLIGHT - {tasks.TaskState.CLAIMING, tasks.TaskState.CLAIMED}
_IN_SLOT = frozenset({tasks.TaskState.CLAIMING, tasks.TaskState.EXECUTING})
DUE = "next_at IS NOT NULL AND (next_at <= ? OR updated_at > ?)"
"""As `TaskRecord.is_due` says it of one; the index of open tasks asks for the first
half."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskRecord:
    """A task and where it stands."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskEvent:
    """One move of a task."""

    before: str
    after: str
    reason: str
    at: datetime


_TASK_FIELDS = tuple(one.name for one in fields(tasks.Task))


def slim(task: tasks.Task) -> tasks.Task:
    """Return a task without its bulk, for one that we only remember to have seen."""
    nothing = UntrustedText()
    return replace(task, description=nothing, text=nothing, input=None, raw={})


def encode_task(task: tasks.Task) -> str:
    """Return a task as JSON; for why not by the codec, see there."""
    # Not by `asdict`, which copies the whole record deeply, once for each task.
    content = {name: getattr(task, name) for name in _TASK_FIELDS}
    content["deadline"] = task.deadline.isoformat() if task.deadline else None
    content["raw"] = dict(task.raw)
    return json.dumps(content)


def decode_task(text: str) -> tasks.Task:
    """Read a task written by `encode_task`."""
    content = json.loads(text)
    content["tags"] = tuple(content["tags"])
    if content["deadline"] is not None:
        content["deadline"] = datetime.fromisoformat(content["deadline"])
    return tasks.Task(**content)


def encode_result(result: tasks.Result) -> str:
    """Return a result as JSON; the same bytes are sent at every repeat."""
    return json.dumps({"output": result.output, "evidence": dict(result.evidence)})


def decode_result(text: str) -> tasks.Result:
    """Read a result written by `encode_result`."""
    content = json.loads(text)
    return tasks.Result(output=content["output"], evidence=content["evidence"])


def to_record(row: Row) -> TaskRecord:
    """Read a row of the view `full_tasks`."""
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
        given=json.loads(row["given"]),
    )


class IllegalMoveError(AssertionError):
    """The table of transitions has no such move: a bug, not a user's mistake."""


class StaleMoveError(AssertionError):
    """The task was not in the state that the move starts from: a bug."""


_OLDEST_SKIPPED = (
    "SELECT task_id FROM tasks WHERE state = 'skipped' AND updated_at < ? "
    "ORDER BY updated_at, task_id LIMIT ?"
)
_NOT_NEWEST = "AND event_id < (SELECT max(event_id) FROM task_events)"
_FORGET = (
    # The tasks last: by them the others are found.
    f"DELETE FROM task_texts WHERE task_id IN ({_OLDEST_SKIPPED})",  # noqa: S608 - ours
    # Its number would be given again to a later event, which then counts as read.
    f"DELETE FROM task_events WHERE task_id IN ({_OLDEST_SKIPPED}) {_NOT_NEWEST}",  # noqa: S608 - ours
    f"DELETE FROM tasks WHERE task_id IN ({_OLDEST_SKIPPED})",  # noqa: S608 - ours
)


@dataclass(eq=False)
class Tasks:
    """The table of tasks."""

    database: Database
    totals: Totals
    now: Now

    # -- decisions about listed tasks -------------------------------------

    def last_decision(
        self, task_id: tasks.TaskId
    ) -> tuple[tasks.TaskState, str] | None:
        """Return the state and fingerprint under which a listed task is known."""
        row = self.database.row(
            "SELECT state, fingerprint FROM tasks WHERE task_id = ?", task_id
        )
        return (tasks.TaskState(row["state"]), str(row["fingerprint"])) if row else None

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

        One that is skipped again for the same reason gets no further event: a listing
        that is decided about anew whenever a strategy changes would fill the journal.

        `chance` (of being paid, 0 to 1) and `cost` (in credits) are what the strategy
        that wants it says.

        Raises:
            IllegalMoveError: the task is past being decided about.
        """
        known = self.database.row(
            "SELECT state, reason, seen_at FROM tasks WHERE task_id = ?", task.id
        )
        before = tasks.TaskState(known["state"]) if known else tasks.TaskState.SEEN
        _require(task.id, before, state)
        at = self.now().isoformat()
        self.database.upsert(
            "tasks",
            "task_id",
            task_id=task.id,
            state=state,
            strategy=strategy,
            reason=reason,
            reward=task.reward,
            kind=task.kind,
            chance=chance,
            cost=cost,
            fingerprint=fingerprint,
            next_at=_due_at(state, 0.0),
            seen_at=known["seen_at"] if known else at,
            updated_at=at,
        )
        self._write_text(slim(task) if state is tasks.TaskState.SKIPPED else task)
        if known:
            self.totals.add(STATE_TOTAL + before, -1)
        else:
            self.totals.add(SEEN_TOTAL)
        self.totals.add(STATE_TOTAL + state)
        if before is not state or known is None or known["reason"] != reason:
            self._append_event(task.id, before, state, reason, at)

    def forget_skipped(self, moment: datetime, most: int) -> int:
        """Drop skipped tasks that nothing has changed since then, in a transaction.

        Returns how many they were: at most `most`, those that are longest unchanged.
        """
        forgotten = 0
        for statement in _FORGET:
            forgotten = self.database.write(statement, moment.isoformat(), most)
        self.totals.add(STATE_TOTAL + tasks.TaskState.SKIPPED, -forgotten)
        self.totals.add(FORGOTTEN_TOTAL, forgotten)
        return forgotten

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
        moved = replace(
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
        )
        self._update(moved, record.state)
        if stored is not None:
            self.database.write(
                "UPDATE task_texts SET result = coalesce(result, ?) WHERE task_id = ?",
                *(stored, moved.task_id),
            )
        self.totals.add(STATE_TOTAL + record.state, -1)
        self.totals.add(STATE_TOTAL + after)
        for one, other in pairwise(path):
            self._append_event(moved.task_id, one, other, reason, at.isoformat())
        return moved

    def postpone(self, record: TaskRecord, next_at: float) -> TaskRecord:
        """Keep a task in its state until `next_at`, with what `record` says of it.

        Raises:
            StaleMoveError: somebody else moved it meanwhile.
        """
        later = replace(record, next_at=next_at, unsent=False, updated_at=self.now())
        self._update(later, record.state)
        return later

    def _update(self, record: TaskRecord, before: tasks.TaskState) -> None:
        """Write where a task stands now, if it still stands where it did before."""
        changed = self.database.write(
            "UPDATE tasks SET state = ?, reason = ?, maybe_sent = ?, next_at = ?, "
            "attempts = ?, doubts = ?, executions = ?, reviews = ?, updated_at = ? "
            "WHERE task_id = ? AND state = ?",
            *(record.state, record.reason, record.maybe_sent),
            *(_due_at(record.state, record.next_at), record.attempts, record.doubts),
            *(record.executions, record.reviews, record.updated_at.isoformat()),
            *(record.task_id, before),
        )
        if not changed:
            raise StaleMoveError(f"{record.task_id} is no longer {before}")

    def enrich(self, record: TaskRecord, task: tasks.Task, strategy: str) -> TaskRecord:
        """Keep what a later answer told about a task, and who does it now."""
        if task != record.task:
            self._write_text(task)
        if strategy != record.strategy:
            self.database.write(
                "UPDATE tasks SET strategy = ? WHERE task_id = ?",
                strategy,
                record.task_id,
            )
        return replace(record, task=task, strategy=strategy)

    def keep_given(self, record: TaskRecord, given: tasks.Given) -> TaskRecord:
        """Keep what an answer gave, besides what earlier ones did."""
        everything = {**record.given, **given}
        if everything == record.given:
            return record
        self.database.write(
            "UPDATE task_texts SET given = ? WHERE task_id = ?",
            json.dumps(everything),
            record.task_id,
        )
        return replace(record, given=everything)

    # -- questions --------------------------------------------------------

    def get(self, task_id: tasks.TaskId) -> TaskRecord:
        """Return a task.

        Raises:
            KeyError: it was never seen.
        """
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
            f"AND {DUE} AND task_id NOT IN ({marks(left_out)}) "
            "ORDER BY reward DESC, number LIMIT ?",
            *(*names, now.timestamp(), now.isoformat(), *left_out, limit),
        )
        return [to_record(row) for row in rows]

    def has_due(self, now: datetime, excluding: Collection[tasks.TaskId] = ()) -> bool:
        """Return whether `due` would return anything at all, but for those named."""
        row = self.database.row(
            f"SELECT 1 FROM tasks WHERE {DUE} "  # noqa: S608 - only question marks are put in
            f"AND task_id NOT IN ({marks(excluding)}) LIMIT 1",
            *(now.timestamp(), now.isoformat(), *excluding),
        )
        return row is not None

    def next_due_at(self, now: datetime) -> float | None:
        """Return when the next task falls due after now, in seconds since 1970."""
        row = self.database.row(
            "SELECT next_at FROM tasks WHERE next_at > ? ORDER BY next_at LIMIT 1",
            now.timestamp(),
        )
        return float(row["next_at"]) if row else None

    def recent(self, state: str | None, limit: int) -> list[TaskRecord]:
        """Return the tasks that moved last, newest first, all or of one state."""
        rows = self.database.rows(
            "SELECT * FROM full_tasks WHERE (?1 IS NULL OR state = ?1) "
            "ORDER BY updated_at DESC, number DESC LIMIT ?2",
            state,
            limit,
        )
        return [to_record(row) for row in rows]

    def counts(self) -> dict[str, int]:
        """Return how many tasks are in each state that has any."""
        counts = self.totals.starting_with(STATE_TOTAL)
        return {state: count for state, count in counts.items() if count}

    def count_in(self, states: Collection[tasks.TaskState]) -> int:
        """Return how many tasks are in one of these states."""
        return sum(self.totals.get(STATE_TOTAL + state) for state in states)

    def count_others(
        self, states: Collection[tasks.TaskState], excluding: Collection[tasks.TaskId]
    ) -> int:
        """Return how many tasks are in one of these open states, but for some."""
        return self.database.number(
            f"SELECT count(*) FROM tasks WHERE state IN ({marks(states)}) "  # noqa: S608 - only question marks are put in
            f"AND next_at IS NOT NULL AND task_id NOT IN ({marks(excluding)})",
            *states,
            *excluding,
        )

    def count_in_review(
        self, least: int, excluding: Collection[tasks.TaskId] = ()
    ) -> int:
        """Return how many open tasks are still being looked at, but for some.

        `least` is how often the network must have said so.
        """
        return self.database.number(
            "SELECT count(*) FROM tasks WHERE reviews >= ? AND "  # noqa: S608 - only question marks are put in
            f"next_at IS NOT NULL AND task_id NOT IN ({marks(excluding)})",
            least,
            *excluding,
        )

    def count_in_doubt(
        self, least: int, excluding: Collection[tasks.TaskId] = ()
    ) -> int:
        """Return how many tasks are in doubt after so many requests, but for some."""
        states = (tasks.TaskState.SUBMITTING, tasks.TaskState.COMPLETING)
        return self.database.number(
            "SELECT count(*) FROM tasks WHERE attempts >= ? "  # noqa: S608 - only question marks are put in
            f"AND reviews = 0 AND state IN ({marks(states)}) "
            f"AND task_id NOT IN ({marks(excluding)})",
            least,
            *states,
            *excluding,
        )

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
        return history_of(self.database, task_id)

    def outcomes_by_strategy(self) -> dict[str, dict[str, int]]:
        """Return, for each strategy that ever wanted a task, its tasks by state.

        A full scan: for reports, not for the loop.
        """
        outcomes: dict[str, dict[str, int]] = {}
        for row in self.database.rows(
            "SELECT strategy, state, count(*) AS n FROM tasks WHERE strategy != '' "
            "GROUP BY strategy, state ORDER BY strategy, state"
        ):
            outcomes.setdefault(row["strategy"], {})[row["state"]] = row["n"]
        return outcomes

    def skip_reasons(self, limit: int) -> dict[str, int]:
        """Return the commonest reasons for skipping a task. A full scan."""
        rows = self.database.rows(
            "SELECT reason, count(*) AS n FROM tasks WHERE state = 'skipped' "
            "GROUP BY reason ORDER BY n DESC, reason LIMIT ?",
            limit,
        )
        return {row["reason"]: row["n"] for row in rows}

    def _write_text(self, task: tasks.Task) -> None:
        self.database.upsert(
            "task_texts", "task_id", task_id=task.id, record=encode_task(task)
        )

    def _append_event(
        self, task_id: tasks.TaskId, before: str, after: str, reason: str, at: str
    ) -> None:
        self.database.insert(
            "task_events",
            task_id=task_id,
            before=before,
            after=after,
            reason=reason,
            at=at,
        )


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
    rows = database.rows(
        "SELECT before, after, reason, at FROM task_events WHERE task_id = ? "
        "ORDER BY event_id",
        task_id,
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


def slot_seconds(history: Iterable[TaskEvent]) -> float:
    """Add up how long a task was claimed and executed; a clock set back counts as 0.

    While it waits for a repeat it has no slot.
    """
    spans = (
        (later.at - earlier.at).total_seconds()
        for earlier, later in pairwise(history)
        if earlier.after in _IN_SLOT
    )
    return sum(max(0.0, span) for span in spans)
