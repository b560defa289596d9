"""Discover tasks (contract endpoint 6)."""

from collections import Counter
from dataclasses import dataclass, field

from journeyman.domain import Confirmed, Refusal
from journeyman.domain.outcome import Failure
from journeyman.loop import events
from journeyman.loop.backoff import Backoff
from journeyman.loop.gate import Gate
from journeyman.loop.intent import REJECTED_TOKEN_PAUSE_SECONDS, is_refused_as
from journeyman.loop.ports import Market
from journeyman.loop.select import Select
from journeyman.observability import Log


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
        market: Market,
        select: Select,
        backoff: Backoff,
        gate: Gate,
        limit: int,
        log: Log,
    ) -> None:
        self._market = market
        self._select = select
        self._backoff = backoff
        self._gate = gate
        self._limit = limit
        self._log = log
        self._failures = 0
        self.tally = Tally()

    async def __call__(self) -> Poll:
        """Look once."""
        outcome = await self._market.marketplace_tasks(self._limit)
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
        verdict = self._select(listing.tasks)
        self.tally.listed += len(listing.tasks)
        self.tally.wanted += verdict.wanted
        self.tally.skipped += verdict.skipped
        self.tally.reasons.update(verdict.reasons)
        self._log.emit(
            events.POLLED,
            listed=len(listing.tasks),
            new=verdict.new,
            wanted=verdict.wanted,
            skipped=verdict.skipped,
            unreadable=listing.unreadable,
        )
        return Poll(productive=verdict.wanted > 0)

    def _failed(self, failure: Failure) -> Poll:
        self._failures += 1
        self.tally.failed_polls += 1
        retry_in = self._backoff.seconds(self._failures, failure)
        if is_refused_as(failure, Refusal.UNAUTHORIZED):
            retry_in = max(retry_in, REJECTED_TOKEN_PAUSE_SECONDS)
            self._gate.suspend(REJECTED_TOKEN_PAUSE_SECONDS)
            event = events.REJECTED_IDENTITY
        else:
            event = events.POLL_FAILED
        self._log.emit(event, message=failure.message, retry_in=round(retry_in, 1))
        return Poll(productive=False, retry_in=retry_in, failure=failure)
