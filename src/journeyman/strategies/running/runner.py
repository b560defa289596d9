"""Running a strategy, wherever it runs."""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from types import CoroutineType
from typing import Any, Self, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import anyio

from journeyman.domain.tasks import NewTask, Result, Task
from journeyman.domain.text import storable
from journeyman.strategies import outcomes, watchdog
from journeyman.strategies.api import Context
from journeyman.strategies.api.context import end_context, report_through
from journeyman.strategies.api.outcomes import (
    Decline,
    Misconfigured,
    OutcomeReport,
    RetryLater,
)
from journeyman.strategies.child import messages
from journeyman.strategies.child.description import answer_from
from journeyman.strategies.loading.confined import AnswerError, ConfinedStrategy
from journeyman.strategies.loading.loaded import PROCESSES, LoadedStrategy, ToldBlock
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.cluster import Cluster
from journeyman.strategies.running.process import ProcessRunner
from journeyman.strategies.running.template import Template
from journeyman.strategies.speaker import Speaking

# As strings: neither can be subscripted at run time in every supported Python.
Coroutine: TypeAlias = "CoroutineType[Any, Any, Any]"
HostTask: TypeAlias = "asyncio.Task[Any]"
T = TypeVar("T")


async def run_on_loop(
    loaded: LoadedStrategy,
    call: Callable[[], Any],
    *,
    limit: float,
    grace: float,
    block_limit: float | None,
    told: watchdog.Told | None = None,
) -> outcomes.RunOutcome:
    """Run a strategy on the loop.

    Args:
        loaded: the strategy, for messages.
        call: calls its run method.
        limit: seconds that it may take in total.
        grace: seconds that it may take to clean up, once cancelled.
        block_limit: seconds that one step may block the loop; None: any.
        told: is told of a step that was slow.
    """
    drive = _Drive(call, limit, grace, block_limit, told)
    try:
        returned = await drive
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything
        if drive.is_stopped_from_outside:
            raise
        if drive.expired:
            return outcomes.TimedOut(limit)
        return outcomes.outcome_of_exception(loaded, error, block_limit)
    return (
        outcomes.TimedOut(limit)
        if drive.expired
        else outcomes.outcome_of_return(loaded, returned)
    )


@dataclass(eq=False)
class _Drive:
    """An awaitable that steps a coroutine, with a timer that stops it for good.

    The timer cancels the asyncio task itself, as `asyncio.timeout` does: that also
    reaches a coroutine which hides in a shielded anyio scope.
    """

    call: Callable[[], Any]
    limit: float
    grace: float
    block_limit: float | None
    told: watchdog.Told | None
    expired: bool = field(default=False, init=False)
    is_stopped_from_outside: bool = field(default=False, init=False)
    _is_in_grace: bool = field(default=False, init=False)
    _is_abandoned: bool = field(default=False, init=False)
    _own_cancels: int = field(default=0, init=False)
    _timer: asyncio.TimerHandle | None = field(default=None, init=False)

    def __await__(self) -> Generator[Any, None, Any]:
        if inspect.iscoroutinefunction(self.call):
            started = self.call()  # Nothing of the author's runs before the first step.
        else:
            started = watchdog.timed(self.block_limit, self.told, self.call)
        if not inspect.iscoroutine(started):
            return started
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("strategies run inside an asyncio task")
        foreign_before = task.cancelling()
        self._arm(self.limit, self._expire, task)
        try:
            return (yield from self._steps(started, task))
        finally:
            self._close(started)
            self._disarm()
            for _ in range(self._own_cancels):
                task.uncancel()
            if task.cancelling() > foreign_before:
                self.is_stopped_from_outside = True

    def _steps(self, coroutine: Coroutine, task: HostTask) -> Generator[Any, None, Any]:
        resume = partial(coroutine.send, None)
        while True:
            try:
                awaited = watchdog.timed(self.block_limit, self.told, resume)
            except StopIteration as stop:
                return stop.value
            try:
                yield awaited
                resume = partial(coroutine.send, None)
            except asyncio.CancelledError as error:
                if self._is_abandoned:
                    raise
                if not self._is_in_grace:
                    self._begin_grace(task)
                resume = partial(coroutine.throw, error)
            except GeneratorExit:
                self.is_stopped_from_outside = True
                raise

    def _expire(self, task: HostTask) -> None:
        self.expired = True
        self._cancel(task)
        self._begin_grace(task)

    def _begin_grace(self, task: HostTask) -> None:
        # Once only: anyio repeats its cancellation in each cycle of the loop.
        self._is_in_grace = True
        self._arm(self.grace, self._abandon, task)

    def _abandon(self, task: HostTask) -> None:
        self._is_abandoned = True
        self._cancel(task)

    def _cancel(self, task: HostTask) -> None:
        self._own_cancels += 1
        task.cancel()

    def _arm(
        self,
        seconds: float,
        action: Callable[[HostTask], None],
        task: HostTask,
    ) -> None:
        self._disarm()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(seconds, action, task)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _close(self, coroutine: Coroutine) -> None:
        """End a coroutine that is still suspended, whatever it raises."""
        if coroutine.cr_frame is None:
            return
        try:
            watchdog.call(self.block_limit, coroutine.close)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001, S110 - it was abandoned before
            pass


MAX_ABANDONED = 3
"""Threads of one strategy that may be abandoned at once."""


class _Job:
    """One call in one thread, and how it ended."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.ended = anyio.Event()
        self.returned: Any = None
        self.error: BaseException | None = None
        self.on_late_return: Callable[[], None] | None = None
        self._call = call
        # The fields that the daemon bound to its log for this task apply there too.
        self._variables = contextvars.copy_context()
        self._loop = asyncio.get_running_loop()

    def start(self, name: str) -> None:
        threading.Thread(  # noqa: TID251 - this is the module that starts threads
            target=self._work, name=f"strategy-{name}", daemon=True
        ).start()

    def _work(self) -> None:
        try:
            self.returned = self._variables.run(self._call)
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
            self.error = error
        # The loop is closed if the daemon ended first; then nobody is waiting.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        self.ended.set()
        if self.on_late_return is not None:
            self.on_late_return()


async def run_aside(call: Callable[[], T], name: str, limit: float) -> T:
    """Return what a call returns, which is made in a thread of its own.

    Raises:
        TimeoutError: it took longer than `limit` seconds; the thread is abandoned.
    """
    job = _Job(call)
    job.start(name)
    with anyio.fail_after(limit):
        await job.ended.wait()
    if job.error is not None:
        raise job.error
    returned: T = job.returned
    return returned


@dataclass(kw_only=True, eq=False)
class ThreadRunner:
    """Runs strategies in threads, and counts those that never returned."""

    grace_seconds: float
    """How long to wait for a cooperative thread after its time."""
    _abandoned: WeakKeyDictionary[LoadedStrategy, int] = field(
        default_factory=WeakKeyDictionary, init=False
    )

    async def run(
        self,
        loaded: LoadedStrategy,
        call: Callable[[], Any],
        context: Context,
        limit: float,
    ) -> outcomes.RunOutcome:
        """Run a strategy in a thread; `limit` is in seconds."""
        stuck = self._abandoned.get(loaded, 0)
        if stuck >= MAX_ABANDONED:
            return Misconfigured(
                f"{stuck} of its runs never ended; their threads are still busy",
                fix="give the calls in run a time-out, or check ctx.cancelled in it",
            )
        job = _Job(call)
        report_through(context, asyncio.get_running_loop().call_soon_threadsafe)
        try:
            job.start(loaded.name)
        except RuntimeError:
            return RetryLater("the system has no more threads")
        if not await self._wait(loaded, job, context, limit):
            return outcomes.TimedOut(limit)
        if job.error is not None:
            return outcomes.outcome_of_exception(loaded, job.error)
        return outcomes.outcome_of_return(loaded, job.returned)

    async def _wait(
        self, loaded: LoadedStrategy, job: _Job, context: Context, limit: float
    ) -> bool:
        """Return whether the job ended within its limit; abandon it after the grace."""
        try:
            with anyio.move_on_after(limit):
                await job.ended.wait()
                return True
            end_context(context)
            with anyio.move_on_after(self.grace_seconds):
                await job.ended.wait()
            return False
        finally:
            if not job.ended.is_set():
                end_context(context)
                self._count(loaded, 1)
                job.on_late_return = partial(self._count, loaded, -1)

    def _count(self, loaded: LoadedStrategy, change: int) -> None:
        self._abandoned[loaded] = self._abandoned.get(loaded, 0) + change


BLOCK_SECONDS = 5.0
"""What one step on the loop may take; everything else waits meanwhile."""
CONSULT_SECONDS = 10.0
"""More than `wants` may take for one task, so that the child itself tells which."""
GRACE_SECONDS = 2.0
"""How long a run may continue after its time, to clean up."""


@dataclass(kw_only=True, eq=False)
class Runner:
    """Runs strategies; whatever the author's code does, it ends as a `RunOutcome`."""

    block_limit: float | None = BLOCK_SECONDS
    """Seconds that one step may block the loop; None, for simulated time: any."""
    told: ToldBlock | None = None
    """Is told of a strategy that has blocked the loop."""
    grace_seconds: float = GRACE_SECONDS
    """What a run may take to end after its limit, or when the caller is cancelled."""
    isolation: Isolation | None = field(default_factory=Isolation)
    """The limits of processes; None, for simulated time: strategies that declare a
    process run on the loop."""
    consult_seconds: float = CONSULT_SECONDS
    """What a confined strategy may take to decide about the tasks of one page."""
    template: Template | None = None
    """What processes are forked from; None: a template of its own."""
    cluster: Cluster | None = None
    """Runs those that the owner sends to a cluster; None: they run in a process."""
    _threads: ThreadRunner = field(init=False)
    _processes: ProcessRunner | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        grace = self.grace_seconds
        self._threads = ThreadRunner(grace_seconds=grace)
        if self.isolation is not None:
            self._processes = ProcessRunner(
                isolation=self.isolation,
                grace_seconds=grace,
                template=self.template,
            )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Keep processes between tasks until the end of the block; then end them.

        Outside of it, each task gets a new process.
        """
        async with AsyncExitStack() as stack:
            if self._processes is not None:
                await stack.enter_async_context(self._processes.running())
            if self.cluster is not None:
                await stack.enter_async_context(self.cluster.running())
            yield self

    def serve(self, strategies: Iterable[LoadedStrategy]) -> None:
        """End the processes of all but these strategies, after their tasks."""
        if self._processes is not None:
            self._processes.serve(one for one in strategies if one.runner in PROCESSES)

    async def run(
        self,
        loaded: LoadedStrategy,
        task: Task,
        context: Context,
        *,
        timeout_seconds: float,
        at_most: float | None = None,
    ) -> outcomes.RunOutcome:
        """Run one task; the strategy's own `timeout` overrides `timeout_seconds`.

        Neither exceeds `at_most`, in seconds: the time until the task's deadline.
        Only the cancellation of the caller and Ctrl-C are raised.
        """
        if problem := loaded.instance.input_problem(task):
            return Decline(problem)
        limit = timeout_seconds if loaded.timeout is None else loaded.timeout
        limit = limit if at_most is None else min(limit, at_most)
        if loaded.runner == "cluster" and self.cluster is not None:
            message = messages.task_message(task)
            return await self.cluster.run(
                loaded, context, limit, at_most=at_most, task=message
            )
        if loaded.runner in PROCESSES and self._processes is not None:
            message = messages.task_message(task)
            return await self._processes.run(loaded, context, limit, task=message)
        call = partial(loaded.run, **loaded.arguments(task, context))
        with Speaking(loaded.name, task.id):
            if loaded.runner == "thread":
                return await self._threads.run(loaded, call, context, limit)
            try:
                return await run_on_loop(
                    loaded,
                    call,
                    limit=limit,
                    grace=self.grace_seconds,
                    block_limit=self.block_limit,
                    told=partial(self.told, loaded) if self.told else None,
                )
            finally:
                end_context(context)

    async def call_hook(
        self,
        loaded: LoadedStrategy,
        name: str,
        context: Context,
        *,
        limit: float,
        asked: Mapping[str, object],
    ) -> outcomes.RunOutcome:
        """Call a hook of a confined strategy in its process.

        Args:
            loaded: the strategy.
            name: of the hook.
            context: what it gets as `ctx`.
            limit: seconds.
            asked: the `task` and its `outcome`, for `on_outcome`; the `post` and its
                `result`, for `on_result`.

        Returns:
            A result, whose output holds what the hook returned under `value`; or how
            the hook failed.
        """
        message: dict[str, object] = {"hook": name}
        if isinstance(task := asked.get("task"), Task):
            message["task"] = messages.task_message(task)
        if isinstance(outcome := asked.get("outcome"), OutcomeReport):
            message["outcome"] = asdict(outcome)
        if isinstance(post := asked.get("post"), NewTask):
            message["post"] = asdict(post)
        if "result" in asked:
            message["result"] = asked["result"]
        return await self._confined.run(loaded, context, limit, **message)

    async def consult(
        self, loaded: LoadedStrategy, tasks: Iterable[Task], context: Context
    ) -> None:
        """Ask a confined strategy whether it wants these tasks; keep its answers."""
        stand_in = loaded.instance
        if not isinstance(stand_in, ConfinedStrategy) or stand_in._blocked:
            return
        listed = list(tasks)
        ended = await self._confined.run(
            loaded,
            context,
            self.consult_seconds,
            wants=[messages.task_message(task) for task in listed],
        )
        answers: Mapping[str, object] = {}
        where = ended.where if isinstance(ended, outcomes.StrategyError) else ""
        is_fault = not isinstance(ended, RetryLater)
        failure = AnswerError(str(ended), where=where, is_fault=is_fault)
        match ended:
            case Result(output={"answers": dict(given), "blocked": str(blocked)}):
                answers, stand_in._blocked = given, storable(blocked)
            case outcomes.TimedOut():
                stand_in._blocked = "wants blocked its process; it is not asked again"
            case _:
                pass
        stand_in._answers = {
            task.id: answer_from(answers[task.id]) if task.id in answers else failure
            for task in listed
        }

    @property
    def _confined(self) -> ProcessRunner:
        if self._processes is None:
            raise RuntimeError("a confined strategy cannot run where no process can")
        return self._processes
