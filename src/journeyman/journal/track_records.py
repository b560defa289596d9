"""What is known of how the tasks of each strategy go, learned from their history.

Nothing is added to the steps of a task: now and then the events that have come since
the last time are read, in one transaction with what they teach. So a kill between two
readings loses nothing and counts nothing twice.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter

from journeyman.domain.tasks import TaskId, TaskState
from journeyman.journal.codec import dump, load
from journeyman.journal.database import Database, Row, marks
from journeyman.journal.facts import Facts
from journeyman.journal.tasks import DUE, slot_seconds

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


NOTHING_DONE = TrackRecord()


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
        # A task has one such end; its history comes with it.
        rows = self.database.rows(
            "SELECT task_id, strategy, kind, chance, cost, reward, "  # noqa: S608 - only question marks are put in
            "last.after AS after, event.after AS moved_to, event.at AS at "
            "FROM task_events AS last JOIN tasks USING (task_id) "
            "JOIN task_events AS event USING (task_id) "
            "WHERE last.event_id > ? AND last.event_id <= ? "
            f"AND last.after IN ({marks(_TELLING)}) "
            "ORDER BY last.event_id, event.event_id",
            *(read_until, until, *_TELLING),
        )
        groups = groupby(rows, key=itemgetter("task_id"))
        return [_ended([*moves]) for _, moves in groups], until

    def learn(self, ended: Iterable[tuple[EndedTask, Forecast]], until: int) -> None:
        """Write what was read, inside a transaction."""
        records, changed = self.all(), set[Group]()
        for task, forecast in ended:
            group = _told_apart(task.group, records)
            records[group] = _after(records.get(group, NOTHING_DONE), task, forecast)
            changed.add(group)
        self.database.upsert_all(
            "track_records",
            *("strategy", "kind"),
            rows=[
                {"strategy": strategy, "kind": kind, **dump(records[strategy, kind])}
                for strategy, kind in sorted(changed)
            ],
        )
        self.facts.put(_READ_UNTIL, until)


def _told_apart(group: Group, known: Collection[Group]) -> Group:
    """Return the group that a task counts for, of so many as are told apart."""
    strategy, _ = group
    kinds = sum(one == strategy for one, _ in known)
    return group if group in known or kinds < MOST_KINDS else (strategy, OTHER_KINDS)


def _after(record: TrackRecord, ended: EndedTask, forecast: Forecast) -> TrackRecord:
    keep = 1 - FADING
    return TrackRecord(
        paid=record.paid * keep + ended.is_paid,
        promised=record.promised * keep + ended.chance,
        timed=record.timed * keep + 1,
        seconds=record.seconds * keep + ended.seconds,
        tasks=record.tasks + 1,
        expected_credits=record.expected_credits + forecast.credits,
        credits=record.credits + (ended.reward if ended.is_paid else 0),
        expected_seconds=record.expected_seconds + forecast.seconds,
        actual_seconds=record.actual_seconds + ended.seconds,
    )


def _ended(moves: Sequence[Row]) -> EndedTask:
    task = moves[0]
    return EndedTask(
        group=(task["strategy"], task["kind"]),
        chance=task["chance"],
        cost=task["cost"],
        reward=task["reward"],
        is_paid=task["after"] == TaskState.COMPLETED,
        seconds=slot_seconds(
            (move["moved_to"], datetime.fromisoformat(move["at"])) for move in moves
        ),
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
