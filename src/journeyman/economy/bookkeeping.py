"""What is booked, when, and with which confidence. Always inside a transaction."""

from journeyman.domain import STARTER_CREDITS, TaskId
from journeyman.journal import Confidence, EntryKind, Ledger, NewEntry, Spend

STARTER_KEY = "starter"


def book_starter(ledger: Ledger, shown: int | None) -> bool:
    """Book the credits of free registration (contract section 2), once.

    `shown` is what the network's answer named; without it, the contract's 100.
    """
    return ledger.book(
        NewEntry(
            key=STARTER_KEY,
            kind=EntryKind.STARTER,
            amount=STARTER_CREDITS if shown is None else shown,
            confidence=(Confidence.CONTRACT if shown is None else Confidence.CONFIRMED),
            note="free registration",
        ),
    )


def book_earning(
    ledger: Ledger,
    task_id: TaskId,
    *,
    strategy: str,
    listed: int,
    shown: int | None,
) -> tuple[int, Confidence]:
    """Book a completed task, once; give the amount and how sure it is.

    `shown` is what the completion's answer named; without it, the reward that the
    listing promised is assumed.
    """
    amount = listed if shown is None else shown
    confidence = Confidence.ASSUMED if shown is None else Confidence.CONFIRMED
    ledger.book(
        NewEntry(
            key=f"earned:{task_id}",
            kind=EntryKind.EARNED,
            amount=amount,
            confidence=confidence,
            subject=task_id,
            strategy=strategy,
        ),
    )
    return amount, confidence


def book_post(ledger: Ledger, spend: Spend, confidence: Confidence) -> bool:
    """Book the reward that left our balance with a post, once."""
    return ledger.book(
        NewEntry(
            key=f"spent:{spend.spend_id}",
            kind=EntryKind.SPENT,
            amount=-spend.credits,
            confidence=confidence,
            subject=spend.spend_id,
            strategy=spend.strategy,
            note=str(spend.request.get("title", "")),
        ),
    )


def book_top_up(ledger: Ledger, spend: Spend, note: str) -> bool:
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
        ),
    )


def book_adjustment(ledger: Ledger, amount: int, key: str) -> bool:
    """Book a difference that nothing of ours explains."""
    return ledger.book(
        NewEntry(
            key=f"adjustment:{key}",
            kind=EntryKind.ADJUSTMENT,
            amount=amount,
            confidence=Confidence.OBSERVED,
            note="the network showed another balance",
        ),
    )
