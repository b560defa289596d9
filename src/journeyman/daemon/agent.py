"""An agent put together: who it is, what it remembers, what it may spend.

The daemon runs one; a command that acts while no daemon runs opens one for a moment.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import anyio

from journeyman.daemon.environment import Environment, JoinInterruptedError
from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.errors import JourneymanError, StateError
from journeyman.domain.tasks import JSON, Identity
from journeyman.economy.balance import BalanceWatch
from journeyman.economy.budget import Limits
from journeyman.economy.posting import Posting, PostingRules
from journeyman.economy.topup import Offer, Refill, Shortage, TopUp, TopUpMode
from journeyman.journal.directory import DataDirectory, DirectoryLock
from journeyman.journal.identity import AnswerFile, load_identity
from journeyman.journal.journal import Journal
from journeyman.network.client import NetworkClient
from journeyman.network.dialect import ASSUMED
from journeyman.network.endpoints import ENDPOINTS
from journeyman.network.http import HttpLimits
from journeyman.network.negotiation import Negotiation, Writing
from journeyman.network.observation import Observe, Observer
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.network.rate_limit.pause import RateLimits
from journeyman.network.rate_limit.token import Trust
from journeyman.network.shapes import READY, writing_dialect
from journeyman.observability.events import Log
from journeyman.settings.sections import ContractSettings, RateLimitSettings, Settings
from journeyman.worker.join import IdentityFiles, Join
from journeyman.worker.retry import Backoff
from journeyman.worker.token import TokenMemory, rejection

SHORTEST_PAUSE = 60.0
"""In seconds, between two writes of what is new."""


class Learning:
    """One network's observations, in memory and in the journal."""

    def __init__(self, journal: Journal, network: str, clock: Clock) -> None:
        """Go on from what is known of the network of this base address."""
        self._journal = journal
        self._network = network.rstrip("/")
        self._clock = clock
        self.observer = Observer([one.name for one in ENDPOINTS], clock.now)
        self.observer.load(journal.observations.of(self._network))
        self._kept_at = clock.monotonic() - SHORTEST_PAUSE

    def keep_news(self) -> None:
        """Write what was learned if something is new, at most once a minute."""
        paused = self._clock.monotonic() - self._kept_at
        if self.observer.has_news and paused >= SHORTEST_PAUSE:
            self.keep()

    def keep(self) -> None:
        """Write what was learned, also where only counts have changed.

        A disk that refuses is told by those whose work is lost by it; this waits.
        """
        changed = self.observer.changed()
        if not changed:
            return
        self._kept_at = self._clock.monotonic()
        with suppress(StateError):
            with self._journal.tx("observations"):
                for endpoint, record in changed.items():
                    self._journal.observations.put(self._network, endpoint, record)
            self.observer.written()


def build_rate_limiter(
    settings: RateLimitSettings, clock: Clock, randomness: Randomness, log: Log
) -> RateLimiter:
    """Make the guard that stands before every request of a daemon."""
    return RateLimiter(
        clock=clock,
        randomness=randomness,
        log=log,
        private=ASSUMED.private,
        options=RateLimits(
            max_retry_after=settings.max_retry_after_seconds,
            failures=settings.failures,
            probe_every=settings.probe_seconds,
            absent_recheck=settings.absent_recheck_seconds,
        ),
    )


def remember_token(rate_limiter: RateLimiter, journal: Journal, clock: Clock) -> None:
    """Begin with what an earlier run knew of our token, and keep what this one learns.

    A daemon that is restarted must not begin again to act with a token that is refused.
    """
    memory = TokenMemory(journal, clock)
    if known := rejection(journal):
        rate_limiter.suspect_token(str(known["message"]))

    def keep(trust: Trust, message: str) -> None:
        if trust is Trust.REJECTED:
            memory.rejected(message)
        else:
            memory.accepted()

    rate_limiter.on_trust(keep)


def held_back(rate_limiter: RateLimiter, clock: Clock) -> list[JSON]:
    """Tell what waits until when: for each its name, cause, `until` and reason.

    The name is `service`, `token`, or that of an endpoint; `until` is in ISO 8601.
    """
    now = clock.now()
    return [
        {
            "what": name,
            "cause": held.cause.value,
            "until": (now + timedelta(seconds=held.seconds)).isoformat(
                timespec="seconds"
            ),
            "seconds": round(held.seconds, 1),
            "reason": held.reason,
        }
        for name, held in rate_limiter.all_held()
    ]


def build_negotiation(
    settings: ContractSettings,
    journal: Journal,
    base_url: str,
    clock: Clock,
    log: Log,
) -> Negotiation:
    """Make what shapes the actions of a daemon on one network."""
    return Negotiation(
        writing=writing_from(settings),
        memory=JournalShapeMemory(journal, base_url),
        clock=clock,
        log=log,
    )


def writing_from(settings: ContractSettings) -> Writing:
    """Read how the operator wants requests written; own dialects are tried first."""
    own = (writing_dialect(name, tables) for name, tables in settings.dialects.items())
    return Writing(
        dialects=(*own, *READY),
        pinned=None if settings.dialect == "auto" else settings.dialect,
        max_candidates=settings.max_candidates,
    )


class JournalShapeMemory:
    """Keeps in the journal what one network was found to understand."""

    def __init__(self, journal: Journal, base_url: str) -> None:
        self._journal = journal
        self._fact = f"dialect {base_url}"

    def load(self) -> JSON:
        """Give what was saved last; None when nothing ever was."""
        return self._journal.facts.get(self._fact)

    def save(self, learned: JSON) -> None:
        """Keep it, durably.

        Raises:
            StateError: the disk refused.
        """
        with self._journal.tx("dialect"):
            self._journal.facts.put(self._fact, learned)


@contextmanager
def one_error() -> Iterator[None]:
    """Raise a problem of ours by itself, though task groups have wrapped it.

    A group that holds anything else is a bug, and is raised as it is.
    """
    error: JourneymanError | None = None
    try:
        yield
    except BaseExceptionGroup as group:
        error = _the_error_in(group)
        if error is None:
            raise
    # Outside of the handler: an error whose context is the group that holds it would
    # be a circle, which not everything that prints errors survives.
    if error is not None:
        raise error


def _the_error_in(group: BaseExceptionGroup[BaseException]) -> JourneymanError | None:
    told, bugs = group.split(JourneymanError)
    if told is None or bugs is not None:
        return None
    first: BaseException = told
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first if isinstance(first, JourneymanError) else None


CHECKOUT: Final = "create_checkout"
"""The network's endpoint 2, by its name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Agent:
    """One joined agent."""

    identity: Identity
    base_url: str
    directory: DataDirectory
    journal: Journal
    network: NetworkClient
    rate_limiter: RateLimiter
    """What is let go to the network, and what is held back."""
    limits: Limits
    watch: BalanceWatch
    posting: Posting
    top_up: TopUp
    shortage: Shortage
    learning: Learning


@asynccontextmanager
async def open_agent(
    settings: Settings,
    base_url: str,
    environment: Environment,
    *,
    stop: anyio.Event | None = None,
) -> AsyncIterator[Agent]:
    """Lock the data directory, open the journal, join if we never did.

    Setting `stop` breaks off the joining, between two tries.

    Raises:
        StateError: the data directory, the journal or the identity cannot be used.
        AlreadyRunningError: another process holds the data directory.
        NetworkError: we have no identity and the network gives us none.
        SafetyError: the identity on disk belongs to another network.
        JoinInterruptedError: `stop` was set before we had joined.
    """
    directory = DataDirectory(settings.data.directory)
    directory.prepare()
    with (
        DirectoryLock(directory),
        environment.open_journal(directory.journal, environment.clock.now) as journal,
    ):
        clock, log = environment.clock, environment.log
        learning = Learning(journal, base_url, clock)
        observe = learning.observer
        rate_limiter = build_rate_limiter(
            settings.rate_limit, clock, environment.randomness, log
        )
        contract = settings.contract
        negotiation = build_negotiation(contract, journal, base_url, clock, log)
        async with build_network(
            settings, base_url, environment, observe, rate_limiter, negotiation
        ) as network:
            try:
                join = _build_join(directory, journal, network, base_url, environment)
                identity = await _join(join, stop or anyio.Event())
                environment.redactor.add(identity.access_token.reveal())
                network.identify(identity)
                remember_token(rate_limiter, journal, clock)
                ours = environment.seen_by(identity)
                rate_limiter.report_to(ours.log)
                network.report_to(ours.log)
                agent = _assemble(
                    settings,
                    directory,
                    journal,
                    network,
                    rate_limiter,
                    learning,
                    identity,
                    ours,
                )
                agent.posting.recover()
                yield agent
            finally:
                learning.keep()


def build_network(
    settings: Settings,
    base_url: str,
    environment: Environment,
    observe: Observe | None = None,
    rate_limiter: RateLimiter | None = None,
    negotiation: Negotiation | None = None,
) -> NetworkClient:
    """Make a client for the network that the settings name.

    Without `pressure` nothing is held back, and without `negotiation` nothing that was
    learned is used: for a command that asks once.

    Raises:
        ConfigurationError: an address cannot be used.
    """
    wanted = settings.network
    return NetworkClient(
        base_url=base_url,
        portal_url=wanted.portal_url,
        log=environment.log,
        clock=environment.clock,
        limits=HttpLimits(
            connect_timeout=wanted.connect_timeout_seconds,
            total_timeout=wanted.total_timeout_seconds,
            max_body_bytes=wanted.max_body_bytes,
            max_connections=wanted.max_connections,
        ),
        transport=environment.transport,
        observe=observe,
        rate_limiter=rate_limiter,
        negotiation=negotiation,
    )


def _build_join(
    directory: DataDirectory,
    journal: Journal,
    network: NetworkClient,
    base_url: str,
    environment: Environment,
) -> Join:
    return Join(
        network=network,
        journal=journal,
        identity_files=IdentityFiles(
            load=lambda: load_identity(directory.identity),
            save=lambda identity: environment.save_identity(
                directory.identity, identity
            ),
            answers=AnswerFile(directory.registration_answer),
        ),
        base_url=base_url,
        backoff=Backoff(environment.randomness),
        clock=environment.clock,
        randomness=environment.randomness,
        log=environment.log,
    )


async def _join(join: Join, stop: anyio.Event) -> Identity:
    identity: Identity | None = None

    async def break_off() -> None:
        await stop.wait()
        group.cancel_scope.cancel()

    with one_error():
        async with anyio.create_task_group() as group:
            group.start_soon(break_off)
            identity = await join.run()
            group.cancel_scope.cancel()
    if identity is None:
        raise JoinInterruptedError("stopped before the network was joined")
    return identity


def _assemble(
    settings: Settings,
    directory: DataDirectory,
    journal: Journal,
    network: NetworkClient,
    rate_limiter: RateLimiter,
    learning: Learning,
    identity: Identity,
    environment: Environment,
) -> Agent:
    limits = limits_from(settings)
    watch = BalanceWatch(journal, environment.log)
    top_up = _build_top_up(settings, journal, network, environment)
    return Agent(
        identity=identity,
        base_url=identity.base_url,
        directory=directory,
        journal=journal,
        network=network,
        rate_limiter=rate_limiter,
        limits=limits,
        watch=watch,
        posting=Posting(
            network=network,
            journal=journal,
            watch=watch,
            limits=limits,
            rules=PostingRules(
                base_url=identity.base_url,
                enabled=settings.posting.enabled,
                look_at_first=settings.posting.look_at_first,
            ),
            clock=environment.clock,
            randomness=environment.randomness,
            log=environment.log,
        ),
        top_up=top_up,
        shortage=Shortage(
            agent_id=identity.agent_id,
            top_up=top_up,
            journal=journal,
            refill=Refill(
                mode=TopUpMode(settings.topup.mode),
                below_credits=settings.topup.below_credits,
                credits=settings.topup.credits,
            ),
            is_held=lambda: rate_limiter.held(CHECKOUT) is not None,
            clock=environment.clock,
            log=environment.log,
        ),
        learning=learning,
    )


def _build_top_up(
    settings: Settings,
    journal: Journal,
    network: NetworkClient,
    environment: Environment,
) -> TopUp:
    return TopUp(
        network=network,
        journal=journal,
        limits=limits_from(settings),
        offer=Offer(
            plan=settings.topup.plan,
            price_id=settings.topup.price_id,
            product_label=settings.topup.product_label or None,
            source=settings.topup.source or None,
        ),
        clock=environment.clock,
        randomness=environment.randomness,
        log=environment.log,
    )


def limits_from(settings: Settings) -> Limits:
    """Read the owner's limits."""
    return Limits(
        reserve_credits=settings.budget.reserve_credits,
        per_post_credits=settings.budget.per_post_credits,
        per_day_credits=settings.budget.per_day_credits,
        posts_per_day=settings.budget.posts_per_day,
        topup_per_day_cents=settings.topup.per_day_cents,
        topup_per_month_cents=settings.topup.per_month_cents,
    )
