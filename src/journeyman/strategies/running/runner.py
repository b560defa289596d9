"""The one door for running a strategy, wherever it runs."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, Self

from journeyman.domain.tasks import Task
from journeyman.strategies.api import Context
from journeyman.strategies.api.outcomes import Decline
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import RunOutcome
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.loop import run_on_loop
from journeyman.strategies.running.process import ProcessRunner
from journeyman.strategies.running.thread import ThreadRunner

BLOCK_SECONDS: Final = 5.0
"""One step on the loop may take so long; everything else waits meanwhile."""
GRACE_SECONDS: Final = 2.0
"""How long a run may go on after its time, to clean up."""

_USUAL_ISOLATION: Final = Isolation()


class Runner:
    """Runs strategies; whatever the author's code does, it ends as a `RunOutcome`."""

    def __init__(
        self,
        *,
        block_limit: float | None = BLOCK_SECONDS,
        grace_seconds: float = GRACE_SECONDS,
        isolation: Isolation | None = _USUAL_ISOLATION,
    ) -> None:
        """Set the limits.

        Args:
            block_limit: seconds that one step may hold the loop; None: any, for
                simulated time.
            grace_seconds: what a run may take to end after its limit, or when the
                caller is cancelled.
            isolation: the limits of processes; None, for simulated time: strategies
                that ask for a process run on the loop.
        """
        self._block_limit = block_limit
        self._grace = grace_seconds
        self._threads = ThreadRunner(grace_seconds)
        self._processes: ProcessRunner | None = None
        if isolation is not None:
            self._processes = ProcessRunner(
                isolation=isolation, grace_seconds=grace_seconds
            )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Keep processes warm until the end of the block; then none of them is left.

        Outside of it a process is started for each task, and ended with it.
        """
        if self._processes is None:
            yield self
        else:
            async with self._processes.running():
                yield self

    def serve(self, strategies: Iterable[LoadedStrategy]) -> None:
        """Keep processes warm for those of these strategies that run in one.

        The processes of all others end, once their tasks have.
        """
        if self._processes is not None:
            self._processes.serve(one for one in strategies if one.runner == "process")

    async def run(
        self,
        loaded: LoadedStrategy,
        task: Task,
        context: Context,
        *,
        timeout_seconds: float,
        at_most: float | None = None,
    ) -> RunOutcome:
        """Run one task; the strategy's own `timeout` goes before `timeout_seconds`.

        Neither goes beyond `at_most`, in seconds: the time until the task's deadline.
        Only the cancellation of the caller and Ctrl-C are raised.
        """
        if lack := loaded.instance.lack(task):
            return Decline(lack)
        limit = timeout_seconds if loaded.timeout is None else loaded.timeout
        limit = limit if at_most is None else min(limit, at_most)
        if loaded.runner == "process" and self._processes is not None:
            return await self._processes.run(loaded, task, context, limit)
        call = partial(loaded.run, **loaded.arguments(task, context))
        if loaded.runner == "thread":
            return await self._threads.run(loaded, call, context, limit)
        try:
            return await run_on_loop(
                loaded,
                call,
                limit=limit,
                grace=self._grace,
                block_limit=self._block_limit,
            )
        finally:
            context.end()
