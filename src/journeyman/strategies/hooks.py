"""The optional methods of a strategy: what each is given, and how it is called.

An author's method takes only the arguments that it names (pluggy's rule), so a later
version can offer more without breaking a file.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from journeyman.strategies.api import Strategy

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
