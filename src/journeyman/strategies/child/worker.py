"""The worker: shuts itself in, loads the strategy, and does task after task."""

import importlib
import inspect
import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final, NoReturn

from journeyman.domain.tasks import JSON
from journeyman.strategies.api import Context
from journeyman.strategies.child import kernel
from journeyman.strategies.child.confinement import confine, watch_network
from journeyman.strategies.child.kernel import allow_cpu_seconds
from journeyman.strategies.child.messages import (
    Message,
    Orders,
    budget_from,
    moment_in,
    outcome_message,
    pack,
    read_frame,
    task_from,
    write_all,
)
from journeyman.strategies.loading.installed import installed
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import load as load_folder
from journeyman.strategies.loading.loader import load_file
from journeyman.strategies.outcomes import (
    RunOutcome,
    StrategyError,
    outcome_of_exception,
    outcome_of_return,
)

LONGEST_NOTE: Final = 200
"""Characters that say what a cost was for."""
MOST_LINES: Final = 200
"""Of the log, in one run; what is beyond only counts."""


class Replies:
    """The pipe to the daemon; messages of several threads do not mix."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def send(self, message: Message) -> None:
        """Send a message whole.

        Raises:
            ValueError: it is not JSON, or too large.
            TypeError: it holds what JSON cannot say.
            OSError: the pipe is closed.
        """
        data = pack(message)
        with self._lock:
            write_all(self._descriptor, data)


class ChildLog:
    """The author's log of one run, told to the daemon within limits.

    A line is dropped here and not sent, so that a flood costs the daemon nothing.
    """

    def __init__(self, replies: Replies, run: int, most_bytes: int) -> None:
        self._replies = replies
        self._run = run
        self._bytes_left = most_bytes
        self._lines_left = MOST_LINES
        self.dropped = 0

    def debug(self, event: str, /, **fields: object) -> None:
        """Write for whoever looks for a fault."""
        self.tell("debug", event, fields)

    def info(self, event: str, /, **fields: object) -> None:
        """Write what happened."""
        self.tell("info", event, fields)

    def warning(self, event: str, /, **fields: object) -> None:
        """Write what the owner should know."""
        self.tell("warning", event, fields)

    def error(self, event: str, /, **fields: object) -> None:
        """Write what went wrong."""
        self.tell("error", event, fields)

    def progress(self, fraction: float, note: str) -> None:
        """Tell how far the work is, as one line more."""
        self._send({"progress": fraction, "note": str(note)}, len(str(note)))

    def cost(self, credits_: float, note: str) -> None:
        """Send what the work cost; it goes past the limits, for it is money."""
        told = {"cost": credits_, "note": str(note)[:LONGEST_NOTE]}
        self._replies.send({"run": self._run, **told})

    def tell(self, level: str, event: str, fields: dict[str, object]) -> None:
        """Send one line; values that JSON cannot say go as their repr."""
        told = {name: _plain(value) for name, value in fields.items()}
        size = len(str(event)) + sum(map(len, map(str, told.values())))
        self._send({"log": level, "event": str(event), "fields": told}, size)

    def _send(self, message: Message, size: int) -> None:
        if self._lines_left <= 0 or size > self._bytes_left:
            self.dropped += 1
            return
        self._lines_left -= 1
        self._bytes_left -= size
        self._replies.send({"run": self._run, **message})


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return repr(value)


class Running:
    """Runs one strategy's tasks, one after the other."""

    def __init__(
        self, orders: Orders, loaded: LoadedStrategy, replies: Replies
    ) -> None:
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
        outcome = self._call(message, context)
        try:
            changes = _changes(before, state)
        except (TypeError, ValueError, RecursionError) as error:
            outcome = self._misused_state(error)
            changes = {"set": {}, "gone": []}
        told = {"run": message["run"], "dropped": log.dropped, "state": changes}
        return told | {"ended": outcome_message(outcome)}

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

    def _call(self, message: Message, context: Context) -> RunOutcome:
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
            return outcome_of_exception(loaded, error)
        finally:
            context.end()
        return outcome_of_return(loaded, returned)

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

    def _misused_state(self, error: Exception) -> StrategyError:
        text = f"ctx.state holds what JSON cannot say: {error}"
        loaded = self._loaded
        where = f"{'/'.join(loaded.path.parts[-2:])}:{loaded.line} in run"
        return StrategyError(error=text, where=where, traceback=text)


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


class NotLoadedError(Exception):
    """The strategy does not load here; the text says why and what to do."""


def load(orders: Orders) -> LoadedStrategy:
    """Load it with the parameters in force.

    Raises:
        NotLoadedError: it cannot be loaded, or is not in the file any more.
    """
    if orders.distribution:
        # The home is empty, so that nothing but the package's own is loaded.
        ours = [one for one in installed() if one.distribution == orders.distribution]
        params, names = {orders.strategy: orders.params}, [one.name for one in ours]
        loading = load_folder(Path(orders.home), params, names)
    else:
        loading = load_file(Path(orders.file), {orders.strategy: orders.params})
    for loaded in loading.strategies:
        if loaded.name == orders.strategy:
            return loaded
    problems = "\n".join(map(str, loading.problems))
    raise NotLoadedError(problems or f"{orders.file} has no {orders.strategy!r} now")


NAME_BYTES = 15
"""Of a process's name (man 2 prctl, PR_SET_NAME)."""


def work(orders: Orders, requests: int, replies: int) -> NoReturn:
    """Do tasks until the daemon closes the requests, and never return.

    Whatever goes wrong here ends the process; the supervisor tells the daemon.
    """
    code = 1
    try:
        _settle(orders, (requests, replies))
        _serve(orders, requests, Replies(replies))
        code = 0
    except BaseException:  # noqa: BLE001 - told to the daemon as this process's output
        traceback.print_exc()
    finally:
        # Not sys.exit: no exit handler of the author's is waited for.
        os._exit(code)


def _settle(orders: Orders, pipes: tuple[int, int]) -> None:
    # A session and group of its own: what it signals as "my group" is not us.
    os.setsid()
    os.umask(0o077)
    os.chdir(orders.home)
    for descriptor in pipes:
        os.set_inheritable(descriptor, False)
    with suppress(OSError):
        name = f"jm:{orders.strategy}".encode()[:NAME_BYTES]
        kernel.prctl(kernel.PR_SET_NAME, name)


def _serve(orders: Orders, requests: int, replies: Replies) -> None:
    me, holds = os.getpid(), confine(orders)
    watch_network(orders)
    try:
        loaded = load(orders)
    except NotLoadedError as error:
        replies.send({"refused": str(error)})
        return
    running = Running(orders, loaded, replies)
    replies.send({"ready": holds, "worker": me, "fingerprint": loaded.fingerprint})
    while (message := read_frame(requests)) is not None:
        ended = running.run(message)
        if os.getpid() != me:
            # The author forked, and this is the other one: it must not speak too.
            os._exit(0)
        _flush()
        replies.send(ended)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the author may have closed or replaced it
            stream.flush()
