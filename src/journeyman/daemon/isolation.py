"""Where strategies run by the owner's will, and under which limits."""

import difflib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import get_args

from journeyman.journal import DataDirectory
from journeyman.settings import IsolationSettings
from journeyman.strategies.api import RunnerName
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.problems import Problem
from journeyman.strategies.registry import Registry
from journeyman.strategies.runners import Isolation

PASSED_ON_AS_THEY_ARE = (
    "cpu_seconds",
    "memory_mb",
    "file_mb",
    "open_files",
    "processes",
    "output_bytes",
    "warm_children",
    "tasks_per_child",
    "environment",
)


def isolation_of(settings: IsolationSettings, directory: DataDirectory) -> Isolation:
    """Give the limits of processes that must not reach the data directory."""
    limits = {name: getattr(settings, name) for name in PASSED_ON_AS_THEY_ARE}
    return Isolation(homes=directory.workspaces, private=(directory.path,), **limits)


def with_runners(
    registry: Registry, runners: Mapping[str, RunnerName], place: Path
) -> Registry:
    """Let strategies run where the owner says.

    A strategy that cannot run there is left out, and a name that is not there is a
    problem; `place` is the folder that was loaded.
    """
    problems = [*registry.problems, *_strangers(registry, runners, place)]
    strategies: list[Loaded] = []
    for loaded in registry.strategies:
        wanted = runners.get(loaded.name, loaded.runner)
        if wanted == "thread" and inspect.iscoroutinefunction(loaded.run):
            problems.append(_not_in_a_thread(loaded))
        else:
            moved = wanted != loaded.runner
            strategies.append(replace(loaded, runner=wanted) if moved else loaded)
    return Registry(strategies, problems)


def _strangers(
    registry: Registry, runners: Mapping[str, RunnerName], place: Path
) -> Iterator[Problem]:
    known = {loaded.name for loaded in registry.strategies}
    known |= {problem.path.stem for problem in registry.problems}
    for name in sorted(set(runners) - known):
        near = difflib.get_close_matches(name, known, n=1)
        fix = f"did you mean {near[0]!r}?" if near else "remove it, or add the file"
        message = f"strategies.runners names {name!r}, which is not here"
        yield Problem(code="E108", path=place, message=message, fix=fix)


def _not_in_a_thread(loaded: Loaded) -> Problem:
    allowed = ", ".join(name for name in get_args(RunnerName) if name != "thread")
    return Problem(
        code="E110",
        path=loaded.path,
        line=loaded.line,
        message="strategies.runners puts it into a thread, but its run is async",
        fix=f"choose one of {allowed}, or leave the setting out",
    )
