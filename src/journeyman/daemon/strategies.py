"""Which strategies the settings ask for, and where they are loaded from."""

import difflib
import hashlib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

import journeyman
from journeyman.domain.errors import ConfigurationError
from journeyman.settings.sections import StrategySettings
from journeyman.strategies.api import RunnerName
from journeyman.strategies.loading.loaded import PROCESSES, LoadedStrategy
from journeyman.strategies.loading.loader import Described, Folders
from journeyman.strategies.loading.problems import Problem
from journeyman.strategies.loading.registry import Registry, load_registry
from journeyman.strategies.loading.shipped import is_shipped
from journeyman.strategies.loading.source import strategy_stem

Runs = RunnerName | Literal["cluster"]
"""Where an owner may have a strategy run."""


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


ANYTHING = "*"


def untrusted(
    settings: StrategySettings, more_files: Iterable[Path] = ()
) -> tuple[list[Path], list[str]]:
    """Return the files, and the names of installed ones, that are not trusted."""
    if ANYTHING in settings.trusted:
        return [], []
    names = [name for name in settings.installed if name not in settings.trusted]
    # By their paths: a name is trusted in the folders of strategies only.
    others = [file for file in more_files if not is_shipped(file)]
    return [*dict.fromkeys([*_untrusted_files(settings), *others])], names


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


def fingerprint_of(loaded: LoadedStrategy) -> str:
    """Return a hash of what a strategy is: its files as they ran, and its settings."""
    digest = hashlib.blake2b(digest_size=8)
    made_of = loaded.fingerprint.encode() or loaded.path.read_bytes()
    digest.update(made_of)
    digest.update(repr(sorted(loaded.params.items())).encode())
    digest.update(loaded.runner.encode())
    return digest.hexdigest()
