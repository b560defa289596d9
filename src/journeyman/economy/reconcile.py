"""Shown balances beside the ledger: what explains a difference, and what does not.

A request whose answer was lost may have moved credits. What it would have moved is
known, so a later balance tells: a difference is explained by the fewest of such
requests that add up to it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import combinations
from math import comb

from anyio import get_cancelled_exc_class

from journeyman.domain.errors import StateError
from journeyman.domain.plausibility import doubt_about_balance
from journeyman.domain.tasks import TERMINAL, SpendId, TaskId, TaskState
from journeyman.economy import events
from journeyman.economy.bookkeeping import (
    book_adjustment,
    book_doubt,
    book_explained,
    book_late_pay,
    book_post,
    book_refund,
    book_rest,
    book_top_up,
    write_off,
)
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import (
    RECEIVABLE,
    Confidence,
    Entry,
    EntryKind,
    Receivable,
)
from journeyman.journal.posts import FollowedPost, PostState
from journeyman.journal.spends import Spend, SpendKind, SpendState
from journeyman.observability.events import Log

PAYABLE = frozenset({TaskState.SUBMITTING, TaskState.SUBMITTED, TaskState.COMPLETING})
"""A task in one of these may have been paid for without our knowing it: a balance that
has its reward would be booked as an adjustment, and the reward once more later."""


PAYABLE_TOP_UPS = (
    SpendState.OPEN,
    SpendState.EXPIRED,
    SpendState.UNKNOWN,
    SpendState.CANCELLED,
)
"""Somebody may have paid one that is in one of these, the likeliest first: of one whose
answer was lost, nobody knows the page."""
MOST_PAYABLE = 20
"""Open questions that are considered, the likeliest ones: all of a year, three at a
time, would be millions of sums."""
MOST_SUMS = 2_000
"""That are compared with a difference: of 20 questions at most 3 are taken together, of
10 all. With more sums, any difference would be one of them by chance."""
MOST_NAMED = 5
"""Requests of unknown outcome that an unexplained difference names."""


Question = Spend | Receivable | FollowedPost | Entry
"""What may have moved credits, or may be of what has been booked since."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unsettled:
    """Something of which nobody knows whether it moved credits."""

    about: Question
    credits: int
    """By which our balance would differ from the ledger's if it did."""

    @property
    def name(self) -> str:
        """What a person finds it by."""
        match self.about:
            case Spend(spend_id=name) | FollowedPost(spend_id=name):
                return name
            case Receivable(task_id=name):
                return name
            case Entry(entry_id=number):
                return f"entry {number}"


def unsettled(journal: Journal) -> list[Unsettled]:
    """Return what may explain a difference, the likeliest first, the newest of each.

    A page whose answer was lost may exist; one that was given up still does.
    """
    spends = {state: journal.spends.in_state(state)[::-1] for state in PAYABLE_TOP_UPS}
    posts = [
        Unsettled(about=one, credits=-one.credits)
        for one in spends[SpendState.UNKNOWN]
        if one.kind is SpendKind.POST
    ]
    pages = [
        Unsettled(about=one, credits=one.credits)
        for some in spends.values()
        for one in some
        if one.kind is SpendKind.TOP_UP
    ]
    # A task that is given up may have been paid. Only then is all this read.
    is_owed = journal.ledger.accounts().get(RECEIVABLE)
    owed = journal.ledger.receivables()[::-1] if is_owed else []
    work = [Unsettled(about=one, credits=one.credits) for one in owed if one.credits]
    # An answer named more than was listed, and its word alone was not enough.
    claims = [
        Unsettled(about=one, credits=one.unbooked) for one in journal.ledger.claims()
    ]
    # A difference that was booked may be of what has been booked since.
    earlier = [
        Unsettled(about=one, credits=-one.amount)
        for one in journal.ledger.unexplained()
    ]
    over = refundable(journal, PostState.OVER)
    return [*posts, *over, *pages, *work, *claims, *earlier][:MOST_PAYABLE]


def refundable(journal: Journal, *states: PostState) -> list[Unsettled]:
    """Return the posts in some states whose rewards may have come back."""
    return [
        Unsettled(about=post, credits=post.credits)
        for state in states
        for post in journal.posts.in_state(state)
        if journal.ledger.in_escrow(post.spend_id) == post.credits
    ][:MOST_PAYABLE]


OTHERS = "explanations that would do as well"


@dataclass(frozen=True, slots=True)
class BalanceExplanation:
    """Which open questions a difference answers with yes."""

    parts: Sequence[Unsettled]
    others: int
    """How many sets as small as this would explain it as well."""

    @property
    def note(self) -> str:
        """What an entry says of it."""
        if not self.others:
            return ""
        return f"; {OTHERS}: {self.others}"


def explanation_of(
    difference: int, questions: Sequence[Unsettled]
) -> BalanceExplanation | None:
    """Return the fewest open questions that add up to a difference, if any do."""
    sums = 0
    for count in range(1, len(questions) + 1):
        sums += comb(len(questions), count)
        if sums > MOST_SUMS:
            return None
        matching = [
            some
            for some in combinations(questions, count)
            if sum(one.credits for one in some) == difference
        ]
        if matching:
            return BalanceExplanation(matching[0], len(matching) - 1)
    return None


@dataclass(eq=False)
class BalanceWindow:
    """The time between sending one request that moves credits and booking it."""

    alone: bool
    """No other such request overlapped this one."""


@dataclass(eq=False)
class BalanceWatch:
    """Compares shown balances with the ledger, and books what explains a difference."""

    journal: Journal
    log: Log
    open_windows: list[BalanceWindow] = field(init=False, default_factory=list)

    @contextmanager
    def window(self) -> Iterator[BalanceWindow]:
        """Mark a request that moves credits, from before it leaves until it is booked.

        Two windows that overlap spoil each other: either balance may or may not
        contain the other's effect.
        """
        window = BalanceWindow(alone=not self.open_windows)
        for other in self.open_windows:
            other.alone = False
        self.open_windows.append(window)
        try:
            yield window
        finally:
            self.open_windows.remove(window)

    def observe(self, window: BalanceWindow, shown: int | None) -> None:
        """Compare a balance with the ledger, after the window's own effect was booked.

        A difference is explained by requests whose outcome was unknown, or booked as
        an adjustment, which names those that are left.
        """
        if shown is None or not window.alone:
            return
        if self.journal.tasks.count_in(PAYABLE):
            return
        booked = self.journal.ledger.balance()
        difference = shown - booked
        if difference == 0:
            return
        if doubt := doubt_about_balance(shown, booked):
            self._doubt(doubt, shown)
            return
        questions = unsettled(self.journal)
        explained = explanation_of(difference, questions)
        if not explained:
            # A balance may show a refund before a listing says that a post is over.
            silent = refundable(self.journal, PostState.ABSENT, PostState.LISTED)
            explained = explanation_of(difference, silent)
        if explained:
            self._settle(explained, shown)
        else:
            self._adjust(difference, shown, questions)

    def _settle(self, explained: BalanceExplanation, shown: int) -> None:
        more = explained.note
        with self.journal.tx("balance explained"):
            for one in explained.parts:
                _settle(self.journal, one.about, more, shown)
        for one in explained.parts:
            tell_settled(self.journal, self.log, one.about)

    def _doubt(self, doubt: str, shown: int) -> None:
        ledger = self.journal.ledger
        with self.journal.tx("doubtful balance"):
            is_new = book_doubt(ledger, doubt, shown, ledger.now())
        if is_new:
            self.log.emit(events.DOUBTED, message=doubt)

    def _adjust(
        self, difference: int, shown: int, questions: Sequence[Unsettled]
    ) -> None:
        names = [one.name for one in questions if not isinstance(one.about, Entry)]
        with self.journal.tx("adjustment"):
            book_adjustment(self.journal.ledger, difference, shown, names[:MOST_NAMED])
        self.log.emit(events.ADJUSTED, amount=difference, balance=shown)


def _settle(journal: Journal, about: Question, more: str, shown: int) -> None:
    """Book what a balance has shown, inside a transaction."""
    match about:
        case Spend(kind=SpendKind.POST):
            reason = f"its credits have left the shown balance{more}"
            settle_post(journal, about, reason, cause="balance", observed=shown)
        case Spend():
            _settle_top_up(journal, about, f"its credits were seen{more}", shown)
        case Receivable():
            book_late_pay(journal.ledger, about, f"its credits were seen{more}", shown)
        case FollowedPost():
            book_refund(journal.ledger, about, cause="balance", observed=shown)
            journal.posts.note(
                about.spend_id,
                PostState.REFUNDED,
                status=about.status,
                result=about.result,
                # A listing may still show that it was something else.
                is_ended=about.state is PostState.OVER,
            )
        case Entry(kind=EntryKind.EARNED):
            book_rest(journal.ledger, about, f"its credits were seen{more}", shown)
        case Entry():
            why = f"what was booked since explains it{more}"
            book_explained(journal.ledger, about, why, shown)


def tell_settled(journal: Journal, log: Log, about: Question) -> None:
    """Log what became of an open question, after it was booked."""
    balance = journal.ledger.balance()
    match about:
        case Spend(kind=SpendKind.POST):
            log.emit(
                events.POSTED,
                spend_id=about.spend_id,
                task_id=about.task_id or None,
                reward=about.credits,
                balance=balance,
            )
        case Spend():
            log.emit(
                events.TOP_UP_BOOKED,
                spend_id=about.spend_id,
                credits=about.credits,
                balance=balance,
                confidence=Confidence.OBSERVED,
            )
        case Receivable():
            log.emit(
                events.LATE_PAY,
                task_id=about.task_id,
                strategy=about.strategy,
                credits=about.credits,
                balance=balance,
            )
        case FollowedPost():
            log.emit(
                events.POST_CHANGED,
                state=PostState.REFUNDED,
                status=about.status,
                spend_id=about.spend_id,
                task_id=about.task_id,
            )
        case Entry(kind=EntryKind.EARNED):
            log.emit(
                events.LATE_PAY,
                task_id=about.subject,
                strategy=about.strategy,
                credits=about.unbooked,
                balance=balance,
            )
        case Entry():
            log.emit(events.EXPLAINED, entry=about.entry_id, amount=about.amount)


@contextmanager
def unknown_if_interrupted(journal: Journal, log: Log, spend: Spend) -> Iterator[None]:
    """Mark a spend as unknown when its answer is not waited for, or not written down.

    The daemon may go on: nobody would look at it again before the next start.
    """
    try:
        yield
    except (Exception, get_cancelled_exc_class()):
        with suppress(StateError):
            interrupt(journal, log, spend.spend_id, "its answer was not written down")
        raise


def interrupt(journal: Journal, log: Log, spend_id: SpendId, reason: str) -> None:
    """Mark a spend whose answer nobody waits for any more: it may have happened.

    It stays reserved and is never repeated by itself; a listing, or a balance that the
    network shows, may settle it later.
    """
    with journal.tx("spend interrupted"):
        spend = journal.spends.get(spend_id)
        if spend is None or spend.state is not SpendState.RESERVED:
            return
        journal.spends.move(spend_id, SpendState.UNKNOWN, reason=reason)
    if spend.kind is SpendKind.POST:
        log.emit(
            events.POST_UNKNOWN,
            spend_id=spend_id,
            reward=spend.credits,
            message=reason,
        )
        return
    log.emit(
        events.CHECKOUT_FAILED,
        spend_id=spend_id,
        credits=spend.credits,
        message=reason,
    )


# -- one question that was answered ---------------------------------------------------


def settle_post(
    journal: Journal,
    spend: Spend,
    reason: str,
    *,
    cause: str,
    observed: int | None = None,
) -> None:
    """Book a post of unknown outcome that was seen, inside a transaction."""
    book_post(
        journal.ledger, spend, Confidence.OBSERVED, cause=cause, observed=observed
    )
    journal.spends.move(spend.spend_id, SpendState.SETTLED, reason=reason)


def settle_top_up(journal: Journal, log: Log, spend: Spend, note: str) -> None:
    """Book a top-up that the owner says was paid, and close it."""
    with journal.tx("top-up paid"):
        _settle_top_up(journal, spend, note, None)
    tell_settled(journal, log, spend)


def _settle_top_up(
    journal: Journal, spend: Spend, note: str, observed: int | None
) -> None:
    cause = "owner" if observed is None else "balance"
    book_top_up(journal.ledger, spend, note, cause=cause, observed=observed)
    journal.spends.move(spend.spend_id, SpendState.SETTLED, reason=note)


# -- what nothing will settle any more -------------------------------------------------

WRITTEN_OFF = "ledger.written_off_until"
"""The fact that holds the last entry that was old enough to be looked at."""
MOST_WRITTEN_OFF = 250
"""Entries that are looked at in one step."""


def write_off_old(journal: Journal, log: Log, now: datetime, days: float) -> bool:
    """Write off results of which nobody said in so long whether they are paid.

    One step of it. Each entry is looked at once, when it is old enough; False when
    none is left.
    """
    before = now - timedelta(days=days)
    after = int(str(journal.facts.get(WRITTEN_OFF) or 0))
    entries = journal.ledger.older(after, before, MOST_WRITTEN_OFF)
    if not entries:
        return False
    with journal.tx("write off"):
        lost = [
            (one, write_off(journal.ledger, one, days))
            for one in entries
            if one.kind is EntryKind.DELIVERED and _has_ended(journal, one.subject)
        ]
        journal.facts.put(WRITTEN_OFF, entries[-1].entry_id)
    for entry, credits_ in lost:
        if credits_:
            log.emit(
                events.WRITTEN_OFF,
                task_id=entry.subject,
                strategy=entry.strategy,
                credits=credits_,
            )
    return True


def _has_ended(journal: Journal, task_id: str) -> bool:
    try:
        return journal.tasks.get(TaskId(task_id)).state in TERMINAL
    except KeyError:
        return True
