"""Discover tasks (contract endpoint 6, and endpoint 3 where that one is absent)."""

from collections import Counter
from dataclasses import dataclass, field

import anyio

from journeyman.domain.outcomes import Confirmed, Failure, NotSent, Outcome, Refusal
from journeyman.domain.tasks import Task
from journeyman.network.client import NetworkClient
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.network.receipts import Listing
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.intents import is_refused_as
from journeyman.worker.retry import Backoff
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
    failure: Failure | None = None


class Discover:
    """Reads a page of the marketplace and decides about it."""

    def __init__(
        self,
        *,
        network: NetworkClient,
        select: Select,
        backoff: Backoff,
        limit: int,
        log: Log,
        rate_limiter: RateLimiter,
    ) -> None:
        """Make one; `limit` is how many tasks to ask for."""
        self._network = network
        self._select = select
        self._backoff = backoff
        self._rate_limiter = rate_limiter
        self._limit: int | None = limit
        self._log = log
        self._failures = 0
        self.tally = Tally()

    async def look(self) -> Poll:
        """Look once."""
        outcome = await self._look()
        if isinstance(outcome, NotSent) and outcome.held_back:
            return Poll(productive=False, retry_in=outcome.retry_after, failure=outcome)
        self.tally.polls += 1
        if not isinstance(outcome, Confirmed):
            return self._failed(outcome)
        self._failures = 0
        listing = outcome.value
        if listing.unreadable:
            self._log.emit(
                events.UNREADABLE,
                count=listing.unreadable,
                total=listing.total,
            )
        verdict = await self._decide(listing.tasks)
        self._count(listing, verdict)
        return Poll(productive=verdict.wanted > 0)

    async def _look(self) -> Outcome[Listing]:
        """Ask endpoint 6; where the network has none, the public marketplace."""
        if self._is_elsewhere():
            return await self._network.public_marketplace()
        outcome = await self._network.marketplace_tasks(self._limit)
        if self._limit is not None and _may_dislike_limit(outcome):
            outcome = await self._without_limit(outcome)
        if self._is_elsewhere():
            return await self._network.public_marketplace()
        return outcome

    def _is_elsewhere(self) -> bool:
        """Tell whether endpoint 6 is absent, and it is not time to look for it."""
        is_held = self._rate_limiter.held(ENDPOINT) is not None
        return is_held and self._rate_limiter.is_absent(ENDPOINT)

    async def _without_limit(self, refused: Outcome[Listing]) -> Outcome[Listing]:
        """Ask without `limit`; if that helps, this run never asks with it again.

        The contract names the parameter and shows no bounds for it.
        """
        outcome = await self._network.marketplace_tasks(None)
        if not isinstance(outcome, Confirmed):
            return refused
        self._log.emit(events.LIMIT_REFUSED, limit=self._limit)
        self._limit = None
        return outcome

    async def _decide(self, tasks: tuple[Task, ...]) -> Decision:
        total = Decision()
        for start in range(0, len(tasks), AT_ONCE):
            verdict = self._select.decide(tasks[start : start + AT_ONCE])
            total.wanted += verdict.wanted
            total.skipped += verdict.skipped
            total.known += verdict.known
            total.reasons.update(verdict.reasons)
            await anyio.lowlevel.checkpoint()
        return total

    def _count(self, listing: Listing, verdict: Decision) -> None:
        self.tally.listed += len(listing.tasks)
        self.tally.wanted += verdict.wanted
        self.tally.skipped += verdict.skipped
        self.tally.reasons.update(verdict.reasons)
        if len(self.tally.reasons) > MOST_REASONS:
            # They quote the network, which may have a new word for each task.
            common = self.tally.reasons.most_common(MOST_REASONS // 2)
            self.tally.reasons = Counter(dict(common))
        self._log.emit(
            events.POLLED,
            listed=len(listing.tasks),
            new=verdict.new,
            wanted=verdict.wanted,
            skipped=verdict.skipped,
            unreadable=listing.unreadable,
        )

    def _failed(self, failure: Failure) -> Poll:
        self._failures += 1
        self.tally.failed_polls += 1
        retry_in = self._backoff.seconds(self._failures, failure)
        held = self._rate_limiter.held(ENDPOINT)
        if held is not None:
            retry_in = max(retry_in, held.seconds)
        self._log.emit(
            events.POLL_FAILED,
            message=failure.message,
            retry_in=round(retry_in, 1),
        )
        return Poll(productive=False, retry_in=retry_in, failure=failure)


def _may_dislike_limit(outcome: Outcome[Listing]) -> bool:
    """Tell whether a look was refused for the shape of the request."""
    return not isinstance(outcome, Confirmed) and is_refused_as(
        outcome, Refusal.INVALID
    )
