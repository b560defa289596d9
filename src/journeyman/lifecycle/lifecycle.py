"""The active strategies, and what they are given and remember."""

from dataclasses import dataclass

from journeyman.lifecycle.active import ActiveStrategies
from journeyman.lifecycle.context import StrategyContexts, StrategyMemory
from journeyman.lifecycle.quarantine import Quarantine
from journeyman.lifecycle.recording import DecisionRecording


@dataclass(frozen=True, kw_only=True, slots=True)
class Lifecycle:
    """The strategies, and what they are given and remember."""

    active: ActiveStrategies
    quarantine: Quarantine
    memory: StrategyMemory
    contexts: StrategyContexts
    recording: DecisionRecording
    """Keeps what they decide."""
