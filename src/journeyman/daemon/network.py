"""The network client of an agent, and what the journal remembers of the network."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from journeyman.daemon.environment import Environment
from journeyman.daemon.service_clock import ServiceClock
from journeyman.domain.clock import Clock
from journeyman.domain.errors import StateError
from journeyman.domain.tasks import JSON
from journeyman.journal.journal import Journal
from journeyman.network.client import NetworkClient
from journeyman.network.endpoints import ENDPOINTS
from journeyman.network.http import HttpLimits
from journeyman.network.rate_limit.limiter import RateLimiter
from journeyman.network.rate_limit.pause import RateLimits
from journeyman.network.service_model.configured import (
    configured_places,
    configured_shape,
)
from journeyman.network.service_model.evidence import Observe, Observed, Observer
from journeyman.network.service_model.request import RequestShape
from journeyman.network.service_model.search import MODEL_FACT, RequestSearch
from journeyman.network.service_model.suggestions import LanguageModel
from journeyman.network.service_model.vocabulary import ASSUMED
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
        self.service_clock = ServiceClock(clock)
        self.observer.load(journal.observations.of(self._network))
        self._written_at = clock.monotonic() - MIN_WRITE_SECONDS

    def observe(self, seen: Observed) -> None:
        """Learn from one answer."""
        self.service_clock.note(seen)
        self.observer.learn(seen)

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


def build_search(
    settings: Settings,
    environment: Environment,
    journal: Journal,
    base_url: str,
) -> RequestSearch:
    """Return the search for how this network wants actions written.

    Raises:
        ConfigurationError: the model for suggestions cannot be asked.
    """
    known = MODEL_FACT.format(base_url=base_url)

    def write(document: JSON) -> None:
        with journal.tx("service model"):
            journal.facts.put(known, document)

    return RequestSearch(
        owner=owner_shapes(settings.contract),
        clock=environment.clock,
        log=environment.log,
        saved=journal.facts.get(known),
        write=write,
        suggest=_language_model(settings),
    )


def _language_model(settings: Settings) -> LanguageModel | None:
    wanted = settings.suggestions
    if not wanted.model:
        return None
    return LanguageModel(
        wanted.model,
        base_url=wanted.base_url,
        key_variable=wanted.api_key_env,
        key_file=wanted.api_key_file,
        output=wanted.output,
    )


def owner_shapes(settings: ContractSettings) -> dict[str, RequestShape]:
    """Return how the owner wants actions written, by action."""
    return {
        action: configured_shape(action, table)
        for action, table in settings.requests.items()
    }


def build_network(
    settings: Settings,
    base_url: str,
    environment: Environment,
    observe: Observe | None = None,
    rate_limiter: RateLimiter | None = None,
    search: RequestSearch | None = None,
) -> NetworkClient:
    """Return a client for the network that the settings name.

    Without `rate_limiter` nothing is paused, and without `search` nothing that was
    learned is used: for a command that asks once.

    Raises:
        ConfigurationError: an address cannot be used.
    """
    wanted = settings.network
    for value in wanted.headers.values():
        environment.redactor.add(value)
    return NetworkClient(
        base_url=base_url,
        portal_url=wanted.portal_url,
        headers=wanted.headers,
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
        search=search,
        listing=configured_places(settings.contract.listing),
    )


@asynccontextmanager
async def open_network(
    settings: Settings, base_url: str, environment: Environment, journal: Journal
) -> AsyncIterator[tuple[NetworkClient, RateLimiter, Learning]]:
    """Open the client of an agent, with all that its journal knows of the network."""
    learning = Learning(journal, base_url, environment.clock)
    rate_limiter = build_rate_limiter(settings, environment)
    search = build_search(settings, environment, journal, base_url)
    observe = learning.observe
    async with build_network(
        settings, base_url, environment, observe, rate_limiter, search
    ) as client:
        try:
            yield client, rate_limiter, learning
        finally:
            learning.keep()
