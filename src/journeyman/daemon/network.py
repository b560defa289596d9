"""The network client of an agent, and what the journal remembers of the network."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from journeyman.daemon.environment import Environment
from journeyman.domain.clock import Clock
from journeyman.domain.errors import StateError
from journeyman.domain.tasks import JSON
from journeyman.journal.journal import Journal
from journeyman.network.client import NetworkClient
from journeyman.network.dialect import ASSUMED
from journeyman.network.endpoints import ENDPOINTS
from journeyman.network.http import HttpLimits
from journeyman.network.negotiation import Negotiation, Writing
from journeyman.network.observation import Observe, Observer
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.network.rate_limit.pause import RateLimits
from journeyman.network.shapes import READY, writing_dialect
from journeyman.settings.sections import ContractSettings, Settings

MIN_WRITE_SECONDS = 60.0
"""Between two writes of what is new."""


class Learning:
    """One network's observations, in memory and in the journal."""

    def __init__(self, journal: Journal, network: str, clock: Clock) -> None:
        """Begin with what is known of the network of this base address."""
        self._journal = journal
        self._network = network.rstrip("/")
        self._clock = clock
        self.observer = Observer([one.name for one in ENDPOINTS], clock.now)
        self.observer.load(journal.observations.of(self._network))
        self._written_at = clock.monotonic() - MIN_WRITE_SECONDS

    def keep_news(self) -> None:
        """Write what was learned if something is new, at most once a minute."""
        since = self._clock.monotonic() - self._written_at
        if self.observer.has_news and since >= MIN_WRITE_SECONDS:
            self.keep()

    def keep(self) -> None:
        """Write what was learned, also where only counts have changed.

        A failing disk is reported by those whose work it loses; this can wait.
        """
        changed = self.observer.changed()
        if not changed:
            return
        self._written_at = self._clock.monotonic()
        with suppress(StateError):
            with self._journal.tx("observations"):
                for endpoint, record in changed.items():
                    self._journal.observations.put(self._network, endpoint, record)
            self.observer.written()


def build_rate_limiter(settings: Settings, environment: Environment) -> RateLimiter:
    """Return the rate limiter of all requests of a daemon."""
    limits = settings.rate_limit
    return RateLimiter(
        clock=environment.clock,
        randomness=environment.randomness,
        log=environment.log,
        private=ASSUMED.private,
        options=RateLimits(
            max_retry_after=limits.max_retry_after_seconds,
            failures=limits.failures,
            probe_every=limits.probe_every_seconds,
            absent_recheck=limits.absent_recheck_seconds,
            retry=settings.retry.policy(),
        ),
    )


def writing_from(settings: ContractSettings) -> Writing:
    """Return how the owner wants requests written; own dialects are tried first."""
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
        """Return what was saved last; None if nothing ever was."""
        return self._journal.facts.get(self._fact)

    def save(self, learned: JSON) -> None:
        """Save it durably.

        Raises:
            StateError: the disk refused.
        """
        with self._journal.tx("dialect"):
            self._journal.facts.put(self._fact, learned)


def build_network(
    settings: Settings,
    base_url: str,
    environment: Environment,
    observe: Observe | None = None,
    rate_limiter: RateLimiter | None = None,
    negotiation: Negotiation | None = None,
) -> NetworkClient:
    """Return a client for the network that the settings name.

    Without `rate_limiter` nothing is paused, and without `negotiation` nothing that was
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


@asynccontextmanager
async def open_network(
    settings: Settings, base_url: str, environment: Environment, journal: Journal
) -> AsyncIterator[tuple[NetworkClient, RateLimiter, Learning]]:
    """Open the client of an agent, with all that its journal knows of the network."""
    learning = Learning(journal, base_url, environment.clock)
    rate_limiter = build_rate_limiter(settings, environment)
    negotiation = Negotiation(
        writing=writing_from(settings.contract),
        memory=JournalShapeMemory(journal, base_url),
        clock=environment.clock,
        log=environment.log,
    )
    observe = learning.observer.learn
    async with build_network(
        settings, base_url, environment, observe, rate_limiter, negotiation
    ) as client:
        try:
            yield client, rate_limiter, learning
        finally:
            learning.keep()
