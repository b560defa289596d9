"""What a strategy is given beside its task: no token, no client, no settings."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol


class StrategyLog(Protocol):
    """A structured log: a constant event and its fields."""

    def debug(self, event: str, /, **fields: object) -> None: ...
    def info(self, event: str, /, **fields: object) -> None: ...
    def warning(self, event: str, /, **fields: object) -> None: ...
    def error(self, event: str, /, **fields: object) -> None: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class BudgetView:
    """The owner's figures, in credits, as they were when the run began."""

    balance: int = 0
    spendable: int = 0
    """What may still be spent now, within every limit."""
    spent_today: int = 0


class Context:
    """One run's surroundings. A thread strategy uses it from its own thread."""

    def __init__(
        self,
        *,
        strategy: str,
        log: StrategyLog,
        state: dict[str, Any],
        now: Callable[[], datetime],
        deadline: datetime | None,
        workspace: Callable[[], Path],
        progress: Callable[[float, str], object],
        budget: BudgetView,
        cancelled: Callable[[], bool],
    ) -> None:
        """Put it together; only the daemon and tests do.

        Args:
            strategy: its name.
            log: already bound to the task and the strategy.
            state: the strategy's own persisted JSON.
            now: the wall clock, in UTC.
            deadline: when the network stops accepting the result, in UTC.
            workspace: makes a fresh folder; called on first use, once.
            progress: told of a fraction (0 to 1) and a note.
            budget: read-only figures.
            cancelled: tells whether the daemon wants the run to stop.
        """
        self.strategy = strategy
        self.log = log
        self.state = state
        self.deadline = deadline
        self.budget = budget
        self._now = now
        self._make_workspace = workspace
        self._workspace: Path | None = None
        self._progress = progress
        self._asked_to_stop = cancelled
        self._is_over = False

    @property
    def now(self) -> datetime:
        """The wall clock, in UTC; simulated in tests."""
        return self._now()

    @property
    def workspace(self) -> Path:
        """A fresh folder for this run; made on first use, removed by the daemon."""
        if self._workspace is None:
            self._workspace = self._make_workspace()
        return self._workspace

    @property
    def cancelled(self) -> bool:
        """True once nobody waits for the result: a polite thread then returns."""
        return self._is_over or self._asked_to_stop()

    def progress(self, fraction: float, note: str = "") -> None:
        """Tell how far the work is, from 0 to 1."""
        self._progress(min(max(float(fraction), 0.0), 1.0), note)

    def report_through(self, call_soon: Callable[..., object]) -> None:
        """Let progress be told on the daemon's loop; the thread runner calls it."""
        tell = self._progress
        self._progress = lambda fraction, note: call_soon(tell, fraction, note)

    def end(self) -> None:
        """Let `cancelled` be true from now on; the runner calls it at its limit."""
        self._is_over = True
