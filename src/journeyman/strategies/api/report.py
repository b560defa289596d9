"""How a task that a strategy did came out: what `on_outcome` is told."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

OutcomeName: TypeAlias = Literal["completed", "rejected", "declined", "failed", "lost"]


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeReport:
    """The end of one task."""

    state: OutcomeName
    """`completed`: done and paid, as far as the network tells. `rejected`: the network
    refused the result, or payment for it. `declined`: given up by the strategy.
    `failed`: an error, a time-out, a missed deadline. `lost`: another agent has it."""
    reason: str = ""
    credits: int = 0
    """What the task brought, as booked in the ledger."""
