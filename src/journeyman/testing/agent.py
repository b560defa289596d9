"""An agent without a network: it runs a strategy on a task, as the daemon does."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, cast, get_args

import anyio

from journeyman.domain.tasks import JSON, NewTask, Result, Task, TaskId
from journeyman.observability.events import CONTEXT_FIELDS, Event, UndeclaredFieldError
from journeyman.strategies.api import BudgetView, Decline, OutcomeName, OutcomeReport
from journeyman.strategies.api.strategy import Strategy
from journeyman.strategies.loading.definitions import strategy_in
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import load_class, load_file
from journeyman.strategies.outcomes import RunWord, StrategyError, summarize
from journeyman.strategies.running.dry_run import (
    NOW,
    DryRun,
    DryRunContext,
    LogLine,
    dry_run,
)

Subject: TypeAlias = "str | Path | type[Strategy] | Callable[..., Any]"
"""A strategy under test: its file, its class, or a function under `@strategy`."""


class StrategyNotLoadedError(AssertionError):
    """The strategy under test cannot be loaded; the message lists every problem."""


def load(
    subject: Subject, params: Mapping[str, object], root: Path | None = None
) -> LoadedStrategy:
    """Load and create one strategy.

    Args:
        subject: what to load; a relative path is looked for here, then in `root`.
        params: values for its parameters.
        root: another folder to look in, such as pytest's.

    Raises:
        StrategyNotLoadedError: it has problems, or there is not exactly one.
    """
    if isinstance(subject, str | Path):
        path = _find(Path(subject), root)
        loading = load_file(path)
        if params and not loading.problems and len(loading.strategies) == 1:
            loading = load_file(path, {loading.strategies[0].name: params})
    elif cls := strategy_in(subject):
        loading = load_class(cls, params)
    else:
        raise StrategyNotLoadedError(
            f"{subject!r} is not a strategy: give a file or a class"
        )
    if loading.problems:
        listing = "\n".join(map(str, loading.problems))
        raise StrategyNotLoadedError(f"the strategy did not load:\n{listing}")
    if len(loading.strategies) != 1:
        names = ", ".join(loaded.name for loaded in loading.strategies)
        raise StrategyNotLoadedError(
            f"{subject} has several strategies ({names}): give a class"
        )
    return loading.strategies[0]


def load_strategy(subject: Subject) -> type[Strategy]:
    """Return the class of a strategy file, to inherit from it in a test.

    Raises:
        StrategyNotLoadedError: as `load`.
    """
    return type(load(subject, {}).instance)


def _find(path: Path, root: Path | None) -> Path:
    for place in (path, *([] if root is None else [root / path])):
        if place.is_file():
            return place
    here = "" if root is None else f" nor in {root}"
    raise StrategyNotLoadedError(f"there is no file {path} in {Path.cwd()}{here}")


STARTER_CREDITS = 100
"""What a new agent has (contract section 1)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """How the work on one task ended."""

    outcome: Literal["completed", "skipped"] | RunWord
    """`completed`: done, and paid. `skipped`: not wanted. `declined`: given up.
    `retry_later`: to be run again. `misconfigured`: its owner must act. `failed`: a
    bug, or a time-out."""
    reason: str
    """Why it is not completed; empty if it is."""
    credits: int
    """What it earned."""
    details: Mapping[str, object] = field(default_factory=dict)
    """What the strategy gave beside the reason: `Decline(reason, **details)`."""
    logs: tuple[LogLine, ...]
    traceback: str = ""
    """Of a bug: the author's own frames."""
    submitted: Result | None = None
    cost: float = 0.0
    """What it cost outside of the network, in credits: `ctx.report_cost`."""

    @property
    def result(self) -> Result:
        """What the strategy returned.

        Raises:
            AssertionError: there is no result; the message says why.
        """
        if self.submitted is None:
            raise AssertionError(
                f"there is no result: {self.outcome}: {self.reason}\n{self.traceback}"
            )
        return self.submitted


class FakeAgent:
    """Runs strategies on tasks in memory; the fixture `agent` is one.

    Each strategy is created once for each set of parameters, and its `on_start`,
    `on_claim` and `on_outcome` are called, as in the daemon. An exception in a hook
    fails the test.
    """

    def __init__(self, root: Path | None = None) -> None:
        """Look for strategies in the current folder, then in `root`."""
        self.credits = STARTER_CREDITS
        self.now: datetime = NOW
        """What `ctx.now` returns; a test may set it."""
        self.state: dict[str, dict[str, Any]] = {}
        """The `ctx.state` of each strategy, by its name."""
        self._root = root
        self._loaded_strategies: dict[object, LoadedStrategy] = {}

    def run(self, strategy: Subject, task: Task, /, **params: object) -> Run:
        """Offer a strategy one task; `params` are values for its parameters.

        Raises:
            StrategyNotLoadedError: the strategy has problems.
        """
        return anyio.run(partial(self.run_async, strategy, task, **params))

    async def run_async(
        self, strategy: Subject, task: Task, /, **params: object
    ) -> Run:
        """Do the same inside a running event loop."""
        loaded = await self._loaded(strategy, params)
        done = await dry_run(
            loaded,
            task,
            self._context(loaded.name),
            ask_claim=partial(self._call, loaded, "on_claim", task=task),
        )
        run = _run(done, task)
        self.credits += run.credits
        if run.outcome in get_args(OutcomeName):
            declined = isinstance(done.outcome, Decline)
            report = OutcomeReport(
                state=cast("OutcomeName", run.outcome),
                # As in the journal, with the details.
                reason=str(done.outcome) if declined else run.reason,
                credits=run.credits,
            )
            await self._call(loaded, "on_outcome", task=task, outcome=report)
        return run

    def posts(self, strategy: Subject, /, **params: object) -> list[NewTask]:
        """Ask a strategy for the tasks that it wants to publish.

        Raises:
            StrategyNotLoadedError: the strategy has problems.
            AssertionError: it has no `post`, or it returns anything but NewTasks.
        """
        posts = list(anyio.run(partial(self._ask, strategy, params, "post")) or ())
        invalid = [post for post in posts if not isinstance(post, NewTask)]
        if invalid:
            raise AssertionError(f"post gave {invalid[0]!r}, which is not a NewTask")
        return posts

    def give_result(
        self, strategy: Subject, post: NewTask, result: JSON, /, **params: object
    ) -> None:
        """Give a strategy's `on_result` what came back for a task that it posted.

        Raises:
            StrategyNotLoadedError: the strategy has problems.
            AssertionError: it has no `on_result`.
        """
        given = {"post": post, "result": result}
        anyio.run(partial(self._ask, strategy, params, "on_result", **given))

    def status(self, strategy: Subject, /, **params: object) -> object:
        """Return what a strategy's `status` returns.

        Raises:
            StrategyNotLoadedError: the strategy has problems.
            AssertionError: it has no `status`.
        """
        return anyio.run(partial(self._ask, strategy, params, "status"))

    async def _ask(
        self,
        strategy: Subject,
        params: Mapping[str, object],
        hook: str,
        **given: object,
    ) -> Any:  # noqa: ANN401 - whatever the hook gives
        loaded = await self._loaded(strategy, params)
        if hook not in loaded.hooks:
            raise AssertionError(f"{loaded.name} has no {hook}")
        return await self._call(loaded, hook, **given)

    async def _loaded(
        self, strategy: Subject, params: Mapping[str, object]
    ) -> LoadedStrategy:
        key = (strategy, tuple(sorted(params.items())))
        if key not in self._loaded_strategies:
            loaded = load(strategy, params, self._root)
            self._loaded_strategies[key] = loaded
            await self._call(loaded, "on_start")
        return self._loaded_strategies[key]

    async def _call(self, loaded: LoadedStrategy, name: str, **given: object) -> Any:  # noqa: ANN401 - whatever the hook gives
        hook = loaded.hooks.get(name)
        if hook is None:
            return None
        context = self._context(loaded.name).make(loaded.name, None, Path())
        returned = hook.bind(ctx=context, **given)()
        return await returned if hook.is_async else returned

    def _context(self, name: str) -> DryRunContext:
        return DryRunContext(
            state=self.state.setdefault(name, {}),
            budget=BudgetView(balance=self.credits, spendable=self.credits),
            now=lambda: self.now,
        )


def _run(done: DryRun, task: Task) -> Run:
    outcome = done.outcome
    if outcome is None:
        return Run(
            outcome="skipped",
            reason=done.verdict.reason,
            credits=0,
            logs=done.log,
        )
    word, reason = summarize(outcome)
    result = outcome if isinstance(outcome, Result) else None
    return Run(
        outcome="completed" if word == "result" else word,
        reason=reason,
        credits=task.reward if result else 0,
        details=outcome.details if isinstance(outcome, Decline) else {},
        logs=done.log,
        traceback=outcome.traceback if isinstance(outcome, StrategyError) else "",
        submitted=result,
        cost=done.cost,
    )


class RecordingLog:
    """A `journeyman.observability.Log` in memory; undeclared fields raise."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, Mapping[str, object]]] = []
        """The name of each event with its fields and its context, in order."""
        self._context: dict[str, object] = {}
        self._awaited: dict[str, anyio.Event] = {}

    def emit(self, event: Event, **fields: object) -> None:
        """Keep one event.

        Raises:
            UndeclaredFieldError: its declaration does not name one of the fields.
        """
        if undeclared := sorted(set(fields) - event.fields - CONTEXT_FIELDS):
            raise UndeclaredFieldError(event.name, undeclared)
        self.lines.append((event.name, {**self._context, **fields}))
        if awaited := self._awaited.get(event.name):
            awaited.set()

    def bind(self, **context: object) -> Self:
        """Return a log that adds these fields, and writes to the same lines."""
        bound = type(self)()
        bound.lines = self.lines
        bound._context = self._context | context
        bound._awaited = self._awaited
        return bound

    def named(self, name: str) -> list[Mapping[str, object]]:
        """Return the fields of every event of one name, oldest first."""
        return [fields for event, fields in self.lines if event == name]

    async def until(self, name: str) -> None:
        """Wait until an event of this name is emitted, unless one was already."""
        if not self.named(name):
            await self._awaited.setdefault(name, anyio.Event()).wait()

    @property
    def names(self) -> list[str]:
        """The names of all events, oldest first."""
        return [event for event, _ in self.lines]


def task(
    text: str = "",
    *,
    kind: str = "",
    tags: Collection[str] = (),
    reward: int = 1,
    input: JSON = None,  # noqa: A002 - the name that a task has for it
    **fields: Any,  # noqa: ANN401 - the other fields of a Task, each with its type
) -> Task:
    """Return a task, as a network would list it.

    `reward` is in credits. `fields` are the other fields of `journeyman.Task`. Where
    the input is an object with a `text` and no text is given, that is the text, as
    the daemon reads it.
    """
    if not text and isinstance(input, Mapping):
        given = input.get("text")
        text = given if isinstance(given, str) else ""
    content: dict[str, Any] = {
        "id": TaskId("task_1"),
        "title": "A task",
        "description": text,
        "status": "open",
        **fields,
    }
    return Task(
        kind=kind, tags=tuple(tags), reward=reward, input=input, text=text, **content
    )
