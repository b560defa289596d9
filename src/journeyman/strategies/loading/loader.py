"""Loading a folder of files: strategies and problems; one bad file stops no other."""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from types import MappingProxyType

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
class Loading:
    """The strategies of a folder, and what is wrong with the others."""

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
    directory: Path,
    params: Params | None = None,
    installed: Sequence[str] = (),
    described: Described = MappingProxyType({}),
) -> Loading:
    """Load every strategy of a folder, in the order of their names.

    A strategy is a file, or a folder with an `__init__.py` that imports journeyman.
    Names that start with `_`, `.` or `test_` are left out. Whatever is
    wrong in the folder is not raised, but becomes a problem.

    Args:
        directory: the folder.
        params: settings from the configuration.
        installed: the names of entry points to load beside the files.
        described: what is not to be imported here, as children have described it.
    """
    found: list[StrategyDefinition | Problem] = []
    try:
        files = strategy_files(directory)
    except OSError as error:
        fix = "create the folder, or point the configuration to another one"
        reason = error.strerror or str(error)
        message = f"the folder of strategies cannot be read: {reason}"
        found.append(Problem(code="E100", path=directory, message=message, fix=fix))
    else:
        for file in files:
            found += described[file] if file in described else _definitions_in(file)
    for name in installed:
        found += described[name] if name in described else load_installed([name])
    return _validate(directory, found, params or {})


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
    blank = source.Source(Path(cls.__module__), "", ast.Module([], []))
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
    known = {definition.name for definition in definitions}
    known |= {source.strategy_stem(problem.affected_file) for problem in problems}
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
    is_helper = isinstance(parsed, source.Source) and not source.imports_journeyman(
        parsed
    )
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
