"""How a run may end without a result. Anything else that is raised is a bug.

Exception
`- RunEnding        raised by a strategy on purpose
   |- Decline       give the claim up; not a failure
   |- RetryLater    something outside is not ready; try the same task again later
   `- Misconfigured the strategy cannot work until its owner acts
"""

from dataclasses import dataclass
from typing import Literal

LONGEST_RETRY = 30 * 86_400
"""In seconds; a claim that waits for longer would not end in anybody's lifetime."""


class RunEnding(Exception):  # noqa: N818 - it ends a run on purpose; it is not an error
    """A deliberate end of a run without a result."""


class Decline(RunEnding):
    """This task is not for the strategy after all: give the claim up. No failure."""

    def __init__(self, reason: str, **details: object) -> None:
        """State why; `details` are shown beside it: `Decline("too long", words=9)`."""
        super().__init__(reason)
        self.reason = reason
        self.details = details

    def __str__(self) -> str:
        """Return the reason, and the details beside it: "too long (words=9)"."""
        details = ", ".join(f"{name}={value}" for name, value in self.details.items())
        return f"{self.reason} ({details})" if details else self.reason


class RetryLater(RunEnding):
    """Something outside is not ready: run the same task again after a while."""

    def __init__(self, reason: str = "", *, after: float = 60) -> None:
        """State why, and the least number of seconds to wait: at most 30 days."""
        if not 0 <= after <= LONGEST_RETRY:
            given = f"{after!r}"[:40]
            raise ValueError(
                f"RetryLater(after={given}): give seconds, 0 to {LONGEST_RETRY:,}"
            )
        super().__init__(reason)
        self.reason = reason
        self.after = after


class Misconfigured(RunEnding):
    """The strategy cannot work as it is set up: quarantine until its owner acts."""

    def __init__(self, problem: str = "", *, fix: str = "") -> None:
        """State what is wrong, and what the owner should do."""
        super().__init__(problem or fix or "the strategy is misconfigured")
        self.problem = str(self)
        self.fix = fix


OutcomeName = Literal[
    "completed", "rejected", "declined", "failed", "lost", "unclaimed"
]


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeReport:
    """The end of one task, or of an attempt to claim it."""

    state: OutcomeName
    """`completed`: done and paid, as far as the network shows. `rejected`: the network
    refused the result, or payment for it. `declined`: given up by the strategy.
    `failed`: an error, a time-out, a missed deadline. `lost`: another agent has it.
    `unclaimed`: a claim that `on_claim` allowed was not sent, or not accepted
    for now; the task has not ended, and `on_claim` is asked before the next one."""
    reason: str = ""
    credits: int = 0
    """What the task earned, as booked in the ledger."""
