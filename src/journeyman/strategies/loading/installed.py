"""Strategies that installed packages bring, by the entry point group.

A package announces them under `journeyman.strategies`. Nothing of it runs until its
name stands in the setting `strategies.installed`: whoever installs a package for some
other reason does not thereby let it decide about tasks.
"""

import ast
import difflib
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Final

from journeyman.strategies import watchdog
from journeyman.strategies.loading.candidates import (
    StrategyCandidate,
    find,
    make,
    strategy_in,
)
from journeyman.strategies.loading.importing import IMPORT_SECONDS, explain_import
from journeyman.strategies.loading.problems import Problem
from journeyman.strategies.loading.source import Source, parse

GROUP: Final = "journeyman.strategies"


@dataclass(frozen=True, slots=True)
class Installed:
    """One entry point; nothing of its package was imported."""

    name: str
    target: str
    """`package.module:Class`, or `package.module`."""
    distribution: str
    """Such as "journeyman-seo 2.1.0"."""


def installed() -> list[Installed]:
    """Give what installed packages offer, by name."""
    return [_describe(point) for point in _points()]


def load_installed(names: Sequence[str]) -> Iterator[StrategyCandidate | Problem]:
    """Import the entry points of these names, each guarded like a file."""
    points = _points() if names else []
    for name in names:
        same = [point for point in points if point.name == name]
        if not same:
            yield _unknown(name, [point.name for point in points])
        for point in same:
            yield from _load(point)


def _points() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda point: point.name)


def _describe(point: EntryPoint) -> Installed:
    dist = point.dist
    distribution = f"{dist.name} {dist.version}" if dist else "an unknown package"
    return Installed(point.name, point.value, distribution)


def _load(point: EntryPoint) -> Iterator[StrategyCandidate | Problem]:
    told = _describe(point)
    unknown = Source(
        Path(f"{told.distribution} ({told.target})"), "", ast.Module([], [])
    )
    try:
        module = watchdog.call(IMPORT_SECONDS, importlib.import_module, point.module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        yield explain_import(unknown, error)
        return
    source = _source(module) or unknown
    found = list(_candidates(point, module, source, told.distribution))
    yield from found
    if not found:
        yield _empty(source, told)


def _candidates(
    point: EntryPoint, module: ModuleType, source: Source, distribution: str
) -> Iterator[StrategyCandidate]:
    if not point.attr:
        yield from find(module, source, distribution)
        return
    cls = strategy_in(getattr(module, point.attr, None))
    if cls is not None:
        yield make(cls, source, distribution)


def _source(module: ModuleType) -> Source | None:
    """Read the module's file, for its lines; some modules have none."""
    file = getattr(module, "__file__", None)
    source = parse(Path(file)) if file and file.endswith(".py") else None
    return source if isinstance(source, Source) else None


def _empty(source: Source, told: Installed) -> Problem:
    return source.problem(
        "E104",
        f"{told.target} of {told.distribution} is no strategy",
        f"take {told.name!r} out of strategies.installed, and tell its author",
    )


def _unknown(name: str, known: list[str]) -> Problem:
    near = difflib.get_close_matches(name, known, n=1)
    offer = f"installed are: {', '.join(known)}" if known else "none is installed"
    hint = f"did you mean {near[0]!r}?" if near else f"{offer};"
    return Problem(
        code="E116",
        path=Path("strategies.installed"),
        message=f"no installed package brings a strategy {name!r}",
        fix=f"{hint} install its package where journeyman is installed",
    )
