"""From a folder of files to strategies and problems; one bad file stops nobody."""

import ast
import difflib
import inspect
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from journeyman.strategies.api import Strategy
from journeyman.strategies.loading.candidates import StrategyCandidate, find, make
from journeyman.strategies.loading.importing import import_source
from journeyman.strategies.loading.installed import load_installed
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.problems import Problem
from journeyman.strategies.loading.source import (
    Source,
    concerns_us,
    parse,
    read,
    strategy_stem,
)
from journeyman.strategies.loading.validation import validate

Params: TypeAlias = Mapping[str, Mapping[str, object]]
"""Settings from the configuration: by strategy, then by parameter."""

HIDDEN: Final = ("_", ".", "test_")
"""How the names of helpers, hidden files and tests begin."""
TESTS: Final = "tests"
"""The folder that `journeyman strategies new` puts tests into."""


@dataclass(frozen=True, slots=True)
class Loading:
    """What came of a folder."""

    strategies: tuple[LoadedStrategy, ...]
    problems: tuple[Problem, ...]


def load(
    directory: Path, params: Params | None = None, installed: Sequence[str] = ()
) -> Loading:
    """Load every strategy of a folder, in the order of their names.

    A strategy is a file, or a folder with an `__init__.py` that imports journeyman.
    Names that start with `_`, `.` or `test_` are left out. Nothing is raised for what
    the folder holds: it becomes a problem.

    Args:
        directory: the folder.
        params: settings from the configuration.
        installed: the names of entry points to load beside the files.
    """
    files = _files(directory)
    if isinstance(files, Problem):
        found: list[StrategyCandidate | Problem] = [files]
    else:
        found = [item for path in files for item in _candidates(path)]
    return _judge(directory, [*found, *load_installed(installed)], params or {})


def load_file(path: Path, params: Params | None = None) -> Loading:
    """Load the strategies of one file alone; settings for others are no concern."""
    found = list(_candidates(path))
    names = {item.name for item in found if isinstance(item, StrategyCandidate)}
    ours = {name: given for name, given in (params or {}).items() if name in names}
    return _judge(path, found, ours)


def load_class(cls: type[Strategy], params: Mapping[str, object]) -> Loading:
    """Judge a strategy that is in memory already, and create it with parameters."""
    file = inspect.getsourcefile(cls) if cls.__module__ in sys.modules else None
    parsed = parse(Path(file)) if file else None
    blank = Source(Path(cls.__module__), "", ast.Module([], []))
    source = parsed if isinstance(parsed, Source) else blank
    candidate = make(cls, source)
    return _judge(candidate.source.path, [candidate], {candidate.name: params})


def _judge(
    place: Path, found: Sequence[StrategyCandidate | Problem], settings: Params
) -> Loading:
    strategies: list[LoadedStrategy] = []
    candidates = [item for item in found if isinstance(item, StrategyCandidate)]
    problems = [item for item in found if isinstance(item, Problem)]
    known = {candidate.name for candidate in candidates}
    known |= {strategy_stem(problem.culprit) for problem in problems}
    twice = list(_duplicates(candidates))
    for candidate in candidates:
        verdict = validate(candidate, settings.get(candidate.name, {}))
        if isinstance(verdict, LoadedStrategy):
            strategies.append(verdict)
        else:
            problems += verdict
    ambiguous = {candidate.name for candidate, _ in twice}
    problems += [problem for _, problem in twice]
    problems += _strangers(place, settings, known)
    return Loading(
        tuple(loaded for loaded in strategies if loaded.name not in ambiguous),
        tuple(sorted(problems, key=lambda p: (str(p.path), p.line or 0, p.code))),
    )


def _files(directory: Path) -> list[Path] | Problem:
    try:
        names = sorted(directory.iterdir())
    except OSError as error:
        fix = "make the folder, or point the configuration to another one"
        reason = error.strerror or str(error)
        message = f"the folder of strategies cannot be read: {reason}"
        return Problem(code="E100", path=directory, message=message, fix=fix)
    visible = [
        path
        for path in names
        if path.name != TESTS and not path.name.startswith(HIDDEN)
    ]
    return [file for path in visible if (file := _strategy_file(path))]


def _strategy_file(path: Path) -> Path | None:
    """Give the file to load; a folder without our name in it is a helper."""
    if not path.is_dir():
        return path if path.suffix == ".py" else None
    init = path / "__init__.py"
    if not init.is_file():
        return None
    source = parse(init)
    return init if isinstance(source, Problem) or concerns_us(source) else None


def _candidates(path: Path) -> Sequence[StrategyCandidate | Problem]:
    source = read(path)
    if isinstance(source, Problem):
        return [source]
    module = import_source(source)
    if isinstance(module, Problem):
        return [module]
    return find(module, source) or [_empty(source)]


def _empty(source: Source) -> Problem:
    return source.problem(
        "E104",
        "no strategy in this file",
        "add a subclass of Strategy, or `@strategy(tags={...})` over a function, "
        "or start the file's name with `_` to keep it here unloaded",
    )


def _duplicates(
    candidates: list[StrategyCandidate],
) -> Iterator[tuple[StrategyCandidate, Problem]]:
    """Refuse all that share a name: choosing one silently would be a surprise."""
    by_name: dict[str, list[StrategyCandidate]] = defaultdict(list)
    for candidate in candidates:
        by_name[candidate.name].append(candidate)
    for name, same in by_name.items():
        for candidate in same if len(same) > 1 else ():
            others = ", ".join(
                f"{other.source.path}:{other.line}"
                for other in same
                if other is not candidate
            )
            message = f"the name {name!r} is also taken by {others}"
            fix = 'rename one, or give it a `name = "..."`; until then none is loaded'
            yield candidate, candidate.problem("E109", message, fix)


def _strangers(directory: Path, settings: Params, known: set[str]) -> Iterator[Problem]:
    """Refuse settings for a strategy that is not there: they are mostly typos."""
    for name in sorted(set(settings) - known):
        near = difflib.get_close_matches(name, known, n=1)
        fix = f"did you mean {near[0]!r}?" if near else "remove them, or add the file"
        message = f"the configuration has parameters for {name!r}, which is not here"
        yield Problem(code="E108", path=directory, message=message, fix=fix)
