"""Discover tasks: contract endpoint 6, or endpoint 3 where that shows more."""

import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import anyio

from journeyman.domain import outcomes
from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.outcomes import Refusal
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import Task
from journeyman.network.bugs import Contained
from journeyman.network.client import NetworkClient
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.network.service_model.listing import Listing
from journeyman.network.service_model.pages import PageRequest
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.pager import Pager
from journeyman.worker.select import Decision, Select

ENDPOINT = "marketplace_tasks"
TURN_SECONDS = 0.015
"""For about so long tasks are decided about in one step. Between two steps other work
goes on, so that a page of ten thousand does not hold it up."""
FEWEST_AT_ONCE = 60
"""Each step ends with a commit, and shorter ones only cost more."""
MOST_AT_ONCE = 500

MOST_PUBLIC_LOOKS = 3
"""So often the public marketplace is read instead of endpoint 6, before that is asked
again."""
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
    finding: str = ""
    """What is wrong with what was listed, in a sentence; empty when nothing is."""


@dataclass(frozen=True, slots=True)
class Poll:
    """How one look at the marketplace went."""

    productive: bool
    """It gave work: looking again at once may give more."""
    retry_in: float | None = None
    """Seconds to wait, when it failed."""
    more_in: float | None = None
    """Seconds until further pages may be asked for, when the network had them wait."""
    failure: outcomes.Failure | None = None


@dataclass(kw_only=True, eq=False)
class Discover:
    """Reads the marketplace, page by page, and decides about what it shows."""

    network: NetworkClient
    select: Select
    retry: RetryPolicy
    randomness: Randomness
    clock: Clock
    rate_limiter: RateLimiter
    limit: int | None
    """How many tasks to ask for; None leaves that to the network."""
    on_page: Callable[[Sequence[Task]], bool]
    """Is told what each page shows; returns whether posts of ours are among it, so that
    its next look is wanted, too."""
    log: Log
    tally: Tally = field(init=False, default_factory=Tally)
    _at_once: int = field(init=False, default=FEWEST_AT_ONCE)
    """Tasks that are decided about in one step."""
    _failures: int = field(init=False, default=0)
    _pager: Pager = field(init=False)
    _is_public: bool = field(init=False, default=False)
    """The public marketplace is asked."""
    _public_looks: int = field(init=False, default=0)
    """In a row."""
    _empty_looks: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._pager = Pager(self._ask)

    async def look(self, *, has_room: bool = True) -> Poll:
        """Look once; further than at page one only where there is room for more."""
        with Contained(self.log, "looking at the marketplace"):
            return await self._turn_pages(has_room=has_room)
        return self._failed(outcomes.Unknown("a bug in Journeyman interrupted it"))

    async def _turn_pages(self, *, has_room: bool) -> Poll:
        outcome = await self._look()
        if isinstance(outcome, outcomes.NotSent) and outcome.paused:
            return Poll(productive=False, retry_in=outcome.retry_after, failure=outcome)
        self.tally.polls += 1
        if not isinstance(outcome, outcomes.Confirmed):
            return self._failed(outcome)
        self._failures = 0
        wanted = await self._take(outcome.value)
        self._pager.begin(outcome.value)
        while not wanted and has_room and (page := await self._pager.turn()):
            wanted = await self._take(page)
        if wanted:
            self._pager.found()
        self._judge(outcome.value)
        broken_off = self._pager.broken_off
        return Poll(
            productive=wanted > 0,
            more_in=broken_off.retry_after if broken_off else None,
        )

    async def _take(self, listing: Listing) -> int:
        """Decide about a page, and return how many of its tasks are wanted."""
        unreadable = listing.unreadable
        decision = await self._decide_on(listing, listing.key)
        on = self.select.settled()
        for portion in listing.later:
            if self.select.is_settled(portion.key(), on):
                decision.known += portion.count
                continue
            page = portion.read()
            unreadable += page.unreadable
            decision.add(await self._decide_on(page, portion.key()))
            on = self.select.settled()
        if unreadable:
            self.log.emit(events.UNREADABLE, count=unreadable, total=listing.total)
        self._count(listing.count, unreadable, decision)
        return decision.wanted

    async def _decide_on(self, page: Listing, key: object) -> Decision:
        """Decide about a page, or a portion of one, unless that was done already."""
        await anyio.lowlevel.checkpoint()  # to read it was work of its own
        has_ours = self.on_page(page.tasks)
        on = self.select.settled()
        if self.select.is_settled(key, on):
            return Decision(known=len(page.tasks))
        decision = await self._decide(page.tasks)
        if not (decision.undecided or has_ours):
            self.select.settle(key, on)
        return decision

    # -- which listing is asked -------------------------------------------------------

    async def _look(self) -> outcomes.Outcome[Listing]:
        """Ask for page one where it was last; if that is no use, the other listing.

        Now and then the first one is asked again: the public marketplace may always
        show tasks that nobody can claim, and nothing of what is listed for us.
        """
        self._public_looks = self._public_looks + 1 if self._is_public else 0
        if self._public_looks > MOST_PUBLIC_LOOKS:
            self._is_public, self._public_looks, self._empty_looks = False, 0, 0
        outcome = await self._ask()
        if not _is_useless(outcome):
            self._empty_looks = 0
            return outcome
        self._empty_looks += 1
        if self._is_elsewhere() or not _is_power_of_two(self._empty_looks):
            return outcome
        self._is_public = not self._is_public
        other = await self._ask()
        if isinstance(other, outcomes.Confirmed) and other.value.tasks:
            return other
        self._is_public = not self._is_public
        return outcome

    async def _ask(self, page: PageRequest | None = None) -> outcomes.Outcome[Listing]:
        """Ask endpoint 6; where it shows nothing or is absent, the public marketplace.

        The contract names a limit for endpoint 6, and no bounds of it.
        """
        if self._is_public or self._is_elsewhere():
            return await self.network.public_marketplace(page)
        outcome = await self.network.marketplace_tasks(self.limit, page)
        if page is None and self.limit is not None and _is_bad_request(outcome):
            outcome = await self._without_limit(outcome)
        if self._is_elsewhere():
            return await self.network.public_marketplace(page)
        return outcome

    def _is_elsewhere(self) -> bool:
        """Return whether endpoint 6 is absent, and it is not time to look for it."""
        is_paused = self.rate_limiter.pause_for(ENDPOINT) is not None
        return is_paused and self.rate_limiter.is_absent(ENDPOINT)

    async def _without_limit(
        self, refused: outcomes.Outcome[Listing]
    ) -> outcomes.Outcome[Listing]:
        """Ask without `limit`; if that helps, this run never asks with it again."""
        outcome = await self.network.marketplace_tasks(None)
        if not isinstance(outcome, outcomes.Confirmed):
            return refused
        self.log.emit(events.LIMIT_REFUSED, limit=self.limit)
        self.limit = None
        return outcome

    async def _decide(self, tasks: tuple[Task, ...]) -> Decision:
        total, start = Decision(), 0
        while start < len(tasks):
            left = len(tasks) - start
            steps = math.ceil(left / self._at_once)
            some = tasks[start : start + math.ceil(left / steps)]
            start += len(some)
            await self.select.consult(some)
            total.add(self._timed(some))
            await anyio.lowlevel.checkpoint()
        return total

    def _timed(self, some: tuple[Task, ...]) -> Decision:
        """Decide about some tasks, and fit to their time how many come next."""
        began = self.clock.monotonic()
        decision = self.select.decide(some)
        seconds = self.clock.monotonic() - began
        if 2 * len(some) > self._at_once:  # fewer tell less
            fitting = len(some) * TURN_SECONDS / max(seconds, sys.float_info.epsilon)
            most = min(2 * self._at_once, MOST_AT_ONCE)
            self._at_once = int(min(max(fitting, FEWEST_AT_ONCE), most))
        return decision

    def _count(self, listed: int, unreadable: int, decision: Decision) -> None:
        self.tally.listed += listed
        self.tally.wanted += decision.wanted
        self.tally.skipped += decision.skipped
        self.tally.reasons.update(decision.reasons)
        if len(self.tally.reasons) > MOST_REASONS:
            # They quote the network, which may have a new word for each task.
            common = self.tally.reasons.most_common(MOST_REASONS // 2)
            self.tally.reasons = Counter(dict(common))
        self.log.emit(
            events.POLLED,
            listed=listed,
            new=decision.new,
            wanted=decision.wanted,
            skipped=decision.skipped,
            unreadable=unreadable,
        )

    # -- what is wrong with it ------------------------------------------------------

    def _judge(self, first: Listing) -> None:
        """Log what is wrong with what was listed, once for each finding."""
        finding = self._finding(first)
        if finding and finding != self.tally.finding:
            self.log.emit(events.NOTHING_TO_DO, message=finding)
        self.tally.finding = finding

    def _finding(self, first: Listing) -> str:
        if not first.tasks:
            return f"no task could be read: {first.problem}" if first.problem else ""
        if self.tally.wanted:
            return ""
        reasons = self.select.journal.tasks.skip_reasons(2)
        if len(reasons) != 1:
            return ""
        ((reason, number),) = reasons.items()
        return f"all {number} listed tasks are skipped: {reason}"

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


def _is_useless(outcome: outcomes.Outcome[Listing]) -> bool:
    """Return whether a listing shows nothing, or is refused as such."""
    if isinstance(outcome, outcomes.Confirmed):
        return not outcome.value.tasks
    no = {outcomes.Refusal.INVALID, outcomes.Refusal.OTHER}
    return isinstance(outcome, outcomes.Refused) and outcome.refusal in no


def _is_power_of_two(number: int) -> bool:
    """Return whether it is time to look elsewhere: ever more seldom."""
    return number & (number - 1) == 0


def _is_bad_request(outcome: outcomes.Outcome[Listing]) -> bool:
    """Return whether a listing may have been refused for the shape of the request.

    A word such as "rejected" judges no work here.
    """
    of_shape = {Refusal.INVALID, Refusal.REJECTED, Refusal.OTHER}
    return isinstance(outcome, outcomes.Refused) and outcome.refusal in of_shape
