"""Group commit: steps of many tasks that are ready together share one durable commit.

A commit waits for the disk, and the event loop waits with it. Under load several
tasks are ready in one turn of the loop; their steps are written in one transaction,
each in a savepoint of its own, so that one that fails takes no other with it.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from journeyman.journal.database import Database

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Step:
    write: Callable[[], Any]
    written: asyncio.Future[Any]


class CommitGroup:
    """Collects the steps of one turn of the event loop, and commits them together."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._steps: list[_Step] = []

    async def commit(self, write: Callable[[], T]) -> T:
        """Run `write` inside a transaction; return when it is durable.

        A caller that is cancelled meanwhile has its step written all the same: what
        was decided before the cancellation is not lost by it.

        Raises:
            StateError: the disk refused; nothing of the whole group was kept.
            Exception: whatever `write` raised; nothing of this step was kept.
        """
        loop = asyncio.get_running_loop()
        if not self._steps:
            loop.call_soon(self._flush)
        step = _Step(write, loop.create_future())
        self._steps.append(step)
        result: T = await step.written
        return result

    def _flush(self) -> None:
        steps, self._steps = self._steps, []
        ended: list[tuple[_Step, Any, Exception | None]] = []
        try:
            with self._database.tx("group"):
                ended.extend(self._run(step) for step in steps)
        except Exception as error:  # noqa: BLE001 - it is told to every caller
            ended = [(step, None, error) for step in steps]
        for step, result, failure in ended:
            if step.written.cancelled():
                continue
            if failure is None:
                step.written.set_result(result)
            else:
                step.written.set_exception(failure)

    def _run(self, step: _Step) -> tuple[_Step, Any, Exception | None]:
        try:
            with self._database.savepoint():
                return step, step.write(), None
        except sqlite3.Error:
            raise  # the disk, not the step: the whole group is undone
        except Exception as error:  # noqa: BLE001 - it is told to its caller alone
            return step, None, error
