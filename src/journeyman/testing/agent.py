"""An agent without a network: it runs a strategy on a task, as the daemon does."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast, get_args

import anyio

from journeyman.domain import NewTask, Result, Task
from journeyman.strategies.api import (
    BudgetView,
    Context,
    OutcomeName,
    OutcomeReport,
)
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.rehearsal import (
    NOW,
    LogLine,
    MemoryLog,
    Rehearsal,
    Stage,
    rehearse,
)
from journeyman.strategies.runners import (
    Broken,
    Crashed,
    Declined,
    Ended,
    Finished,
    Later,
    TimedOut,
)
from journeyman.testing.loading import Subject, load

RunOutcome: TypeAlias = Literal[
    "completed", "skipped", "declined", "later", "misconfigured", "failed"
]
STARTER_CREDITS: Final = 100
"""What a new agent has (contract section 1)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What came of one task."""

    outcome: RunOutcome
    """`completed`: done, and paid. `skipped`: not wanted. `declined`: given up.
    `later`: to be run again. `misconfigured`: its owner must act. `failed`: a bug, or
    out of time."""
    reason: str
    """Why it is not completed; empty when it is."""
    credits: int
    """What it brought."""
    logs: tuple[LogLine, ...]
    traceback: str = ""
    """The author's own frames, of a bug."""
    handed_in: Result | None = None
    cost: float = 0.0
    """What it cost outside of the network, in credits: `ctx.report_cost`."""

    @property
    def result(self) -> Result:
        """What the strategy handed in.

        Raises:
            AssertionError: nothing; the text says why.
        """
        if self.handed_in is None:
            raise AssertionError(
                f"there is no result: {self.outcome}: {self.reason}\n{self.traceback}"
            )
        return self.handed_in


class Agent:
    """Runs strategies on tasks in memory; the fixture `agent` is one.

    Each strategy is created once for each set of parameters and started by its
    `on_start`, as in the daemon. An exception in a hook fails the test.
    """

    def __init__(self, root: Path | None = None) -> None:
        """Look for relative paths of strategies here, then in `root`."""
        self.credits = STARTER_CREDITS
        self.now: datetime = NOW
        """What `ctx.now` says; a test may set it."""
        self.state: dict[str, dict[str, Any]] = {}
        """What each strategy remembers in `ctx.state`, by its name."""
        self._root = root
        self._at_work: dict[object, Loaded] = {}

    def run(self, strategy: Subject, task: Task, /, **params: object) -> Run:
        """Offer a strategy one task; `params` are values for its parameters.

        Raises:
            NotLoadedError: the strategy has problems.
        """
        return anyio.run(partial(self.run_async, strategy, task, **params))

    async def run_async(
        self, strategy: Subject, task: Task, /, **params: object
    ) -> Run:
        """Do the same inside a running event loop."""
        loaded = await self._loaded(strategy, params)
        rehearsal = await rehearse(loaded, task, self._stage(loaded.name))
        run = _judged(rehearsal, task)
        self.credits += run.credits
        await self._tell(loaded, task, run)
        return run

    def posts(self, strategy: Subject, /, **params: object) -> list[NewTask]:
        """Ask a strategy for the tasks that it wants to publish.

        Raises:
            NotLoadedError: the strategy has problems.
            AssertionError: it has no `post`, or gives something else than NewTasks.
        """
        return anyio.run(partial(self._posts, strategy, params))

    def status(self, strategy: Subject, /, **params: object) -> object:
        """Ask a strategy how it does.

        Raises:
            NotLoadedError: the strategy has problems.
            AssertionError: it has no `status`.
        """
        return anyio.run(partial(self._ask, strategy, params, "status"))

    async def _posts(
        self, strategy: Subject, params: Mapping[str, object]
    ) -> list[NewTask]:
        posts = list(await self._ask(strategy, params, "post") or ())
        strangers = [post for post in posts if not isinstance(post, NewTask)]
        if strangers:
            raise AssertionError(f"post gave {strangers[0]!r}, which is no NewTask")
        return posts

    async def _ask(
        self, strategy: Subject, params: Mapping[str, object], hook: str
    ) -> Any:  # noqa: ANN401 - whatever the hook gives
        loaded = await self._loaded(strategy, params)
        if hook not in loaded.hooks:
            raise AssertionError(f"{loaded.name} has no {hook}")
        return await self._call(loaded, hook)

    async def _loaded(self, strategy: Subject, params: Mapping[str, object]) -> Loaded:
        key = (strategy, tuple(sorted(params.items())))
        if key not in self._at_work:
            loaded = load(strategy, params, self._root)
            self._at_work[key] = loaded
            await self._call(loaded, "on_start")
        return self._at_work[key]

    async def _tell(self, loaded: Loaded, task: Task, run: Run) -> None:
        if run.outcome not in get_args(OutcomeName):
            return
        report = OutcomeReport(
            state=cast("OutcomeName", run.outcome),
            reason=run.reason,
            credits=run.credits,
        )
        await self._call(loaded, "on_outcome", task=task, outcome=report)

    async def _call(self, loaded: Loaded, name: str, **given: object) -> Any:  # noqa: ANN401 - whatever the hook gives
        hook = loaded.hooks.get(name)
        if hook is None:
            return None
        returned = hook.bind(ctx=self._context(loaded.name), **given)()
        return await returned if hook.is_async else returned

    def _context(self, name: str) -> Context:
        return self._stage(name).context(name, None, Path())

    def _stage(self, name: str) -> Stage:
        return Stage(
            state=self.state.setdefault(name, {}),
            budget=BudgetView(balance=self.credits, spendable=self.credits),
            now=lambda: self.now,
            log=MemoryLog(),
        )


def _judged(rehearsal: Rehearsal, task: Task) -> Run:
    verdict, ended = rehearsal.verdict, rehearsal.ended
    if ended is None:
        return Run(
            outcome="skipped", reason=verdict.reason, credits=0, logs=rehearsal.log
        )
    outcome, reason = _told(ended)
    done = ended.result if isinstance(ended, Finished) else None
    return Run(
        outcome=outcome,
        reason=reason,
        credits=task.reward if done else 0,
        logs=rehearsal.log,
        traceback=ended.traceback if isinstance(ended, Crashed) else "",
        handed_in=done,
        cost=rehearsal.cost,
    )


def _told(ended: Ended) -> tuple[RunOutcome, str]:
    told: tuple[RunOutcome, str]
    match ended:
        case Finished():
            told = "completed", ""
        case Declined(reason):
            told = "declined", reason
        case Later(reason):
            told = "later", reason
        case Broken(problem):
            told = "misconfigured", problem
        case Crashed(error, where):
            told = "failed", f"{error} ({where})"
        case TimedOut(seconds):
            told = "failed", f"not done within {seconds:g} s"
    return told
