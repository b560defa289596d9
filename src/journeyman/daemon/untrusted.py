"""Having confined children describe the strategies that the owner does not trust."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import anyio

from journeyman.daemon.strategies import load_strategies, untrusted
from journeyman.journal.directory import DataDirectory
from journeyman.settings.sections import IsolationSettings, Settings, StrategySettings
from journeyman.strategies.loading.loader import Described
from journeyman.strategies.loading.registry import Registry
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.describing import Describer
from journeyman.strategies.running.process import hide_memory
from journeyman.strategies.running.template import Template


def isolation_of(settings: IsolationSettings, directory: DataDirectory) -> Isolation:
    """Return the limits of processes that must not reach the data directory."""
    return Isolation(
        homes=directory.workspaces,
        private=(directory.path,),
        libraries=directory.libraries,
        **settings.model_dump(),
    )


@contextmanager
def describer_for(
    settings: Settings, *, has_processes: bool = True
) -> Iterator[Describer | None]:
    """Yield what describes untrusted strategies; None where there are no processes."""
    if not has_processes:
        yield None
        return
    directory = DataDirectory(settings.data.directory)
    # The data directory may not be there yet.
    isolation = replace(isolation_of(settings.isolation, directory), homes=None)
    hide_memory()
    with Template(isolation.environment) as template:
        yield Describer(isolation=isolation, template=template)


async def load_as_trusted(
    settings: StrategySettings, describer: Describer | None
) -> Registry:
    """Load what the settings ask for; what is not trusted is described by children.

    Without a describer, as in simulated time, all is trusted.

    Not in a thread, as at a reload: nothing else is being done yet, and only in the
    main thread can an import that does not end be interrupted, and the rest be loaded.
    """
    return load_strategies(settings, await describe_untrusted(settings, describer))


async def describe_untrusted(
    settings: StrategySettings, describer: Describer | None
) -> Described:
    """Have children describe what is not trusted."""
    files, names = untrusted(settings)
    return await describer.describe(files, names) if describer else {}


def described_by_children(
    settings: Settings, files: Sequence[Path], names: Sequence[str]
) -> Described:
    """Return what children say of these files and installed ones, for a command."""

    async def describe() -> Described:
        with describer_for(settings) as describer:
            return await describer.describe(files, names) if describer else {}

    return anyio.run(describe)
