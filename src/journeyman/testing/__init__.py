"""For tests: tasks to order, an agent without a network, time and chance to order.

It is also a pytest plugin with the fixtures `agent`, `task` and `market`. Everything
here works without the sandbox and its server, and is imported when it is first used:
every run of pytest in an environment that has journeyman imports this package.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from journeyman.testing.agent import Agent, Run
    from journeyman.testing.clock import FakeClock
    from journeyman.testing.conformance import assert_strategy_conforms
    from journeyman.testing.loading import NotLoadedError, load_strategy
    from journeyman.testing.log import RecordingLog
    from journeyman.testing.market import Market
    from journeyman.testing.randomness import FakeRandomness
    from journeyman.testing.tasks import task

__all__ = [
    "Agent",
    "FakeClock",
    "FakeRandomness",
    "Market",
    "NotLoadedError",
    "RecordingLog",
    "Run",
    "assert_strategy_conforms",
    "load_strategy",
    "task",
]

_HOMES = {
    "Agent": "agent",
    "FakeClock": "clock",
    "FakeRandomness": "randomness",
    "Market": "market",
    "NotLoadedError": "loading",
    "RecordingLog": "log",
    "Run": "agent",
    "assert_strategy_conforms": "conformance",
    "load_strategy": "loading",
    "task": "tasks",
}
"""The module that each name comes from (PEP 562)."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_HOMES[name]}")
    value: object = getattr(module, name)
    return value
