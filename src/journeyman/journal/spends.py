"""Posts and top-ups: each recorded before it is sent, and never sent twice."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from journeyman.domain.tasks import JSON, SpendId, Task, TaskId
from journeyman.journal.database import Database, Now, Row


class SpendKind(StrEnum):
    """What the money is for."""

    #: Credits leave: a task is posted.
    POST = "post"
    #: US dollars are asked for, and credits arrive if the owner pays.
    TOP_UP = "top-up"


class SpendState(StrEnum):
    """How far a spend is."""

    #: Decided and recorded; its request may have left. Counts as spent.
    HELD = "held"
    #: The network accepted it.
    SETTLED = "settled"
    #: Definitely not done; counts no more.
    RELEASED = "released"
    #: It may have happened. Counts as spent, and is never repeated by itself.
    UNKNOWN = "unknown"
    #: A checkout page exists; the owner has not paid, as far as we know.
    OPEN = "open"


@dataclass(frozen=True, kw_only=True, slots=True)
class Spend:
    """One post or top-up."""

    spend_id: SpendId
    kind: SpendKind
    state: SpendState
    credits: int
    """That leave (post) or arrive (top-up)."""
    cents: int
    """US cents asked for; 0 for a post."""
    strategy: str
    """Who asked; `owner` for the owner."""
    request: Mapping[str, JSON]
    answer: Mapping[str, JSON]
    reason: str
    at: datetime


class Spends:
    """The table of spends."""

    def __init__(self, database: Database, now: Now) -> None:
        self._database = database
        self._now = now

    def hold(
        self,
        spend_id: SpendId,
        kind: SpendKind,
        *,
        credits_: int,
        cents: int,
        strategy: str,
        request: Mapping[str, JSON],
    ) -> None:
        """Record a spend that was decided, before it is sent."""
        at = self._now().isoformat()
        self._database.write(
            "INSERT INTO spends (spend_id, kind, state, credits, cents, strategy, "
            "request, at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(spend_id, kind, SpendState.HELD, credits_, cents, strategy),
            *(json.dumps(dict(request)), at, at),
        )

    def settle(
        self,
        spend_id: SpendId,
        state: SpendState,
        *,
        reason: str = "",
        answer: Mapping[str, JSON] | None = None,
        task_id: TaskId | None = None,
    ) -> None:
        """Record how a spend went on."""
        self._database.write(
            "UPDATE spends SET state = ?, reason = ?, answer = coalesce(?, answer), "
            "task_id = coalesce(?, task_id), updated_at = ? WHERE spend_id = ?",
            *(state, reason, json.dumps(dict(answer)) if answer else None, task_id),
            *(self._now().isoformat(), spend_id),
        )

    def get(self, spend_id: SpendId) -> Spend | None:
        """Give a spend, if there is one of this name."""
        row = self._database.row("SELECT * FROM spends WHERE spend_id = ?", spend_id)
        return _to_spend(row) if row else None

    def in_state(self, state: SpendState) -> list[Spend]:
        """Give the spends in a state, oldest first."""
        rows = self._database.rows(
            "SELECT * FROM spends WHERE state = ? ORDER BY at, rowid",
            state,
        )
        return [_to_spend(row) for row in rows]

    def has_settled(self, kind: SpendKind) -> bool:
        """Tell whether a spend of a kind was ever accepted by a network."""
        row = self._database.row(
            "SELECT 1 FROM spends WHERE kind = ? AND state = ? LIMIT 1",
            *(kind, SpendState.SETTLED),
        )
        return row is not None

    def unsettled(self, kind: SpendKind) -> list[Spend]:
        """Give the spends of a kind whose end is not known yet, oldest first."""
        rows = self._database.rows(
            "SELECT * FROM spends WHERE kind = ? AND state IN ('held', 'unknown', "
            "'open') ORDER BY at, rowid",
            kind,
        )
        return [_to_spend(row) for row in rows]

    def recent(self, limit: int) -> list[Spend]:
        """Give the last spends, newest first."""
        rows = self._database.rows(
            "SELECT * FROM spends ORDER BY at DESC, rowid DESC LIMIT ?",
            limit,
        )
        return [_to_spend(row) for row in rows]

    def counting_since(
        self,
        kind: SpendKind,
        since: datetime,
        strategy: str | None = None,
    ) -> tuple[int, int, int]:
        """Give number, credits and cents of the spends that weigh on a budget."""
        row = self._database.row(
            "SELECT count(*) AS n, coalesce(sum(credits), 0) AS credits, "
            "coalesce(sum(cents), 0) AS cents FROM spends WHERE kind = ? AND at >= ? "
            "AND state != 'released' AND (?3 IS NULL OR strategy = ?3)",
            kind,
            since.isoformat(),
            strategy,
        )
        return (row["n"], row["credits"], row["cents"]) if row else (0, 0, 0)

    def held_credits(self) -> int:
        """Give the credits of posts that may have left without being booked."""
        row = self._database.row(
            "SELECT coalesce(sum(credits), 0) AS held FROM spends "
            "WHERE kind = 'post' AND state IN ('held', 'unknown')",
        )
        return int(row["held"]) if row else 0

    def is_our_post(self, task: Task) -> bool:
        """Tell whether a task is one that we posted, or looks like one.

        A post whose answer is still on the way, was lost, or named no task is known
        by its title and reward.
        """
        row = self._database.row(
            "SELECT 1 FROM spends WHERE (task_id = ?1 AND task_id != '') "
            "OR (kind = 'post' AND task_id = '' AND state != 'released' "
            "AND credits = ?2 AND json_extract(request, '$.title') = ?3)",
            task.id,
            task.reward,
            task.title,
        )
        return row is not None


def _to_spend(row: Row) -> Spend:
    return Spend(
        spend_id=SpendId(row["spend_id"]),
        kind=SpendKind(row["kind"]),
        state=SpendState(row["state"]),
        credits=row["credits"],
        cents=row["cents"],
        strategy=row["strategy"],
        request=json.loads(row["request"]),
        answer=json.loads(row["answer"]),
        reason=row["reason"],
        at=datetime.fromisoformat(row["at"]),
    )
