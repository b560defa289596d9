"""Finding the strategies that an imported file defines, in either form."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from journeyman.strategies.api import STRATEGY_OF, Strategy
from journeyman.strategies.problems import Problem
from journeyman.strategies.source import Source


@dataclass(frozen=True, slots=True)
class Candidate:
    """A strategy that was found but not yet looked at."""

    source: Source
    strategy: type[Strategy]
    name: str
    line: int

    def problem(self, code: str, message: str, fix: str) -> Problem:
        """Make a problem that points at the strategy's definition."""
        return self.source.problem(code, message, fix, self.line)


def find(module: ModuleType, source: Source) -> list[Candidate]:
    """Give the strategies of a module in the order in which they are defined.

    A class whose name starts with `_` is a base for others; imported ones belong to
    the file that they come from.
    """
    found = [
        Candidate(source, cls, name_of(cls), source.line_of(cls.__name__) or 1)
        for cls in _strategies(module)
    ]
    return sorted(found, key=lambda candidate: candidate.line)


def _strategies(module: ModuleType) -> Iterator[type[Strategy]]:
    seen: set[type[Strategy]] = set()
    for value in list(vars(module).values()):
        cls = getattr(value, STRATEGY_OF, value) if callable(value) else None
        if (
            isinstance(cls, type)
            and issubclass(cls, Strategy)
            and cls.__module__ == module.__name__
            and not cls.__name__.startswith("_")
            and cls not in seen
        ):
            seen.add(cls)
            yield cls


def name_of(cls: type[Strategy]) -> str:
    """Give the declared name, or the class's in snake_case: CSVToJSON, csv_to_json."""
    declared = cls.name
    if declared:
        return str(declared)
    words = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", cls.__name__)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words).lower()
