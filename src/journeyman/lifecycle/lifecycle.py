"""The active strategies, and what they are given and remember."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

from journeyman.domain.tasks import TaskId
from journeyman.lifecycle.active import ActiveStrategies
from journeyman.lifecycle.context import StrategyContexts, StrategyMemory
from journeyman.lifecycle.quarantine import Quarantine
from journeyman.lifecycle.recording import DecisionRecording
from journeyman.strategies.api import Context
from journeyman.strategies.loading.loaded import LoadedStrategy


@dataclass(frozen=True, kw_only=True, slots=True)
class Lifecycle:
    """The strategies, and what they are given and remember."""

    active: ActiveStrategies
    quarantine: Quarantine
    memory: StrategyMemory
    contexts: StrategyContexts
    recording: DecisionRecording
    """Keeps what they decide."""
    _numbers: Iterator[int] = field(init=False, default_factory=lambda: count(1))

    @contextmanager
    def context_of_hook(
        self, loaded: LoadedStrategy, task_id: TaskId | None = None
    ) -> Iterator[Context]:
        """Yield the context of one call of a hook; remove its workspace after it."""
        number, state = next(self._numbers), self.memory.of(loaded.name)
        try:
            yield self.contexts.hook_context(loaded.name, state, number, task_id)
        finally:
            self.contexts.clean_up_hook(number)
