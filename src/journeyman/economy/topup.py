"""Top-ups: ask for a payment page and hand its address to the owner; never pay.

A top-up is a row of the journal before anything is sent, and stays one: proposed,
reserved, open, and then settled by credits that were seen or by the owner's word.
While one waits, no other is asked for by itself, over restarts and crashes too.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
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
from journeyman.economy.budget import OWNER, Limits, OverBudget, check_top_up, usage
from journeyman.economy.catalogue import (
    Catalogue,
    Pack,
    PriceDoubted,
    is_subscription,
    smallest_over,
)
from journeyman.economy.mark import MarkKeeper
from journeyman.economy.reconcile import (
    PAYABLE_TOP_UPS,
    settle_top_up,
    unknown_if_interrupted,
)
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


Asked = Opened | NotOpened | OverBudget | PriceDoubted
"""How asking for a page ended."""

NOT_PAID = (
    SpendState.PROPOSED,
    SpendState.OPEN,
    SpendState.UNKNOWN,
    SpendState.EXPIRED,
)
"""What the owner may cancel. RESERVED is left out, here and where credits are seen: its
answer is still on the way, and would undo what the owner says."""


DECLINED = (SpendState.DECLINED, SpendState.CANCELLED)
"""The owner has said no: the need is not asked about again before it would expire."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wording:
    """What a checkout request says besides."""

    product_label: str | None
    source: str | None


@dataclass(kw_only=True, eq=False)
class TopUp:
    """Asks for checkouts within the owner's caps."""

    network: CheckoutNetwork
    journal: Journal
    mark: MarkKeeper
    limits: Limits
    catalogue: Catalogue
    wording: Wording
    expires_after: timedelta
    """How long a proposal, and a page, waits for the owner."""
    base_url: str
    """Of the network that makes the pages."""
    clock: Clock
    randomness: Randomness
    log: Log

    async def ask(
        self, agent_id: AgentId, credits_: int, *, subscription: bool = False
    ) -> Asked:
        """Ask for one payment page on the owner's word; nothing is booked yet.

        The same again, while the first one waits, is the first one: an owner who tries
        once more after a time-out means one page.

        Raises:
            UsageError: fewer than one credit was asked for.
            SafetyError: the same was asked for, and its outcome is not known; or it is
                a subscription, which only the owner may choose, and did not.
            StateError: the disk refused, and nothing was sent.
        """
        if credits_ < 1:
            raise UsageError(f"cannot buy {credits_} credits", "Ask for at least 1.")
        pack = self._pack_of(credits_)
        if is_subscription(pack.plan) and not subscription:
            raise SafetyError(
                f"{pack.price_id} is a subscription (plan {pack.plan!r})",
                "It would be paid again and again. To ask for it all the same, add "
                "--subscription.",
            )
        self.expire()
        if twin := self._twin(pack):
            return await self._again(twin)
        if pack.path:
            if doubt := await self.catalogue.doubt(pack):
                return doubt
            if twin := self._twin(pack):  # reading the price took its time
                return await self._again(twin)
        return await self._order(agent_id, pack, subscription=subscription)

    async def ask_by_itself(self, agent_id: AgentId, pack: Pack) -> Asked:
        """Ask for the page of a pack without the owner's word, unless one waits."""
        if doubt := await self.catalogue.doubt(pack):
            return doubt
        waiting = self.journal.spends.unsettled(SpendKind.TOP_UP)
        if waiting:  # since the look that led here: reading the price took its time
            return self._known(waiting[-1])
        return await self._order(agent_id, pack, subscription=False)

    async def _order(
        self, agent_id: AgentId, pack: Pack, *, subscription: bool
    ) -> Opened | NotOpened | OverBudget:
        request = self._request(agent_id, pack)
        reserved = self._reserve(request)
        if isinstance(reserved, OverBudget):
            return reserved
        return await self._send(reserved, request, subscription=subscription)

    def propose(self, agent_id: AgentId, pack: Pack) -> Spend | OverBudget:
        """Record a need for the owner to approve; nothing is sent."""
        return self._reserve(self._request(agent_id, pack), SpendState.PROPOSED)

    async def approve(self, spend_id: SpendId) -> Asked:
        """Ask for the page of what was proposed, if it is offered at that price still.

        Raises:
            SafetyError: there is no such proposal.
            StateError: the disk refused, and nothing was sent.
        """
        request = CheckoutRequest(**self._proposed(spend_id).request)
        pack = self._as_proposed(request)
        if doubt := await self.catalogue.doubt(pack):
            if doubt.has_changed:
                with self.journal.tx("proposal withdrawn"):
                    self._release(spend_id, doubt.message)
            return doubt
        with self.journal.tx("top-up approved"):
            spend = self._proposed(spend_id)  # reading the price took its time
            if over := self._over(spend.cents):
                return over
            self.journal.spends.approve(spend_id, self._expiry())
        return await self._send(spend, request, subscription=False)

    def _as_proposed(self, request: CheckoutRequest) -> Pack:
        """Return the pack of a proposal as the catalogue has it, or had it."""
        wanted = (request.price_id, request.requested_credits, request.amount_cents)
        for pack in self.catalogue.packs.all():
            if (pack.price_id, pack.credits, pack.cents) == wanted:
                return pack
        price_id, credits_, cents = wanted
        return Pack(price_id=price_id, credits=credits_, cents=cents, plan=request.plan)

    def _pack_of(self, credits_: int) -> Pack:
        """Return the pack of so many credits; else so many at the usual price id."""
        packs = (
            pack for pack in self.catalogue.packs.all() if pack.credits == credits_
        )
        usual = self.catalogue.packs.usual
        return next(packs, None) or Pack(
            price_id=usual.price_id,
            credits=credits_,
            cents=cents_for(credits_),
            plan=usual.plan,
        )

    def _request(self, agent_id: AgentId, pack: Pack) -> CheckoutRequest:
        return CheckoutRequest(
            plan=pack.plan,
            agent_id=agent_id,
            price_id=pack.price_id,
            requested_credits=pack.credits,
            amount_cents=pack.cents,
            product_label=pack.label or self.wording.product_label,
            source=self.wording.source,
        )

    def _twin(self, pack: Pack) -> Spend | None:
        """Return a top-up that waits for the same."""
        waiting = self.journal.spends.unsettled(SpendKind.TOP_UP)
        return next(
            (
                one
                for one in waiting
                if (one.request.get("price_id"), one.credits)
                == (pack.price_id, pack.credits)
            ),
            None,
        )

    async def _again(self, twin: Spend) -> Asked:
        if twin.state is SpendState.PROPOSED:
            return await self.approve(twin.spend_id)
        if twin.state is SpendState.OPEN:
            return self._known(twin)
        is_under_way = twin.state is SpendState.RESERVED
        raise SafetyError(
            f"{twin.credits} credits were asked for already ({twin.spend_id}), and it "
            f"is not known whether there is a page: "
            f"{'no answer has come yet' if is_under_way else twin.reason}",
            "Look again soon: journeyman topup list"
            if is_under_way
            else f"To give it up: journeyman topup cancel {twin.spend_id}",
        )

    def _known(self, spend: Spend) -> Opened | NotOpened:
        """Return what is known of a top-up that waits."""
        if spend.state is not SpendState.OPEN:
            return NotOpened(spend.spend_id, Unknown(spend.reason))
        url = str(spend.answer.get("url"))
        return Opened(spend.spend_id, url, spend.credits, spend.cents)

    async def _send(
        self, spend: Spend, request: CheckoutRequest, *, subscription: bool
    ) -> Opened | NotOpened:
        self.mark.note()
        key = IdempotencyKey(spend.spend_id)
        with unknown_if_interrupted(self.journal, self.log, spend):
            outcome = await self.network.create_checkout(request, key)
            if not isinstance(outcome, Confirmed):
                return self._not_opened(spend, outcome)
            session = outcome.value
            if doubt := self._doubt(session, subscription=subscription):
                return self._not_opened(spend, Unknown(doubt), session)
            return self._opened(spend, session)

    def _doubt(self, session: CheckoutSession, *, subscription: bool) -> str:
        """Return why there is no page to open; empty if there is one."""
        if not session.url:
            return "the answer has no payment page"
        if is_subscription(session.mode) and not subscription:
            return "the page is for a subscription, and a single payment was asked for"
        if doubt := doubt_about_page(session.url, self.base_url):
            shown = escape(session.url, longest=LONGEST_SHOWN)
            return f"the payment page's address is doubtful: {doubt} ({shown})"
        return ""

    def confirm(self, spend_id: SpendId) -> Spend:
        """Book a top-up on the owner's word that it was paid, however late.

        Raises:
            SafetyError: there is no such top-up, or it was settled before.
        """
        spend = self._in_state(spend_id, PAYABLE_TOP_UPS)
        settle_top_up(self.journal, self.log, spend, "confirmed by the owner")
        return spend

    def cancel(self, spend_id: SpendId) -> Spend:
        """Forget a top-up on the owner's word that it will not be paid.

        Raises:
            SafetyError: there is no such top-up, or it was settled before.
        """
        spend = self._in_state(spend_id, NOT_PAID)
        was_sent = spend.state is not SpendState.PROPOSED
        state = SpendState.CANCELLED if was_sent else SpendState.DECLINED
        with self.journal.tx("top-up cancelled"):
            self.journal.spends.move(spend_id, state, reason="cancelled by the owner")
        return spend

    def expire(self) -> None:
        """Give up what nobody approved or paid in time.

        A request of unknown outcome does not expire: only the owner, or credits that
        are seen, can tell what became of it.
        """
        now = self.clock.now()
        for spend in self.journal.spends.unsettled(SpendKind.TOP_UP):
            if spend.expires_at is None or now < spend.expires_at:
                continue
            if spend.state is SpendState.PROPOSED:
                self._expire(spend, SpendState.RELEASED, "not approved in time")
            elif spend.state is SpendState.OPEN:
                self._expire(spend, SpendState.EXPIRED, "not seen to be paid in time")

    def _expire(self, spend: Spend, state: SpendState, reason: str) -> None:
        with self.journal.tx("top-up expired"):
            self.journal.spends.move(spend.spend_id, state, reason=reason)
        self.log.emit(
            events.TOP_UP_EXPIRED,
            spend_id=spend.spend_id,
            credits=spend.credits,
            cents=spend.cents,
        )

    def _proposed(self, spend_id: SpendId) -> Spend:
        return self._in_state(spend_id, (SpendState.PROPOSED,))

    def _in_state(self, spend_id: SpendId, states: tuple[SpendState, ...]) -> Spend:
        spend = self.journal.spends.get(spend_id)
        if spend and spend.kind is SpendKind.TOP_UP and spend.state in states:
            return spend
        state = f"is already {spend.state}" if spend else "is not known"
        raise SafetyError(
            f"the top-up {spend_id} {state}",
            "`journeyman topup list` shows those that wait.",
        )

    def _reserve(
        self, request: CheckoutRequest, state: SpendState = SpendState.RESERVED
    ) -> Spend | OverBudget:
        with self.journal.tx("top-up intent"):
            if over := self._over(request.amount_cents):
                return over
            return self.journal.spends.reserve(
                SpendId(self.randomness.new_id("topup")),
                SpendKind.TOP_UP,
                credits_=request.requested_credits,
                cents=request.amount_cents,
                strategy=OWNER,
                request=asdict(request),
                expires_at=self._expiry(),
                state=state,
            )

    def _over(self, cents: int) -> OverBudget | None:
        return check_top_up(self.limits, self.journal, self.clock.now(), cents)

    def _expiry(self) -> datetime:
        return self.clock.now() + self.expires_after

    def _release(self, spend_id: SpendId, reason: str) -> None:
        self.journal.spends.move(spend_id, SpendState.RELEASED, reason=reason)

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
    #: A top-up is proposed; the page is asked for when the owner approves it.
    ASK = "ask"
    #: The page is asked for, within the caps; a person pays there, or does not.
    AUTO = "auto"


@dataclass(frozen=True, kw_only=True, slots=True)
class TopUpPolicy:
    """Whether to ask, at which balance, and over what to lift it; both in credits."""

    mode: TopUpMode
    below_credits: int
    target_credits: int
    retry_seconds: float = RetryPolicy.top_up_seconds
    """The wait after a try that gave no page."""


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
        """Look once, and do what the owner allows. One need is asked for once.

        That holds over restarts, since what waits is in the journal: an agent whose
        payment is slow to arrive must not buy again at each start.
        """
        self.top_up.expire()
        if self.policy.mode is TopUpMode.OFF or self._is_asked():
            return
        if ALL_WORK in self.journal.owner_pauses.current(self.clock.now()):
            return
        if self.is_paused() or self.clock.monotonic() < self.next_ask_at:
            return
        available = usage(self.journal, self.clock.now()).available
        if available >= self.policy.below_credits:
            return
        if not await self._ask(available):
            self.next_ask_at = self.clock.monotonic() + self.policy.retry_seconds

    def _is_asked(self) -> bool:
        """Return whether the need waits for the owner, or the owner has declined it."""
        spends = self.journal.spends
        if spends.unsettled(SpendKind.TOP_UP):
            return True
        last = spends.latest(SpendKind.TOP_UP)
        if last is None or last.state not in DECLINED:
            return False
        return last.expires_at is not None and self.clock.now() < last.expires_at

    async def _ask(self, available: int) -> bool:
        """Ask the network, or the owner; return whether that is now under way."""
        packs = self.top_up.catalogue.packs.all()
        target = self.policy.target_credits
        pack = smallest_over(packs, available, target)
        if pack is None:
            self.log.emit(
                events.NO_PACK,
                available=available,
                target_credits=target,
                packs=len(packs),
            )
            return False
        if self.policy.mode is TopUpMode.ASK:
            return self._propose(pack, available)
        asked = await self.top_up.ask_by_itself(self.agent_id, pack)
        if isinstance(asked, OverBudget):
            self._tell_cap(asked)
        return isinstance(asked, Opened)

    def _propose(self, pack: Pack, available: int) -> bool:
        proposed = self.top_up.propose(self.agent_id, pack)
        if isinstance(proposed, OverBudget):
            self._tell_cap(proposed)
            return False
        self.log.emit(
            events.TOP_UP_PROPOSED,
            spend_id=proposed.spend_id,
            available=available,
            below_credits=self.policy.below_credits,
            credits=pack.credits,
            cents=pack.cents,
            price_id=pack.price_id,
        )
        return True

    def _tell_cap(self, over: OverBudget) -> None:
        self.log.emit(
            events.TOP_UP_OVER_CAP, setting=over.setting, message=over.message
        )
