"""The ledger: every credit that came or went, appended once, chained by hashes."""

import hashlib
import json
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from journeyman.journal.codec import Moment, dump, load
from journeyman.journal.database import Database, Memo, Now
from journeyman.journal.facts import Totals

GENESIS = "0" * 64
"""The previous hash of the first entry."""
KIND_TOTAL = "ledger."


class EntryKind(StrEnum):
    """What moved the credits."""

    STARTER = "starter"
    EARNED = "earned"
    SPENT = "spent"
    TOP_UP = "top-up"
    ADJUSTMENT = "adjustment"
    #: Money of the owner that left outside of the network: no credits move.
    COST = "cost"


class Confidence(StrEnum):
    """How we know."""

    #: The contract says so.
    CONTRACT = "contract"
    #: The network's answer named the amount.
    CONFIRMED = "confirmed"
    #: The network said yes, without an amount; the listed one was taken.
    ASSUMED = "assumed"
    #: Derived from a balance that the network showed, or from the owner's word.
    OBSERVED = "observed"
    #: The network named an amount that cannot be true. It is in the note; 0 is booked.
    DOUBTFUL = "doubtful"


@dataclass(frozen=True, kw_only=True, slots=True)
class NewEntry:
    """An entry to be booked."""

    key: str
    """Unique for what happened, such as `earned:task_7`: a replay books nothing."""
    kind: EntryKind
    amount: int
    """In credits; negative when they leave."""
    confidence: Confidence
    subject: str = ""
    """The task or the spend that it belongs to."""
    strategy: str = ""
    note: str = ""
    cost: int = 0
    """In millionths of a credit; only an entry of the kind `cost` has one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """What the entries of one strategy add up to."""

    strategy: str
    """Empty: entries that belong to none, such as the starter credits."""
    received: int
    """In credits."""
    paid: int
    """In credits."""
    cost: int
    """In millionths of a credit, outside of the network."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DayEarnings:
    """What one strategy earned on one day (UTC)."""

    day: str
    """In ISO 8601."""
    strategy: str
    earned: int
    """In credits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry(NewEntry):
    """An entry as booked."""

    entry_id: int
    balance: int
    """In credits, after this entry."""
    at: Moment
    previous_hash: str
    hash: str


@dataclass(eq=False)
class Ledger:
    """The append-only table of credits."""

    database: Database
    running_totals: Totals
    now: Now
    tail: tuple[int, str] | None = field(init=False, default=None)
    """The balance and the hash of the last entry; None until they are read."""
    _costs: Memo = field(init=False)

    def __post_init__(self) -> None:
        self._costs = Memo(self.database)
        self.database.after_rollback(self._forget_tail)

    def book(self, new: NewEntry) -> bool:
        """Append an entry, inside a transaction; False when its key is booked already.

        Raises:
            sqlite3.Error: the disk refused; the whole transaction is undone.
        """
        before, previous = self._last()
        balance = before + new.amount
        at = self.now().isoformat()
        digest = _hash(new, balance, at, previous)
        values = dump(new) | {"balance": balance, "at": at}
        values |= {"previous_hash": previous, "hash": digest}
        if not self.database.insert_if_new("ledger", "key", **values):
            return False
        if new.cost:
            self._costs.clear()
        self.tail = balance, digest
        self.running_totals.add(KIND_TOTAL + new.kind, new.amount)
        return True

    def balance(self) -> int:
        """Return the credits that we hold, as booked."""
        return self._last()[0]

    def head(self) -> tuple[int, str]:
        """Return the number of the last entry, and its hash; 0 where there is none."""
        return self.database.number("SELECT max(entry_id) FROM ledger"), self._last()[1]

    def hash_of(self, entry_id: int) -> str | None:
        """Return the hash of an entry; None where there is none."""
        if entry_id == 0:
            return GENESIS
        query = "SELECT hash FROM ledger WHERE entry_id = ?"
        row = self.database.row(query, entry_id)
        return str(row["hash"]) if row else None

    def totals(self) -> dict[str, int]:
        """Return the credits moved by each kind of entry, since the beginning."""
        return self.running_totals.starting_with(KIND_TOTAL)

    def amount_of(self, key: str) -> int:
        """Return the credits of the entry that has this key; 0 where there is none."""
        return self.database.number("SELECT amount FROM ledger WHERE key = ?", key)

    def is_pay_shown(self) -> bool:
        """Return whether the network ever named an amount that it paid.

        May read every entry: for a report, not for the loop.
        """
        return bool(
            self.database.number(
                "SELECT EXISTS(SELECT 1 FROM ledger "
                "WHERE kind = 'earned' AND confidence NOT IN ('assumed', 'doubtful'))"
            )
        )

    def cost_of(self, subject: str) -> int:
        """Return what a task cost outside the network, in millionths of a credit."""
        if not self._has_costs():
            return 0
        return self.database.number(
            "SELECT sum(cost) FROM ledger WHERE kind = 'cost' AND subject = ?", subject
        )

    def _has_costs(self) -> bool:
        query = "SELECT EXISTS(SELECT 1 FROM ledger WHERE kind = 'cost')"
        return bool(self._costs.get("any", lambda: self.database.number(query)))

    def cost_since(self, strategy: str, since: datetime) -> int:
        """Return what a strategy cost outside the network, in millionths of a credit.

        `since` is in UTC.
        """
        of = strategy, since.isoformat()
        query = (
            "SELECT sum(cost) FROM ledger "
            "WHERE kind = 'cost' AND strategy = ? AND at >= ?"
        )
        return self._costs.get(of, lambda: self.database.number(query, *of))

    def costs_since(self, since: datetime) -> dict[str, int]:
        """Return what each strategy cost outside the network, in millionths.

        Reads every entry since a time in UTC: for a report, not for the loop.
        """
        rows = self.database.rows(
            "SELECT strategy, sum(cost) AS cost FROM ledger "
            "WHERE kind = 'cost' AND at >= ? GROUP BY strategy ORDER BY strategy",
            since.isoformat(),
        )
        return {row["strategy"]: row["cost"] for row in rows}

    def shares(self) -> list[Share]:
        """Return what each strategy brought and cost, the one that brought most first.

        Reads every entry: for `journeyman ledger --by strategy`, not for the loop.
        """
        rows = self.database.rows(
            "SELECT strategy, sum(max(amount, 0)) AS received, "
            "-sum(min(amount, 0)) AS paid, sum(cost) AS cost FROM ledger "
            "GROUP BY strategy ORDER BY sum(amount) DESC, strategy"
        )
        return [load(Share, row) for row in rows]

    def recent(self, limit: int) -> list[Entry]:
        """Return the last entries, oldest first."""
        rows = self.database.rows(
            "SELECT * FROM ledger ORDER BY entry_id DESC LIMIT ?", limit
        )
        return [load(Entry, row) for row in reversed(rows)]

    def about(self, subject: str) -> list[Entry]:
        """Return the entries about one task or spend, oldest first. A full scan."""
        rows = self.database.rows(
            "SELECT * FROM ledger WHERE subject = ? ORDER BY entry_id", subject
        )
        return [load(Entry, row) for row in rows]

    def earned_between(self, since: datetime, until: datetime) -> int:
        """Return the credits that work brought in a time. A full scan, for reports."""
        return self.database.number(
            "SELECT sum(amount) FROM ledger WHERE kind = ? AND at >= ? AND at < ?",
            *(EntryKind.EARNED, since.isoformat(), until.isoformat()),
        )

    def earned_by_day(self, since: datetime, most: int) -> list[DayEarnings]:
        """Return what each strategy earned on each day (UTC), the oldest day first.

        Only the last `most` entries are looked at.
        """
        rows = self.database.rows(
            "SELECT substr(at, 1, 10) AS day, strategy, sum(amount) AS earned "
            "FROM ledger WHERE entry_id > ? AND kind = ? AND at >= ? "
            "GROUP BY day, strategy ORDER BY day, strategy",
            *(self.head()[0] - most, EntryKind.EARNED, since.isoformat()),
        )
        return [load(DayEarnings, row) for row in rows]

    def balances(self, most: int, points: int) -> list[tuple[datetime, int]]:
        """Return the balance after about so many of the last `most` entries."""
        head = self.head()[0]
        step = max(1, min(most, head) // points)
        rows = self.database.rows(
            "SELECT at, balance FROM ledger WHERE entry_id > ? "
            "AND (entry_id % ? = 0 OR entry_id IN (1, ?)) ORDER BY entry_id",
            *(head - most, step, head),
        )
        return [(datetime.fromisoformat(row["at"]), row["balance"]) for row in rows]

    def last_earned_at(self) -> datetime | None:
        """Return when work last brought credits; None: it never did."""
        row = self.database.row(
            "SELECT at FROM ledger WHERE kind = ? AND amount > 0 "
            "ORDER BY entry_id DESC LIMIT 1",
            EntryKind.EARNED,
        )
        return datetime.fromisoformat(row["at"]) if row else None

    def first_fault(self) -> str | None:
        """Check the whole chain; None when every entry follows from the one before.

        Reads every entry: for `journeyman ledger --verify`, not for the loop.
        """
        previous, balance = GENESIS, 0
        for row in self.database.rows("SELECT * FROM ledger ORDER BY entry_id"):
            entry = load(Entry, row)
            balance += entry.amount
            if entry.previous_hash != previous:
                return f"entry {entry.entry_id} does not follow the one before it"
            if entry.balance != balance:
                return (
                    f"entry {entry.entry_id} has balance {entry.balance}, not {balance}"
                )
            if entry.hash != _hash(entry, balance, row["at"], previous):
                return f"entry {entry.entry_id} was changed after it was booked"
            previous = entry.hash
        if balance != (booked := sum(self.totals().values())):
            return f"the entries add up to {balance}, but {booked} was booked"
        return None

    def _last(self) -> tuple[int, str]:
        """Return the balance and the hash of the last entry; read once, then kept."""
        if self.tail is None:
            row = self.database.row(
                "SELECT balance, hash FROM ledger ORDER BY entry_id DESC LIMIT 1"
            )
            self.tail = (row["balance"], row["hash"]) if row else (0, GENESIS)
        return self.tail

    def _forget_tail(self) -> None:
        self.tail = None


def _hash(new: NewEntry, balance: int, at: str, previous: str) -> str:
    """Bind an entry to all before it: change one, and every later hash is wrong."""
    content = [previous, new.key, new.kind, new.amount, balance, new.confidence]
    content += [new.subject, new.strategy, new.note, at]
    if new.cost:
        # Only then: entries from before there were costs keep their hashes.
        content.append(new.cost)
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
