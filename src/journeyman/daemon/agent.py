"""An agent put together: who it is, what it remembers, what it may spend.

The daemon runs one; a command that acts while no daemon runs opens one for a moment.
"""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self

import anyio

from journeyman.console import Desk
from journeyman.daemon.control import serve_control
from journeyman.daemon.disk import FreeBytes, free_bytes
from journeyman.daemon.learning import Learning
from journeyman.daemon.pressure import build_pressure, remember_token
from journeyman.daemon.unwrapping import one_error
from journeyman.daemon.writing import build_negotiation
from journeyman.domain import Clock, Identity, Randomness
from journeyman.domain.errors import JourneymanError
from journeyman.economy import (
    BalanceWatch,
    Limits,
    Offer,
    Posting,
    PostingRules,
    Refill,
    Shortage,
    TopUp,
    TopUpMode,
)
from journeyman.journal import (
    AnswerFile,
    DataDirectory,
    DirectoryLock,
    Journal,
    load_identity,
    save_identity,
)
from journeyman.loop import Backoff, Join, Papers, Ranking
from journeyman.network import (
    HttpLimits,
    Negotiation,
    NetworkClient,
    Observe,
    Pressure,
    Transport,
)
from journeyman.observability import Log
from journeyman.observability.redaction import Redactor
from journeyman.settings import Settings
from journeyman.strategies.runners import BLOCK_SECONDS

CHECKOUT: Final = "create_checkout"
"""The network's endpoint 2, by its name."""


class JoinInterruptedError(JourneymanError):
    """We were told to stop before we had joined; nothing is lost."""

    exit_code = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """Everything that simulation replaces, and where the log goes."""

    clock: Clock
    randomness: Randomness
    log: Log
    redactor: Redactor
    transport: Transport | None = None
    """None: real sockets."""
    open_journal: Callable[[Path, Callable[[], datetime]], Journal] = Journal
    """Opens the file, given what tells the time."""
    save_identity: Callable[[Path, Identity], None] = save_identity
    serve_control: Callable[[Path, Desk, Log], Coroutine[Any, Any, None]] = (
        serve_control
    )
    """Takes the owner's commands, at a socket of this path, until cancelled."""
    free_bytes: FreeBytes = free_bytes
    """Tells how much room the disk has."""
    ranking: Ranking | None = None
    """Puts the tasks that wait for a slot in order; None: as the settings say."""
    block_limit: float | None = BLOCK_SECONDS
    """Real seconds that one step of a strategy may hold the loop; None: any."""
    has_processes: bool = True
    """Strategies may run in processes of their own; simulated time has none."""

    def seen_by(self, identity: Identity) -> Self:
        """Give the same world with a log whose every line names the agent."""
        return replace(self, log=self.log.bind(agent_id=identity.agent_id))


@dataclass(frozen=True, kw_only=True, slots=True)
class Agent:
    """One joined agent."""

    identity: Identity
    base_url: str
    directory: DataDirectory
    journal: Journal
    network: NetworkClient
    pressure: Pressure
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
    world: World,
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
        world.open_journal(directory.journal, world.clock.now) as journal,
    ):
        clock, log = world.clock, world.log
        learning = Learning(journal, base_url, clock)
        observe = learning.observer
        pressure = build_pressure(settings.pressure, clock, world.randomness, log)
        contract = settings.contract
        negotiation = build_negotiation(contract, journal, base_url, clock, log)
        async with build_network(
            settings, base_url, world, observe, pressure, negotiation
        ) as network:
            try:
                join = _build_join(directory, journal, network, base_url, world)
                identity = await _join(join, stop or anyio.Event())
                world.redactor.add(identity.access_token.reveal())
                network.identify(identity)
                remember_token(pressure, journal, clock)
                ours = world.seen_by(identity)
                pressure.report_to(ours.log)
                network.report_to(ours.log)
                agent = _assemble(
                    settings,
                    directory,
                    journal,
                    network,
                    pressure,
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
    world: World,
    observe: Observe | None = None,
    pressure: Pressure | None = None,
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
        log=world.log,
        clock=world.clock,
        limits=HttpLimits(
            connect_timeout=wanted.connect_timeout_seconds,
            total_timeout=wanted.total_timeout_seconds,
            max_body_bytes=wanted.max_body_bytes,
            max_connections=wanted.max_connections,
        ),
        transport=world.transport,
        observe=observe,
        pressure=pressure,
        negotiation=negotiation,
    )


def _build_join(
    directory: DataDirectory,
    journal: Journal,
    network: NetworkClient,
    base_url: str,
    world: World,
) -> Join:
    return Join(
        registrar=network,
        journal=journal,
        papers=Papers(
            load=lambda: load_identity(directory.identity),
            save=lambda identity: world.save_identity(directory.identity, identity),
            answers=AnswerFile(directory.registration_answer),
        ),
        base_url=base_url,
        backoff=Backoff(world.randomness),
        clock=world.clock,
        randomness=world.randomness,
        log=world.log,
    )


async def _join(join: Join, stop: anyio.Event) -> Identity:
    identity: Identity | None = None

    async def break_off() -> None:
        await stop.wait()
        group.cancel_scope.cancel()

    with one_error():
        async with anyio.create_task_group() as group:
            group.start_soon(break_off)
            identity = await join()
            group.cancel_scope.cancel()
    if identity is None:
        raise JoinInterruptedError("stopped before the network was joined")
    return identity


def _assemble(
    settings: Settings,
    directory: DataDirectory,
    journal: Journal,
    network: NetworkClient,
    pressure: Pressure,
    learning: Learning,
    identity: Identity,
    world: World,
) -> Agent:
    limits = limits_from(settings)
    watch = BalanceWatch(journal, world.log)
    top_up = _build_top_up(settings, journal, network, world)
    return Agent(
        identity=identity,
        base_url=identity.base_url,
        directory=directory,
        journal=journal,
        network=network,
        pressure=pressure,
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
            clock=world.clock,
            randomness=world.randomness,
            log=world.log,
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
            is_held=lambda: pressure.held(CHECKOUT) is not None,
            clock=world.clock,
            log=world.log,
        ),
        learning=learning,
    )


def _build_top_up(
    settings: Settings,
    journal: Journal,
    network: NetworkClient,
    world: World,
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
        clock=world.clock,
        randomness=world.randomness,
        log=world.log,
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
