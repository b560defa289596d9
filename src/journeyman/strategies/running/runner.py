"""Running a strategy, wherever it runs."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
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
"""What one step on the loop may take; everything else waits meanwhile."""
GRACE_SECONDS: Final = 2.0
"""How long a run may continue after its time, to clean up."""


@dataclass(kw_only=True, eq=False)
class Runner:
    """Runs strategies; whatever the author's code does, it ends as a `RunOutcome`."""

    block_limit: float | None = BLOCK_SECONDS
    """Seconds that one step may block the loop; None, for simulated time: any."""
    grace_seconds: float = GRACE_SECONDS
    """What a run may take to end after its limit, or when the caller is cancelled."""
    isolation: Isolation | None = field(default_factory=Isolation)
    """The limits of processes; None, for simulated time: strategies that declare a
    process run on the loop."""
    _threads: ThreadRunner = field(init=False)
    _processes: ProcessRunner | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        grace = self.grace_seconds
        self._threads = ThreadRunner(grace_seconds=grace)
        if self.isolation is not None:
            self._processes = ProcessRunner(
                isolation=self.isolation, grace_seconds=grace
            )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Keep processes warm until the end of the block; then end all of them.

        Outside of it, each task gets a process of its own.
        """
        if self._processes is None:
            yield self
        else:
            async with self._processes.running():
                yield self

    def serve(self, strategies: Iterable[LoadedStrategy]) -> None:
        """Keep processes warm for those of these strategies that run in one.

        The processes of all others end after their tasks.
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
        """Run one task; the strategy's own `timeout` overrides `timeout_seconds`.

        Neither exceeds `at_most`, in seconds: the time until the task's deadline.
        Only the cancellation of the caller and Ctrl-C are raised.
        """
        if problem := loaded.instance.input_problem(task):
            return Decline(problem)
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
                grace=self.grace_seconds,
                block_limit=self.block_limit,
            )
        finally:
            context.end()
