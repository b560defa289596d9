"""The strategies in service, and what they are given and remember."""

from dataclasses import dataclass

from journeyman.lifecycle.active import ActiveStrategies
from journeyman.lifecycle.context import StrategyContexts, StrategyMemory
from journeyman.lifecycle.quarantine import Quarantine
from journeyman.lifecycle.recording import Recorder


@dataclass(frozen=True, kw_only=True, slots=True)
class Lifecycle:
    """The strategies, and what they are given and remember."""

    active: ActiveStrategies
    quarantine: Quarantine
    memory: StrategyMemory
    contexts: StrategyContexts
    recorder: Recorder
    """Keeps what they decide."""
