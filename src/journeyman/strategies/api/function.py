"""The short form of a strategy: `@strategy(tags={"echo"})` over a function."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

from journeyman.strategies.api.example import Example
from journeyman.strategies.api.needs import Needs
from journeyman.strategies.api.strategy import API_VERSION, RunnerName, Strategy

F = TypeVar("F", bound=Callable[..., Any])

STRATEGY_OF: Final = "__journeyman_strategy__"
"""Where a decorated function carries the class made of it."""


def strategy(  # noqa: PLR0913 - the class attributes of Strategy, each by name
    *,
    kinds: Collection[str] = (),
    tags: Collection[str] = (),
    inputs: Mapping[str, type] | None = None,
    min_reward: int = 0,
    name: str = "",
    version: str = "0",
    api: int = API_VERSION,
    runner: RunnerName | None = None,
    timeout: float | None = None,
    needs: Needs | None = None,
    examples: Sequence[Example] = (),
) -> Callable[[F], F]:
    """Make a strategy of a function that takes `task`, `ctx`, or fields of `inputs`.

    The keywords are the class attributes of `Strategy`. The function itself stays as
    it is, so a test can call it.
    """
    declared = {
        "kinds": kinds,
        "tags": tags,
        "inputs": inputs or {},
        "min_reward": min_reward,
        "name": name,
        "version": version,
        "api": api,
        "runner": runner,
        "timeout": timeout,
        "needs": needs or Needs(),
        "examples": examples,
    }

    def decorate(function: F) -> F:
        content = declared | {
            "__doc__": function.__doc__,
            "__module__": function.__module__,
            "run": staticmethod(function),
        }
        setattr(function, STRATEGY_OF, type(function.__name__, (Strategy,), content))
        return function

    return decorate
