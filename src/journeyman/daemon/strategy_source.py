"""What a daemon loads as its strategies, at its start and at each reload."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import partial

from journeyman.daemon import events
from journeyman.daemon.cluster import require_cluster
from journeyman.daemon.strategies import (
    fingerprint_of,
    load_strategies,
    shadows_of,
    strategy_folders,
)
from journeyman.daemon.untrusted import describe_untrusted
from journeyman.domain.errors import ConfigurationError
from journeyman.journal.journal import Journal
from journeyman.lifecycle.active import Generation
from journeyman.lifecycle.reload import Candidate, tell_slow_imports
from journeyman.observability.events import Log
from journeyman.settings.sections import Settings, StrategySettings
from journeyman.strategies.loading.importing import IMPORT_SECONDS
from journeyman.strategies.loading.loader import Described, Folders
from journeyman.strategies.loading.registry import Registry
from journeyman.strategies.running.describing import Describer
from journeyman.strategies.running.runner import run_aside


def report_problems(registry: Registry, settings: StrategySettings, log: Log) -> None:
    """Log each strategy file that was refused, and that there is no strategy.

    Raises:
        ConfigurationError: the settings put one into the shadow that is not there.
    """
    shadows_of(registry, settings)
    for problem in registry.problems:
        log.emit(
            events.STRATEGY_PROBLEM,
            code=problem.code,
            path=str(problem.path),
            line=problem.line,
            problem=problem.message,
            fix=problem.fix,
        )
    if not registry.strategies:
        log.emit(events.NO_STRATEGIES, directory=str(strategy_folders(settings)))
    tell_slow_imports(registry, log)


def generation_in_service(
    registry: Registry, settings: StrategySettings, journal: Journal
) -> Generation:
    """Return a generation whose shadows are those of the settings, less the promoted.

    Raises:
        ConfigurationError: the settings put one into the shadow that is not there.
    """
    promoted = journal.shadows.state().promoted
    return generation_of(registry, shadows_of(registry, settings) - promoted.keys())


def generation_of(registry: Registry, in_shadow: Collection[str] = ()) -> Generation:
    """Return a generation of what was loaded, some of it in shadow."""
    live = [one for one in registry.strategies if one.name not in in_shadow]
    shadows = [one for one in registry.strategies if one.name in in_shadow]
    return Generation(
        registry.of(live) if shadows else registry,
        {one.name: fingerprint_of(one) for one in live},
        {one: fingerprint_of(one) for one in shadows},
    )


RELOADABLE = frozenset(
    {
        "directory",
        "disabled",
        "installed",
        "more_directories",
        "params",
        "ready",
        "runners",
        "shadow",
        "trusted",
    }
)
"""Settings of [strategies] that a reload applies."""


@dataclass(eq=False)
class StrategySource:
    """Loads the strategies that the settings ask for, again at each reload."""

    running: Settings
    """Those that the daemon was started with."""
    reread: Callable[[], Settings]
    """Reads the settings again; may raise ConfigurationError."""
    journal: Journal
    """Remembers which strategies were promoted out of shadow."""
    describer: Describer | None = None
    """Describes the files that the owner does not trust. None is simulated time, where
    there are no threads either."""
    longest_seconds: float = IMPORT_SECONDS
    """What the import of those that are trusted may take."""
    settings: StrategySettings = field(init=False)
    """The current ones; a reload changes them."""

    def __post_init__(self) -> None:
        self.settings = self.running.strategies

    @property
    def folders(self) -> Folders:
        """The folders that strategies are loaded from."""
        return strategy_folders(self.settings)

    async def load(self) -> Candidate:
        """Read the settings and load the strategies that they ask for.

        Raises:
            ConfigurationError: the settings cannot be used, or loading did not end.
        """
        wanted = self.reread()
        described = await describe_untrusted(wanted.strategies, self.describer)
        if self.describer is None:
            registry = load_strategies(wanted.strategies, described)
        else:
            registry = await _load_aside(
                wanted.strategies, described, self.longest_seconds
            )
            # That of the start: a reload does not connect to another one.
            require_cluster(self.running.cluster, registry.strategies)

        def accept() -> None:
            self.settings = wanted.strategies

        return Candidate(
            registry=registry,
            generation=lambda: generation_in_service(
                registry, wanted.strategies, self.journal
            ),
            needs_restart=tuple(needs_restart(self.running, wanted)),
            accept=accept,
        )

    def shadows(self, registry: Registry) -> Collection[str]:
        """Return the names that the current settings put into shadow."""
        return {*self.settings.shadow, *shadows_of(registry, self.settings)}


def needs_restart(running: Settings, wanted: Settings) -> Iterator[str]:
    """Yield the dotted names of settings that a reload does not apply."""
    for section in type(running).model_fields:
        before, after = getattr(running, section), getattr(wanted, section)
        for name in type(before).model_fields:
            is_reloadable = section == "strategies" and name in RELOADABLE
            if not is_reloadable and getattr(before, name) != getattr(after, name):
                yield f"{section}.{name}"


async def _load_aside(
    settings: StrategySettings, described: Described, longest: float
) -> Registry:
    """Load in a thread, so that an import that takes long or never ends stops nothing.

    Raises:
        ConfigurationError: it did not end within `longest` seconds.
    """
    try:
        load = partial(load_strategies, settings, described)
        return await run_aside(load, "loading", longest)
    except TimeoutError:
        raise ConfigurationError(
            f"importing the strategies did not end within {longest:g} s",
            "Do nothing at the top of a file that takes long, and reload again. The "
            "import goes on in a thread, until it ends or the daemon is restarted.",
        ) from None
