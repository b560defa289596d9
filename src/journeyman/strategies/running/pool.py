"""The children of one strategy: some warm, some at work, replaced when worn out."""

import os
from typing import Final

import anyio

from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.running.child import Child, ChildGoneError, Isolation, launch

START_SECONDS: Final = 60.0
"""Twice what the import of a strategy may take."""
LAST_LINES: Final = 12
"""Of what a child printed before it ended: the end of a traceback, mostly."""


class Pool:
    """Lends children to runs, one run at a time."""

    def __init__(
        self, loaded: LoadedStrategy, isolation: Isolation, *, keeps_warm: bool
    ) -> None:
        """Begin empty; `keeps_warm` False ends each child after its task."""
        self.loaded = loaded
        self._isolation = isolation
        self._most_idle = isolation.warm_children if keeps_warm else 0
        self._idle: list[Child] = []
        self._lent = 0
        self._ahead: anyio.Event | None = None
        """Set when the child that is started ahead has come, or has not."""
        self._is_closed = False

    def plans_ahead(self) -> bool:
        """Tell whether to `warm_up` now: there is no child at all, and may be one."""
        has_some = self._idle or self._lent or self._ahead is not None
        if has_some or self._is_closed or self._most_idle == 0:
            return False
        self._ahead = anyio.Event()
        return True

    async def warm_up(self) -> None:
        """Start the child that was planned, to wait for a task.

        Raises:
            NotStartedError: the strategy does not load in it.
            ChildGoneError: it ended at once, or took too long.
            OSError: the system gives no process, folder or pipe.
        """
        try:
            child = await self._start()
            if self._is_closed:
                await end_surely(child)
            else:
                self._idle.append(child)
        finally:
            if self._ahead is not None:
                self._ahead.set()
            self._ahead = None

    async def lend(self) -> Child:
        """Give a child that is ready for a task; `take_back` it in any case.

        Raises:
            NotStartedError: the strategy does not load in it.
            ChildGoneError: it ended at once, or took too long.
            OSError: the system gives no process, folder or pipe.
        """
        self._lent += 1
        try:
            return await self._next()
        except BaseException:
            self._lent -= 1
            raise

    def take_back(self, child: Child, *, is_sound: bool) -> bool:
        """Keep a lent child for the next task; False: it must be ended."""
        self._lent -= 1
        if (
            not is_sound
            or self._is_closed
            or child.is_over
            or child.tasks_done >= self._isolation.tasks_per_child
            or len(self._idle) >= self._most_idle
            or not child.is_alone
        ):
            return False
        self._idle.append(child)
        return True

    async def close(self) -> None:
        """End the waiting children; those at work end after their task."""
        self._is_closed = True
        idle, self._idle = self._idle, []
        async with anyio.create_task_group() as group:
            for child in idle:
                group.start_soon(end_surely, child)

    async def _next(self) -> Child:
        while self._idle or self._ahead is not None:
            if not self._idle and self._ahead is not None:
                await self._ahead.wait()
            elif (child := self._idle.pop()).is_alive:
                return child
            else:
                await end_surely(child)
        return await self._start()

    async def _start(self) -> Child:
        launched = launch(self.loaded, self._isolation, os.environ)
        child = Child(launched, self._isolation.output_bytes)
        await _until_ready(child)
        return child


async def _until_ready(child: Child) -> None:
    """Wait until a new child has loaded its strategy; else end it, and say why."""
    is_ready, reason = False, f"it was not ready after {START_SECONDS:g} s"
    try:
        with anyio.move_on_after(START_SECONDS):
            await child.become_ready()
            is_ready = True
    except ChildGoneError as error:
        reason = str(error)
    finally:
        if not is_ready:
            await end_surely(child)
    if not is_ready:
        printed = child.output.take()[-LAST_LINES:]
        raise ChildGoneError("\n".join([reason or child.last_words, *printed]))


async def end_surely(child: Child, grace: float = 0.0) -> None:
    """End a child even while the caller is being cancelled."""
    with anyio.CancelScope(shield=True):
        await child.end(grace)
