"""One run inside the worker: read the task, call the strategy, tell how it ended."""

import importlib
import inspect
import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from journeyman.domain import JSON
from journeyman.strategies.api import Context
from journeyman.strategies.child.endings import ended_message
from journeyman.strategies.child.frames import Message
from journeyman.strategies.child.limits import allow_cpu_seconds
from journeyman.strategies.child.orders import Orders
from journeyman.strategies.child.reporting import ChildLog, Replies
from journeyman.strategies.child.tasks import budget_from, moment_in, task_from
from journeyman.strategies.ended import Crashed, Ended
from journeyman.strategies.judgement import of_exception, of_return
from journeyman.strategies.loaded import Loaded


class Running:
    """Runs one strategy's tasks, one after the other."""

    def __init__(self, orders: Orders, loaded: Loaded, replies: Replies) -> None:
        self._orders = orders
        self._loaded = loaded
        self._replies = replies
        self._stop: Callable[[], None] = lambda: None
        signal.signal(signal.SIGTERM, self._on_term)
        if inspect.iscoroutinefunction(loaded.run):
            # Here, and not at the top: it is a third of what a child has to import.
            importlib.import_module("asyncio")

    def run(self, message: Message) -> Message:
        """Do the task of one message, and give the message that tells its end."""
        self._tidy_up()
        allow_cpu_seconds(self._orders.cpu_seconds)
        log = ChildLog(self._replies, message["run"], self._orders.log_bytes)
        state = message["state"]
        before = _written(state)
        context = self._context(message, log)
        ended = self._call(message, context)
        try:
            changes = _changes(before, state)
        except (TypeError, ValueError, RecursionError) as error:
            ended = self._misused_state(error)
            changes = {"set": {}, "gone": []}
        told = {"run": message["run"], "dropped": log.dropped, "state": changes}
        return told | {"ended": ended_message(ended)}

    def _context(self, message: Message, log: ChildLog) -> Context:
        began = time.monotonic()  # noqa: TID251 - the daemon's clock, carried on here
        then = moment_in(message, "now")
        if then is None:
            raise ValueError("a run without its time")

        def now() -> Any:  # noqa: ANN401 - a datetime
            passed = time.monotonic() - began  # noqa: TID251 - as above
            return then + timedelta(seconds=passed)

        context = Context(
            strategy=self._orders.strategy,
            log=log,
            state=message["state"],
            now=now,
            deadline=moment_in(message, "deadline"),
            workspace=partial(Path, self._orders.home),
            progress=log.progress,
            budget=budget_from(message),
            cancelled=lambda: False,
            canary=message["canary"],
            cost=log.cost,
        )
        self._stop = context.end
        return context

    def _call(self, message: Message, context: Context) -> Ended:
        task = task_from(message["task"])
        fields = task.input if isinstance(task.input, dict) else {}
        given: dict[str, Any] = {**fields, "task": task, "ctx": context}
        loaded = self._loaded
        arguments = {name: given[name] for name in loaded.run_arguments}
        try:
            returned = loaded.run(**arguments)
            if inspect.iscoroutine(returned):
                returned = self._await(returned)
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
            return of_exception(loaded, error)
        finally:
            context.end()
        return of_return(loaded, returned, 0.0)

    def _await(self, coroutine: Any) -> object:  # noqa: ANN401 - the author's coroutine
        """Run a coroutine on a loop of its own; SIGTERM cancels it."""
        import asyncio  # noqa: PLC0415 - see where a child begins

        with asyncio.Runner() as runner:
            loop, end = runner.get_loop(), self._stop

            async def main() -> object:
                task = asyncio.current_task()
                if task is not None:

                    def stop() -> None:
                        end()
                        loop.call_soon_threadsafe(task.cancel)

                    self._stop = stop
                return await coroutine

            return runner.run(main())

    def _on_term(self, _number: int, _frame: FrameType | None) -> None:
        self._stop()

    def _tidy_up(self) -> None:
        """Begin in an empty folder, wherever the last run went."""
        home = self._orders.home
        os.chdir(home)
        with os.scandir(home) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    with suppress(OSError):
                        Path(entry.path).unlink()

    def _misused_state(self, error: Exception) -> Crashed:
        text = f"ctx.state holds what JSON cannot say: {error}"
        loaded = self._loaded
        where = f"{'/'.join(loaded.path.parts[-2:])}:{loaded.line} in run"
        return Crashed(error=text, where=where, traceback=text)


def _written(state: dict[str, JSON]) -> dict[str, str]:
    return {key: json.dumps(value, allow_nan=False) for key, value in state.items()}


def _changes(before: dict[str, str], state: dict[str, JSON]) -> Message:
    """Give the keys that were set or taken away; so two runs at once can both count."""
    keys: list[object] = list(state)
    if strangers := [key for key in keys if not isinstance(key, str)]:
        raise TypeError(f"the key {strangers[0]!r} is no string")
    after = _written(state)
    changed = {key: state[key] for key in after if before.get(key) != after[key]}
    return {"set": changed, "gone": [key for key in before if key not in after]}
