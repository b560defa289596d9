"""Calling a strategy's hooks without trusting them: guarded and limited as runs are."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from journeyman.domain.tasks import Result
from journeyman.domain.text import describe
from journeyman.strategies import watchdog
from journeyman.strategies.api import Context, Misconfigured
from journeyman.strategies.loading.loaded import Hook, LoadedStrategy
from journeyman.strategies.outcomes import RunOutcome, StrategyError, TimedOut
from journeyman.strategies.running.loop import run_on_loop
from journeyman.strategies.running.thread import ThreadRunner

GRACE_SECONDS: Final = 1.0
"""How long a hook may go on after its time, to clean up."""
STATUS_SECONDS: Final = 0.5
"""The longest that `status` may take: it holds up the loop, and whoever asked."""
MOST_ITEMS: Final = 100
"""Of what a hook gives one by one; the rest is not asked for."""

_DONE: Final = "done"
"""What the runners are given back: a hook's own value need be no result."""


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What came of calling a hook."""

    value: Any = None
    """What it returned; items given one by one are a list. None after a failure."""
    failure: Misconfigured | StrategyError | TimedOut | None = None
    """How it failed, if it did."""

    @property
    def problem(self) -> str:
        """Say how it failed, in one line; empty when it did not."""
        match self.failure:
            case None:
                return ""
            case StrategyError():
                return self.failure.error
            case Misconfigured() | TimedOut():
                return str(self.failure)


class HookCaller:
    """Calls hooks: async ones on the loop, plain ones in a thread."""

    def __init__(self, *, block_limit: float | None) -> None:
        """Let one step on the loop take `block_limit` seconds.

        None is simulated time: any step may take any time, and nothing may use a
        thread, so plain hooks are called on the loop.
        """
        self._block_limit = block_limit
        self._threads = ThreadRunner(GRACE_SECONDS)

    async def call(
        self,
        loaded: LoadedStrategy,
        hook: Hook,
        context: Context,
        *,
        limit: float,
        **given: object,
    ) -> HookAnswer:
        """Call a hook with those of the arguments that it names.

        Args:
            loaded: its strategy.
            hook: the hook.
            context: what it gets as `ctx`; it is over afterwards.
            limit: seconds that it may take.
            given: what it may name beside `ctx`.

        Only the cancellation of the caller and Ctrl-C are raised.
        """
        values: list[Any] = []
        call = hook.bind(ctx=context, **given)
        try:
            if hook.is_async or self._block_limit is None:
                ended = await self._on_loop(loaded, hook, call, limit, values)
            else:
                work = _keeping(call, values)
                ended = await self._threads.run(loaded, work, context, limit)
        finally:
            context.end()
        return _answer(ended, values)

    async def _on_loop(
        self,
        loaded: LoadedStrategy,
        hook: Hook,
        call: Callable[[], Any],
        limit: float,
        values: list[Any],
    ) -> RunOutcome:
        async def work() -> str:
            values.append(_listed(await call()))
            return _DONE

        return await run_on_loop(
            loaded,
            work if hook.is_async else _keeping(call, values),
            limit=limit,
            grace=GRACE_SECONDS,
            block_limit=self._block_limit,
        )

    def ask_status(self, loaded: LoadedStrategy) -> HookAnswer:
        """Call `status`, which must answer at once; no answer where there is none."""
        hook = loaded.hooks.get("status")
        if hook is None:
            return HookAnswer()
        limit = None if self._block_limit is None else STATUS_SECONDS
        try:
            return HookAnswer(watchdog.call(limit, hook.bind()))
        except KeyboardInterrupt:
            raise
        except watchdog.BlockedError:
            return HookAnswer(failure=TimedOut(STATUS_SECONDS))
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
            return HookAnswer(failure=StrategyError(describe(error)))


def _keeping(call: Callable[[], Any], values: list[Any]) -> Callable[[], str]:
    def work() -> str:
        values.append(_listed(call()))
        return _DONE

    return work


def _listed(value: object) -> object:
    """Take the items of an iterator here, where the author's code is guarded."""
    is_plain = isinstance(value, str | bytes | dict | list | tuple)
    if is_plain or not isinstance(value, Iterable):
        return value
    return list(islice(value, MOST_ITEMS))


def _answer(ended: RunOutcome, values: list[Any]) -> HookAnswer:
    match ended:
        case Result():
            return HookAnswer(values[0])
        case Misconfigured() | StrategyError() | TimedOut():
            return HookAnswer(failure=ended)
        case _:
            # A deliberate end, such as Decline, makes sense for a task only.
            kind = type(ended).__name__
            error = f"a hook cannot raise {kind}: {ended}"
            return HookAnswer(failure=StrategyError(error))
