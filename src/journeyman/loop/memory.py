"""What strategies remember from task to task (`ctx.state`), kept beside the journal."""

import json

from journeyman.domain import JSON
from journeyman.journal import Journal


class StrategyMemory:
    """One living state for each strategy, shared by its runs, saved when it changes."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._states: dict[str, dict[str, JSON]] = {}
        self._saved: dict[str, str] = {}

    def of(self, strategy: str) -> dict[str, JSON]:
        """Give the state; the same object each time, so that no run undoes another."""
        if strategy not in self._states:
            state = self._journal.strategy_states.get(strategy)
            self._states[strategy] = state
            self._saved[strategy] = json.dumps(state)
        return self._states[strategy]

    def fault(self, strategy: str) -> str:
        """Say why a state cannot be saved, and go back to the saved one; else empty."""
        try:
            json.dumps(self.of(strategy), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            del self._states[strategy]
            return f"ctx.state holds what JSON cannot say: {error}"
        return ""

    def has_changed(self, strategy: str) -> bool:
        """Tell whether `save` would write anything."""
        return json.dumps(self.of(strategy)) != self._saved[strategy]

    def save(self, strategy: str) -> None:
        """Write a state that has changed, inside a transaction."""
        written = json.dumps(self.of(strategy))
        if written != self._saved[strategy]:
            self._journal.strategy_states.put(strategy, self._states[strategy])
            self._saved[strategy] = written
