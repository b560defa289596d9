"""Finding strategies: in an imported file, and in installed packages.

A package announces its strategies in the entry point group `journeyman.strategies`.
None of its code runs until its name is in the setting `strategies.installed`: whoever
installs a package for another reason does not thereby let it decide about tasks.
"""

import importlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from journeyman.strategies import watchdog
from journeyman.strategies.api import STRATEGY_OF, Strategy
from journeyman.strategies.loading import importing
from journeyman.strategies.loading.problems import Problem, did_you_mean
from journeyman.strategies.loading.source import Source, parse


@dataclass(frozen=True, slots=True)
class StrategyDefinition:
    """A strategy that was found, and not yet validated."""

    source: Source
    """The file that defines it."""
    strategy: type[Strategy]
    name: str
    line: int
    file: Path
    """The file that was loaded: another one where a folder is a strategy."""
    distribution: str = ""
    """The installed package that it comes from, such as "journeyman-seo 2.1.0"."""
    import_seconds: float = 0.0
    """How long the import of `file` took."""

    def problem(self, code: str, message: str, fix: str) -> Problem:
        """Return a problem that points at the strategy's definition."""
        return self.source.problem(code, message, fix, self.line)


def find_definitions(
    module: ModuleType, source: Source, distribution: str = ""
) -> list[StrategyDefinition]:
    """Return the strategies of a module in the order in which they are defined.

    A class whose name starts with `_` is a base for others; imported ones belong to
    the file that they come from. A folder's `__init__.py` also has those that it
    imports from its own files.
    """
    values = map(strategy_in, list(vars(module).values()))
    classes = {cls for cls in values if cls and _belongs_to(module, cls)}
    found = [define(cls, source, distribution) for cls in classes]
    return sorted(found, key=lambda one: (str(one.source.path), one.line, one.name))


def _belongs_to(module: ModuleType, cls: type[Strategy]) -> bool:
    is_local = cls.__module__ == module.__name__ or (
        hasattr(module, "__path__") and cls.__module__.startswith(f"{module.__name__}.")
    )
    return is_local and not cls.__name__.startswith("_")


def define(
    cls: type[Strategy], source: Source, distribution: str = ""
) -> StrategyDefinition:
    """Return a strategy's definition: in `source`, or in the local file it is from."""
    own = importing.source_of(cls.__module__) or source
    line = own.lines.get(cls.__name__, 1)
    name = str(cls.name or snake_case(cls.__name__))
    return StrategyDefinition(own, cls, name, line, source.path, distribution)


def strategy_in(value: object) -> type[Strategy] | None:
    """Return the strategy that a value is: a class, or a decorated function."""
    cls = getattr(value, STRATEGY_OF, value) if callable(value) else None
    return cls if isinstance(cls, type) and issubclass(cls, Strategy) else None


def snake_case(name: str) -> str:
    """Return a class's name in snake_case: CSVToJSON, csv_to_json."""
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words).lower()


GROUP = "journeyman.strategies"


@dataclass(frozen=True, slots=True)
class InstalledStrategy:
    """One entry point; nothing of its package was imported."""

    name: str
    target: str
    """`package.module:Class`, or `package.module`."""
    distribution: str
    """Such as "journeyman-seo 2.1.0"."""


def installed_strategies() -> list[InstalledStrategy]:
    """Return the entry points of all installed packages, by name."""
    return [_describe(point) for point in _entry_points()]


def load_installed(names: Sequence[str]) -> Iterator[StrategyDefinition | Problem]:
    """Import the entry points of these names, each guarded like a file."""
    points = _entry_points() if names else []
    for name in names:
        same = [point for point in points if point.name == name]
        if not same:
            yield _not_installed(name, [point.name for point in points])
        for point in same:
            yield from _load(point)


def _entry_points() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda point: point.name)


def _describe(point: EntryPoint) -> InstalledStrategy:
    dist = point.dist
    distribution = f"{dist.name} {dist.version}" if dist else "an unknown package"
    return InstalledStrategy(point.name, point.value, distribution)


def _load(point: EntryPoint) -> Iterator[StrategyDefinition | Problem]:
    described = _describe(point)
    distribution = described.distribution
    source = Source(Path(f"{distribution} ({point.value})"))
    try:
        module = watchdog.call(
            importing.IMPORT_SECONDS, importlib.import_module, point.module
        )
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        yield importing.explain_import(source, error)
        return
    file = getattr(module, "__file__", None)
    parsed = parse(Path(file)) if file and file.endswith(".py") else None
    if isinstance(parsed, Source):
        source = parsed
    if not point.attr:
        found = find_definitions(module, source, distribution)
    else:
        cls = strategy_in(getattr(module, point.attr, None))
        found = [define(cls, source, distribution)] if cls else []
    yield from found
    if not found:
        yield source.problem(
            "E104",
            f"{point.value} of {distribution} is not a strategy",
            f"remove {point.name!r} from strategies.installed, and tell its author",
        )


def _not_installed(name: str, known: list[str]) -> Problem:
    offer = f"installed are: {', '.join(known)}" if known else "none is installed"
    hint = did_you_mean(name, known) or f"{offer};"
    return Problem(
        code="E116",
        path=Path("strategies.installed"),
        message=f"no installed package provides a strategy {name!r}",
        fix=f"{hint} install its package where journeyman is installed",
    )
