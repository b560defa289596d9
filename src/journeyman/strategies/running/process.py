"""Running strategies in processes: a pool of children for each, and their limits.

A result counts only when it arrived whole, from a child that lives and in time. A
child that was killed takes its half-sent result with it.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, Self

import anyio
from anyio.abc import TaskGroup

from journeyman.domain.text import storable
from journeyman.strategies.api import Context, Misconfigured, RetryLater
from journeyman.strategies.api.context import end_context
from journeyman.strategies.child import kernel, messages
from journeyman.strategies.child.metadata import remove_folder
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import RunOutcome, StrategyError, TimedOut
from journeyman.strategies.printed import last_lines
from journeyman.strategies.running.child import (
    PREFIX,
    Child,
    ChildGoneError,
    ChildKilledError,
    Isolation,
    NotStartedError,
    child_config,
    launch,
    new_home,
)
from journeyman.strategies.running.template import Template

START_SECONDS = 60.0
"""Twice what the import of a strategy may take."""
LINES_AT_ONCE = 50
"""Of what a child printed, into the log; then the daemon has a turn."""


How = Literal[
    "done", "timed out", "not loaded", "not started", "no process", "killed", "gone"
]
Report = Callable[[messages.Message], None]
"""Takes a message before the last of a run: log, progress, costs."""


@dataclass(frozen=True, slots=True)
class EndOfRun:
    """How a run in a child ended, in what JSON can carry: it may be far away."""

    how: How
    problem: str = ""
    """Why there is no last message."""
    last: messages.Message | None = None
    """With the outcome and the state; None: there is none."""


@dataclass(kw_only=True, eq=False)
class Pool:
    """The children of one strategy: some idle, some with a task."""

    config: messages.ChildConfig
    """Of each, but for its `home`."""
    fingerprint: str
    """Of the files, as they were when the daemon loaded them."""
    isolation: Isolation
    template: Template
    max_idle: int
    """0: each child ends after its task."""
    _idle: list[Child] = field(default_factory=list, init=False)
    _is_closed: bool = field(default=False, init=False)
    _uses: int = field(default=0, init=False)
    _is_watched: bool = field(default=False, init=False)

    async def acquire(self) -> Child:
        """Return a child that is ready for a task; `release` it in any case.

        Raises:
            NotStartedError: the strategy does not load in it.
            ChildKilledError: it did not even come to its strategy.
            ChildGoneError: it ended at once, or took too long.
            OSError: the system has no process, folder or pipe left.
        """
        self._uses += 1
        while self._idle:
            if (child := self._idle.pop()).is_alive:
                return child
            await end_shielded(child)
        return await self._start()

    def release(self, child: Child, *, is_reusable: bool) -> bool:
        """Keep a child for the next task; return False if it must be ended."""
        if (
            not is_reusable
            or self._is_closed
            or child.is_ending
            or child.tasks_done >= self.isolation.tasks_per_child
            or len(self._idle) >= self.max_idle
            or child.has_descendants
        ):
            return False
        self._idle.append(child)
        self._uses += 1
        return True

    async def watch(self) -> None:
        """End the children that wait once none was used for a while; once is enough."""
        if self._is_watched:
            return
        self._is_watched = True
        try:
            while self._idle:
                uses = self._uses
                await anyio.sleep(self.isolation.idle_seconds)
                if self._uses == uses:
                    await self._end_idle()
        finally:
            self._is_watched = False

    async def _end_idle(self) -> None:
        idle, self._idle = self._idle, []
        async with anyio.create_task_group() as group:
            for child in idle:
                group.start_soon(end_shielded, child)

    async def close(self) -> None:
        """End the idle children; the others end after their task."""
        self._is_closed = True
        await self._end_idle()

    async def _start(self) -> Child:
        """Start a child and wait until it has loaded its strategy, or else end it."""
        config = replace(self.config, home=str(new_home(self.isolation)))
        child = Child(launch(config, self.template))
        is_ready, reason = False, f"it was not ready after {START_SECONDS:g} s"
        try:
            with anyio.move_on_after(START_SECONDS):
                await child.become_ready()
                is_ready = True
        except ChildGoneError as error:
            reason = str(error)
        finally:
            if not is_ready:
                await end_shielded(child)
        if is_ready:
            return child
        if child.was_killed:
            raise ChildKilledError(reason or child.exit_reason)
        printed = last_lines(child.output.take())
        raise ChildGoneError("\n".join([reason or child.exit_reason, *printed]))


def hide_memory() -> None:
    """Hide our memory and environment in /proc from processes of this user.

    No core dump contains the token then, either.
    """
    with suppress(OSError):
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


async def end_shielded(child: Child, grace: float = 0.0) -> None:
    """End a child even while the caller is being cancelled."""
    with anyio.CancelScope(shield=True):
        await child.end(grace)


@dataclass(kw_only=True, eq=False)
class ProcessRunner:
    """Keeps a pool for each strategy. Outside `running` it starts a child per task."""

    isolation: Isolation
    grace_seconds: float
    """How long a cooperative child may take to end after its time."""
    template: Template | None = None
    """What children are forked from; None: one of its own."""
    _pools: dict[str, Pool] = field(default_factory=dict, init=False)
    _served: dict[str, LoadedStrategy] = field(default_factory=dict, init=False)
    """Whose pools they are, where they are those of this daemon."""
    _group: TaskGroup | None = field(default=None, init=False)
    _runs: int = field(default=0, init=False)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Keep children between tasks until the end of the block; then end them."""
        self._clean_up()
        given = self.template
        async with anyio.create_task_group() as group:
            self._group = group
            self.template = given or Template(self.isolation.environment)
            try:
                yield self
            finally:
                self._group = None
                group.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    for pool in self._pools.values():
                        await pool.close()
                if given is None:
                    self.template.close()
                self.template = given

    def _clean_up(self) -> None:
        """Remove what a killed daemon left behind, and hide the memory of this one."""
        homes = self.isolation.homes
        if homes is not None:
            homes.mkdir(mode=0o700, parents=True, exist_ok=True)
            for left in homes.glob(f"{PREFIX}*"):
                remove_folder(left)
        if self.isolation.private:
            hide_memory()

    def serve(self, strategies: Iterable[LoadedStrategy]) -> None:
        """End the children of all but these strategies.

        Children that have a task end after it.
        """
        wanted = {loaded.name: loaded for loaded in strategies}
        for name in list(self._pools):
            if wanted.get(name) is not self._served.get(name):
                self._close(self._pools.pop(name))

    def _pool_of(self, loaded: LoadedStrategy, template: Template) -> Pool:
        """Return a strategy's pool; one of another generation is closed."""
        if self._served.get(loaded.name) is not loaded:
            self._served[loaded.name] = loaded
            if (old := self._pools.pop(loaded.name, None)) is not None:
                self._close(old)
        config = child_config(loaded, self.isolation)
        return self.pool_for(loaded.name, config, loaded.fingerprint, template)

    def pool_for(
        self,
        key: str,
        config: messages.ChildConfig,
        fingerprint: str,
        template: Template,
    ) -> Pool:
        """Return the pool of this key; make one if there is none."""
        pool = self._pools.get(key)
        if pool is None:
            max_idle = 0 if self._group is None else self.isolation.warm_children
            pool = Pool(
                config=config,
                fingerprint=fingerprint,
                isolation=self.isolation,
                template=template,
                max_idle=max_idle,
            )
            self._pools[key] = pool
        return pool

    def _close(self, pool: Pool) -> None:
        if self._group is not None:
            self._group.start_soon(pool.close)

    async def run(
        self, loaded: LoadedStrategy, context: Context, limit: float, **asked: object
    ) -> RunOutcome:
        """Have a child do what is asked.

        Args:
            loaded: the strategy.
            context: what it gets as `ctx`; it is ended afterwards.
            limit: seconds.
            asked: the message: `task`, or `hook` with what it takes, or `wants`.
        """
        if self.template is not None:
            pool = self._pool_of(loaded, self.template)
            return await self._run(loaded, pool, context, limit, asked)
        with Template(self.isolation.environment, is_for_one=True) as template:
            pool = self._pool_of(loaded, template)
            del self._pools[loaded.name]
            return await self._run(loaded, pool, context, limit, asked)

    async def _run(
        self,
        loaded: LoadedStrategy,
        pool: Pool,
        context: Context,
        limit: float,
        asked: Mapping[str, object],
    ) -> RunOutcome:
        self._runs += 1
        try:
            request = messages.pack(
                messages.run_message(context, run=self._runs, **asked)
            )
            report = partial(take_report, context)
            ended = await self.carry_out(pool, request, self._runs, limit, report)
        except (TypeError, ValueError) as error:
            return cannot_be_sent(loaded, error)
        finally:
            end_context(context)
        return outcome_of(loaded, context, ended, limit)

    async def carry_out(
        self, pool: Pool, request: bytes, run: int, limit: float, report: Report
    ) -> EndOfRun:
        """Have a child do one run, and return how that ended.

        Args:
            pool: whose child.
            request: a packed message with the number of the run.
            run: that number.
            limit: seconds, from when a child has it.
            report: called with each message before the last: log, progress, costs.
        """
        try:
            child = await pool.acquire()
        except NotStartedError as error:
            return EndOfRun("not loaded", str(error))
        except ChildKilledError as error:
            return EndOfRun("killed", str(error))
        except ChildGoneError as error:
            return EndOfRun("not started", str(error))
        except OSError as error:
            return EndOfRun("no process", str(error))
        return await self._carry_out(child, pool, request, run, limit, report)

    async def _carry_out(
        self,
        child: Child,
        pool: Pool,
        request: bytes,
        run: int,
        limit: float,
        report: Report,
    ) -> EndOfRun:
        last: messages.Message | None = None
        problem = ""
        time = anyio.CancelScope()
        try:
            await _report_beginning(child, pool, report)
            with anyio.move_on_after(limit) as time:
                last = await child.run(request, run, report)
        except ChildGoneError as error:
            problem = str(error)
        finally:
            # Time to clean up where its time was over, or where the daemon stops.
            is_stopped = last is None and not problem
            grace = self.grace_seconds if is_stopped else 0.0
            await self._release(child, pool, grace, is_reusable=last is not None)
        await _report_output(child, report)
        if last is not None:
            return EndOfRun("done", last=last)
        if time.cancelled_caught:
            return EndOfRun("timed out")
        # What it printed is in the log already.
        how: How = "killed" if child.was_killed and not problem else "gone"
        return EndOfRun(how, problem or child.exit_reason)

    async def _release(
        self, child: Child, pool: Pool, grace: float, *, is_reusable: bool
    ) -> None:
        """Return a child to its pool, or end it; after a whole task, do not wait."""
        group = self._group
        if pool.release(child, is_reusable=is_reusable):
            if group is not None:
                group.start_soon(pool.watch)
            return
        if is_reusable and group is not None:
            child.is_ending = True
            group.start_soon(end_shielded, child)
        else:
            await end_shielded(child, grace)


async def _report_beginning(child: Child, pool: Pool, report: Report) -> None:
    """Report what was printed while it was loaded, and whether its files changed."""
    if child.fingerprint != pool.fingerprint and not child.tasks_done:
        changed = (
            "its files have changed since the daemon loaded them: its new process "
            "runs them as they are now; `journeyman reload` loads them everywhere"
        )
        report({"log": "warning", "event": changed, "fields": {}})
    await _report_output(child, report)


async def _report_output(child: Child, report: Report) -> None:
    lines = child.output.take()
    child.output.clear()
    for number, line in enumerate(lines, 1):
        report({"log": "info", "event": "printed", "fields": {"text": line}})
        if number % LINES_AT_ONCE == 0:
            # Shielded: the run is done, and its outcome must not be lost.
            await anyio.lowlevel.cancel_shielded_checkpoint()


def outcome_of(
    loaded: LoadedStrategy, context: Context, ended: EndOfRun, limit: float
) -> RunOutcome:
    """Return the outcome that a run in a child had; take over its state."""
    if ended.last is None:
        return _without_end(loaded, ended, limit)
    try:
        outcome = messages.outcome_from(ended.last.get("outcome", {}))
        _take_state(context, ended.last)
    except messages.FrameError as error:
        return _error(loaded, f"its process is gone: {error}")
    return outcome


_NOT_ITS_FAULT = {
    "no process": "no process can be started",
    "killed": "its process was killed from outside, or the machine is short of memory "
    "or far too busy",
}


def _without_end(loaded: LoadedStrategy, ended: EndOfRun, limit: float) -> RunOutcome:
    match ended.how:
        case "timed out":
            return TimedOut(limit)
        case "not loaded":
            return Misconfigured(
                f"it does not load in its process: {ended.problem}",
                fix="correct its file, then `journeyman reload`",
            )
        case "not started":
            # No quarantine at once: the machine may only have been short of memory.
            first, *printed = ended.problem.splitlines() or [""]
            return _error(loaded, f"its process does not start: {first}", printed)
        case "no process" | "killed":
            # `work.max_attempts` still ends it, should the task be the reason.
            return RetryLater(f"{_NOT_ITS_FAULT[ended.how]}: {ended.problem}")
        case _:
            return _error(loaded, f"its process is gone: {ended.problem}")


def cannot_be_sent(loaded: LoadedStrategy, error: Exception) -> StrategyError:
    """Return the outcome of a run whose task or state is not JSON, or too large."""
    return _error(loaded, f"the task or ctx.state cannot be sent to it: {error}")


def take_report(context: Context, message: messages.Message) -> None:
    """Pass on a line of the log, the progress, or a cost; ignore anything else."""
    match message:
        case {"log": str(level), "event": str(event), "fields": dict(fields)}:
            known = level if level in ("debug", "warning", "error") else "info"
            context.log.write(known, storable(event), fields)
        case {"progress": int() | float() as fraction, "note": str(note)}:
            context.progress(fraction, storable(note))
        case {"cost": int() | float() as credits_, "note": str(note)}:
            with suppress(ValueError):  # not a valid amount
                context.report_cost(credits_, storable(note))
        case _:
            pass


def _take_state(context: Context, message: messages.Message) -> None:
    """Take over `ctx.state` as the run left it.

    Raises:
        FrameError: the message does not contain it.
    """
    match message:
        case {"state": {"set": dict(changed), "gone": list(gone)}, "dropped": dropped}:
            for name in gone:
                context.state.pop(name, None)
            context.state.update(changed)
            if dropped:
                context.log.warning("lines of this log dropped", lines=dropped)
        case _:
            raise messages.FrameError("a run ended without its state")


def _error(
    loaded: LoadedStrategy, error: str, printed: Sequence[str] = ()
) -> StrategyError:
    return StrategyError(error, loaded.place_of_run, "\n".join(printed))
