"""One task through one strategy, with no network, no credits and no journal.

`journeyman try`, `journeyman check` and `journeyman.testing` all run a strategy this
way, in the runner that it declares, so that what they show is what the daemon does.
"""

import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from journeyman.domain.tasks import Result, Task
from journeyman.strategies.api import (
    BudgetView,
    Context,
    Decline,
    Example,
    Skip,
    StrategyLog,
)
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.registry import Registry, Verdict
from journeyman.strategies.outcomes import RunOutcome
from journeyman.strategies.running.runner import Runner

NOW = datetime(2026, 1, 1, tzinfo=UTC)
"""What `ctx.now` returns where no clock is given: the same on every day."""
TIMEOUT_SECONDS = 30.0
CANARY = "dry-run-7f3a91c2"
"""The value of `ctx.canary`: no result is sent, so it need not be unguessable."""
BUDGET = BudgetView(balance=100, spendable=50)
"""The owner's figures: a fresh agent's, with half of the credits in reserve."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a strategy's log."""

    level: str
    event: str
    fields: dict[str, object]


class MemoryLog(StrategyLog):
    """A strategy's log, kept in memory."""

    def __init__(self) -> None:
        self.lines: list[LogLine] = []

    def write(self, level: str, event: str, fields: dict[str, object]) -> None:
        """Keep one line."""
        self.lines.append(LogLine(level, event, fields))


@dataclass(slots=True)
class DryRunContext:
    """What contexts of dry runs are made of, and what strategies left in them."""

    state: dict[str, Any] = field(default_factory=dict)
    """The content of `ctx.state`; the strategy changes it in place."""
    budget: BudgetView = BUDGET
    now: Callable[[], datetime] = lambda: NOW
    log: MemoryLog = field(default_factory=MemoryLog)
    progress: list[tuple[float, str]] = field(default_factory=list)
    costs: list[tuple[float, str]] = field(default_factory=list)
    """What the strategy reported by `ctx.report_cost`: credits, and a note."""

    def make(self, name: str, task: Task | None, workspace: Path) -> Context:
        """Return the context of one run, or of a hook where there is no task."""
        return Context(
            strategy=name,
            log=self.log,
            state=self.state,
            now=self.now,
            deadline=task.deadline if task else None,
            workspace=lambda: workspace,
            progress=lambda fraction, note: self.progress.append((fraction, note)),
            budget=lambda: self.budget,
            cancelled=lambda: False,
            canary=CANARY,
            cost=lambda credits_, note: self.costs.append((credits_, note)),
        )


@dataclass(frozen=True, slots=True)
class DryRun:
    """How one dry run went."""

    verdict: Verdict
    outcome: RunOutcome | None
    """None: the strategy did not want the task."""
    log: tuple[LogLine, ...]
    cost: float = 0.0
    """What it cost outside of the network, in credits."""


async def dry_run(
    loaded: LoadedStrategy,
    task: Task,
    context: DryRunContext | None = None,
    *,
    timeout_seconds: float = TIMEOUT_SECONDS,
    anyway: bool = False,
    runner: Runner | None = None,
    ask_claim: Callable[[], Awaitable[object]] | None = None,
) -> DryRun:
    """Ask a strategy whether it wants a task, and run it if so.

    Args:
        loaded: the strategy.
        task: the task.
        context: the values that `ctx` is made of.
        timeout_seconds: the limit, where the strategy sets none.
        anyway: run it even if it does not want the task.
        runner: the runner, where several tasks share one.
        ask_claim: asks `on_claim`, where that is called.
    """
    context, runner = context or DryRunContext(), runner or Runner()
    verdict = await ask_wants(loaded, task, context, runner)
    if not verdict.wanted and not anyway:
        return DryRun(verdict, None, tuple(context.log.lines))
    if ask_claim and isinstance(refusal := await ask_claim(), Skip):
        verdict = Verdict(loaded.name, wanted=False, reason=refusal.reason)
        return DryRun(verdict, None, tuple(context.log.lines))
    with tempfile.TemporaryDirectory(prefix="journeyman-") as folder:
        ctx = context.make(loaded.name, task, Path(folder))
        outcome = await runner.run(loaded, task, ctx, timeout_seconds=timeout_seconds)
    cost = sum(credits_ for credits_, _ in context.costs)
    return DryRun(verdict, outcome, tuple(context.log.lines), cost)


async def ask_wants(
    loaded: LoadedStrategy, task: Task, context: DryRunContext, runner: Runner
) -> Verdict:
    """Ask a strategy whether it wants a task; nothing is run."""
    with tempfile.TemporaryDirectory(prefix="journeyman-") as folder:
        ctx = context.make(loaded.name, task, Path(folder))
        await runner.consult(loaded, [task], ctx)
    return Registry([loaded]).choose(task).verdicts[0]


@dataclass(frozen=True, slots=True)
class ExampleOutcome:
    """How one example went."""

    number: int
    """From 1."""
    example: Example
    message: str
    """What went wrong; "ok" otherwise."""

    @property
    def passed(self) -> bool:
        """Whether the example gave what it expects."""
        return self.message == "ok"


async def run_examples(
    loaded: LoadedStrategy, runner: Runner | None = None
) -> list[ExampleOutcome]:
    """Run a strategy's examples, each as a task of its own: first `wants`, then `run`.

    They run in the strategy's own runner; a failed one stops none of the others.
    """
    outcomes = []
    for number, example in enumerate(loaded.instance.examples, start=1):
        done = await dry_run(loaded, example.task, runner=runner)
        if done.outcome is None:
            message = f"wants said no: {done.verdict.reason}"
        else:
            message = _compare(done.outcome, example)
        outcomes.append(ExampleOutcome(number, example, message))
    return outcomes


def _compare(outcome: RunOutcome, example: Example) -> str:
    match outcome:
        case Result():
            got: object = outcome.output
            message = f"got {got!r}"
        case Decline():
            got, message = Decline, f"declined: {outcome}"
        case _:
            got, message = outcome, str(outcome)
    expected = "a Decline" if example.expect is Decline else repr(example.expect)
    return "ok" if got == example.expect else f"expected {expected}, {message}"
