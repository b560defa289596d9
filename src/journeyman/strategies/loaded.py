"""A strategy that was loaded and found fit to run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from journeyman.strategies.api import Needs, RunnerName, Strategy
from journeyman.strategies.hooks import Hook


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, weakref_slot=True)
class Loaded:
    """One strategy of one generation: the same file loaded again is another one."""

    name: str
    class_name: str
    """The name of its class or function in the file."""
    version: str
    description: str
    """The first line of its docstring."""
    path: Path
    """The file that defines it."""
    line: int
    runner: RunnerName
    timeout: float | None
    """Seconds that one run may take; None: the owner's setting."""
    needs: Needs = field(default_factory=Needs)
    instance: Strategy
    run: Any = field(repr=False)
    """Its bound run method; called with the arguments that it names."""
    run_arguments: tuple[str, ...] = ("task", "ctx")
    params: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    """Its settings with the values in force."""
    file: Path | None = None
    """The file that was loaded, where it is not `path`: a folder's `__init__.py`."""
    module: str = ""
    """The name of its module in this process."""
    sources: tuple[Path, ...] = ()
    """Every local file of it: its own, and those beside it that it imported."""
    fingerprint: str = ""
    """Of the text of all these files as it was executed."""
    hooks: Mapping[str, Hook] = field(default_factory=dict, repr=False)
    """The optional methods that it has, by name: `loaded.hooks.get("on_start")`."""
    distribution: str = ""
    """The installed package that brings it, such as "journeyman-seo 2.1.0"."""
