"""The ledger: every credit that moved, appended once, chained by hashes.

Double entry: each entry moves whole credits from one account to another, so the sum
over all accounts is 0 by construction. The balance of `agent` is what we hold.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Any

from journeyman.journal.codec import Moment, load, stored_between
from journeyman.journal.database import Database, Memo, Now, Row
from journeyman.journal.facts import Totals

GENESIS = "0" * 64
"""The previous hash of the first entry."""
KIND_TOTAL = "ledger."
ACCOUNT_TOTAL = "account."
STRATEGY_TOTAL = "strategy."
"""Kept of archived entries alone."""
ARCHIVED_TOTAL = "archived."
"""What entries add up to that only archives have; one of the three above follows."""
AGENT = "agent"
"""The account of what we hold."""
RECEIVABLE = "receivable"
"""The accounts of what we are owed for results that were delivered, one for a task."""
ESCROW = "escrow:{}"
"""The accounts of what our posts hold until they end, one for a post."""
MOST_AT_ONCE = 1_000
"""Entries that are read at once, of however many."""
MOST_CLAIMS = 20
"""That may explain a balance, the newest."""
HASH_VERSION = 2
"""Of what the hash of a new entry covers; entries from before the accounts have 1."""


class EntryKind(StrEnum):
    """What moved the credits."""

    STARTER = "starter"
    #: The network has a result, and owes us its reward.
    DELIVERED = "delivered"
    #: What we are owed for a result turned out to be more or less, or nothing.
    CORRECTED = "corrected"
    #: Nobody ever said whether a result is paid: it is not counted on any more.
    WRITTEN_OFF = "written-off"
    EARNED = "earned"
    SPENT = "spent"
    #: What the network took for a post beside its reward.
    FEE = "fee"
    #: The reward of a post came back.
    REFUNDED = "refunded"
    #: The reward of a post went to whoever did it.
    PAID_OUT = "paid-out"
    TOP_UP = "top-up"
    ADJUSTMENT = "adjustment"
    #: Money of the owner that left outside of the network: no credits move.
    COST = "cost"


_ACCOUNTS = {
    EntryKind.STARTER: (AGENT, "starter"),
    EntryKind.DELIVERED: (f"{RECEIVABLE}:{{}}", "earnings"),
    EntryKind.CORRECTED: (f"{RECEIVABLE}:{{}}", "earnings"),
    EntryKind.WRITTEN_OFF: (f"{RECEIVABLE}:{{}}", "earnings"),
    EntryKind.EARNED: (AGENT, f"{RECEIVABLE}:{{}}"),
    EntryKind.SPENT: (AGENT, ESCROW),
    EntryKind.FEE: (AGENT, "fees"),
    EntryKind.REFUNDED: (AGENT, ESCROW),
    EntryKind.PAID_OUT: ("payments", ESCROW),
    EntryKind.TOP_UP: (AGENT, "topup"),
    EntryKind.ADJUSTMENT: (AGENT, "adjustment"),
    EntryKind.COST: ("", ""),
}
"""The account that gains the amount of an entry, and the one that loses it."""
_ACCOUNTS_OF_VERSION_1 = _ACCOUNTS | {EntryKind.EARNED: (AGENT, "earnings")}
"""Before there were receivables."""


class Confidence(StrEnum):
    """How we know."""

    #: The contract says so.
    CONTRACT = "contract"
    #: The network's answer named what it had listed, or what a balance shows.
    CONFIRMED = "confirmed"
    #: The network's answer named another amount, and nothing else shows that.
    CLAIMED = "claimed"
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
    """It says between which accounts the credits move."""
    amount: int
    """In credits; negative when they leave."""
    confidence: Confidence
    subject: str = ""
    """The task or the spend that it belongs to."""
    strategy: str = ""
    note: str = ""
    cause: str = ""
    """What made it: an action that was answered, such as `complete`, or `balance`,
    `owner`, `strategy`."""
    request: str = ""
    """The idempotency key of the request that was answered."""
    expected: int | None = None
    """Credits that were listed or agreed; None: unknown."""
    claimed: int | None = None
    """Credits that the answer named, whole ones; None: it named none."""
    observed: int | None = None
    """The balance that the network showed; None: it showed none."""
    cost: int = 0
    """In millionths of a credit; only an entry of the kind `cost` has one."""


_BOOKED = tuple(one.name for one in fields(NewEntry))


@dataclass(frozen=True, kw_only=True, slots=True)
class Receivable:
    """What is owed for one result that was delivered and not paid yet."""

    task_id: str
    strategy: str
    credits: int
    """0 where the listing named no reward."""
    since: Moment
    """When it was delivered."""
    state: str
    reason: str
    """What the network said last of it."""
    reviews: int
    """Answers in a row that it is being looked at."""


class SumBy(StrEnum):
    """What entries may be added up by."""

    STRATEGY = "strategy"
    #: In UTC.
    DAY = "day"
    #: Of the entries.
    KIND = "kind"
    #: Who posted the task, as the network showed it.
    POSTER = "poster"


_GROUPS = {
    SumBy.STRATEGY: "strategy",
    SumBy.DAY: "day_in(at, ?)",
    SumBy.KIND: "kind",
    SumBy.POSTER: "coalesce((SELECT json_extract(record, '$.poster') FROM task_texts "
    "WHERE task_id = subject), '')",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class EntrySum:
    """What the entries of one strategy, day, kind or poster add up to."""

    group: str
    """Empty: entries that belong to none, such as the starter credits."""
    received: int
    """In credits."""
    paid: int
    """In credits."""
    cost: int | None
    """In millionths of a credit, outside of the network; None: none was reported."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DayEarnings:
    """What one strategy earned on one day."""

    day: str
    """In ISO 8601."""
    strategy: str
    earned: int
    """In credits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry(NewEntry):
    """An entry as booked."""

    entry_id: int
    account: str
    """That gained the amount."""
    contra: str
    """That lost it."""
    balance: int
    """Of the account `agent` after this entry, in credits."""
    at: Moment
    version: int
    previous_hash: str
    hash: str

    @property
    def unbooked(self) -> int:
        """What an answer named beyond what was booked, in credits."""
        return max(0, (self.claimed or 0) - self.amount)


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerArchive:
    """A file of old entries, which stand there one after another."""

    name: str = ""
    first_entry: int = 1
    last_entry: int = 0
    previous_hash: str = GENESIS
    """Of the entry before the first."""
    hash: str = GENESIS
    """Of the last entry: with it the chain goes on."""
    balance: int = 0
    """After the last entry."""
    first_at: str = ""
    """The earliest time of an entry, as it is stored."""
    last_at: str = ""
    """The latest."""


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
        account, contra = _accounts(new.kind, new.subject)
        balance = before + new.amount * (account == AGENT)
        # By hand: the codec takes three times as long, and this is the hot path.
        values: dict[str, Any] = {name: getattr(new, name) for name in _BOOKED}
        values |= {"account": account, "contra": contra, "balance": balance}
        values |= {"at": self.now().isoformat(), "version": HASH_VERSION}
        values["previous_hash"] = previous
        digest = values["hash"] = entry_hash(values)
        if not self.database.insert_if_new("ledger", "key", **values):
            return False
        if new.cost:
            self._costs.clear()
        self.tail = balance, digest
        if account == AGENT:
            self.running_totals.add(KIND_TOTAL + new.kind, new.amount)
        for name, amount in ((account, new.amount), (contra, -new.amount)):
            self.running_totals.add(ACCOUNT_TOTAL + name.partition(":")[0], amount)
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
        if entry_id == (archived := self.archived()).last_entry:
            return archived.hash
        query = "SELECT hash FROM ledger WHERE entry_id = ?"
        row = self.database.row(query, entry_id)
        return str(row["hash"]) if row else None

    def archived(self) -> LedgerArchive:
        """Return the newest archive: all entries up to its last stand in archives."""
        row = self.database.row(
            "SELECT * FROM ledger_archives ORDER BY last_entry DESC LIMIT 1"
        )
        return load(LedgerArchive, row) if row else LedgerArchive()

    def totals(self) -> dict[str, int]:
        """Return the credits that each kind of entry brought us or took, in all."""
        return self.running_totals.starting_with(KIND_TOTAL)

    def accounts(self) -> dict[str, int]:
        """Return the balance of each account; those of one kind are added up."""
        return self.running_totals.starting_with(ACCOUNT_TOTAL)

    def receivables(self) -> list[Receivable]:
        """Return what is owed, the oldest first. It reads every entry: for a person."""
        rows = self.database.rows(
            "WITH owed AS (SELECT subject AS task_id, strategy, min(at) AS since, "
            "sum(iif(account = 'agent', -amount, amount)) AS credits FROM ledger "
            "WHERE 'receivable:' || subject IN (account, contra) GROUP BY subject "
            # A reward that nobody named is owed until an answer settles it.
            "HAVING credits != 0 OR sum(kind != 'delivered') = 0) "
            "SELECT task_id, owed.strategy, since, credits, "
            "coalesce(state, '') AS state, coalesce(reason, '') AS reason, "
            "coalesce(reviews, 0) AS reviews "
            "FROM owed LEFT JOIN tasks USING (task_id) ORDER BY since, task_id"
        )
        return [load(Receivable, row) for row in rows]

    def entry(self, entry_id: int) -> Entry | None:
        """Return the entry of this number; None where there is none."""
        row = self.database.row("SELECT * FROM ledger WHERE entry_id = ?", entry_id)
        return load(Entry, row) if row else None

    def owed(self, task_id: str) -> int | None:
        """Return the credits owed for a result; None where none was delivered."""
        kinds = EntryKind.DELIVERED, EntryKind.CORRECTED
        keys = [f"{kind}:{task_id}" for kind in kinds]
        row = self.database.row(
            "SELECT sum(amount) FROM ledger WHERE key IN (?, ?)", *keys
        )
        return row[0] if row else None

    def in_escrow(self, spend_id: str) -> int:
        """Return the credits that a post still holds."""
        kinds = EntryKind.SPENT, EntryKind.REFUNDED, EntryKind.PAID_OUT
        return self.database.number(
            "SELECT -sum(amount) FROM ledger WHERE key IN (?, ?, ?)",
            *(f"{kind}:{spend_id}" for kind in kinds),
        )

    def outstanding(self, task_id: str) -> int:
        """Return what is still owed for a result: owed, and neither paid nor lost."""
        keys = [f"{prefix}:{task_id}" for prefix in ("earned", "late-pay")]
        lost = self.amount_of(f"{EntryKind.WRITTEN_OFF}:{task_id}")
        return (self.owed(task_id) or 0) + lost - sum(map(self.amount_of, keys))

    def older(self, after: int, before: datetime, most: int) -> list[Entry]:
        """Return the first entries after one, from before a time."""
        rows = self.database.rows(
            "SELECT * FROM ledger WHERE entry_id > ? AND at < ? "
            "ORDER BY entry_id LIMIT ?",
            *(after, before.isoformat(), most),
        )
        return [load(Entry, row) for row in rows]

    def amount_of(self, key: str) -> int:
        """Return the credits of the entry that has this key; 0 where there is none."""
        return self.database.number("SELECT amount FROM ledger WHERE key = ?", key)

    def request_of(self, key: str) -> str:
        """Return the request that made the entry of this key; empty where none did."""
        row = self.database.row("SELECT request FROM ledger WHERE key = ?", key)
        return str(row["request"]) if row else ""

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

    def unexplained_losses(self, since: datetime) -> int:
        """Return the credits that left since a time in UTC without a cause of ours.

        What came without one does not make up for it.
        """
        return self.database.number(
            f"SELECT -sum(amount) FROM {_UNEXPLAINED} AND amount < 0 AND at >= ?",  # noqa: S608 - ours
            since.isoformat(),
        )

    def claims(self) -> list[Entry]:
        """Return the pay that was named beyond the listing and that no balance showed.

        The newest first.
        """
        rows = self.database.rows(
            "SELECT * FROM ledger AS one WHERE confidence = 'claimed' "
            "AND claimed > amount AND kind = 'earned' AND NOT EXISTS "
            "(SELECT 1 FROM ledger WHERE key = 'earned:rest:' || one.subject) "
            "ORDER BY entry_id DESC LIMIT ?",
            MOST_CLAIMS,
        )
        return [load(Entry, row) for row in rows]

    def unexplained(self) -> list[Entry]:
        """Return the differences that nothing explains yet, the newest first."""
        query = f"SELECT * FROM {_UNEXPLAINED} ORDER BY entry_id DESC"  # noqa: S608 - ours
        return [load(Entry, row) for row in self.database.rows(query)]

    def sums(
        self,
        by: SumBy,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        zone: tzinfo = UTC,
    ) -> list[EntrySum]:
        """Return what each group brought and cost in a time; days are those of a zone.

        Days are in order, of others the one that brought most is the first. Reads every
        entry of that time: for `journeyman ledger --by`, not for the loop.
        """
        order = "" if by is SumBy.DAY else "sum(amount) DESC, "
        rows = self.database.rows(
            f'SELECT {_GROUPS[by]} AS "group", sum(max(amount, 0)) AS received, '  # noqa: S608 - names of ours
            "-sum(min(amount, 0)) AS paid, "
            "sum(iif(kind = 'cost', cost, NULL)) AS cost FROM ledger "
            "WHERE account IN ('agent', '') AND at >= ? AND at < ? "
            f"GROUP BY 1 ORDER BY {order}1",
            *([str(zone)] if by is SumBy.DAY else []),
            *stored_between(since, until),
        )
        return [load(EntrySum, row) for row in rows]

    def recent(
        self,
        limit: int,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Entry]:
        """Return the last entries of a time, oldest first."""
        rows = self.database.rows(
            "SELECT * FROM ledger WHERE at >= ? AND at < ? "
            "ORDER BY entry_id DESC LIMIT ?",
            *(*stored_between(since, until), limit),
        )
        return [load(Entry, row) for row in reversed(rows)]

    def entries(
        self, since: datetime | None = None, until: datetime | None = None
    ) -> Iterator[Entry]:
        """Yield the entries of a time, oldest first, some at once."""
        last = 0
        while rows := self.database.rows(
            "SELECT * FROM ledger WHERE entry_id > ? AND at >= ? AND at < ? "
            "ORDER BY entry_id LIMIT ?",
            *(last, *stored_between(since, until), MOST_AT_ONCE),
        ):
            yield from (load(Entry, row) for row in rows)
            last = rows[-1]["entry_id"]

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

    def earnings_since(self, since: datetime) -> list[tuple[datetime, int]]:
        """Return when work brought how much since a time in UTC, in order."""
        rows = self.database.rows(
            "SELECT at, amount FROM ledger WHERE kind = ? AND at >= ? ORDER BY at",
            *(EntryKind.EARNED, since.isoformat()),
        )
        return [(datetime.fromisoformat(row["at"]), row["amount"]) for row in rows]

    def earned_by_day(
        self, since: datetime, most: int, zone: tzinfo = UTC
    ) -> list[DayEarnings]:
        """Return what each strategy earned on each day of a zone, the oldest day first.

        Only the last `most` entries are looked at.
        """
        rows = self.database.rows(
            "SELECT day_in(at, ?) AS day, strategy, sum(amount) AS earned "
            "FROM ledger WHERE entry_id > ? AND kind = ? AND at >= ? "
            "GROUP BY day, strategy ORDER BY day, strategy",
            *(str(zone), self.head()[0] - most, EntryKind.EARNED, since.isoformat()),
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

    def began_at(self) -> datetime | None:
        """Return when the first entry was booked; None where there is none."""
        first = self.entry(1)
        return first.at if first else None

    def last_earned_at(self) -> datetime | None:
        """Return when work last brought credits; None: it never did."""
        row = self.database.row(
            "SELECT at FROM ledger WHERE kind = ? AND amount > 0 "
            "ORDER BY entry_id DESC LIMIT 1",
            EntryKind.EARNED,
        )
        return datetime.fromisoformat(row["at"]) if row else None

    def first_fault(self, *, last: int | None = None) -> str | None:
        """Check the chain; None when every entry follows from the one before.

        Args:
            last: how many entries are checked; None: all, and their sums, too.
        """
        return next(self._faults(last), None)

    def _faults(self, last: int | None) -> Iterator[str]:
        archived = self.archived()
        number = 0 if last is None else max(0, self.head()[0] - last)
        before = None
        if number > archived.last_entry:
            before = self.database.row(
                "SELECT hash, balance FROM ledger WHERE entry_id = ?", number
            )
        else:
            number = archived.last_entry
        start = archived.hash, archived.balance
        previous, balance = tuple(before) if before else start
        for row in self._rows_after(number):
            number += 1
            if fault := fault_in(row, number, previous, balance):
                yield fault
                return  # what follows is compared with what is wrong
            previous, balance = row["hash"], row["balance"]
        if last is not None:
            return
        if balance != (booked := sum(self.totals().values())):
            yield f"the entries add up to {balance}, but {booked} was booked"
        if left := sum(self.accounts().values()):
            yield f"the balances of all accounts add up to {left}, not to 0"

    def _rows_after(self, last: int) -> Iterator[Row]:
        """Yield the rows behind one, some at once: a year's do not fit in memory."""
        while rows := self.database.rows(
            "SELECT * FROM ledger WHERE entry_id > ? ORDER BY entry_id LIMIT ?",
            *(last, MOST_AT_ONCE),
        ):
            yield from rows
            last = rows[-1]["entry_id"]

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


_UNEXPLAINED = (
    # The index of the keys leads to them: it is asked before each spend.
    "ledger AS difference WHERE key >= 'adjustment:' AND key < 'adjustment;' "
    "AND amount != 0 AND NOT EXISTS (SELECT 1 FROM ledger "
    "WHERE key = 'explained:' || difference.entry_id)"
)


def _accounts(kind: EntryKind, subject: str, version: int = 2) -> tuple[str, str]:
    """Return which account gains, and which loses."""
    known = _ACCOUNTS if version == HASH_VERSION else _ACCOUNTS_OF_VERSION_1
    account, contra = known[kind]
    return account.format(subject), contra.format(subject)


def fault_in(
    row: Row | Mapping[str, object], number: int, previous: str, balance: int
) -> str | None:
    """Return what is wrong with an entry, after one that was right."""
    values = dict(row)
    name = f"entry {row['entry_id']}"
    if row["entry_id"] != number or values.get("previous_hash") != previous:
        return f"{name} does not follow the one before it"
    try:
        # The row as it is: a value of another type would be read as the same.
        is_changed = row["hash"] != entry_hash(values)
        entry = load(Entry, values)
        accounts = _accounts(entry.kind, entry.subject, entry.version)
    except (LookupError, TypeError, ValueError):  # a column may have another name
        return f"{name} cannot be read: it was changed after it was booked"
    if is_changed or (entry.account, entry.contra) != accounts:
        return f"{name} was changed after it was booked"
    balance += entry.amount * (entry.account == AGENT)
    if entry.balance != balance:
        return f"{name} has balance {entry.balance}, not {balance}"
    return None


_COVERED = (
    *("previous_hash", "key", "kind", "amount", "balance", "confidence"),
    *("subject", "strategy", "note", "at"),
)
_COVERED_SINCE_VERSION_2 = (
    *("version", "account", "contra", "cause", "request"),
    *("expected", "claimed", "observed", "cost"),
)


def entry_hash(values: Mapping[str, object]) -> str:
    """Bind an entry to all before it: change one, and every later hash is wrong."""
    content = [values[name] for name in _COVERED]
    if values["version"] != 1:
        content += [values[name] for name in _COVERED_SINCE_VERSION_2]
    elif values["cost"]:
        # Only then: entries from before there were costs keep their hashes.
        content.append(values["cost"])
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
