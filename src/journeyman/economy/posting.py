"""Posting tasks: decided, held, sent once, settled."""

from dataclasses import asdict, dataclass
from typing import Protocol

from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.errors import UsageError
from journeyman.domain.outcomes import Confirmed, Failure, Outcome, Unknown
from journeyman.domain.tasks import JSON, IdempotencyKey, NewTask, SpendId, TaskId
from journeyman.economy import events
from journeyman.economy.balance import BalanceWatch
from journeyman.economy.bookkeeping import book_post
from journeyman.economy.budget import OWNER, Limits, OverBudget, check_post, standing
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence
from journeyman.journal.spends import Spend, SpendKind, SpendState
from journeyman.network.receipts import Listing, Posted
from journeyman.observability.events import Log

FIRST_POSTS = "first_posts"
"""The fact that holds them: one for each network, by its address."""
LOOK_AGAIN_SECONDS = 30.0
"""A post that is not shown yet is looked for at most this often."""


class PostListing(Protocol):
    """Where a post of ours may be seen."""

    async def public_marketplace(self) -> Outcome[Listing]:
        """Contract endpoint 3."""
        ...

    async def marketplace_tasks(self, limit: int | None) -> Outcome[Listing]:
        """Contract endpoint 6."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class PostingRules:
    """Whether tasks may be posted, and how the first is."""

    base_url: str
    """The network on which they are."""
    enabled: bool
    look_at_first: bool


class FirstPost:
    """Remembers the first post on a network, and whether it was seen."""

    def __init__(
        self,
        *,
        shelf: PostListing,
        journal: Journal,
        rules: PostingRules,
        clock: Clock,
        log: Log,
    ) -> None:
        self._shelf = shelf
        self._journal = journal
        self._rules = rules
        self._clock = clock
        self._log = log
        self._looked_at = float("-inf")

    def obstacle(self) -> OverBudget | None:
        """Say why no post may be sent now; None when one may."""
        if not self._rules.enabled:
            return OverBudget("posting.enabled", "posting is switched off")
        waiting = self._waiting()
        if not self._rules.look_at_first or waiting is None:
            return None
        return OverBudget(
            "posting.look_at_first",
            f"the first post on this network ({waiting}) was not seen yet, neither in "
            "a listing nor in the balance; it is looked for again when you post again",
        )

    def hold(self, spend_id: SpendId) -> None:
        """Note a post that is about to leave, inside the transaction of its intent."""
        # A version without this rule may have posted here.
        if self._note() is None and not self._journal.spends.has_settled(
            SpendKind.POST
        ):
            self._keep({"spend_id": spend_id, "seen": None})

    def settle(self, spend: Spend, shown: int | None) -> None:
        """Note that a post was accepted and booked; `shown` is the balance, if any."""
        if self._waiting() != spend.spend_id:
            return
        if shown is not None and shown == self._journal.ledger.balance():
            self._seen(spend.spend_id, "balance")

    def release(self, spend_id: SpendId) -> None:
        """Note that a post was definitely not made: the next one is the first."""
        if self._waiting() == spend_id:
            with self._journal.tx("first post not made"):
                self._keep(None)

    async def look(self, *, at_once: bool = False) -> None:
        """Look for the first post, if it was not seen; now and then, or at once."""
        waiting = self._waiting()
        spend = self._journal.spends.get(SpendId(waiting)) if waiting else None
        if spend is None or not self._rules.look_at_first:
            return
        if spend.state is SpendState.RELEASED:
            self.release(spend.spend_id)
        elif spend.state is SpendState.SETTLED and spend.reason:
            self._seen(spend.spend_id, "balance")  # by a difference, see reconcile
        elif spend.state is not SpendState.HELD and (at_once or self._is_time()):
            await self._look_for(spend)

    def _is_time(self) -> bool:
        return self._clock.monotonic() - self._looked_at >= LOOK_AGAIN_SECONDS

    async def _look_for(self, spend: Spend) -> None:
        self._looked_at = self._clock.monotonic()
        listings = (
            await self._shelf.public_marketplace(),
            await self._shelf.marketplace_tasks(None),
        )
        read = [one.value for one in listings if isinstance(one, Confirmed)]
        if any(map(self._shows_it, read)):
            self._seen(spend.spend_id, "listing")
        elif read:
            self._log.emit(events.FIRST_POST_UNSEEN, spend_id=spend.spend_id)

    def _shows_it(self, listing: Listing) -> bool:
        return any(self._journal.spends.is_our_post(task) for task in listing.tasks)

    def _seen(self, spend_id: SpendId, how: str) -> None:
        with self._journal.tx("first post seen"):
            self._keep({"spend_id": spend_id, "seen": how})
        self._log.emit(events.FIRST_POST_SEEN, spend_id=spend_id, how=how)

    # -- the fact ---------------------------------------------------------------

    def _waiting(self) -> str | None:
        """Give the first post that was sent and not seen."""
        note = self._note()
        return None if note is None or note.get("seen") else str(note["spend_id"])

    def _note(self) -> dict[str, JSON] | None:
        note = self._all().get(self._rules.base_url)
        return note if isinstance(note, dict) else None

    def _keep(self, note: dict[str, JSON] | None) -> None:
        every = {**self._all(), self._rules.base_url: note}
        self._journal.facts.put(FIRST_POSTS, every)

    def _all(self) -> dict[str, JSON]:
        every = self._journal.facts.get(FIRST_POSTS)
        return every if isinstance(every, dict) else {}


class PostingNetwork(PostListing, Protocol):
    """What posting needs of the network."""

    async def post_task(
        self,
        new: NewTask,
        key: IdempotencyKey,
    ) -> Outcome[Posted]:
        """Contract endpoint 10."""
        ...


@dataclass(frozen=True, slots=True)
class Accepted:
    """The network took the task."""

    spend_id: SpendId
    task_id: TaskId | None
    """None when the network's answer did not name it."""


@dataclass(frozen=True, slots=True)
class NotAccepted:
    """It was refused, not sent, or its outcome is unknown (then it stays held)."""

    spend_id: SpendId
    failure: Failure


class Posting:
    """Publishes tasks within the owner's limits."""

    def __init__(
        self,
        *,
        network: PostingNetwork,
        journal: Journal,
        watch: BalanceWatch,
        limits: Limits,
        rules: PostingRules,
        clock: Clock,
        randomness: Randomness,
        log: Log,
    ) -> None:
        self._network = network
        self._journal = journal
        self._watch = watch
        self._limits = limits
        self._clock = clock
        self._randomness = randomness
        self._log = log
        self._first = FirstPost(
            shelf=network, journal=journal, rules=rules, clock=clock, log=log
        )

    async def post(
        self,
        new: NewTask,
        strategy: str = OWNER,
    ) -> Accepted | NotAccepted | OverBudget:
        """Publish one task.

        The decision and the hold are one commit, made before the request leaves, so
        that neither a crash nor a second decision can break a limit.

        Raises:
            UsageError: the reward is below one credit.
        """
        if new.reward < 1:
            raise UsageError(
                f"cannot post a task for {new.reward} credits",
                "Offer a reward of at least 1.",
            )
        await self._first.look()
        held = self._hold(new, strategy)
        if isinstance(held, OverBudget):
            self._log.emit(
                events.POST_REFUSED_BY_BUDGET,
                reward=new.reward,
                setting=held.setting,
                message=held.message,
            )
            return held
        with self._watch.window() as window:
            key = IdempotencyKey(held.spend_id)
            outcome = await self._network.post_task(new, key)
            if isinstance(outcome, Confirmed):
                accepted = self._settle(held, outcome.value)
                self._watch.observe(window, outcome.value.balance)
            else:
                return self._give_back(held, outcome)
        await self._first.look(at_once=True)
        return accepted

    def recover(self) -> None:
        """Mark the spends that a crash interrupted: they may have happened.

        They stay held and are never repeated by themselves; a balance that the
        network shows may settle them later.
        """
        interrupted = self._journal.spends.in_state(SpendState.HELD)
        if not interrupted:
            return
        reason = "the daemon stopped before the answer came"
        with self._journal.tx("spends interrupted"):
            for spend in interrupted:
                self._journal.spends.settle(
                    spend.spend_id,
                    SpendState.UNKNOWN,
                    reason=reason,
                )
        for spend in interrupted:
            if spend.kind is SpendKind.POST:
                self._emit_unknown(spend, reason)
            else:
                self._log.emit(
                    events.CHECKOUT_FAILED,
                    spend_id=spend.spend_id,
                    credits=spend.credits,
                    message=reason,
                )

    def _hold(self, new: NewTask, strategy: str) -> Spend | OverBudget:
        spend_id = SpendId(self._randomness.new_id("post"))
        with self._journal.tx("post intent"):
            now = self._clock.now()
            at = standing(self._journal, now)
            over = self._first.obstacle() or check_post(self._limits, at, new.reward)
            if over:
                return over
            self._first.hold(spend_id)
            self._journal.spends.hold(
                spend_id,
                SpendKind.POST,
                credits_=new.reward,
                cents=0,
                strategy=strategy,
                request={**asdict(new), "tags": list(new.tags)},
            )
        spend = self._journal.spends.get(spend_id)
        if spend is None:
            raise LookupError(spend_id)
        return spend

    def _settle(self, spend: Spend, posted: Posted) -> Accepted:
        with self._journal.tx("post accepted"):
            book_post(self._journal.ledger, spend, Confidence.CONFIRMED)
            self._journal.spends.settle(
                spend.spend_id,
                SpendState.SETTLED,
                task_id=posted.task_id,
            )
        self._first.settle(spend, posted.balance)
        self._log.emit(
            events.POSTED,
            spend_id=spend.spend_id,
            task_id=posted.task_id,
            reward=spend.credits,
            balance=self._journal.ledger.balance(),
        )
        return Accepted(spend.spend_id, posted.task_id)

    def _give_back(self, spend: Spend, failure: Failure) -> NotAccepted:
        unknown = isinstance(failure, Unknown)
        state = SpendState.UNKNOWN if unknown else SpendState.RELEASED
        with self._journal.tx("post not accepted"):
            self._journal.spends.settle(spend.spend_id, state, reason=failure.message)
        if not unknown:
            self._first.release(spend.spend_id)
        if unknown:
            self._emit_unknown(spend, failure.message)
        else:
            self._log.emit(
                events.POST_FAILED,
                spend_id=spend.spend_id,
                reward=spend.credits,
                message=failure.message,
            )
        return NotAccepted(spend.spend_id, failure)

    def _emit_unknown(self, spend: Spend, message: str) -> None:
        self._log.emit(
            events.POST_UNKNOWN,
            spend_id=spend.spend_id,
            reward=spend.credits,
            message=message,
        )
