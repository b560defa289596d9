"""Finding the strategies that an imported file defines, in either form."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from journeyman.strategies.api import STRATEGY_OF, Strategy
from journeyman.strategies.loading.importing import source_of
from journeyman.strategies.loading.problems import Problem
from journeyman.strategies.loading.source import Source


@dataclass(frozen=True, slots=True)
class StrategyCandidate:
    """A strategy that was found but not yet looked at."""

    source: Source
    """The file that defines it."""
    strategy: type[Strategy]
    name: str
    line: int
    file: Path
    """The file that was loaded: another one where a folder is a strategy."""
    distribution: str = ""
    """Such as "journeyman-seo 2.1.0", where an installed package brings it."""

    def problem(self, code: str, message: str, fix: str) -> Problem:
        """Make a problem that points at the strategy's definition."""
        return self.source.problem(code, message, fix, self.line)


def find(
    module: ModuleType, source: Source, distribution: str = ""
) -> list[StrategyCandidate]:
    """Give the strategies of a module in the order in which they are defined.

    A class whose name starts with `_` is a base for others; imported ones belong to
    the file that they come from. A folder's `__init__.py` also gives what it imports
    from its own files.
    """
    found = [make(cls, source, distribution) for cls in _strategies(module)]
    return sorted(found, key=lambda one: (str(one.source.path), one.line))


def make(
    cls: type[Strategy], source: Source, distribution: str = ""
) -> StrategyCandidate:
    """Say where a strategy stands: in `source`, or in the local file it comes from."""
    own = source_of(cls.__module__) or source
    line = own.line_of(cls.__name__) or 1
    return StrategyCandidate(own, cls, name_of(cls), line, source.path, distribution)


def strategy_in(value: object) -> type[Strategy] | None:
    """Give the strategy that a class, or a decorated function, stands for."""
    cls = getattr(value, STRATEGY_OF, value) if callable(value) else None
    return cls if isinstance(cls, type) and issubclass(cls, Strategy) else None


def _strategies(module: ModuleType) -> Iterator[type[Strategy]]:
    seen: set[type[Strategy]] = set()
    for value in list(vars(module).values()):
        cls = strategy_in(value)
        if (
            cls is not None
            and _belongs(cls.__module__, module)
            and not cls.__name__.startswith("_")
            and cls not in seen
        ):
            seen.add(cls)
            yield cls


def _belongs(name: str, module: ModuleType) -> bool:
    inside = hasattr(module, "__path__") and name.startswith(f"{module.__name__}.")
    return name == module.__name__ or inside


def name_of(cls: type[Strategy]) -> str:
    """Give the declared name, or the class's in snake_case: CSVToJSON, csv_to_json."""
    return str(cls.name or snake_case(cls.__name__))


def snake_case(name: str) -> str:
    """Give a class's name in snake_case."""
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words).lower()
