"""Posting tasks: decided, reserved, sent once, settled."""

from dataclasses import asdict, dataclass, field
from typing import Protocol

from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.errors import UsageError
from journeyman.domain.outcomes import Confirmed, Failure, Outcome, Unknown
from journeyman.domain.plausibility import doubt_about_fee
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import JSON, IdempotencyKey, NewTask, SpendId, TaskId
from journeyman.economy import events
from journeyman.economy.bookkeeping import book_fee, book_post
from journeyman.economy.budget import OWNER, Limit, Limits, OverBudget, check_post
from journeyman.economy.mark import MarkKeeper
from journeyman.economy.reconcile import (
    BalanceWatch,
    interrupt,
    unknown_if_interrupted,
)
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence
from journeyman.journal.spends import Spend, SpendKind, SpendState
from journeyman.network.answers import Posted
from journeyman.network.service_model.listing import Listing
from journeyman.observability.events import Log

FIRST_POSTS = "first_posts"
"""The fact that holds them: one for each network, by its address."""


class PostingNetwork(Protocol):
    """What posting needs of the network."""

    async def post_task(self, new: NewTask, key: IdempotencyKey) -> Outcome[Posted]:
        """Contract endpoint 10."""
        ...

    async def public_marketplace(self) -> Outcome[Listing]:
        """Contract endpoint 3: a post of ours may be seen there."""
        ...

    async def marketplace_tasks(self, limit: int | None) -> Outcome[Listing]:
        """Contract endpoint 6: or there."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class PostingRules:
    """Whether tasks may be posted, and how the first is."""

    base_url: str
    """The network on which they are."""
    enabled: bool
    verify_first: bool
    retry_seconds: float = RetryPolicy.post_seconds
    """Between two looks for a first post that no listing shows yet."""


@dataclass(kw_only=True, eq=False)
class FirstPost:
    """Remembers the first post on a network, and whether it was seen."""

    network: PostingNetwork
    journal: Journal
    rules: PostingRules
    clock: Clock
    log: Log
    looked_at: float = field(init=False, default=float("-inf"))

    def obstacle(self) -> OverBudget | None:
        """Return why no post may be sent now; None when one may."""
        if not self.rules.enabled:
            return OverBudget("posting.enabled", "posting is switched off")
        waiting = self._waiting()
        if not self.rules.verify_first or waiting is None:
            return None
        return OverBudget(
            "posting.verify_first",
            f"the first post on this network ({waiting}) was not seen yet, neither in "
            "a listing nor in the balance; it is looked for again when you post again",
        )

    def reserve(self, spend_id: SpendId) -> None:
        """Note a post that is about to leave, inside the transaction of its intent."""
        # A version without this rule may have posted here.
        has_posted = self.journal.spends.has_settled(SpendKind.POST)
        if self._note() is None and not has_posted:
            self._keep({"spend_id": spend_id, "seen": None})

    def settle(self, spend: Spend, shown: int | None) -> None:
        """Note that a post was accepted and booked; `shown` is the balance, if any."""
        if self._waiting() != spend.spend_id:
            return
        if shown is not None and shown == self.journal.ledger.balance():
            self._seen(spend.spend_id, "balance")

    def release(self, spend_id: SpendId) -> None:
        """Note that a post was definitely not made: the next one is the first."""
        if self._waiting() == spend_id:
            with self.journal.tx("first post not made"):
                self._keep(None)

    async def verify(self, *, at_once: bool = False) -> None:
        """Look for the first post if it was not seen yet; now and then, or at once."""
        waiting = self._waiting()
        spend = self.journal.spends.get(SpendId(waiting)) if waiting else None
        if spend is None or not self.rules.verify_first:
            return
        if spend.state is SpendState.RELEASED:
            self.release(spend.spend_id)
        elif spend.state is SpendState.SETTLED and spend.reason:
            # By a later look at the market, or by a difference.
            self._seen(spend.spend_id, "listing" if spend.task_id else "balance")
        elif spend.state is not SpendState.RESERVED:
            since = self.clock.monotonic() - self.looked_at
            if at_once or since >= self.rules.retry_seconds:
                await self._look_for(spend)

    async def _look_for(self, spend: Spend) -> None:
        self.looked_at = self.clock.monotonic()
        listings = (
            await self.network.public_marketplace(),
            await self.network.marketplace_tasks(None),
        )
        read = [one.value for one in listings if isinstance(one, Confirmed)]
        is_ours = self.journal.spends.is_our_post
        if any(is_ours(task) for listing in read for task in listing.every_task()):
            self._seen(spend.spend_id, "listing")
        elif read:
            self.log.emit(events.FIRST_POST_UNSEEN, spend_id=spend.spend_id)

    def _seen(self, spend_id: SpendId, how: str) -> None:
        with self.journal.tx("first post seen"):
            self._keep({"spend_id": spend_id, "seen": how})
        self.log.emit(events.FIRST_POST_SEEN, spend_id=spend_id, how=how)

    # -- the fact ---------------------------------------------------------------

    def _waiting(self) -> str | None:
        """Return the first post, where it was sent and not seen yet."""
        note = self._note()
        return None if note is None or note.get("seen") else str(note["spend_id"])

    def _note(self) -> dict[str, JSON] | None:
        note = self._all().get(self.rules.base_url)
        return note if isinstance(note, dict) else None

    def _keep(self, note: dict[str, JSON] | None) -> None:
        every = {**self._all(), self.rules.base_url: note}
        self.journal.facts.put(FIRST_POSTS, every)

    def _all(self) -> dict[str, JSON]:
        every = self.journal.facts.get(FIRST_POSTS)
        return every if isinstance(every, dict) else {}


@dataclass(frozen=True, slots=True)
class Accepted:
    """The network took the task."""

    spend_id: SpendId
    task_id: TaskId | None
    """None when the network's answer did not name it."""


@dataclass(frozen=True, slots=True)
class NotAccepted:
    """It was refused, not sent, or its outcome is unknown (then it stays reserved)."""

    spend_id: SpendId
    failure: Failure


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedPost:
    """What makes a post that of one slot of a posting plan."""

    slot: str
    """Unique in the journal, among what was or may have been posted."""
    spend_id: SpendId
    limit: Limit
    """The plan's own."""


@dataclass(kw_only=True, eq=False)
class Posting:
    """Publishes tasks within the owner's limits."""

    network: PostingNetwork
    journal: Journal
    mark: MarkKeeper
    watch: BalanceWatch
    limits: Limits
    rules: PostingRules
    clock: Clock
    randomness: Randomness
    log: Log
    first: FirstPost = field(init=False)

    def __post_init__(self) -> None:
        self.first = FirstPost(
            network=self.network,
            journal=self.journal,
            rules=self.rules,
            clock=self.clock,
            log=self.log,
        )

    async def post(
        self,
        new: NewTask,
        strategy: str = OWNER,
        planned: PlannedPost | None = None,
    ) -> Accepted | NotAccepted | OverBudget:
        """Publish one task.

        The decision and the reservation are one commit, made before the request leaves,
        so that neither a crash nor a second decision can break a limit.

        Raises:
            UsageError: the reward is below one credit.
            StateError: the disk refused, and nothing was sent.
        """
        if new.reward < 1:
            raise UsageError(
                f"cannot post a task for {new.reward} credits",
                "Offer a reward of at least 1.",
            )
        await self.first.verify()
        reserved = self._reserve(new, strategy, planned)
        if isinstance(reserved, OverBudget):
            self.log.emit(
                events.POST_REFUSED_BY_BUDGET,
                reward=new.reward,
                setting=reserved.setting,
                message=reserved.message,
            )
            return reserved
        self.mark.note()
        with (
            unknown_if_interrupted(self.journal, self.log, reserved),
            self.watch.window() as window,
        ):
            key = IdempotencyKey(reserved.spend_id)
            outcome = await self.network.post_task(new, key)
            if not isinstance(outcome, Confirmed):
                return self._not_accepted(reserved, outcome)
            accepted = self._settle(reserved, outcome.value, is_alone=window.alone)
            self.watch.observe(window, outcome.value.balance)
        await self.first.verify(at_once=True)
        return accepted

    def recover(self) -> None:
        """Mark the spends that a crash interrupted: they may have happened."""
        for spend in self.journal.spends.in_state(SpendState.RESERVED):
            interrupt(
                self.journal,
                self.log,
                spend.spend_id,
                "the daemon stopped before the answer came",
            )

    def check(
        self, reward: int, strategy: str = OWNER, planned: PlannedPost | None = None
    ) -> OverBudget | None:
        """Return why a post may not be sent now; None when it may."""
        return self.first.obstacle() or check_post(
            self.limits,
            self.journal,
            self.clock.now(),
            reward,
            strategy="" if planned or strategy == OWNER else strategy,
            more=[planned.limit] if planned else (),
        )

    def _reserve(
        self, new: NewTask, strategy: str, planned: PlannedPost | None
    ) -> Spend | OverBudget:
        new_id = self.randomness.new_id
        spend_id = planned.spend_id if planned else SpendId(new_id("post"))
        with self.journal.tx("post intent"):
            if over := self.check(new.reward, strategy, planned):
                return over
            self.first.reserve(spend_id)
            return self.journal.spends.reserve(
                spend_id,
                SpendKind.POST,
                credits_=new.reward,
                cents=0,
                strategy=strategy,
                request={**asdict(new), "tags": list(new.tags)},
                slot=planned.slot if planned else "",
            )

    def _settle(self, spend: Spend, posted: Posted, *, is_alone: bool) -> Accepted:
        fee = self._fee(spend, posted)
        with self.journal.tx("post accepted"):
            book_post(
                self.journal.ledger,
                spend,
                Confidence.CONFIRMED,
                observed=posted.balance if is_alone else None,
            )
            if fee:
                book_fee(self.journal.ledger, spend, fee)
            self.journal.spends.move(
                spend.spend_id, SpendState.SETTLED, task_id=posted.task_id, fee=fee
            )
        self.first.settle(spend, posted.balance)
        self.log.emit(
            events.POSTED,
            spend_id=spend.spend_id,
            task_id=posted.task_id,
            reward=spend.credits,
            balance=self.journal.ledger.balance(),
        )
        return Accepted(spend.spend_id, posted.task_id)

    def _fee(self, spend: Spend, posted: Posted) -> int:
        """Return what was taken beside the reward, where the answer names it.

        A balance that is lower by the reward alone says that the fee is part of it.
        """
        fee = posted.fee or 0
        if doubt := doubt_about_fee(fee, spend.credits):
            self.log.emit(
                events.DOUBTED, task_id=posted.task_id, strategy="", message=doubt
            )
            return 0
        is_inside = posted.balance == self.journal.ledger.balance() - spend.credits
        return 0 if is_inside else int(fee)

    def _not_accepted(self, spend: Spend, failure: Failure) -> NotAccepted:
        unknown = isinstance(failure, Unknown)
        state = SpendState.UNKNOWN if unknown else SpendState.RELEASED
        with self.journal.tx("post not accepted"):
            self.journal.spends.move(spend.spend_id, state, reason=failure.message)
        if unknown:
            self._emit_unknown(spend, failure.message)
        else:
            self.first.release(spend.spend_id)
            self.log.emit(
                events.POST_FAILED,
                spend_id=spend.spend_id,
                reward=spend.credits,
                message=failure.message,
            )
        return NotAccepted(spend.spend_id, failure)

    def _emit_unknown(self, spend: Spend, message: str) -> None:
        self.log.emit(
            events.POST_UNKNOWN,
            spend_id=spend.spend_id,
            reward=spend.credits,
            message=message,
        )
