"""Loading folders of files: strategies and problems; one bad file stops no other."""

import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from types import MappingProxyType

from journeyman.domain.tasks import JSON
from journeyman.strategies.api import Strategy
from journeyman.strategies.loading import source
from journeyman.strategies.loading.definitions import (
    StrategyDefinition,
    define,
    find_definitions,
    load_installed,
)
from journeyman.strategies.loading.importing import import_source
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.problems import Problem, did_you_mean
from journeyman.strategies.loading.validation import validate

Params = Mapping[str, Mapping[str, object]]
"""Parameters from the configuration: by strategy, then by name."""

Described = Mapping[Path | str, Sequence[StrategyDefinition | Problem]]
"""What children have described: by the file, or by the name of an entry point."""

HIDDEN = ("_", ".", "test_")
"""The first characters of the names of helpers, hidden files and tests."""
TESTS = "tests"
"""The folder that `journeyman strategies new` puts tests into."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Where strategy files lie."""

    own: tuple[Path, ...]
    """The owner's, in the order in which they are loaded."""
    ready: Path | None = None
    """Those that come with Journeyman, where they are loaded. One of them gives way to
    a strategy of the same name from anywhere else, so that a changed copy of it takes
    its place."""

    def __str__(self) -> str:
        places = [str(folder) for folder in self.own]
        places += ["the ready strategies"] if self.ready else []
        *others, last = places
        return f"{', '.join(others)} and {last}" if others else last

    def __iter__(self) -> Iterator[Path]:
        yield from self.own
        if self.ready:
            yield self.ready

    def as_json(self) -> dict[str, JSON]:
        """Return them as absolute paths, for a process in another folder."""
        return {
            "own": [str(folder.resolve()) for folder in self.own],
            "ready": str(self.ready.resolve()) if self.ready else None,
        }

    @property
    def first(self) -> Path:
        """The folder that a problem is about which is in no file."""
        return next(iter(self))

    def within_ready(self, file: Path) -> Path | None:
        """Return a ready strategy's file, from their folder on; None for another's."""
        if self.ready is None or not file.is_relative_to(self.ready):
            return None
        return file.relative_to(self.ready)

    def files(self) -> list[Path]:
        """Return the files to load; a folder that cannot be read has none."""
        found: list[Path] = []
        for folder in self:
            with suppress(OSError):  # loading reports it
                found += strategy_files(folder)
        return found


@dataclass(frozen=True, slots=True)
class Loading:
    """The strategies of folders, and what is wrong with the others."""

    strategies: tuple[LoadedStrategy, ...]
    problems: tuple[Problem, ...]


def strategy_files(directory: Path) -> list[Path]:
    """Return the files of a folder that are to be loaded, in the order of their names.

    Raises:
        OSError: the folder cannot be read.
    """
    return [
        file
        for path in sorted(directory.iterdir())
        if path.name != TESTS and not path.name.startswith(HIDDEN)
        if (file := _strategy_file(path)) is not None
    ]


def load(
    place: Path | Folders,
    params: Params | None = None,
    installed: Sequence[str] = (),
    described: Described = MappingProxyType({}),
) -> Loading:
    """Load every strategy of each folder, in the order of their names.

    A strategy is a file, or a folder with an `__init__.py` that imports journeyman.
    Names that start with `_`, `.` or `test_` are left out. Whatever is
    wrong in a folder is not raised, but becomes a problem.

    Args:
        place: one folder of the owner's, or several.
        params: settings from the configuration.
        installed: the names of entry points to load beside the files.
        described: what is not to be imported here, as children have described it.
    """
    folders = place if isinstance(place, Folders) else Folders((place,))
    found = [one for folder in folders.own for one in _found_in(folder, described)]
    for name in installed:
        found += described[name] if name in described else load_installed([name])
    if folders.ready:
        taken = {_name_of(one) for one in found}
        ready = _found_in(folders.ready, described)
        found += [one for one in ready if _name_of(one) not in taken]
    return _validate(folders.first, found, params or {})


def _found_in(
    folder: Path, described: Described
) -> Iterator[StrategyDefinition | Problem]:
    try:
        files = strategy_files(folder)
    except OSError as error:
        fix = "create the folder, or point the configuration to another one"
        reason = error.strerror or str(error)
        message = f"the folder of strategies cannot be read: {reason}"
        yield Problem(code="E100", path=folder, message=message, fix=fix)
        return
    for file in files:
        yield from described[file] if file in described else _definitions_in(file)


def _name_of(found: StrategyDefinition | Problem) -> str:
    """Return a strategy's name; of a file that has a problem, the file's."""
    if isinstance(found, StrategyDefinition):
        return found.name
    return source.strategy_stem(found.affected_file)


def load_file(
    path: Path,
    params: Params | None = None,
    described: Described = MappingProxyType({}),
) -> Loading:
    """Load the strategies of one file; parameters of others are ignored."""
    found = described[path] if path in described else _definitions_in(path)
    names = {item.name for item in found if isinstance(item, StrategyDefinition)}
    ours = {name: given for name, given in (params or {}).items() if name in names}
    return _validate(path, found, ours)


def load_class(cls: type[Strategy], params: Mapping[str, object]) -> Loading:
    """Validate a strategy that was imported before, and create it with parameters."""
    file = inspect.getsourcefile(cls) if cls.__module__ in sys.modules else None
    parsed = source.parse(Path(file)) if file else None
    blank = source.Source(Path(cls.__module__))
    parsed_source = parsed if isinstance(parsed, source.Source) else blank
    definition = define(cls, parsed_source)
    return _validate(definition.source.path, [definition], {definition.name: params})


def configure(
    strategy: LoadedStrategy,
    params: Mapping[str, object],
    described: Described = MappingProxyType({}),
) -> Loading:
    """Create a strategy that was loaded again, with other parameters."""
    cls = type(strategy.instance)
    for found in described.values():
        for one in found:
            if isinstance(one, StrategyDefinition) and one.strategy is cls:
                return _validate(one.source.path, [one], {one.name: params})
    return load_class(cls, params)


def _validate(
    place: Path, found: Sequence[StrategyDefinition | Problem], settings: Params
) -> Loading:
    strategies: list[LoadedStrategy] = []
    definitions = [item for item in found if isinstance(item, StrategyDefinition)]
    problems = [item for item in found if isinstance(item, Problem)]
    known = {_name_of(item) for item in found}
    for definition in definitions:
        same = [other for other in definitions if other.name == definition.name]
        if len(same) > 1:
            problems.append(_duplicate(definition, same))
        loaded = validate(definition, settings.get(definition.name, {}))
        if not isinstance(loaded, LoadedStrategy):
            problems += loaded
        elif len(same) == 1:
            strategies.append(loaded)
    problems += _unknown_strategies(place, settings, known)
    problems.sort(key=lambda one: (str(one.path), one.line or 0, one.code))
    return Loading(tuple(strategies), tuple(problems))


def _strategy_file(path: Path) -> Path | None:
    """Return the file of an entry of the folder; None for a helper, or another file."""
    if not path.is_dir():
        return path if path.suffix == ".py" else None
    init = path / "__init__.py"
    if not init.is_file():
        return None
    parsed = source.parse(init)
    is_helper = isinstance(parsed, source.Source) and not parsed.imports_journeyman
    return None if is_helper else init


def _definitions_in(path: Path) -> list[StrategyDefinition | Problem]:
    parsed_source = source.read(path)
    if isinstance(parsed_source, Problem):
        return [parsed_source]
    began = perf_counter()  # real time is what an import takes
    module = import_source(parsed_source)
    seconds = perf_counter() - began
    if isinstance(module, Problem):
        return [module]
    no_strategy = parsed_source.problem(
        "E104",
        "no strategy in this file",
        "add a subclass of Strategy, or `@strategy(tags={...})` over a function, "
        "or rename the file to begin with `_` if it is a helper",
    )
    found = find_definitions(module, parsed_source)
    return [replace(one, import_seconds=seconds) for one in found] or [no_strategy]


def _duplicate(
    definition: StrategyDefinition, same: list[StrategyDefinition]
) -> Problem:
    """Refuse all that share a name: choosing one silently would be a surprise."""
    others = ", ".join(
        f"{other.source.path}:{other.line}" for other in same if other is not definition
    )
    message = f"the name {definition.name!r} is also used by {others}"
    fix = 'rename one, or set `name = "..."` on it; until then none of them is loaded'
    return definition.problem("E109", message, fix)


def _unknown_strategies(
    directory: Path, settings: Params, known: set[str]
) -> Iterator[Problem]:
    """Refuse parameters of a strategy that does not exist: mostly they are typos."""
    for name in sorted(set(settings) - known):
        fix = did_you_mean(name, known) or "remove them, or add the file"
        message = f"the configuration has parameters for {name!r}, which does not exist"
        yield Problem(code="E108", path=directory, message=message, fix=fix)
