"""A strategy that was loaded and found fit to run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from journeyman.strategies.api import RunnerName, Strategy


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
    line: int
    runner: RunnerName
    timeout: float | None
    """Seconds that one run may take; None: the owner's setting."""
    instance: Strategy
    run: Any = field(repr=False)
    """Its bound run method; called with the arguments that it names."""
    run_arguments: tuple[str, ...] = ("task", "ctx")
    params: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    """Its settings with the values in force."""
