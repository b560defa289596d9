"""Which strategies are in force, and where they come from."""

import hashlib
from collections.abc import Collection
from pathlib import Path

import journeyman
from journeyman.daemon.isolation import with_runners
from journeyman.domain.errors import ConfigurationError
from journeyman.journal import Journal
from journeyman.loop import Generation
from journeyman.settings import StrategySettings
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.registry import Registry, load_registry

LOCAL = Path("strategies")
"""What a user expects: the folder beside where the daemon is started."""


def strategies_directory(settings: StrategySettings) -> Path:
    """Give the folder in force: the setting, else ./strategies, else the ready ones."""
    if settings.directory is not None:
        return settings.directory
    return LOCAL if LOCAL.is_dir() else ready_strategies()


def ready_strategies() -> Path:
    """Give the folder of the strategies that come with Journeyman.

    A checkout has them at its top; a wheel carries them inside the package.
    """
    package = Path(journeyman.__file__).parent
    checkout = package.parent.parent / "strategies"
    return checkout if checkout.is_dir() else package / "ready_strategies"


def load_strategies(settings: StrategySettings) -> Registry:
    """Load the folder in force; disabled strategies are left out of the choice."""
    directory = strategies_directory(settings)
    registry = load_registry(directory, settings.params, settings.installed)
    enabled = [
        loaded for loaded in registry.strategies if loaded.name not in settings.disabled
    ]
    in_force = Registry(enabled, registry.problems)
    return with_runners(in_force, settings.runners, directory)


def shadows_of(registry: Registry, settings: StrategySettings) -> frozenset[str]:
    """Give the names of the strategies that the settings put into the shadow.

    One whose file did not load is no error here: its problem is told already.

    Raises:
        ConfigurationError: the settings name one that is not there.
    """
    names: set[str] = set()
    for wanted in settings.shadow:
        if wanted in settings.disabled:
            continue
        try:
            found = registry.matching(wanted).strategies
        except ConfigurationError as error:
            problem = f"strategies.shadow: {error.problem}"
            raise ConfigurationError(problem, error.fix) from None
        names.update(one.name for one in found)
    return frozenset(names)


def in_force(
    registry: Registry, settings: StrategySettings, journal: Journal
) -> Generation:
    """Make a generation: those in shadow apart, but for those that were promoted.

    Raises:
        ConfigurationError: the settings put one into the shadow that is not there.
    """
    promoted = journal.shadows.standing().promoted
    return generation_of(registry, shadows_of(registry, settings) - promoted.keys())


def generation_of(registry: Registry, in_shadow: Collection[str] = ()) -> Generation:
    """Make a generation of what was loaded, some of it in shadow."""
    live = [one for one in registry.strategies if one.name not in in_shadow]
    shadows = [one for one in registry.strategies if one.name in in_shadow]
    return Generation(
        registry.of(live) if shadows else registry,
        {one.name: _fingerprint(one) for one in live},
        {one: _fingerprint(one) for one in shadows},
    )


def _fingerprint(loaded: Loaded) -> str:
    """Name what a strategy is made of: its files as they were run, and its settings."""
    digest = hashlib.blake2b(digest_size=8)
    made_of = loaded.fingerprint.encode() or loaded.path.read_bytes()
    digest.update(made_of)
    digest.update(repr(sorted(loaded.params.items())).encode())
    digest.update(loaded.runner.encode())
    return digest.hexdigest()
