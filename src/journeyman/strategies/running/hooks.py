"""Calling a strategy's hooks without trusting them: guarded and limited like runs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

from journeyman.domain.tasks import NewTask, Result
from journeyman.domain.text import describe, storable
from journeyman.strategies import watchdog
from journeyman.strategies.api import Context, Misconfigured, Skip
from journeyman.strategies.api.context import end_context
from journeyman.strategies.child import messages
from journeyman.strategies.child.description import LONGEST_REASON
from journeyman.strategies.loading.loaded import Hook, LoadedStrategy, ToldBlock
from journeyman.strategies.outcomes import RunOutcome, StrategyError, TimedOut
from journeyman.strategies.running.runner import Runner, ThreadRunner, run_on_loop
from journeyman.strategies.speaker import Speaking

GRACE_SECONDS = 1.0
"""How long a hook may continue after its time, to clean up."""
STATUS_SECONDS = 0.5
"""The longest that `status` may take: it blocks the loop, and whoever asked."""
CONFINED_STATUS_SECONDS = 5.0
"""The same in a process, which may have to be started first; nobody else waits."""
MOST_ITEMS = 100
"""Of what a hook yields; the rest is not asked for."""

_DONE = "done"
"""What the runners see as returned: a hook's own value need not be a result."""


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """How a call of a hook ended."""

    value: Any = None
    """What it returned, or a list of what it yielded. None after a failure."""
    failure: Misconfigured | StrategyError | TimedOut | None = None
    """How it failed, if it did."""

    @property
    def problem(self) -> str:
        """How it failed, in one line; empty when it did not."""
        if isinstance(self.failure, StrategyError):
            return self.failure.error
        return str(self.failure or "")


@dataclass(kw_only=True, eq=False)
class HookCaller:
    """Calls hooks: async ones on the loop, plain ones in a thread.

    Those of a confined strategy are called in its process.
    """

    runner: Runner
    block_limit: float | None
    """Seconds that one step may block the loop. None is simulated time: any step may
    take any time, and plain hooks are called on the loop, not in a thread."""
    told: ToldBlock | None = None
    """Is told of a hook that has blocked the loop."""
    _threads: ThreadRunner = field(
        default_factory=partial(ThreadRunner, grace_seconds=GRACE_SECONDS), init=False
    )

    async def call(
        self,
        loaded: LoadedStrategy,
        hook: Hook,
        context: Context,
        *,
        limit: float,
        **given: object,
    ) -> HookAnswer:
        """Call a hook with those of the arguments that it takes.

        Args:
            loaded: its strategy.
            hook: the hook.
            context: what it gets as `ctx`; it is ended afterwards.
            limit: seconds that it may take.
            given: what it may take beside `ctx`.

        Only the cancellation of the caller and Ctrl-C are raised.
        """
        if loaded.is_confined:
            asked = {name: given[name] for name in hook.arguments if name in given}
            ended = await self.runner.call_hook(
                loaded, hook.name, context, limit=limit, asked=asked
            )
            return _answer_from(ended)
        values: list[Any] = []
        bound = hook.bind(ctx=context, **given)

        def plain() -> str:
            values.append(_listed(bound()))
            return _DONE

        async def awaited() -> str:
            values.append(_listed(await bound()))
            return _DONE

        work: Callable[[], Any] = awaited if hook.is_async else plain
        try:
            with Speaking(loaded.name):
                outcome = await self._call(loaded, hook, work, context, limit)
        finally:
            end_context(context)
        return (
            HookAnswer(values[0]) if isinstance(outcome, Result) else _failure(outcome)
        )

    async def _call(
        self,
        loaded: LoadedStrategy,
        hook: Hook,
        work: Callable[[], Any],
        context: Context,
        limit: float,
    ) -> RunOutcome:
        if hook.is_async or self.block_limit is None:
            return await run_on_loop(
                loaded,
                work,
                limit=limit,
                grace=GRACE_SECONDS,
                block_limit=self.block_limit,
                told=partial(self.told, loaded) if self.told else None,
            )
        return await self._threads.run(loaded, work, context, limit)

    async def ask_status(self, loaded: LoadedStrategy, context: Context) -> HookAnswer:
        """Call `status`, which must return at once; no value where there is none."""
        hook = loaded.hooks.get("status")
        if hook is None:
            return HookAnswer()
        if loaded.is_confined:
            return await self.call(loaded, hook, context, limit=CONFINED_STATUS_SECONDS)
        limit = None if self.block_limit is None else STATUS_SECONDS
        try:
            with Speaking(loaded.name):
                return HookAnswer(watchdog.call(limit, hook.bind()))
        except KeyboardInterrupt:
            raise
        except watchdog.BlockedError:
            return HookAnswer(failure=TimedOut(STATUS_SECONDS))
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
            return HookAnswer(failure=StrategyError(describe(error)))


def _failure(outcome: RunOutcome) -> HookAnswer:
    if isinstance(outcome, Misconfigured | StrategyError | TimedOut):
        return HookAnswer(failure=outcome)
    # A Decline or RetryLater makes sense for a task only.
    error = f"a hook cannot raise {type(outcome).__name__}: {outcome}"
    return HookAnswer(failure=StrategyError(error))


def _answer_from(outcome: RunOutcome) -> HookAnswer:
    """Return the answer of a hook that was called in a process."""
    if not isinstance(outcome, Result):
        return _failure(outcome)
    match outcome.output:
        case {"value": {messages.NEW_TASKS: list(items)}}:
            return HookAnswer([_new_task(item) for item in items])
        case {"value": {messages.SKIP: str(reason), "for_now": bool(for_now)}}:
            return HookAnswer(Skip(storable(reason[:LONGEST_REASON]), for_now=for_now))
        case {"value": value}:
            return HookAnswer(value)
        case _:
            return HookAnswer(failure=StrategyError("its process gave no valid answer"))


def _new_task(item: object) -> object:
    """Return a task to post; the fields are checked like those of any other."""
    try:
        new = NewTask(**item)  # type: ignore[arg-type] # whatever it is, it is checked
        return replace(new, tags=tuple(new.tags))
    except TypeError:
        return item


def _listed(value: object) -> object:
    """Return the items of an iterator, read here where the author's code is guarded."""
    is_plain = isinstance(value, str | bytes | dict | list | tuple)
    if is_plain or not isinstance(value, Iterable):
        return value
    return list(islice(value, MOST_ITEMS))
