"""What is booked, when, and with which confidence. Always inside a transaction."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from journeyman.domain.credits import MILLIONTHS, STARTER_CREDITS
from journeyman.domain.plausibility import (
    Pay,
    believed_pay,
    doubt_about_balance,
    doubt_about_earning,
)
from journeyman.domain.tasks import TaskId
from journeyman.economy.budget import Period, start_of
from journeyman.journal.ledger import (
    Confidence,
    Entry,
    EntryKind,
    Ledger,
    NewEntry,
    Receivable,
)
from journeyman.journal.posts import FollowedPost
from journeyman.journal.spends import Spend

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
    credits: float | None = None
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
    shown, named = answered.balance, answered.credits
    risen = None if shown is None else shown - ledger.balance()
    pay, confidence = _believed(named, listed, risen)
    entry = NewEntry(
        key=_earning_key(task_id),
        kind=EntryKind.EARNED,
        amount=pay.credits,
        confidence=confidence,
        subject=task_id,
        strategy=strategy,
        note=pay.note,
        cause=cause,
        request=answered.request,
        expected=_expected(listed),
        claimed=None if named is None else math.floor(named),
        observed=shown,
    )
    if confidence is not Confidence.DOUBTFUL:
        _correct(ledger, entry, "the pay differs from what was listed")
    ledger.book(entry)
    return entry


def _believed(
    named: float | None, listed: int, risen: int | None
) -> tuple[Pay, Confidence]:
    """Return what is booked of the pay that an answer named, and how sure it is."""
    if doubt := doubt_about_earning(listed if named is None else named, listed):
        return Pay(credits=0, is_proven=False, note=doubt), Confidence.DOUBTFUL
    if named is None:
        return Pay(credits=listed, is_proven=False), Confidence.ASSUMED
    pay = believed_pay(named, listed, risen)
    return pay, Confidence.CONFIRMED if pay.is_proven else Confidence.CLAIMED


def book_rest(ledger: Ledger, claim: Entry, note: str, shown: int) -> None:
    """Book what an answer named beyond the listing, once a balance has shown it."""
    rest = NewEntry(
        key=_rest_key(claim.subject),
        kind=EntryKind.EARNED,
        amount=claim.unbooked,
        confidence=Confidence.OBSERVED,
        subject=claim.subject,
        strategy=claim.strategy,
        note=note,
        cause="balance",
        request=claim.request,
        expected=claim.expected,
        claimed=claim.claimed,
        observed=shown,
    )
    owed = f"{EntryKind.CORRECTED}:rest:{claim.subject}"
    ledger.book(replace(rest, key=owed, kind=EntryKind.CORRECTED, observed=None))
    ledger.book(rest)


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


def write_off(ledger: Ledger, delivered: Entry, days: float) -> int:
    """Book that a delivered result is not counted on any more; return its credits.

    The entry says why: nobody told in so many days whether it is paid.
    """
    credits_ = ledger.outstanding(delivered.subject)
    if credits_:
        ledger.book(
            NewEntry(
                key=f"{EntryKind.WRITTEN_OFF}:{delivered.subject}",
                kind=EntryKind.WRITTEN_OFF,
                amount=-credits_,
                confidence=Confidence.ASSUMED,
                subject=delivered.subject,
                strategy=delivered.strategy,
                note=f"nobody said in {days:g} days whether it is paid",
                cause="age",
                request=delivered.request,
                expected=delivered.expected,
            )
        )
    return credits_


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
    return ledger.amount_of(_earning_key(task_id)) + ledger.amount_of(
        _rest_key(task_id)
    )


def _earning_key(task_id: str) -> str:
    return f"earned:{task_id}"


def _rest_key(task_id: str) -> str:
    return f"earned:rest:{task_id}"


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
    named: float | None = None,
    observed: int | None = None,
) -> bool:
    """Book that the reward of a post came back, once; never more than it holds.

    `named` is what a listing said of it, `observed` the balance that was shown.
    """
    held = ledger.in_escrow(post.spend_id)
    claimed = None if named is None else math.floor(named)
    is_known = claimed is not None and 0 < claimed <= held
    if observed is not None:
        confidence = Confidence.OBSERVED
    elif is_known:
        confidence = Confidence.CONFIRMED if claimed == named else Confidence.CLAIMED
    else:
        confidence = Confidence.ASSUMED
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


def book_late_pay(
    ledger: Ledger, owed: Receivable, note: str, observed: int
) -> NewEntry:
    """Book that a task was paid of which no answer ever said so; return its entry."""
    entry = NewEntry(
        key=f"late-pay:{owed.task_id}",
        kind=EntryKind.EARNED,
        amount=owed.credits,
        confidence=Confidence.OBSERVED,
        subject=owed.task_id,
        strategy=owed.strategy,
        note=note,
        cause="balance",
        request=ledger.request_of(f"{EntryKind.DELIVERED}:{owed.task_id}"),
        expected=owed.credits,
        observed=observed,
    )
    ledger.book(entry)
    return entry


def book_adjustment(
    ledger: Ledger, amount: int, shown: int, open_: Sequence[str] = ()
) -> bool:
    """Book a difference to a shown balance that nothing of ours explains.

    `open_` names what was sent, and nobody knows what became of it.
    """
    note = "the network showed a different balance"
    if open_:
        note += f"; of unknown outcome then: {', '.join(open_)}"
    # The key names the last entry, so that no difference is booked twice.
    return ledger.book(
        NewEntry(
            key=f"adjustment:{ledger.head()[0]}:{shown}",
            kind=EntryKind.ADJUSTMENT,
            amount=amount,
            confidence=Confidence.OBSERVED,
            note=note,
            cause="balance",
            observed=shown,
        )
    )


def book_explained(ledger: Ledger, difference: Entry, note: str, shown: int) -> bool:
    """Take back a difference that what was booked since explains, once."""
    return ledger.book(
        NewEntry(
            key=f"explained:{difference.entry_id}",
            kind=EntryKind.ADJUSTMENT,
            amount=-difference.amount,
            confidence=Confidence.OBSERVED,
            note=f"takes back entry {difference.entry_id}: {note}",
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
