"""What is booked, when, and with which confidence. Always inside a transaction."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from itertools import chain, combinations
from typing import TypeVar

from journeyman.domain.credits import MILLIONTHS, STARTER_CREDITS
from journeyman.domain.plausibility import doubt_about_balance, doubt_about_earning
from journeyman.domain.tasks import TaskId, TaskState
from journeyman.economy import events
from journeyman.economy.budget import Period, start_of
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, EntryKind, Ledger, NewEntry
from journeyman.journal.posts import FollowedPost, PostState
from journeyman.journal.spends import Spend, SpendKind, SpendState
from journeyman.observability.events import Log

STARTER_KEY = "starter"


def book_starter(ledger: Ledger, shown: int | None) -> bool:
    """Book the credits of free registration (contract section 2), once.

    `shown` is what the network's answer named; without it, or where it is not
    plausible, the contract's 100.
    """
    doubt = "" if shown is None else doubt_about_balance(shown, STARTER_CREDITS)
    is_told = shown is not None and not doubt
    return ledger.book(
        NewEntry(
            key=STARTER_KEY,
            kind=EntryKind.STARTER,
            amount=shown if shown is not None and is_told else STARTER_CREDITS,
            confidence=Confidence.CONFIRMED if is_told else Confidence.CONTRACT,
            note="; ".join(filter(None, ("free registration", doubt))),
            cause="register",
            expected=STARTER_CREDITS,
            claimed=shown,
            observed=shown,
        )
    )


def book_first_balance(ledger: Ledger, balance: int) -> bool:
    """Book what an agent has whose earlier ledger is lost, once.

    It takes the place of the starter credits, which were given long ago.
    """
    return ledger.book(
        NewEntry(
            key=STARTER_KEY,
            kind=EntryKind.ADJUSTMENT,
            amount=balance,
            confidence=Confidence.OBSERVED,
            note="a new journal: the balance is the owner's word",
            cause="owner",
            observed=balance,
        )
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """What an answer that may have moved credits showed."""

    request: str = ""
    """The idempotency key of the request."""
    credits: int | None = None
    """That it says were paid; None: it names none."""
    balance: int | None = None
    """That it shows, where only this request can have moved it."""


def book_delivery(
    ledger: Ledger, task_id: TaskId, *, strategy: str, listed: int, request: str
) -> bool:
    """Book that the network has a result and owes us the listed reward, once."""
    return ledger.book(
        NewEntry(
            key=f"{EntryKind.DELIVERED}:{task_id}",
            kind=EntryKind.DELIVERED,
            amount=max(0, listed),
            confidence=Confidence.ASSUMED,
            subject=task_id,
            strategy=strategy,
            cause="submit",
            request=request,
            expected=_expected(listed),
        )
    )


def book_earning(
    ledger: Ledger,
    task_id: TaskId,
    *,
    strategy: str,
    listed: int,
    answered: Answered,
    cause: str,
) -> NewEntry:
    """Book a completed task, once; return its entry.

    Where the answer named no amount, the reward that the listing promised is assumed.
    An amount that is not plausible books 0, and stays owed until it is known.
    """
    amount = listed if answered.credits is None else answered.credits
    confidence = (
        Confidence.ASSUMED if answered.credits is None else Confidence.CONFIRMED
    )
    doubt = doubt_about_earning(amount, listed)
    entry = NewEntry(
        key=_earning_key(task_id),
        kind=EntryKind.EARNED,
        amount=0 if doubt else amount,
        confidence=Confidence.DOUBTFUL if doubt else confidence,
        subject=task_id,
        strategy=strategy,
        note=doubt,
        cause=cause,
        request=answered.request,
        expected=_expected(listed),
        claimed=answered.credits,
        observed=answered.balance,
    )
    if not doubt:
        _correct(ledger, entry, "the pay differs from what was listed")
    ledger.book(entry)
    return entry


def book_nothing_owed(
    ledger: Ledger, task_id: TaskId, *, strategy: str, cause: str, reason: str
) -> None:
    """Book that a result which was delivered will not be paid, once."""
    entry = NewEntry(
        key="",
        kind=EntryKind.CORRECTED,
        amount=0,
        confidence=Confidence.CONFIRMED,
        subject=task_id,
        strategy=strategy,
        cause=cause,
    )
    if ledger.owed(task_id):
        _correct(ledger, entry, reason)


def _correct(ledger: Ledger, paid: NewEntry, note: str) -> None:
    """Make what is owed for a task what it is known to be."""
    owed = ledger.owed(paid.subject) or 0
    if owed == paid.amount:
        return
    ledger.book(
        replace(
            paid,
            key=f"{EntryKind.CORRECTED}:{paid.subject}",
            kind=EntryKind.CORRECTED,
            amount=paid.amount - owed,
            note=note,
            observed=None,
        )
    )


def _expected(listed: int) -> int | None:
    """Return what a listing promised; None where it named no reward."""
    return listed if listed > 0 else None


def earned_by(ledger: Ledger, task_id: TaskId) -> int:
    """Return the credits that were booked for a task; 0 before it is completed."""
    return ledger.amount_of(_earning_key(task_id))


def _earning_key(task_id: TaskId) -> str:
    return f"earned:{task_id}"


def book_post(
    ledger: Ledger,
    spend: Spend,
    confidence: Confidence,
    *,
    cause: str = "post",
    observed: int | None = None,
) -> bool:
    """Book the reward that left our balance with a post, once.

    `observed` is the balance that the network showed then.
    """
    return ledger.book(
        NewEntry(
            key=f"spent:{spend.spend_id}",
            kind=EntryKind.SPENT,
            amount=-spend.credits,
            confidence=confidence,
            subject=spend.spend_id,
            strategy=spend.strategy,
            note=str(spend.request.get("title", "")),
            cause=cause,
            # A post is sent under its own name.
            request=spend.spend_id,
            expected=-spend.credits,
            observed=observed,
        )
    )


def book_fee(ledger: Ledger, spend: Spend, fee: int) -> bool:
    """Book what the answer to a post says was taken beside its reward, once."""
    return ledger.book(
        NewEntry(
            key=f"{EntryKind.FEE}:{spend.spend_id}",
            kind=EntryKind.FEE,
            amount=-fee,
            confidence=Confidence.CONFIRMED,
            subject=spend.spend_id,
            strategy=spend.strategy,
            cause="post",
            request=spend.spend_id,
            claimed=-fee,
        )
    )


def book_paid_out(ledger: Ledger, post: FollowedPost, status: str) -> bool:
    """Book that a post was done, so that its reward is not ours any more, once."""
    return _end_escrow(
        ledger,
        post,
        EntryKind.PAID_OUT,
        amount=ledger.in_escrow(post.spend_id),
        # No listing names what it paid to others.
        confidence=Confidence.ASSUMED,
        cause="listing",
        note=f"listed as {status}" if status else "listed as done",
    )


def book_refund(
    ledger: Ledger,
    post: FollowedPost,
    *,
    cause: str,
    claimed: int | None = None,
    observed: int | None = None,
) -> bool:
    """Book that the reward of a post came back, once; never more than it holds.

    `claimed` is what a listing named, `observed` the balance that the network showed.
    """
    held = ledger.in_escrow(post.spend_id)
    is_known = claimed is not None and 0 < claimed <= held
    if observed is not None:
        confidence = Confidence.OBSERVED
    else:
        confidence = Confidence.CONFIRMED if is_known else Confidence.ASSUMED
    return _end_escrow(
        ledger,
        post,
        EntryKind.REFUNDED,
        amount=claimed if claimed is not None and is_known else held,
        confidence=confidence,
        cause=cause,
        note=str(post.request.get("title", "")),
        claimed=claimed,
        observed=observed,
    )


def _end_escrow(
    ledger: Ledger,
    post: FollowedPost,
    kind: EntryKind,
    *,
    amount: int,
    confidence: Confidence,
    cause: str,
    note: str,
    claimed: int | None = None,
    observed: int | None = None,
) -> bool:
    """Book where what a post holds went; False where it holds nothing any more."""
    return amount > 0 and ledger.book(
        NewEntry(
            key=f"{kind}:{post.spend_id}",
            kind=kind,
            amount=amount,
            confidence=confidence,
            subject=post.spend_id,
            strategy=post.strategy,
            note=note,
            cause=cause,
            request=post.spend_id,
            expected=post.credits,
            claimed=claimed,
            observed=observed,
        )
    )


def book_top_up(
    ledger: Ledger,
    spend: Spend,
    note: str,
    *,
    cause: str = "balance",
    observed: int | None = None,
) -> bool:
    """Book bought credits that were seen or confirmed, once."""
    return ledger.book(
        NewEntry(
            key=f"top-up:{spend.spend_id}",
            kind=EntryKind.TOP_UP,
            amount=spend.credits,
            confidence=Confidence.OBSERVED,
            subject=spend.spend_id,
            strategy=spend.strategy,
            note=note,
            cause=cause,
            request=spend.spend_id,
            expected=spend.credits,
            observed=observed,
        )
    )


def book_cost(
    ledger: Ledger, key: str, cost: int, *, strategy: str, subject: str, note: str
) -> bool:
    """Book what work cost the owner outside the network, in millionths of a credit.

    It moves no credits: the balance stays what the network has.
    """
    return ledger.book(
        NewEntry(
            key=f"cost:{key}",
            kind=EntryKind.COST,
            amount=0,
            cost=cost,
            # Its strategy says so; nobody else can know.
            confidence=Confidence.ASSUMED,
            subject=subject,
            strategy=strategy,
            note=note,
            cause="strategy",
        )
    )


def cost_today(
    ledger: Ledger, strategy: str, now: datetime, zone: tzinfo = UTC
) -> float:
    """Return what a strategy cost outside the network today, in credits."""
    return ledger.cost_since(strategy, start_of(Period.DAY, now, zone)) / MILLIONTHS


def book_adjustment(ledger: Ledger, amount: int, key: str, shown: int) -> bool:
    """Book a difference to a shown balance that nothing of ours explains."""
    return ledger.book(
        NewEntry(
            key=f"adjustment:{key}",
            kind=EntryKind.ADJUSTMENT,
            amount=amount,
            confidence=Confidence.OBSERVED,
            note="the network showed a different balance",
            cause="balance",
            observed=shown,
        )
    )


def book_doubt(ledger: Ledger, doubt: str, shown: int, now: datetime) -> bool:
    """Keep a balance that cannot be ours in the ledger, without an effect.

    Once a day: a network that shows such balances shows one with each answer.
    """
    return ledger.book(
        NewEntry(
            key=f"doubtful:{now.date().isoformat()}",
            kind=EntryKind.ADJUSTMENT,
            amount=0,
            confidence=Confidence.DOUBTFUL,
            note=doubt,
            cause="balance",
            observed=shown,
        )
    )


PAYABLE = frozenset({TaskState.SUBMITTING, TaskState.SUBMITTED, TaskState.COMPLETING})
"""A task in one of these may have been paid for without our knowing it: a balance that
has its reward would be booked as an adjustment, and the reward once more later."""


PAYABLE_TOP_UPS = (
    SpendState.OPEN,
    SpendState.UNKNOWN,
    SpendState.EXPIRED,
    SpendState.CANCELLED,
)
"""Somebody may have paid one that is in one of these, the likeliest first."""
REFUNDABLE = (PostState.OVER, PostState.ABSENT, PostState.LISTED)
"""The reward of a post in one of these may have come back, the likeliest first."""
MOST_TOGETHER = 3
"""Pages that are paid, or posts that end, between two balances; more would match any
sum by chance."""
MOST_PAYABLE = 20
"""Pages or posts that are tried for that, the newest of each state: all of a year,
three at a time, would be millions of sums."""


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

        A difference is explained, in this order, by posts that are over and whose
        rewards came back, by top-ups that were paid, by a post of unknown outcome that
        was taken, or booked as an adjustment.
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
        else:
            self._explain(difference, shown)

    def _explain(self, difference: int, shown: int) -> None:
        if refunded := self._refunded(difference):
            self._settle_refunds(refunded, shown)
            return
        paid = self._paid(difference)
        taken = self._matching(SpendKind.POST, SpendState.UNKNOWN, -difference)
        if paid:
            for one in paid:
                settle_top_up(
                    self.journal, self.log, one, "its credits were seen", observed=shown
                )
        elif taken:
            self._settle_post(taken, shown)
        else:
            self._adjust(difference, shown)

    def _settle_refunds(self, posts: Sequence[FollowedPost], shown: int) -> None:
        with self.journal.tx("refund observed"):
            for post in posts:
                book_refund(self.journal.ledger, post, cause="balance", observed=shown)
                self.journal.posts.note(
                    post.spend_id,
                    PostState.REFUNDED,
                    status=post.status,
                    result=post.result,
                    # A listing may still show that it was something else.
                    is_ended=post.state is PostState.OVER,
                )
        for post in posts:
            self.log.emit(
                events.POST_CHANGED,
                state=PostState.REFUNDED,
                status=post.status,
                spend_id=post.spend_id,
                task_id=post.task_id,
            )

    def _settle_post(self, spend: Spend, shown: int) -> None:
        reason = "its credits have left the shown balance"
        with self.journal.tx("post observed"):
            book_post(
                self.journal.ledger,
                spend,
                Confidence.OBSERVED,
                cause="balance",
                observed=shown,
            )
            self.journal.spends.move(spend.spend_id, SpendState.SETTLED, reason=reason)

    def _doubt(self, doubt: str, shown: int) -> None:
        ledger = self.journal.ledger
        with self.journal.tx("doubtful balance"):
            is_new = book_doubt(ledger, doubt, shown, ledger.now())
        if is_new:
            self.log.emit(events.DOUBTED, message=doubt)

    def _adjust(self, difference: int, shown: int) -> None:
        # The key names the last entry, so that no difference is booked twice.
        last = self.journal.ledger.recent(1)
        key = f"{last[-1].entry_id if last else 0}:{shown}"
        with self.journal.tx("adjustment"):
            book_adjustment(self.journal.ledger, difference, key, shown)
        self.log.emit(events.ADJUSTED, amount=difference, balance=shown)

    def _refunded(self, credits_: int) -> Sequence[FollowedPost]:
        """Return the posts whose rewards these are, the likeliest first.

        A balance may show it before a listing says that a post is over.
        """
        over = [
            post
            for state in REFUNDABLE
            for post in self.journal.posts.in_state(state)
            if self.journal.ledger.in_escrow(post.spend_id) == post.credits
        ]
        return _adding_up(over, credits_)

    def _paid(self, credits_: int) -> Sequence[Spend]:
        """Return the top-ups whose credits these are, the likeliest first.

        One whose answer was lost may have a page; one that was given up still has it.
        Several may have been paid since a balance was last shown.
        """
        payable = [
            spend
            for state in PAYABLE_TOP_UPS
            for spend in reversed(self.journal.spends.in_state(state))
            if spend.kind is SpendKind.TOP_UP
        ]
        return _adding_up(payable, credits_)

    def _matching(
        self, kind: SpendKind, state: SpendState, credits_: int
    ) -> Spend | None:
        candidates = (
            spend
            for spend in self.journal.spends.in_state(state)
            if spend.kind is kind and spend.credits == credits_
        )
        return next(candidates, None)


Moved = TypeVar("Moved", Spend, FollowedPost)


def _adding_up(some: Sequence[Moved], credits_: int) -> Sequence[Moved]:
    """Return the first few that are together so many credits; empty where none are."""
    if credits_ <= 0:
        return ()
    sums = chain.from_iterable(
        combinations(some[:MOST_PAYABLE], count)
        for count in range(1, MOST_TOGETHER + 1)
    )
    matching = (one for one in sums if sum(each.credits for each in one) == credits_)
    return next(matching, ())


def settle_top_up(
    journal: Journal,
    log: Log,
    spend: Spend,
    note: str,
    *,
    observed: int | None = None,
) -> None:
    """Book a top-up that was paid, and close it."""
    with journal.tx("top-up paid"):
        cause = "owner" if observed is None else "balance"
        book_top_up(journal.ledger, spend, note, cause=cause, observed=observed)
        journal.spends.move(spend.spend_id, SpendState.SETTLED, reason=note)
    log.emit(
        events.TOP_UP_BOOKED,
        spend_id=spend.spend_id,
        credits=spend.credits,
        balance=journal.ledger.balance(),
        confidence=Confidence.OBSERVED,
    )
