"""What work brought and cost, added up: for a person, not for the loop.

Each question reads every entry of its time, and the moves of the tasks that ended then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Self

from journeyman.domain.credits import MILLIONTHS
from journeyman.domain.tasks import TaskId
from journeyman.journal.codec import load, stored_between
from journeyman.journal.database import Database
from journeyman.journal.tasks import SLOT_SECONDS

SECONDS_PER_HOUR = 3600


class ProfitBy(StrEnum):
    """What profit may be shown by."""

    STRATEGY = "strategy"
    #: Of the tasks, as listed.
    KIND = "kind"
    #: In UTC.
    DAY = "day"


_GROUPS = {
    ProfitBy.STRATEGY: "strategy",
    ProfitBy.KIND: "kind",
    ProfitBy.DAY: "day_in(at, ?)",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Profit:
    """What some tasks brought and cost."""

    group: str = ""
    """Their strategy, kind or day; empty: they have none, or these are all."""
    tasks: int = 0
    """That were completed."""
    pay_unknown: int = 0
    """Of those, the ones of which nobody named a credible pay."""
    known_earned: int = 0
    """In credits; tasks whose pay is not known are not in it."""
    spent: int = 0
    """In credits, on posts."""
    cost: int | None = None
    """In millionths of a credit, outside of the network; None: none was reported."""
    timed_earned: int = 0
    """What the tasks brought whose time in a slot is known."""
    slot_seconds: float | None = None
    """How long all tasks that ended held a slot; None: it is not known of any."""

    @classmethod
    def of_all(cls, parts: Sequence[Self]) -> Self:
        """Return the sum; what is unknown of all parts is unknown."""
        costs = [one.cost for one in parts if one.cost is not None]
        times = [one.slot_seconds for one in parts if one.slot_seconds is not None]
        return cls(
            tasks=sum(one.tasks for one in parts),
            pay_unknown=sum(one.pay_unknown for one in parts),
            known_earned=sum(one.known_earned for one in parts),
            spent=sum(one.spent for one in parts),
            cost=sum(costs) if costs else None,
            timed_earned=sum(one.timed_earned for one in parts),
            slot_seconds=sum(times) if times else None,
        )

    @property
    def earned(self) -> int | None:
        """Credits that work brought; None: the pay of no task is known."""
        is_unknown = 0 < self.tasks == self.pay_unknown
        return None if is_unknown else self.known_earned

    @property
    def credits(self) -> float | None:
        """The profit in credits, less the costs that were reported."""
        if self.earned is None:
            return None
        return self.earned - self.spent - (self.cost or 0) / MILLIONTHS

    @property
    def credits_per_slot_hour(self) -> float | None:
        """Credits earned in an hour of one slot, failed tasks' time included."""
        if not self.slot_seconds or self.earned is None:
            return None
        return self.timed_earned * SECONDS_PER_HOUR / self.slot_seconds


def profits(
    database: Database,
    by: ProfitBy | None,
    since: datetime | None = None,
    until: datetime | None = None,
    *,
    zone: tzinfo = UTC,
) -> list[Profit]:
    """Return the profit of each group in a time, in the order of their names.

    Days are those of a zone.
    """
    span = stored_between(since, until)
    days = (str(zone),) if by is ProfitBy.DAY else ()
    return _found(
        database,
        _GROUPS[by] if by else "''",
        ("ledger.at >= ? AND ledger.at < ?", (*span, *days)),
        ("updated_at >= ? AND updated_at < ?", (*span, *days)),
    )


def profit_of(database: Database, task_id: TaskId) -> Profit:
    """Return what one task brought and cost; 0 tasks where it is not completed."""
    found = _found(
        database,
        "''",
        ("ledger.subject = ?", (task_id,)),
        ("task_id = ?", (task_id,)),
    )
    return found[0] if found else Profit()


_Condition = tuple[str, tuple[str, ...]]
"""In SQL, and its values; the group's come last."""


def _found(
    database: Database, group: str, of_entries: _Condition, of_tasks: _Condition
) -> list[Profit]:
    booked, timed = (
        {row["name"]: dict(row) for row in database.rows(query(group, where), *values)}
        for query, (where, values) in ((_booked, of_entries), (_timed, of_tasks))
    )
    return [
        load(Profit, {"group": name, **booked.get(name, {}), **timed.get(name, {})})
        for name in sorted(booked.keys() | timed.keys())
    ]


def unexplained(
    database: Database, since: datetime | None = None, until: datetime | None = None
) -> int:
    """Return the credits by which shown balances differed without a cause of ours."""
    return database.number(
        "SELECT sum(amount) FROM ledger "
        # What was explained later has an entry that takes it back.
        "WHERE (key LIKE 'adjustment:%' OR key LIKE 'explained:%') "
        "AND at >= ? AND at < ?",
        *stored_between(since, until),
    )


def _booked(group: str, condition: str) -> str:
    return (
        "WITH booked AS (SELECT ledger.kind AS entry, ledger.strategy AS strategy, "  # noqa: S608 - names of ours
        "ledger.key AS key, "
        "coalesce(tasks.kind, '') AS kind, ledger.at AS at, amount, "
        "ledger.cost AS cost, confidence "
        "FROM ledger LEFT JOIN tasks ON tasks.task_id = ledger.subject "
        "WHERE ledger.kind IN ('earned', 'spent', 'fee', 'refunded', 'cost') "
        f"AND {condition}) "
        # One task may be paid in two parts.
        f"SELECT {group} AS name, "
        "sum(entry = 'earned' AND key NOT LIKE 'earned:rest:%') AS tasks, "
        # A listed reward of 0 is one that the listing does not name.
        "sum(entry = 'earned' AND amount = 0 "
        "AND confidence IN ('assumed', 'doubtful')) AS pay_unknown, "
        "sum(iif(entry = 'earned', amount, 0)) AS known_earned, "
        "-sum(iif(entry IN ('spent', 'fee', 'refunded'), amount, 0)) AS spent, "
        "sum(iif(entry = 'cost', cost, NULL)) AS cost "
        "FROM booked GROUP BY name"
    )


def _timed(group: str, condition: str) -> str:
    return (
        "WITH ended AS (SELECT task_id, strategy, kind, updated_at AS at FROM tasks "  # noqa: S608 - names of ours
        "WHERE next_at IS NULL AND strategy != '' "
        f"AND {condition}), times AS ({SLOT_SECONDS}) "
        f"SELECT {group} AS name, sum(seconds) AS slot_seconds, "
        "sum(coalesce((SELECT amount FROM ledger "
        "WHERE key = 'earned:' || task_id), 0)) AS timed_earned "
        "FROM ended JOIN times USING (task_id) GROUP BY name"
    )
