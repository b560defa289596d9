"""What is booked, when, and with which confidence. Always inside a transaction."""

from datetime import datetime

from journeyman.domain.credits import MILLIONTHS, STARTER_CREDITS
from journeyman.domain.tasks import TaskId
from journeyman.economy.budget import start_of_day
from journeyman.journal.ledger import Confidence, EntryKind, Ledger, NewEntry
from journeyman.journal.spends import Spend

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
        )
    )


def book_earning(
    ledger: Ledger, task_id: TaskId, *, strategy: str, listed: int, shown: int | None
) -> tuple[int, Confidence]:
    """Book a completed task, once; return the amount and how sure it is.

    `shown` is what the completion's answer named; without it, the reward that the
    listing promised is assumed.
    """
    amount = listed if shown is None else shown
    confidence = Confidence.ASSUMED if shown is None else Confidence.CONFIRMED
    ledger.book(
        NewEntry(
            key=_earning_key(task_id),
            kind=EntryKind.EARNED,
            amount=amount,
            confidence=confidence,
            subject=task_id,
            strategy=strategy,
        )
    )
    return amount, confidence


def earned_by(ledger: Ledger, task_id: TaskId) -> int:
    """Return the credits that were booked for a task; 0 before it is completed."""
    return ledger.amount_of(_earning_key(task_id))


def _earning_key(task_id: TaskId) -> str:
    return f"earned:{task_id}"


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
        )
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
        )
    )


def cost_today(ledger: Ledger, strategy: str, now: datetime) -> float:
    """Return what a strategy cost outside the network today (UTC), in credits."""
    return ledger.cost_since(strategy, start_of_day(now)) / MILLIONTHS


def book_adjustment(ledger: Ledger, amount: int, key: str) -> bool:
    """Book a difference that nothing of ours explains."""
    return ledger.book(
        NewEntry(
            key=f"adjustment:{key}",
            kind=EntryKind.ADJUSTMENT,
            amount=amount,
            confidence=Confidence.OBSERVED,
            note="the network showed a different balance",
        )
    )
