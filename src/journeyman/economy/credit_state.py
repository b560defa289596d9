"""How short credits are, and what is not done because of it: never the work.

The table of docs/reference/credit-states.md says what each state stops. The gate of all
spending is what stops it; this only names the state, for people and for the log.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from journeyman.economy import events
from journeyman.economy.budget import Limits
from journeyman.journal.journal import Journal
from journeyman.journal.spends import SpendKind
from journeyman.observability.events import Log


class CreditState(StrEnum):
    """From plenty to none, in this order."""

    NORMAL = "normal"
    #: The posting plan and strategies post nothing.
    LOW = "low"
    #: Nobody can post; work goes on, and brings credits.
    CRITICAL = "critical"
    #: As critical, and something waits for the owner that would bring credits back.
    NEEDS_OWNER = "needs_owner"


EFFECTS = {
    CreditState.NORMAL: "",
    CreditState.LOW: "the posting plan and strategies post nothing",
    CreditState.CRITICAL: "nothing can be posted; work goes on",
    CreditState.NEEDS_OWNER: "nothing can be posted, and a payment or a post of "
    "unknown outcome waits for you (journeyman topup list, journeyman posts)",
}


def credit_state(limits: Limits, journal: Journal) -> CreditState:
    """Return how short credits are, by what is ours beyond doubt."""
    held = journal.spends.reserved_credits()
    available = journal.ledger.balance() - held
    if available > limits.reserve_credits:
        is_low = available < limits.low_credits
        return CreditState.LOW if is_low else CreditState.NORMAL
    waits = held or journal.spends.unsettled(SpendKind.TOP_UP)
    return CreditState.NEEDS_OWNER if waits else CreditState.CRITICAL


@dataclass(kw_only=True, eq=False)
class CreditWatch:
    """Logs when credits run short, and when they do so no more."""

    find: Callable[[], CreditState]
    journal: Journal
    log: Log
    _last: CreditState = field(init=False, default=CreditState.NORMAL)

    def look(self) -> None:
        """Compare with the last look."""
        state, before = self.find(), self._last
        if state is before:
            return
        self._last = state
        order = list(CreditState)
        is_worse = order.index(state) > order.index(before)
        self.log.emit(
            events.CREDITS_SHORT if is_worse else events.CREDITS_RECOVER,
            state=state,
            before=before,
            balance=self.journal.ledger.balance(),
            effect=EFFECTS[state],
        )
