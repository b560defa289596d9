"""The journal's mark: the owner's limits hold also where the journal is lost or old.

The mark is kept with the identity, and says how far the journal had come and what had
been spent. It is written before the request of each post and top-up leaves, and
otherwise once a minute. A crash between two marks leaves a journal that is ahead of its
mark, and that is no fault: nothing was spent that the mark does not know.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo

from journeyman.domain.clock import Clock
from journeyman.domain.errors import UsageError
from journeyman.economy import events
from journeyman.economy.bookkeeping import book_post
from journeyman.economy.budget import Limits, Period, start_of
from journeyman.journal.identity import JournalMark
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence
from journeyman.journal.spends import Spend, SpendKind
from journeyman.observability.events import Log

CARRIED_AT = "carried_at"
"""The fact that holds when this journal was last found to be older than its mark."""


@dataclass(kw_only=True, eq=False)
class MarkKeeper:
    """Notes how far the journal has come, and finds that it was once further."""

    journal: Journal
    load: Callable[[], JournalMark | None]
    save: Callable[[JournalMark], None]
    clock: Clock
    log: Log
    zone: tzinfo = UTC
    """Whose days and months the limits are for."""
    _reached: tuple[int, str, int] | None = field(init=False, default=None)
    """Entries, head and spends of the mark that was written last."""

    def begin(self) -> None:
        """Carry what this journal does not know, if it is older than its mark.

        Called at each start, before anything is decided.

        Raises:
            StateError: the disk refused, or the mark cannot be read.
        """
        mark = self.load()
        if mark is not None:
            self._reached = mark.entries, mark.head, mark.spends
        if mark is not None and is_behind(self.journal, mark):
            carry_missing(self.journal, mark, self.clock.now(), self.zone)
            self.log.emit(
                events.JOURNAL_IS_OLDER,
                marked_at=mark.at.isoformat(timespec="seconds"),
                entries=mark.entries,
                spends=mark.spends,
                posts_today=mark.posts,
                balance=self.journal.ledger.balance(),
            )
        self.note()

    def note(self) -> None:
        """Write the mark, if anything was booked or spent since it was last written.

        Raises:
            StateError: the disk refused; what was about to be sent must not be.
        """
        reached = (*self.journal.ledger.head(), self.journal.spends.recorded())
        if reached == self._reached:
            return
        self.save(mark_of(self.journal, self.clock.now(), self.zone))
        self._reached = reached


def mark_of(journal: Journal, now: datetime, zone: tzinfo = UTC) -> JournalMark:
    """Return how far a journal has come."""
    entries, head = journal.ledger.head()
    today = start_of(Period.DAY, now, zone)
    posts, credits_, _ = journal.spends.counted_since(SpendKind.POST, today)
    return JournalMark(
        entries=entries,
        head=head,
        spends=journal.spends.recorded(),
        at=now,
        posts=posts,
        credits=credits_,
        posted=journal.spends.posted_credits(),
        cents=_cents(journal, today),
        cents_of_month=_cents(journal, start_of(Period.MONTH, now, zone)),
    )


def is_behind(journal: Journal, mark: JournalMark) -> bool:
    """Return whether a journal was once further than it is: a restored backup is."""
    is_short = journal.spends.recorded() < mark.spends
    if mark.entries < journal.ledger.archived().last_entry:
        return is_short  # It went on from there long ago, and is further.
    return is_short or journal.ledger.hash_of(mark.entries) != mark.head


def found_older(journal: Journal) -> str | None:
    """Return when this journal was last found to be older than its mark, if it was."""
    at = journal.facts.get(CARRIED_AT)
    return at if isinstance(at, str) else None


def acknowledge_older(journal: Journal, log: Log) -> None:
    """Take note that the owner knows of an older journal: it is told no more.

    What was carried stays counted and booked.

    Raises:
        UsageError: none was found.
    """
    found_at = found_older(journal)
    if found_at is None:
        raise UsageError(
            "this journal was not found to be older than the one before it",
            "There is nothing to acknowledge; `journeyman doctor` checks all of it.",
        )
    with journal.tx("older journal acknowledged"):
        journal.facts.put(CARRIED_AT, None)
    log.emit(events.OLDER_ACKNOWLEDGED, found_at=found_at)


def carry_missing(
    journal: Journal, mark: JournalMark, now: datetime, zone: tzinfo = UTC
) -> None:
    """Make an older journal count and book what its mark knows beyond it.

    Only what left is booked: what was earned comes again with the tasks that earned it,
    and where it does not, the ledger has too little, which spends nothing.
    """
    with journal.tx("mark carried"):
        for post in carry_limits(journal, mark, now, zone):
            book_post(journal.ledger, post, Confidence.OBSERVED, cause="mark")
        journal.facts.put(CARRIED_AT, now.isoformat())


def carry_limits(
    journal: Journal, mark: JournalMark, now: datetime, zone: tzinfo = UTC
) -> list[Spend]:
    """Make a journal count what its mark knows beyond it, inside a transaction.

    Returns the posts: one for today's, one for all before. Asked again, it carries
    nothing more.
    """
    today, month = (start_of(one, now, zone) for one in (Period.DAY, Period.MONTH))
    known = mark_of(journal, now, zone)
    is_of_today, is_of_month = mark.at >= today, mark.at >= month
    posts = max(0, mark.posts - known.posts) * is_of_today
    credits_ = max(0, mark.credits - known.credits) * is_of_today
    earlier = max(0, mark.posted - known.posted - credits_)
    cents = max(0, mark.cents - known.cents) * is_of_today
    of_month = max(0, mark.cents_of_month - known.cents_of_month - cents) * is_of_month

    def carry(kind: SpendKind, at: datetime, *amounts: int) -> list[Spend]:
        number, credits_, cents = amounts
        if not any(amounts):
            return []
        return [
            journal.spends.carry(
                kind,
                number=number,
                credits_=credits_,
                cents=cents,
                at=at,
                reason=f"not in this journal, and marked at {mark.at:%Y-%m-%d %H:%M}",
            )
        ]

    carry(SpendKind.TOP_UP, now, 0, 0, cents)
    carry(SpendKind.TOP_UP, month, 0, 0, of_month)
    before = carry(SpendKind.POST, today - timedelta(days=1), 0, earlier, 0)
    return [*before, *carry(SpendKind.POST, now, posts, credits_, 0)]


def used_up(limits: Limits, now: datetime) -> JournalMark:
    """Return the mark of an agent of which nothing is known: all limits are reached."""
    return JournalMark(
        entries=0,
        head="",
        spends=0,
        at=now,
        posts=limits.posts_per_day,
        credits=limits.per_day_credits,
        posted=max(limits.per_day_credits, limits.per_month_credits),
        cents=limits.topup_per_day_cents,
        cents_of_month=max(limits.topup_per_day_cents, limits.topup_per_month_cents),
    )


def _cents(journal: Journal, since: datetime) -> int:
    return journal.spends.counted_since(SpendKind.TOP_UP, since)[2]
