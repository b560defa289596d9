"""Discover tasks (contract endpoint 6, and endpoint 3 where that one is absent)."""

from collections import Counter
from dataclasses import dataclass, field

import anyio

from journeyman.domain import outcomes
from journeyman.domain.clock import Randomness
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import Task
from journeyman.network.answers import Listing
from journeyman.network.client import NetworkClient
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.select import Decision, Select

ENDPOINT = "marketplace_tasks"
AT_ONCE = 250
"""Tasks that are decided about in one step: between two steps other work goes on, so
that a page of ten thousand does not hold it up."""

MOST_REASONS = 500
"""Different reasons that are counted; the rarest are forgotten."""


@dataclass(slots=True)
class Tally:
    """What this run has seen, for the heartbeat."""

    polls: int = 0
    failed_polls: int = 0
    listed: int = 0
    wanted: int = 0
    skipped: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Why tasks were skipped, and how often."""


@dataclass(frozen=True, slots=True)
class Poll:
    """How one look at the marketplace went."""

    productive: bool
    """It gave work: looking again at once may give more."""
    retry_in: float | None = None
    """Seconds to wait, when it failed."""
    failure: outcomes.Failure | None = None


@dataclass(kw_only=True, eq=False)
class Discover:
    """Reads a page of the marketplace and decides about it."""

    network: NetworkClient
    select: Select
    retry: RetryPolicy
    randomness: Randomness
    rate_limiter: RateLimiter
    limit: int | None
    """How many tasks to ask for; None leaves that to the network."""
    log: Log
    tally: Tally = field(init=False, default_factory=Tally)
    _failures: int = field(init=False, default=0)

    async def look(self) -> Poll:
        """Look once."""
        outcome = await self._look()
        if isinstance(outcome, outcomes.NotSent) and outcome.paused:
            return Poll(productive=False, retry_in=outcome.retry_after, failure=outcome)
        self.tally.polls += 1
        if not isinstance(outcome, outcomes.Confirmed):
            return self._failed(outcome)
        self._failures = 0
        listing = outcome.value
        if listing.unreadable:
            self.log.emit(
                events.UNREADABLE, count=listing.unreadable, total=listing.total
            )
        decision = await self._decide(listing.tasks)
        self._count(listing, decision)
        return Poll(productive=decision.wanted > 0)

    async def _look(self) -> outcomes.Outcome[Listing]:
        """Ask endpoint 6; where the network has none, the public marketplace."""
        if self._is_elsewhere():
            return await self.network.public_marketplace()
        outcome = await self.network.marketplace_tasks(self.limit)
        if self.limit is not None and _is_bad_request(outcome):
            outcome = await self._without_limit(outcome)
        if self._is_elsewhere():
            return await self.network.public_marketplace()
        return outcome

    def _is_elsewhere(self) -> bool:
        """Return whether endpoint 6 is absent, and it is not time to look for it."""
        is_paused = self.rate_limiter.pause_for(ENDPOINT) is not None
        return is_paused and self.rate_limiter.is_absent(ENDPOINT)

    async def _without_limit(
        self, refused: outcomes.Outcome[Listing]
    ) -> outcomes.Outcome[Listing]:
        """Ask without `limit`; if that helps, this run never asks with it again.

        The contract names the parameter and shows no bounds for it.
        """
        outcome = await self.network.marketplace_tasks(None)
        if not isinstance(outcome, outcomes.Confirmed):
            return refused
        self.log.emit(events.LIMIT_REFUSED, limit=self.limit)
        self.limit = None
        return outcome

    async def _decide(self, tasks: tuple[Task, ...]) -> Decision:
        total = Decision()
        for start in range(0, len(tasks), AT_ONCE):
            decision = self.select.decide(tasks[start : start + AT_ONCE])
            total.wanted += decision.wanted
            total.skipped += decision.skipped
            total.known += decision.known
            total.reasons.update(decision.reasons)
            await anyio.lowlevel.checkpoint()
        return total

    def _count(self, listing: Listing, decision: Decision) -> None:
        self.tally.listed += len(listing.tasks)
        self.tally.wanted += decision.wanted
        self.tally.skipped += decision.skipped
        self.tally.reasons.update(decision.reasons)
        if len(self.tally.reasons) > MOST_REASONS:
            # They quote the network, which may have a new word for each task.
            common = self.tally.reasons.most_common(MOST_REASONS // 2)
            self.tally.reasons = Counter(dict(common))
        self.log.emit(
            events.POLLED,
            listed=len(listing.tasks),
            new=decision.new,
            wanted=decision.wanted,
            skipped=decision.skipped,
            unreadable=listing.unreadable,
        )

    def _failed(self, failure: outcomes.Failure) -> Poll:
        self._failures += 1
        self.tally.failed_polls += 1
        retry_in = self.retry.wait_after(self._failures, failure, self.randomness)
        if pause := self.rate_limiter.pause_for(ENDPOINT):
            retry_in = max(retry_in, pause.seconds)
        self.log.emit(
            events.POLL_FAILED, message=failure.message, retry_in=round(retry_in, 1)
        )
        return Poll(productive=False, retry_in=retry_in, failure=failure)


def _is_bad_request(outcome: outcomes.Outcome[Listing]) -> bool:
    """Return whether a listing was refused for the shape of the request."""
    return (
        isinstance(outcome, outcomes.Refused)
        and outcome.refusal is outcomes.Refusal.INVALID
    )
