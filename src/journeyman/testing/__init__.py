"""For tests of strategies: an agent without a network, and a network in memory.

A pytest plugin provides the fixtures `agent`, `task` and `market`. Each module here
is imported when it is first used, because every run of pytest in an environment with
journeyman imports this package.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from journeyman.testing.agent import (
        FakeAgent,
        RecordingLog,
        Run,
        StrategyNotLoadedError,
        load_strategy,
        task,
    )
    from journeyman.testing.clock import FakeClock, FakeRandomness
    from journeyman.testing.conformance import assert_strategy_conforms
    from journeyman.testing.market import Market

__all__ = [
    "FakeAgent",
    "FakeClock",
    "FakeRandomness",
    "Market",
    "RecordingLog",
    "Run",
    "StrategyNotLoadedError",
    "assert_strategy_conforms",
    "load_strategy",
    "task",
]

_HOMES = {
    "FakeAgent": "agent",
    "FakeClock": "clock",
    "FakeRandomness": "clock",
    "Market": "market",
    "StrategyNotLoadedError": "agent",
    "RecordingLog": "agent",
    "Run": "agent",
    "assert_strategy_conforms": "conformance",
    "load_strategy": "agent",
    "task": "agent",
}
"""The module that each name comes from (PEP 562)."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_HOMES[name]}")
    value: object = getattr(module, name)
    return value
