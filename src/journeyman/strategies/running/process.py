"""Running strategies in children: the limits of time, and the end of what overstays.

A result counts only when it came whole, from a child that lives and in time. A child
that was killed takes its half-sent result with it.
"""

import shutil
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Self

import anyio
from anyio.abc import TaskGroup

from journeyman.domain.tasks import JSON, Task
from journeyman.domain.text import storable
from journeyman.strategies.api import Context
from journeyman.strategies.api.outcomes import Misconfigured, RetryLater
from journeyman.strategies.child import kernel
from journeyman.strategies.child.messages import (
    FrameError,
    Message,
    outcome_from,
    pack,
    run_message,
)
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import RunOutcome, StrategyError, TimedOut
from journeyman.strategies.running.child import (
    PREFIX,
    Child,
    ChildGoneError,
    Isolation,
    NotStartedError,
)
from journeyman.strategies.running.pool import Pool, end_surely


class ChildMessages:
    """Passes on one run's words to its context: log, progress, costs, output, state."""

    def __init__(self, context: Context, child: Child) -> None:
        self._context = context
        self._child = child

    def hear(self, message: Message) -> None:
        """Take a line of the log, the progress, or a cost; pass over anything else."""
        match message:
            case {"log": str(level), "event": str(event), "fields": dict(fields)}:
                self._log(level, event, fields)
            case {"progress": int() | float() as fraction, "note": str(note)}:
                self._context.progress(fraction, storable(note))
            case {"cost": int() | float() as credits_, "note": str(note)}:
                # What comes from there may be any JSON, also no fair number.
                with suppress(ValueError):
                    self._context.report_cost(credits_, storable(note))
            case _:
                pass

    def note_change(self, loaded: LoadedStrategy) -> None:
        """Tell, once for each child, that it runs other files than the daemon asked."""
        child = self._child
        if child.fingerprint != loaded.fingerprint and not child.tasks_done:
            self._context.log.warning(
                "its files have changed since the daemon loaded them: its new process "
                "runs them as they are now; `journeyman reload` lets the daemon follow"
            )

    def read_output(self) -> None:
        """Log what the strategy printed."""
        output = self._child.output
        for line in output.take():
            self._context.log.info("printed", text=line)
        output.begin()

    def read_end(self, told: Message) -> None:
        """Take over the state as the run left it, and tell of lines that were dropped.

        Raises:
            FrameError: it is no such message.
        """
        match told:
            case {
                "state": {"set": dict(changed), "gone": list(gone)},
                "dropped": count,
            }:
                self._apply(changed, gone)
                if count:
                    self._context.log.warning("lines of this log dropped", lines=count)
            case _:
                raise FrameError("a run ended without its state")

    def _apply(self, changed: dict[str, JSON], gone: list[str]) -> None:
        state = self._context.state
        for name in gone:
            state.pop(name, None)
        state.update(changed)

    def _log(self, level: str, event: str, fields: dict[str, object]) -> None:
        log = self._context.log
        tell = {"debug": log.debug, "warning": log.warning, "error": log.error}
        known = {name: value for name, value in fields.items() if name.isidentifier()}
        tell.get(level, log.info)(storable(event), **known)


class ProcessRunner:
    """Keeps a pool for each strategy. Outside `running` it starts a child per task."""

    def __init__(self, isolation: Isolation, grace_seconds: float) -> None:
        """Wait for `grace_seconds` for a cooperative child after its time."""
        self._isolation = isolation
        self._grace = grace_seconds
        self._pools: dict[str, Pool] = {}
        self._group: TaskGroup | None = None
        self._runs = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Keep children warm until the end of the block; then none is left."""
        self._sweep()
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                yield self
            finally:
                self._group = None
                group.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    for pool in self._pools.values():
                        await pool.close()

    def serve(self, strategies: Iterable[LoadedStrategy]) -> None:
        """Keep children warm for these strategies, and for no others.

        The children of others end, once their tasks have.
        """
        wanted = {loaded.name: loaded for loaded in strategies}
        for name in self._pools.keys() - wanted.keys():
            self._close(self._pools.pop(name))
        for loaded in wanted.values():
            self._refill(self._pool_of(loaded))

    async def run(
        self, loaded: LoadedStrategy, task: Task, context: Context, limit: float
    ) -> RunOutcome:
        """Run a task in a child; `limit` is in seconds."""
        pool = self._pool_of(loaded)
        try:
            child = await pool.lend()
        except NotStartedError as error:
            problem = f"it does not load in its process: {error}"
            return Misconfigured(
                problem, fix="correct its file, then `journeyman reload`"
            )
        except ChildGoneError as error:
            # No bar to all its tasks: the machine may only have been short of memory.
            first, *printed = str(error).splitlines()
            return _error(loaded, f"its process does not start: {first}", printed)
        except OSError as error:
            return RetryLater(f"no process can be started: {error}")
        return await self._run_in(child, pool, task, context, limit)

    async def _run_in(
        self, child: Child, pool: Pool, task: Task, context: Context, limit: float
    ) -> RunOutcome:
        hearing = ChildMessages(context, child)
        hearing.note_change(pool.loaded)
        self._runs += 1
        outcome: RunOutcome | None = None
        how = ""
        time = anyio.CancelScope()
        try:
            request = pack(run_message(self._runs, task, context))
            with anyio.move_on_after(limit) as time:
                told = await child.ask(request, self._runs, hearing.hear)
                outcome = outcome_from(told["ended"])
                hearing.read_end(told)
        except (ChildGoneError, FrameError) as error:
            outcome, how = None, str(error)
        except (TypeError, ValueError) as error:
            outcome = None
            how = f"the task or ctx.state cannot be handed over: {error}"
        finally:
            context.end()
            # Asked first where its time was over, or where the daemon wants it to end.
            grace = self._grace if outcome is None and not how else 0.0
            await self._part(child, pool, grace, is_done=outcome is not None)
        hearing.read_output()
        if outcome is not None:
            return outcome
        if time.cancelled_caught:
            return TimedOut(limit)
        # What it printed is in the log already.
        return _error(pool.loaded, f"its process is gone: {how or child.last_words}")

    async def _part(
        self, child: Child, pool: Pool, grace: float, *, is_done: bool
    ) -> None:
        """Put a child back, or end it; one that did its task ends in the background."""
        if pool.take_back(child, is_sound=is_done):
            return
        if is_done and self._group is not None:
            child.is_over = True
            self._group.start_soon(end_surely, child)
        else:
            await end_surely(child, grace)
        self._refill(pool)

    def _pool_of(self, loaded: LoadedStrategy) -> Pool:
        """Give its pool; another generation of it is closed, as is its code."""
        pool = self._pools.get(loaded.name)
        if pool is None or pool.loaded is not loaded:
            if pool is not None:
                self._close(pool)
            pool = Pool(loaded, self._isolation, keeps_warm=self._group is not None)
            self._pools[loaded.name] = pool
        return pool

    def _close(self, pool: Pool) -> None:
        if self._group is not None:
            self._group.start_soon(pool.close)

    def _refill(self, pool: Pool) -> None:
        if self._group is not None and pool.plans_ahead():
            self._group.start_soon(_warm_up, pool)

    def _sweep(self) -> None:
        """Remove what a daemon that was killed left, and hide what ours holds."""
        homes = self._isolation.homes
        if homes is not None:
            homes.mkdir(mode=0o700, parents=True, exist_ok=True)
            for left in homes.glob(f"{PREFIX}*"):
                shutil.rmtree(left, ignore_errors=True)
        if self._isolation.private:
            with suppress(OSError):
                # Then /proc shows our memory and environment to no process of ours,
                # and no core dump holds the token.
                kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


async def _warm_up(pool: Pool) -> None:
    # Whatever is wrong is told by the next run, which tries for itself.
    with suppress(NotStartedError, ChildGoneError, OSError):
        await pool.warm_up()


def _error(
    loaded: LoadedStrategy, error: str, printed: Sequence[str] = ()
) -> StrategyError:
    where = f"{'/'.join(loaded.path.parts[-2:])}:{loaded.line} in run"
    return StrategyError(error, where, "\n".join(printed))
