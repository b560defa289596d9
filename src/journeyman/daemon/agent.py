"""An agent: opened, joined, and put together from the settings.

The daemon runs one; a command that acts while no daemon runs opens one for a moment.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, partial

import anyio

from journeyman.daemon import events
from journeyman.daemon.backups import require_sound
from journeyman.daemon.description import Descriptions, described_by_owner
from journeyman.daemon.earning import NetworkRecord
from journeyman.daemon.environment import Environment, JoinInterruptedError
from journeyman.daemon.network import Learning, open_network
from journeyman.daemon.spending import growth_of, limits_of, packs_of, plans_of
from journeyman.domain.errors import one_error
from journeyman.domain.tasks import JSON, Identity
from journeyman.economy.budget import Limits
from journeyman.economy.catalogue import Catalogue, Offers
from journeyman.economy.growth import GrowthPolicy
from journeyman.economy.mark import MarkKeeper
from journeyman.economy.plan import Plan
from journeyman.economy.posting import Posting, PostingRules
from journeyman.economy.reconcile import BalanceWatch
from journeyman.economy.topup import (
    TopUp,
    TopUpMode,
    TopUpPolicy,
    TopUpWatch,
    Wording,
)
from journeyman.journal.directory import DataDirectory, DirectoryLock
from journeyman.journal.identity import (
    AnswerFile,
    load_identity,
    load_mark,
    save_mark,
)
from journeyman.journal.journal import Journal
from journeyman.network.client import NetworkClient
from journeyman.network.discovery.comparison import Expectations
from journeyman.network.discovery.survey import survey
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.settings.sections import Settings
from journeyman.worker.join import (
    IdentityFiles,
    Join,
    given_at_registration,
    missing_journal,
)
from journeyman.worker.token import remember_token

CHECKOUT = "create_checkout"
"""The network's endpoint 2, by its name."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Agent:
    """One joined agent: who it is, what it remembers, what it may spend."""

    settings: Settings
    environment: Environment
    identity: Identity
    directory: DataDirectory
    journal: Journal
    network: NetworkClient
    rate_limiter: RateLimiter
    learning: Learning
    by_owner: Mapping[str, JSON]
    """The bodies of actions, as the owner's description has them."""

    @property
    def base_url(self) -> str:
        """The address of the network that it has joined."""
        return self.identity.base_url

    @property
    def network_record(self) -> NetworkRecord:
        """What is known of the network, at this moment."""
        return NetworkRecord(
            endpoints=self.learning.observer.records,
            requests=self.network.search.model.requests,
        )

    @cached_property
    def descriptions(self) -> Descriptions:
        """What the owner and the network say of how requests are written."""
        portal = self.settings.network.portal_url
        return Descriptions(
            network=self.network,
            journal=self.journal,
            expected=Expectations(self.base_url, portal or self.base_url),
            by_owner=self.by_owner,
            clock=self.environment.clock,
            log=self.environment.log,
        )

    @cached_property
    def limits(self) -> Limits:
        """What the owner lets it spend."""
        return limits_of(self.settings)

    @cached_property
    def plans(self) -> list[Plan]:
        """What is posted again and again.

        Raises:
            ConfigurationError: a plan's `cron` is none.
        """
        return plans_of(self.settings)

    @cached_property
    def growth(self) -> GrowthPolicy:
        """Which plans may post for growth."""
        return growth_of(self.settings, self.plans, self.journal)

    @cached_property
    def mark(self) -> MarkKeeper:
        """Notes with the identity how far the journal has come."""
        return MarkKeeper(
            journal=self.journal,
            load=partial(load_mark, self.directory.identity),
            save=partial(save_mark, self.directory.identity),
            clock=self.environment.clock,
            log=self.environment.log,
            zone=self.limits.zone,
        )

    @cached_property
    def watch(self) -> BalanceWatch:
        """Compares the balance that the network shows with the ledger's."""
        return BalanceWatch(self.journal, self.environment.log)

    @cached_property
    def posting(self) -> Posting:
        """Publishes tasks."""
        return Posting(
            network=self.network,
            journal=self.journal,
            mark=self.mark,
            watch=self.watch,
            limits=self.limits,
            rules=PostingRules(
                base_url=self.base_url,
                enabled=self.settings.posting.enabled,
                verify_first=self.settings.posting.verify_first,
                retry_seconds=self.settings.retry.post_seconds,
            ),
            clock=self.environment.clock,
            randomness=self.environment.randomness,
            log=self.environment.log,
        )

    @cached_property
    def catalogue(self) -> Catalogue:
        """Holds the packs of credits that may be asked for."""
        return Catalogue(
            packs=packs_of(self.settings, self.journal),
            read_offers=self._offers,
            log=self.environment.log,
        )

    async def _offers(self) -> Offers:
        found = await survey(self.network, self.descriptions.expected)
        is_whole = all(page.found in ("yes", "absent") for page in found.pages)
        return Offers(found.products, is_whole)

    @cached_property
    def top_up(self) -> TopUp:
        """Asks for payment pages."""
        settings = self.settings.topup
        return TopUp(
            network=self.network,
            journal=self.journal,
            mark=self.mark,
            limits=self.limits,
            catalogue=self.catalogue,
            wording=Wording(
                product_label=settings.product_label or None,
                source=settings.source or None,
            ),
            expires_after=timedelta(hours=settings.expires_after_hours),
            base_url=self.base_url,
            clock=self.environment.clock,
            randomness=self.environment.randomness,
            log=self.environment.log,
        )

    @cached_property
    def top_up_watch(self) -> TopUpWatch:
        """Does what the settings say when credits run short."""
        settings = self.settings.topup
        return TopUpWatch(
            agent_id=self.identity.agent_id,
            top_up=self.top_up,
            journal=self.journal,
            policy=TopUpPolicy(
                mode=TopUpMode(settings.mode),
                below_credits=settings.below_credits,
                target_credits=settings.target_credits,
                retry_seconds=self.settings.retry.top_up_seconds,
            ),
            is_paused=lambda: self.rate_limiter.pause_for(CHECKOUT) is not None,
            clock=self.environment.clock,
            log=self.environment.log,
        )


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
        SafetyError: the identity on disk belongs to another network, or its journal is
            missing.
        JoinInterruptedError: `stop` was set before we had joined.
        ConfigurationError: the owner's description of the network cannot be used.
    """
    directory = DataDirectory(settings.data.directory)
    directory.prepare()
    for told in directory.mend_modes():
        environment.log.emit(events.MODE_MENDED, message=told)
    by_owner = described_by_owner(settings.contract, directory)
    with DirectoryLock(directory), _open_journal(directory, environment) as journal:
        require_sound(journal)
        async with open_network(settings, base_url, environment, journal) as opened:
            network, rate_limiter, learning = opened
            identity = await _join(
                settings, base_url, environment, directory, journal, network, stop
            )
            ours = environment.with_agent(identity)
            ours.redactor.add(identity.access_token.reveal())
            network.identify(identity, given_at_registration(journal))
            network.report_to(ours.log)
            rate_limiter.log = ours.log
            remember_token(rate_limiter, journal, ours.clock)
            agent = Agent(
                settings=settings,
                environment=ours,
                identity=identity,
                directory=directory,
                journal=journal,
                network=network,
                rate_limiter=rate_limiter,
                learning=learning,
                by_owner=by_owner,
            )
            agent.mark.begin()
            agent.descriptions.recall()
            agent.posting.recover()
            yield agent


def _open_journal(directory: DataDirectory, environment: Environment) -> Journal:
    """Open the journal; a new one is made only where there is no agent yet.

    Raises:
        SafetyError: there is an agent, and its journal is gone.
        StateError: it cannot be used.
    """
    path, identity = directory.journal, load_identity(directory.identity)
    is_there = path.exists() and path.stat().st_size > 0
    if identity is not None and not is_there:
        raise missing_journal(identity.agent_id, path)
    return environment.open_journal(path, environment.clock.now)


async def _join(
    settings: Settings,
    base_url: str,
    environment: Environment,
    directory: DataDirectory,
    journal: Journal,
    network: NetworkClient,
    stop: anyio.Event | None,
) -> Identity:
    """Join, unless a stop comes first.

    Raises:
        JoinInterruptedError: it did.
    """
    identity: Identity | None = None
    join = Join(
        network=network,
        journal=journal,
        identity_files=IdentityFiles(
            load=lambda: load_identity(directory.identity),
            save=lambda joined: environment.save_identity(directory.identity, joined),
            answers=AnswerFile(directory.registration_answer),
        ),
        base_url=base_url,
        retry=settings.retry.policy(),
        clock=environment.clock,
        randomness=environment.randomness,
        log=environment.log,
    )
    with one_error():
        async with anyio.create_task_group() as group:

            async def break_off() -> None:
                if stop is not None:
                    await stop.wait()
                    group.cancel_scope.cancel()

            group.start_soon(break_off)
            identity = await join.run()
            group.cancel_scope.cancel()
    if identity is None:
        raise JoinInterruptedError("stopped before the network was joined")
    return identity
