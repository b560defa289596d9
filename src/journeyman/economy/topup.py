"""Top-ups: ask for a payment page and hand its address to the owner; never pay."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Protocol

from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.credits import cents_for
from journeyman.domain.errors import SafetyError, UsageError
from journeyman.domain.outcomes import Confirmed, Failure, Outcome, Unknown
from journeyman.domain.plausibility import doubt_about_page
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import JSON, AgentId, IdempotencyKey, SpendId
from journeyman.domain.text import escape
from journeyman.economy import events
from journeyman.economy.bookkeeping import settle_top_up
from journeyman.economy.budget import OWNER, Limits, OverBudget, check_top_up, usage
from journeyman.economy.mark import MarkKeeper
from journeyman.journal.journal import Journal
from journeyman.journal.owner_pauses import ALL_WORK
from journeyman.journal.spends import Spend, SpendKind, SpendState
from journeyman.network.answers import CheckoutRequest, CheckoutSession
from journeyman.observability.events import Log

LONGEST_SHOWN = 120
"""In characters, of an address that nobody should open."""


class CheckoutNetwork(Protocol):
    """What a top-up needs of the network."""

    async def create_checkout(
        self, request: CheckoutRequest, key: IdempotencyKey
    ) -> Outcome[CheckoutSession]:
        """Contract endpoint 2."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """What is asked for; the contract does not show the allowed values."""

    plan: str
    price_id: str
    product_label: str | None
    source: str | None


@dataclass(frozen=True, slots=True)
class Opened:
    """A payment page exists."""

    spend_id: SpendId
    url: str
    credits: int
    cents: int


@dataclass(frozen=True, slots=True)
class NotOpened:
    """No page was made, or it is not known whether one was."""

    spend_id: SpendId
    failure: Failure


@dataclass(kw_only=True, eq=False)
class TopUp:
    """Asks for checkouts within the owner's caps."""

    network: CheckoutNetwork
    journal: Journal
    mark: MarkKeeper
    limits: Limits
    offer: Offer
    base_url: str
    """Of the network that makes the pages."""
    clock: Clock
    randomness: Randomness
    log: Log

    async def ask(
        self, agent_id: AgentId, credits_: int
    ) -> Opened | NotOpened | OverBudget:
        """Ask for one payment page; nothing is booked until credits are seen.

        Raises:
            UsageError: fewer than one credit was asked for.
            StateError: the disk refused, and nothing was sent.
        """
        if credits_ < 1:
            raise UsageError(f"cannot buy {credits_} credits", "Ask for at least 1.")
        request = CheckoutRequest(
            plan=self.offer.plan,
            agent_id=agent_id,
            price_id=self.offer.price_id,
            requested_credits=credits_,
            amount_cents=cents_for(credits_),
            product_label=self.offer.product_label,
            source=self.offer.source,
        )
        reserved = self._reserve(request)
        if isinstance(reserved, OverBudget):
            return reserved
        self.mark.note()
        key = IdempotencyKey(reserved.spend_id)
        outcome = await self.network.create_checkout(request, key)
        if not isinstance(outcome, Confirmed):
            return self._not_opened(reserved, outcome)
        session = outcome.value
        if doubt := self._doubt(session.url):
            return self._not_opened(reserved, Unknown(doubt), session)
        return self._opened(reserved, session)

    def _doubt(self, url: str | None) -> str:
        """Return why there is no page to open; empty if there is one."""
        if not url:
            return "the answer has no payment page"
        if doubt := doubt_about_page(url, self.base_url):
            shown = escape(url, longest=LONGEST_SHOWN)
            return f"the payment page's address is doubtful: {doubt} ({shown})"
        return ""

    def confirm(self, spend_id: SpendId) -> Spend:
        """Book a top-up on the owner's word that it was paid.

        Raises:
            SafetyError: there is no such top-up, or it was settled before.
        """
        spend = self._waiting(spend_id)
        settle_top_up(self.journal, self.log, spend, "confirmed by the owner")
        return spend

    def cancel(self, spend_id: SpendId) -> Spend:
        """Forget a top-up on the owner's word that it will not be paid.

        Raises:
            SafetyError: there is no such top-up, or it was settled before.
        """
        spend = self._waiting(spend_id)
        with self.journal.tx("top-up cancelled"):
            self.journal.spends.move(
                spend_id, SpendState.RELEASED, reason="cancelled by the owner"
            )
        return spend

    def _waiting(self, spend_id: SpendId) -> Spend:
        spend = self.journal.spends.get(spend_id)
        # RESERVED is left out: its answer is still on the way, and would undo this.
        waiting = (SpendState.OPEN, SpendState.UNKNOWN)
        if spend and spend.kind is SpendKind.TOP_UP and spend.state in waiting:
            return spend
        state = f"is already {spend.state}" if spend else "is not known"
        raise SafetyError(
            f"the top-up {spend_id} {state}",
            "`journeyman topup --list` shows those that wait for payment.",
        )

    def _reserve(self, request: CheckoutRequest) -> Spend | OverBudget:
        cents = request.amount_cents
        with self.journal.tx("top-up intent"):
            over = check_top_up(self.limits, self.journal, self.clock.now(), cents)
            if over:
                return over
            return self.journal.spends.reserve(
                SpendId(self.randomness.new_id("topup")),
                SpendKind.TOP_UP,
                credits_=request.requested_credits,
                cents=cents,
                strategy=OWNER,
                request=asdict(request),
            )

    def _opened(self, spend: Spend, session: CheckoutSession) -> Opened:
        with self.journal.tx("top-up opened"):
            self.journal.spends.move(
                spend.spend_id, SpendState.OPEN, answer=_kept(session)
            )
        opened = Opened(spend.spend_id, str(session.url), spend.credits, spend.cents)
        self.log.emit(events.CHECKOUT_OPENED, **asdict(opened))
        return opened

    def _not_opened(
        self, spend: Spend, failure: Failure, session: CheckoutSession | None = None
    ) -> NotOpened:
        unknown = isinstance(failure, Unknown)
        state = SpendState.UNKNOWN if unknown else SpendState.RELEASED
        answer = _kept(session) if session else None
        with self.journal.tx("top-up not opened"):
            self.journal.spends.move(
                spend.spend_id, state, reason=failure.message, answer=answer
            )
        self.log.emit(
            events.CHECKOUT_FAILED,
            spend_id=spend.spend_id,
            credits=spend.credits,
            message=failure.message,
        )
        return NotOpened(spend.spend_id, failure)


def _kept(session: CheckoutSession) -> dict[str, JSON]:
    return {"url": session.url, "session_id": session.session_id}


class TopUpMode(StrEnum):
    """What the owner allows."""

    #: Nothing happens by itself; the owner's own command still works.
    OFF = "off"
    #: The log says that credits run short; the owner asks for the page.
    ASK = "ask"
    #: The page is asked for, within the caps; a person pays there, or does not.
    AUTO = "auto"


@dataclass(frozen=True, kw_only=True, slots=True)
class TopUpPolicy:
    """Whether to ask, at which balance, and for how much; both in credits."""

    mode: TopUpMode
    below_credits: int
    credits: int
    retry_seconds: float = RetryPolicy.top_up_seconds
    """The wait after a request for a page that gave none."""


@dataclass(kw_only=True, eq=False)
class TopUpWatch:
    """Looks now and then whether credits run short, unless the owner has paused us.

    `is_paused` tells that the network takes no such request now.
    """

    agent_id: AgentId
    top_up: TopUp
    journal: Journal
    policy: TopUpPolicy
    is_paused: Callable[[], bool]
    clock: Clock
    log: Log
    next_ask_at: float = field(init=False, default=0.0)

    async def check(self) -> None:
        """Look once. While one top-up waits for payment, no other is asked for.

        That holds over restarts, since what waits is in the journal: an agent whose
        payment is slow to arrive must not buy again at each start.
        """
        waiting = self.journal.spends.unsettled(SpendKind.TOP_UP)
        if self.policy.mode is TopUpMode.OFF or waiting:
            return
        if ALL_WORK in self.journal.owner_pauses.current(self.clock.now()):
            return
        if self.is_paused() or self.clock.monotonic() < self.next_ask_at:
            return
        available = usage(self.journal, self.clock.now()).available
        if available >= self.policy.below_credits:
            return
        if self.policy.mode is TopUpMode.ASK:
            self._suggest(available)
            return
        asked = await self.top_up.ask(self.agent_id, self.policy.credits)
        if isinstance(asked, NotOpened):
            self.next_ask_at = self.clock.monotonic() + self.policy.retry_seconds
        if isinstance(asked, OverBudget):
            self.log.emit(
                events.TOP_UP_OVER_CAP, setting=asked.setting, message=asked.message
            )

    def _suggest(self, available: int) -> None:
        self.log.emit(
            events.TOP_UP_SUGGESTED,
            available=available,
            below_credits=self.policy.below_credits,
            credits=self.policy.credits,
        )
