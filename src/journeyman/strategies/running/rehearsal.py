"""One task through one strategy, with no network, no credits and no journal.

`journeyman try`, `journeyman check` and `journeyman.testing` all run a strategy by
this, in the runner that it declares, so that what they show is what the daemon does.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from journeyman.domain.tasks import Task
from journeyman.strategies.api import BudgetView, Context
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.registry import Registry, Verdict
from journeyman.strategies.outcomes import RunOutcome
from journeyman.strategies.running.runner import Runner

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""What `ctx.now` says where no clock is given: the same on every day."""
TIMEOUT_SECONDS: Final = 30.0
CANARY: Final = "rehearsal-7f3a91c2"
"""What `ctx.canary` is: as long as no result is sent, it need not be unguessable."""
BUDGET: Final = BudgetView(balance=100, spendable=50)
"""What a strategy sees of its owner's figures: a fresh agent's, half of it kept."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """Something that a strategy told its log."""

    level: str
    event: str
    fields: dict[str, object]


class MemoryLog:
    """A `StrategyLog` that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[LogLine] = []

    def debug(self, event: str, /, **fields: object) -> None:
        self._keep("debug", event, fields)

    def info(self, event: str, /, **fields: object) -> None:
        self._keep("info", event, fields)

    def warning(self, event: str, /, **fields: object) -> None:
        self._keep("warning", event, fields)

    def error(self, event: str, /, **fields: object) -> None:
        self._keep("error", event, fields)

    def _keep(self, level: str, event: str, fields: dict[str, object]) -> None:
        self.lines.append(LogLine(level, event, fields))


@dataclass(slots=True)
class Stage:
    """What a strategy finds around it; a test may change any of it."""

    state: dict[str, Any] = field(default_factory=dict)
    """What `ctx.state` holds; the strategy changes it in place."""
    budget: BudgetView = BUDGET
    now: Callable[[], datetime] = lambda: NOW
    log: MemoryLog = field(default_factory=MemoryLog)
    progress: list[tuple[float, str]] = field(default_factory=list)
    costs: list[tuple[float, str]] = field(default_factory=list)
    """What the strategy reported by `ctx.report_cost`: credits, and what for."""

    def context(self, name: str, task: Task | None, workspace: Path) -> Context:
        """Give the context of one run, or of a hook."""
        return Context(
            strategy=name,
            log=self.log,
            state=self.state,
            now=self.now,
            deadline=task.deadline if task else None,
            workspace=lambda: workspace,
            progress=lambda fraction, note: self.progress.append((fraction, note)),
            budget=self.budget,
            cancelled=lambda: False,
            canary=CANARY,
            cost=lambda credits_, note: self.costs.append((credits_, note)),
        )


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What came of one task."""

    verdict: Verdict
    outcome: RunOutcome | None
    """None: the strategy did not want the task."""
    log: tuple[LogLine, ...]
    cost: float = 0.0
    """What it cost outside of the network, in credits."""


async def rehearse(
    loaded: LoadedStrategy,
    task: Task,
    stage: Stage | None = None,
    *,
    timeout_seconds: float = TIMEOUT_SECONDS,
    anyway: bool = False,
    runner: Runner | None = None,
) -> Rehearsal:
    """Ask a strategy whether it wants a task, and let it do it if so.

    Args:
        loaded: the strategy.
        task: the task.
        stage: what it finds around it.
        timeout_seconds: the limit, where the strategy names none.
        anyway: run it even if it does not want the task.
        runner: runs it, where several tasks share one.
    """
    stage = stage or Stage()
    verdict = Registry([loaded]).choose(task).verdicts[0]
    if not verdict.wanted and not anyway:
        return Rehearsal(verdict, None, tuple(stage.log.lines))
    runner = runner or Runner()
    with tempfile.TemporaryDirectory(prefix="journeyman-") as folder:
        context = stage.context(loaded.name, task, Path(folder))
        outcome = await runner.run(
            loaded, task, context, timeout_seconds=timeout_seconds
        )
    cost = sum(credits_ for credits_, _ in stage.costs)
    return Rehearsal(verdict, outcome, tuple(stage.log.lines), cost)
