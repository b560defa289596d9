"""Which strategies are in force, and where they come from."""

import hashlib
from pathlib import Path

import journeyman
from journeyman.settings import StrategySettings
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
    registry = load_registry(strategies_directory(settings), settings.params)
    enabled = [
        loaded for loaded in registry.strategies if loaded.name not in settings.disabled
    ]
    return Registry(enabled, registry.problems)


def generation(registry: Registry) -> str:
    """Name a set of strategies: it changes with any file or parameter."""
    digest = hashlib.blake2b(digest_size=8)
    for loaded in registry.strategies:
        digest.update(loaded.name.encode())
        digest.update(loaded.path.read_bytes())
        digest.update(repr(sorted(loaded.params.items())).encode())
    return digest.hexdigest()
