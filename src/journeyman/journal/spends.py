"""Posts and top-ups: each recorded before it is sent, and never sent twice."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from journeyman.domain.tasks import JSON, SpendId, Task, TaskId
from journeyman.journal.codec import JsonColumn, Moment, dump, load
from journeyman.journal.database import Database, Memo, Now


class SpendKind(StrEnum):
    """What the money is for."""

    #: Credits leave: a task is posted.
    POST = "post"
    #: US dollars are asked for, and credits arrive if the owner pays.
    TOP_UP = "top-up"


class SpendState(StrEnum):
    """How far a spend is."""

    #: Decided and recorded; its request may have left. Counts as spent.
    RESERVED = "reserved"
    #: The network accepted it.
    SETTLED = "settled"
    #: Definitely not done; counts no more.
    RELEASED = "released"
    #: It may have happened. Counts as spent, and is never repeated by itself.
    UNKNOWN = "unknown"
    #: A top-up that the owner has to approve; nothing was sent, and nothing counts.
    PROPOSED = "proposed"
    #: The owner did not approve what was proposed; nothing was sent.
    DECLINED = "declined"
    #: A checkout page exists; the owner has not paid, as far as we know.
    OPEN = "open"
    #: A checkout page that nobody was seen to pay in time. Counts as spent, since
    #: somebody may have paid, or still may.
    EXPIRED = "expired"
    #: The owner will not pay. Counts no more; its page may be paid all the same.
    CANCELLED = "cancelled"
    #: Done before this journal began, or after the backup that it was restored from:
    #: known from its mark alone. Counts as spent.
    CARRIED = "carried"


WAITING = "state IN ('proposed', 'reserved', 'unknown', 'open')"
"""Their end is not known yet."""
HELD = "state IN ('reserved', 'unknown', 'open', 'expired')"
"""They may have been paid, and nobody knows."""
COUNTED = "state NOT IN ('released', 'proposed', 'declined', 'cancelled')"
"""They weigh on a limit."""


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
    request: JsonColumn
    answer: JsonColumn
    reason: str
    at: Moment
    expires_at: Moment | None = None
    """Of a top-up: until when it waits for the owner; None: until it is settled."""
    number: int = 1
    """How many posts or top-ups it stands for; only what is carried can be several."""
    task_id: str = ""
    """The network's name for what was posted; empty where it is not known."""
    slot: str = ""
    """The slot of the posting plan; empty where it is of none."""
    fee: int = 0
    """Credits that the network took beside those, where its answer named them."""


@dataclass(eq=False)
class Spends:
    """The table of spends."""

    database: Database
    now: Now
    _memo: Memo = field(init=False)

    def __post_init__(self) -> None:
        self._memo = Memo(self.database)

    def reserve(
        self,
        spend_id: SpendId,
        kind: SpendKind,
        *,
        credits_: int,
        cents: int,
        strategy: str,
        request: Mapping[str, JSON],
        expires_at: datetime | None = None,
        state: SpendState = SpendState.RESERVED,
        slot: str = "",
    ) -> Spend:
        """Record a spend that was decided, before it is sent; or one to be approved."""
        spend = Spend(
            spend_id=spend_id,
            kind=kind,
            state=state,
            credits=credits_,
            cents=cents,
            strategy=strategy,
            request=dict(request),
            answer={},
            reason="",
            at=self.now(),
            expires_at=expires_at,
            slot=slot,
        )
        self._add(spend)
        return spend

    def approve(self, spend_id: SpendId, expires_at: datetime) -> None:
        """Turn what was proposed into what is decided, as of now."""
        self._memo.clear()
        now = self.now().isoformat()
        self.database.write(
            "UPDATE spends SET state = 'reserved', at = ?, expires_at = ?, "
            "updated_at = ? WHERE spend_id = ? AND state = 'proposed'",
            *(now, expires_at.isoformat(), now, spend_id),
        )

    def carry(
        self,
        kind: SpendKind,
        *,
        number: int,
        credits_: int,
        cents: int,
        at: datetime,
        reason: str,
    ) -> Spend:
        """Record what was spent without this journal, as if on its day."""
        spend = Spend(
            spend_id=SpendId(f"carried_{self.recorded() + 1}"),
            kind=kind,
            state=SpendState.CARRIED,
            credits=credits_,
            cents=cents,
            strategy="",
            request={},
            answer={},
            reason=reason,
            at=at,
            number=number,
        )
        self._add(spend)
        return spend

    def _add(self, spend: Spend) -> None:
        self._memo.clear()
        columns = dump(spend)
        self.database.insert("spends", **columns, updated_at=columns["at"])

    def move(
        self,
        spend_id: SpendId,
        state: SpendState,
        *,
        reason: str = "",
        answer: Mapping[str, JSON] | None = None,
        task_id: TaskId | None = None,
        fee: int = 0,
    ) -> None:
        """Record how a spend went on."""
        self._memo.clear()
        self.database.write(
            "UPDATE spends SET state = ?, reason = ?, answer = coalesce(?, answer), "
            "task_id = coalesce(?, task_id), fee = fee + ?, updated_at = ? "
            "WHERE spend_id = ?",
            *(state, reason, json.dumps(dict(answer)) if answer else None, task_id),
            *(fee, self.now().isoformat(), spend_id),
        )

    def name_post(self, spend_id: SpendId, task_id: TaskId) -> None:
        """Record the network's name for a post, which no answer told."""
        self.database.write(
            "UPDATE spends SET task_id = ? WHERE spend_id = ?", task_id, spend_id
        )

    def get(self, spend_id: SpendId) -> Spend | None:
        """Return a spend, if there is one of this name."""
        found = self._read("spend_id = ?", spend_id)
        return found[0] if found else None

    def in_state(self, state: SpendState) -> list[Spend]:
        """Return the spends in a state, oldest first."""
        return self._read("state = ?", state)

    def of_slot(self, slot: str) -> list[Spend]:
        """Return the tries for one slot of the posting plan, oldest first."""
        return self._read("slot = ?", slot)

    def posts_of(self, strategy: str) -> int:
        """Return how many posts somebody has made, or may have."""
        return self.database.number(
            "SELECT count(*) FROM spends WHERE kind = 'post' AND strategy = ? "
            "AND state != 'released'",
            strategy,
        )

    def posts_since(self, strategy: str, since: datetime) -> list[Spend]:
        """Return the posts that somebody has made since a time, or may have."""
        rows = self.database.rows(
            "SELECT * FROM spends WHERE kind = 'post' AND strategy = ? AND at >= ? "
            "AND state != 'released' ORDER BY at, rowid",
            *(strategy, since.isoformat()),
        )
        return [load(Spend, row) for row in rows]

    def recent_posts(self, limit: int) -> list[Spend]:
        """Return the last posts, newest first."""
        newest = (
            "rowid IN (SELECT rowid FROM spends WHERE kind = 'post' "
            "ORDER BY at DESC, rowid DESC LIMIT ?)"
        )
        return self._read(newest, limit)[::-1]

    def unsettled(self, kind: SpendKind) -> list[Spend]:
        """Return the spends of a kind whose end is not known yet, oldest first."""
        return self._read(f"kind = ? AND {WAITING}", kind)

    def top_ups(self) -> list[Spend]:
        """Return all top-ups, oldest first: an agent has few."""
        return self._read("kind = ?", SpendKind.TOP_UP)

    def latest(self, kind: SpendKind) -> Spend | None:
        """Return the last spend of a kind; None if there was none."""
        newest = "rowid = (SELECT max(rowid) FROM spends WHERE kind = ?)"
        return next(iter(self._read(newest, kind)), None)

    def recent(self, limit: int) -> list[Spend]:
        """Return the last spends, newest first."""
        newest = (
            "rowid IN (SELECT rowid FROM spends ORDER BY at DESC, rowid DESC LIMIT ?)"
        )
        return self._read(newest, limit)[::-1]

    def _read(self, condition: str, value: object) -> list[Spend]:
        rows = self.database.rows(
            f"SELECT * FROM spends WHERE {condition} ORDER BY at, rowid",  # noqa: S608 - the conditions are ours
            value,
        )
        return [load(Spend, row) for row in rows]

    def has_settled(self, kind: SpendKind) -> bool:
        """Return whether a spend of a kind was ever accepted by a network."""
        row = self.database.row(
            "SELECT 1 FROM spends WHERE kind = ? AND state = ? LIMIT 1",
            *(kind, SpendState.SETTLED),
        )
        return row is not None

    def counted_since(
        self, kind: SpendKind, since: datetime, strategy: str | None = None
    ) -> tuple[int, int, int]:
        """Return number, credits and cents of the spends that weigh on a budget.

        What is carried weighs on that of each strategy: nobody knows whose it was.
        """
        of = kind, since.isoformat(), strategy
        return self._memo.get(of, lambda: self._counted(*of))

    def _counted(
        self,
        kind: SpendKind,
        since: str,
        strategy: str | None,
        states: str = COUNTED,
    ) -> tuple[int, int, int]:
        row = self.database.rows(
            "SELECT coalesce(sum(number), 0), coalesce(sum(credits + fee), 0), "  # noqa: S608 - the states are ours
            f"coalesce(sum(cents), 0) FROM spends WHERE kind = ? AND at >= ? "
            f"AND {states} AND (?3 IS NULL OR strategy = ?3 OR state = 'carried')",
            *(kind, since, strategy),
        )[0]
        return row[0], row[1], row[2]

    def held_since(
        self, kind: SpendKind, since: datetime, strategy: str | None = None
    ) -> tuple[int, int, int]:
        """Return those of `counted_since` whose end is not known yet."""
        of = "held", kind, since.isoformat(), strategy
        return self._memo.get(of, lambda: self._counted(*of[1:], HELD))

    def last_at(self, kind: SpendKind) -> datetime | None:
        """Return the latest moment of a spend that weighs on a limit."""
        query = f"SELECT max(at) AS at FROM spends WHERE kind = ? AND {COUNTED}"  # noqa: S608 - ours
        row = self._memo.get(
            ("last", kind), lambda: self.database.rows(query, kind)[0]["at"]
        )
        return datetime.fromisoformat(row) if row else None

    def posters_since(self, since: datetime) -> list[str]:
        """Return who has asked for posts that weigh on a budget, by name."""
        rows = self.database.rows(
            "SELECT DISTINCT strategy FROM spends WHERE kind = 'post' AND at >= ? "
            "AND state NOT IN ('released', 'carried') ORDER BY strategy",
            since.isoformat(),
        )
        return [str(row["strategy"]) for row in rows]

    def recorded(self) -> int:
        """Return how many spends were ever recorded."""
        query = "SELECT max(rowid) FROM spends"
        return self._memo.get("recorded", lambda: self.database.number(query))

    def posted_credits(self) -> int:
        """Return the credits of all posts that were, or may have been, made."""
        return self.database.number(
            "SELECT sum(credits + fee) FROM spends "
            "WHERE kind = 'post' AND state != 'released'"
        )

    def reserved_credits(self) -> int:
        """Return the credits of posts that may have left without being booked."""
        query = (
            "SELECT sum(credits) FROM spends "
            "WHERE kind = 'post' AND state IN ('reserved', 'unknown')"
        )
        return self._memo.get("reserved", lambda: self.database.number(query))

    def is_our_post(self, task: Task) -> bool:
        """Return whether a task is one that we posted, or looks like one.

        A post whose answer is still on the way, was lost, or named no task is known
        by its title and reward.
        """
        if not self.recorded():
            return False
        row = self.database.row(
            "SELECT 1 FROM spends WHERE (task_id = ?1 AND task_id != '') "
            "OR (kind = 'post' AND task_id = '' AND state != 'released' "
            "AND credits = ?2 AND json_extract(request, '$.title') = ?3)",
            *(task.id, task.reward, task.title),
        )
        return row is not None

    def unnamed_posts(self, since: datetime, most: int) -> list[Spend]:
        """Return the posts that were made, or may have been, without a known task."""
        rows = self.database.rows(
            "SELECT * FROM spends WHERE kind = 'post' AND task_id = '' "
            "AND state IN ('settled', 'unknown') AND at >= ? ORDER BY at DESC LIMIT ?",
            *(since.isoformat(), most),
        )
        return [load(Spend, row) for row in rows]

    def post_listed_as(self, task: Task) -> Spend | None:
        """Return the post of ours that a listed task is, where no answer named it yet.

        Of several alike, those that were accepted come first: the row may be theirs.
        """
        named = "SELECT 1 FROM spends WHERE task_id = ? LIMIT 1"
        if self.database.row(named, task.id):
            return None
        row = self.database.row(
            "SELECT * FROM spends WHERE kind = 'post' AND task_id = '' "
            "AND state IN ('settled', 'reserved', 'unknown') AND credits = ?1 "
            "AND json_extract(request, '$.title') = ?2 "
            "AND json_extract(request, '$.description') = ?3 "
            "ORDER BY state != 'settled', state != 'reserved', at, rowid LIMIT 1",
            *(task.reward, task.title, task.description),
        )
        return load(Spend, row) if row else None
