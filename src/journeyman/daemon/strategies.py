"""Which strategies the settings ask for, and where they are loaded from."""

import difflib
import hashlib
import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

import anyio

import journeyman
from journeyman.domain.errors import ConfigurationError
from journeyman.journal.directory import DataDirectory
from journeyman.journal.journal import Journal
from journeyman.lifecycle.active import Generation
from journeyman.settings.sections import IsolationSettings, Settings, StrategySettings
from journeyman.strategies.api import RunnerName
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import Described, Folders
from journeyman.strategies.loading.problems import Problem
from journeyman.strategies.loading.registry import Registry, load_registry
from journeyman.strategies.loading.shipped import is_shipped
from journeyman.strategies.loading.source import strategy_stem
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.describing import Describer
from journeyman.strategies.running.process import hide_memory
from journeyman.strategies.running.runner import PROCESSES
from journeyman.strategies.running.template import Template

Runs = RunnerName | Literal["cluster"]
"""Where an owner may have a strategy run."""


def isolation_of(settings: IsolationSettings, directory: DataDirectory) -> Isolation:
    """Return the limits of processes that must not reach the data directory."""
    return Isolation(
        homes=directory.workspaces,
        private=(directory.path,),
        libraries=directory.libraries,
        **settings.model_dump(),
    )


def with_configured_runners(
    registry: Registry, runners: Mapping[str, Runs], place: Path
) -> Registry:
    """Return the strategies with the runners that the owner chose.

    A strategy that cannot run there is left out, and an unknown name is a problem;
    `place` is the folder that was loaded first.
    """
    problems = [*registry.problems, *_unknown_names(registry, runners, place)]
    strategies: list[LoadedStrategy] = []
    for loaded in registry.strategies:
        wanted = runners.get(loaded.name, loaded.runner)
        if loaded.is_confined and wanted not in PROCESSES:
            problems.append(_not_trusted(loaded, wanted))
        elif wanted == "thread" and inspect.iscoroutinefunction(loaded.run):
            problems.append(_not_in_a_thread(loaded))
        else:
            moved = wanted != loaded.runner
            strategies.append(replace(loaded, runner=wanted) if moved else loaded)
    return Registry(strategies, problems)


def _unknown_names(
    registry: Registry, runners: Mapping[str, Runs], place: Path
) -> Iterator[Problem]:
    known = {loaded.name for loaded in registry.strategies}
    known |= {problem.path.stem for problem in registry.problems}
    for name in sorted(set(runners) - known):
        near = difflib.get_close_matches(name, known, n=1)
        fix = f"did you mean {near[0]!r}?" if near else "remove it, or add the file"
        message = f"strategies.runners names {name!r}, which is not here"
        yield Problem(code="E108", path=place, message=message, fix=fix)


def _not_in_a_thread(loaded: LoadedStrategy) -> Problem:
    allowed = ", ".join(name for name in get_args(RunnerName) if name != "thread")
    return Problem(
        code="E110",
        path=loaded.path,
        line=loaded.line,
        message="strategies.runners puts it into a thread, but its run is async",
        fix=f"choose one of {allowed}, or leave the setting out",
    )


def _not_trusted(loaded: LoadedStrategy, wanted: Runs) -> Problem:
    name = strategy_stem(loaded.file or loaded.path)
    return Problem(
        code="E110",
        path=loaded.path,
        line=loaded.line,
        message=f"strategies.runners puts it into the daemon's own process ({wanted}), "
        "but strategies.trusted does not name it",
        fix=f"remove it from strategies.runners, or add {name!r} to "
        "strategies.trusted if you have read its code",
    )


LOCAL = Path("strategies")
"""What a user expects: the folder beside where the daemon is started."""


def strategy_folders(settings: StrategySettings) -> Folders:
    """Return where strategies are loaded from.

    Where no folder is set that is `./strategies`; without one, the ready strategies.
    """
    first = settings.directory or (LOCAL if LOCAL.is_dir() else None)
    ready = ready_strategies()
    own: dict[Path, Path] = {}
    for folder in (*filter(None, [first]), *settings.more_directories):
        own.setdefault(folder.resolve(), folder)
    has_ready = settings.ready or not own
    if has_ready:
        own.pop(ready.resolve(), None)  # in a checkout, `./strategies` has these
    return Folders(tuple(own.values()), ready if has_ready else None)


def ready_strategies() -> Path:
    """Return the folder of the strategies that come with Journeyman.

    A checkout has them at its top; a wheel carries them inside the package.
    """
    package = Path(journeyman.__file__).parent
    checkout = package.parent.parent / "strategies"
    return checkout if checkout.is_dir() else package / "ready_strategies"


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


ANYTHING = "*"


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
    files, names = _untrusted(settings)
    return await describer.describe(files, names) if describer else {}


def _untrusted(
    settings: StrategySettings, more_files: Iterable[Path] = ()
) -> tuple[list[Path], list[str]]:
    """Return the files, and the names of installed ones, that are not trusted."""
    if ANYTHING in settings.trusted:
        return [], []
    names = [name for name in settings.installed if name not in settings.trusted]
    # By their paths: a name is trusted in the folders of strategies only.
    others = [file for file in more_files if not is_shipped(file)]
    return [*dict.fromkeys([*_untrusted_files(settings), *others])], names


def described_by_children(settings: Settings, more_files: Iterable[Path]) -> Described:
    """Return what children say of all that is not trusted, for a command.

    Args:
        settings: all of them.
        more_files: that a user has named, wherever they are.
    """
    files, names = _untrusted(settings.strategies, more_files)

    async def describe() -> Described:
        with describer_for(settings) as describer:
            return await describer.describe(files, names) if describer else {}

    return anyio.run(describe) if files or names else {}


def _untrusted_files(settings: StrategySettings) -> list[Path]:
    return [
        file
        for file in strategy_folders(settings).files()
        if strategy_stem(file) not in settings.trusted and not is_shipped(file)
    ]


def load_strategies(
    settings: StrategySettings, described: Described = MappingProxyType({})
) -> Registry:
    """Load what the settings ask for, without the disabled strategies.

    Args:
        settings: those of the strategies.
        described: what is not to be imported here, as children have described it.
    """
    folders = strategy_folders(settings)
    registry = load_registry(folders, settings.params, settings.installed, described)
    enabled = [
        loaded for loaded in registry.strategies if loaded.name not in settings.disabled
    ]
    return with_configured_runners(
        Registry(enabled, registry.problems), settings.runners, folders.first
    )


def shadows_of(registry: Registry, settings: StrategySettings) -> frozenset[str]:
    """Return the names of the strategies that the settings put into shadow.

    One whose file did not load is not an error here: its problem is reported already.

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
        {one.name: _fingerprint(one) for one in live},
        {one: _fingerprint(one) for one in shadows},
    )


def _fingerprint(loaded: LoadedStrategy) -> str:
    """Return a hash of what a strategy is: its files as they ran, and its settings."""
    digest = hashlib.blake2b(digest_size=8)
    made_of = loaded.fingerprint.encode() or loaded.path.read_bytes()
    digest.update(made_of)
    digest.update(repr(sorted(loaded.params.items())).encode())
    digest.update(loaded.runner.encode())
    return digest.hexdigest()
