"""A strategy that was loaded and found fit to run."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from journeyman.strategies.api import Needs, RunnerName, Strategy

HOOKS: Final[Mapping[str, tuple[str, ...]]] = {
    "on_start": ("ctx",),
    "on_stop": ("ctx",),
    "on_outcome": ("task", "outcome", "ctx"),
    "post": ("ctx",),
    "status": (),
}
"""Each hook, and the arguments that it may name."""

NEVER_CALLED: Final[Mapping[str, str]] = {
    "review": "the contract shows no way to see the result of a task that we posted",
}
"""Names that look like hooks, and why there is no such hook."""

AT_ONCE: Final = frozenset({"status"})
"""Hooks that must answer without awaiting anything."""


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook of one strategy."""

    name: str
    arguments: tuple[str, ...]
    """Those that it names."""
    is_async: bool
    """True: calling it gives an awaitable; False: it is plain, and may block."""
    method: Callable[..., Any] = field(repr=False)
    """Bound to its strategy."""

    def bind(self, **given: object) -> Callable[[], Any]:
        """Give a call of it with those of the arguments that it names.

        A plain `post` may be a generator: its work is done while it is iterated.
        """
        return partial(self.method, **{name: given[name] for name in self.arguments})


def hooks_of(
    instance: Strategy,
    arguments_of: Callable[[type[Strategy], str], tuple[str, ...] | None],
) -> dict[str, Hook]:
    """Give the hooks that a validated strategy has, by name."""
    found = {}
    for name in HOOKS:
        method = getattr(instance, name, None)
        if callable(method):
            arguments = arguments_of(type(instance), name) or ()
            is_async = inspect.iscoroutinefunction(method)
            found[name] = Hook(name, arguments, is_async, method)
    return found


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, weakref_slot=True)
class LoadedStrategy:
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
