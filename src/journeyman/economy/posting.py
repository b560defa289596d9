"""Posting tasks: decided, held, sent once, settled."""

from dataclasses import asdict, dataclass
from typing import Protocol

from journeyman.domain import (
    Clock,
    Confirmed,
    IdempotencyKey,
    NewTask,
    Outcome,
    Randomness,
    SpendId,
    TaskId,
    Unknown,
)
from journeyman.domain.errors import UsageError
from journeyman.domain.outcome import Failure
from journeyman.economy import events
from journeyman.economy.bookkeeping import book_post
from journeyman.economy.budget import OWNER, Limits, OverBudget, check_post, standing
from journeyman.economy.first_post import FirstPost, PostingRules, Shelf
from journeyman.economy.reconcile import BalanceWatch
from journeyman.journal import Confidence, Journal, Spend, SpendKind, SpendState
from journeyman.network import Posted
from journeyman.observability import Log


class PostingNetwork(Shelf, Protocol):
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
