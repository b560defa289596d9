"""What is known of how the tasks of each strategy go, learned from their history.

Nothing is added to the steps of a task: now and then the events that have come since
the last time are read, in one transaction with what they teach. So a kill between two
readings loses nothing and counts nothing twice.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from journeyman.domain.tasks import TaskId, TaskState
from journeyman.journal.codec import load
from journeyman.journal.database import Database, Row, marks
from journeyman.journal.facts import Facts
from journeyman.journal.tasks import DUE, history_of, slot_seconds

Group = tuple[str, str]
"""A strategy and a kind of task; the tasks of a group are taken to be alike."""

FADING = 1 / 300
"""By so much the old evidence of a group fades with each new task: about the last 300
tasks count, so that a strategy that was mended is not judged by its past."""
MOST_EVENTS = 5_000
"""So many events are read at once; the rest is read the next time."""
MOST_KINDS = 100
"""Kinds that are told apart for one strategy. A network that gives each task a kind of
its own would otherwise fill the table and teach nothing."""
OTHER_KINDS = "*"

_READ_UNTIL = "track_records.read_until"
_TELLING = (
    TaskState.COMPLETED,
    TaskState.REJECTED,
    TaskState.FAILED,
    TaskState.DECLINED,
)
"""Ends that say something about a strategy; a lost claim tells about its rivals."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrackRecord:
    """How the tasks of one group went."""

    paid: float = 0.0
    """Tasks that were paid; old ones count less, here and in the next three."""
    promised: float = 0.0
    """Tasks that the strategy promised to be paid for: the sum of its chances."""
    timed: float = 0.0
    """Tasks of which the time is known."""
    seconds: float = 0.0
    """That those held a slot, in all."""
    tasks: int = 0
    """All that ended, since the beginning."""
    expected_credits: float = 0.0
    """What each task was expected to bring when it was taken, summed up."""
    credits: int = 0
    """What they brought."""
    expected_seconds: float = 0.0
    actual_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class EndedTask:
    """How a task ended, for its strategy's track record."""

    group: Group
    chance: float
    """Of being paid, 0 to 1, as its strategy said."""
    cost: float
    """In credits, as its strategy said."""
    reward: int
    """In credits, as listed."""
    is_paid: bool
    seconds: float
    """That it held a slot."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Forecast:
    """What a task was expected to bring, before it was known."""

    credits: float
    seconds: float


@dataclass(eq=False)
class TrackRecords:
    """The table of track records."""

    database: Database
    facts: Facts

    def all(self) -> dict[Group, TrackRecord]:
        """Return every group's record."""
        query = "SELECT * FROM track_records ORDER BY strategy, kind"
        return {
            (row["strategy"], row["kind"]): load(TrackRecord, row)
            for row in self.database.rows(query)
        }

    def unread(self) -> tuple[list[EndedTask], int]:
        """Return what came to an end since the last reading, and where to read on."""
        read_until = int(str(self.facts.get(_READ_UNTIL) or 0))
        newest = self.database.number("SELECT max(event_id) FROM task_events")
        until = min(newest, read_until + MOST_EVENTS)
        if until <= read_until:
            return [], read_until
        rows = self.database.rows(
            "SELECT task_id, strategy, kind, chance, cost, reward, after "  # noqa: S608 - only question marks are put in
            "FROM task_events JOIN tasks USING (task_id) "
            f"WHERE event_id > ? AND event_id <= ? AND after IN ({marks(_TELLING)}) "
            "ORDER BY event_id",
            *(read_until, until, *_TELLING),
        )
        return [self._ended(row) for row in rows], until

    def learn(self, ended: Iterable[tuple[EndedTask, Forecast]], until: int) -> None:
        """Write what was read, inside a transaction."""
        kinds = self._kinds()
        for task, forecast in ended:
            strategy, kind = task.group
            known = kinds.setdefault(strategy, set())
            if kind not in known and len(known) >= MOST_KINDS:
                kind = OTHER_KINDS
            known.add(kind)
            self._add((strategy, kind), task, forecast)
        self.facts.put(_READ_UNTIL, until)

    def _kinds(self) -> dict[str, set[str]]:
        kinds: dict[str, set[str]] = {}
        for row in self.database.rows("SELECT strategy, kind FROM track_records"):
            kinds.setdefault(row["strategy"], set()).add(row["kind"])
        return kinds

    def _add(self, group: Group, ended: EndedTask, forecast: Forecast) -> None:
        keep = 1 - FADING
        self.database.write(
            "INSERT OR IGNORE INTO track_records (strategy, kind) VALUES (?, ?)", *group
        )
        self.database.write(
            "UPDATE track_records SET paid = paid * ? + ?, "
            "promised = promised * ? + ?, timed = timed * ? + 1, "
            "seconds = seconds * ? + ?, tasks = tasks + 1, "
            "expected_credits = expected_credits + ?, credits = credits + ?, "
            "expected_seconds = expected_seconds + ?, "
            "actual_seconds = actual_seconds + ? WHERE strategy = ? AND kind = ?",
            *(keep, ended.is_paid, keep, ended.chance, keep),
            *(keep, ended.seconds, forecast.credits),
            *(ended.reward if ended.is_paid else 0, forecast.seconds),
            *(ended.seconds, *group),
        )

    def _ended(self, row: Row) -> EndedTask:
        return EndedTask(
            group=(row["strategy"], row["kind"]),
            chance=row["chance"],
            cost=row["cost"],
            reward=row["reward"],
            is_paid=row["after"] == TaskState.COMPLETED,
            seconds=slot_seconds(history_of(self.database, row["task_id"])),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """A task that a strategy wants."""

    task_id: TaskId
    group: Group
    """Its strategy and its kind."""
    reward: int
    """In credits, as listed."""
    chance: float = 1.0
    """Of being paid, 0 to 1, as its strategy says."""
    cost: float = 0.0
    """In credits, as its strategy says."""
    number: int = 0
    """Counts up in the order in which they were first seen."""


@dataclass(eq=False)
class WaitingTasks:
    """The queue in front of the slots."""

    database: Database

    def best_paid(
        self, now: datetime, limit: int, excluding: Collection[TaskId] = ()
    ) -> list[Waiting]:
        """Return those that may be claimed now, best paid first, at most `limit`."""
        rows = self.database.rows(
            "SELECT task_id, strategy, kind, reward, chance, cost, rowid AS number "  # noqa: S608 - only question marks are put in
            f"FROM tasks WHERE state = ? AND {DUE} "
            f"AND task_id NOT IN ({marks(excluding)}) "
            "ORDER BY reward DESC, rowid LIMIT ?",
            *(TaskState.WANTED, now.timestamp(), now.isoformat(), *excluding, limit),
        )
        return [
            # By hand: on the hot path the codec takes half as long again.
            Waiting(
                task_id=TaskId(row["task_id"]),
                group=(row["strategy"], row["kind"]),
                reward=row["reward"],
                chance=row["chance"],
                cost=row["cost"],
                number=row["number"],
            )
            for row in rows
        ]
