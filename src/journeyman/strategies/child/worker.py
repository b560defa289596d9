"""The worker: confines itself, loads the strategy, and runs task after task."""

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
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from journeyman.domain.tasks import JSON
from journeyman.strategies import outcomes
from journeyman.strategies.api import BudgetView, Context, StrategyLog
from journeyman.strategies.child import kernel, messages
from journeyman.strategies.child.confinement import confine, install_host_check
from journeyman.strategies.child.limits import allow_cpu_seconds
from journeyman.strategies.loading.definitions import installed_strategies
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import load as load_folder
from journeyman.strategies.loading.loader import load_file

MAX_NOTE = 200
"""Characters of the note on a cost."""
MAX_LINES = 200
"""Of the log, in one run; what is beyond is only counted."""


class Replies:
    """The pipe to the daemon; messages of several threads do not mix."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def send(self, message: messages.Message) -> None:
        """Send a message whole.

        Raises:
            ValueError: it is not JSON, or too large.
            TypeError: it contains what JSON cannot represent.
            OSError: the pipe is closed.
        """
        data = messages.pack(message)
        with self._lock:
            messages.write_all(self._descriptor, data)


@dataclass(eq=False)
class ChildLog(StrategyLog):
    """The author's log of one run, sent to the daemon within limits.

    Excess lines are dropped here, so that a flood costs the daemon nothing.
    """

    replies: Replies
    run: int
    """The number of the run."""
    bytes_left: int
    lines_left: int = MAX_LINES
    dropped: int = 0
    """Lines that were not sent."""

    def write(self, level: str, event: str, fields: dict[str, object]) -> None:
        """Send one line; values that JSON cannot represent are sent as their repr."""
        plain = {
            name: value
            if value is None or isinstance(value, bool | int | float | str)
            else repr(value)
            for name, value in fields.items()
        }
        size = len(str(event)) + sum(map(len, map(str, plain.values())))
        self._send({"log": level, "event": str(event), "fields": plain}, size)

    def progress(self, fraction: float, note: str) -> None:
        """Send how far the work is; it counts as a line."""
        self._send({"progress": fraction, "note": str(note)}, len(str(note)))

    def cost(self, credits_: float, note: str) -> None:
        """Send what the work cost, without limits: it is money."""
        cost = {"cost": credits_, "note": str(note)[:MAX_NOTE]}
        self.replies.send({"run": self.run, **cost})

    def _send(self, message: messages.Message, size: int) -> None:
        if self.lines_left <= 0 or size > self.bytes_left:
            self.dropped += 1
            return
        self.lines_left -= 1
        self.bytes_left -= size
        self.replies.send({"run": self.run, **message})


class TaskRunner:
    """Runs one strategy's tasks, one after the other."""

    def __init__(
        self, config: messages.ChildConfig, loaded: LoadedStrategy, replies: Replies
    ) -> None:
        self._config = config
        self._loaded = loaded
        self._replies = replies
        self._stop: Callable[[], None] = lambda: None
        signal.signal(signal.SIGTERM, self._on_term)
        if inspect.iscoroutinefunction(loaded.run):
            # Here, and not at the top: it is a third of what a child has to import.
            importlib.import_module("asyncio")

    def run(self, message: messages.Message) -> messages.Message:
        """Run the task of one message, and return the message with its outcome."""
        self._clear_home()
        allow_cpu_seconds(self._config.cpu_seconds)
        log = ChildLog(self._replies, message["run"], self._config.output_bytes)
        state = message["state"]
        before = _as_json(state)
        outcome = self._call(message, self._context(message, log))
        try:
            changes = _changes(before, state)
        except (TypeError, ValueError, RecursionError) as error:
            text = f"ctx.state contains what JSON cannot represent: {error}"
            outcome = outcomes.StrategyError(text, self._loaded.place_of_run, text)
            changes = {"set": {}, "gone": []}
        last = {"run": message["run"], "dropped": log.dropped, "state": changes}
        return last | {"outcome": messages.outcome_message(outcome)}

    def _clear_home(self) -> None:
        """Begin in an empty folder, wherever the last run left the process."""
        home = self._config.home
        os.chdir(home)
        with os.scandir(home) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    with suppress(OSError):
                        Path(entry.path).unlink()

    def _context(self, message: messages.Message, log: ChildLog) -> Context:
        began = time.monotonic()  # noqa: TID251 - continues the daemon's clock here
        sent_at = datetime.fromisoformat(message["now"])

        def now() -> datetime:
            passed = time.monotonic() - began  # noqa: TID251 - as above
            return sent_at + timedelta(seconds=passed)

        context = Context(
            strategy=self._config.strategy,
            log=log,
            state=message["state"],
            now=now,
            deadline=messages.moment_from(message["deadline"]),
            workspace=partial(Path, self._config.home),
            progress=log.progress,
            budget=BudgetView(**message["budget"]),
            cancelled=lambda: False,
            canary=message["canary"],
            cost=log.cost,
        )
        self._stop = context.end
        return context

    def _call(self, message: messages.Message, context: Context) -> outcomes.RunOutcome:
        loaded = self._loaded
        arguments = loaded.arguments(messages.task_from(message["task"]), context)
        try:
            returned = loaded.run(**arguments)
            if inspect.iscoroutine(returned):
                returned = self._await(returned)
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
            return outcomes.outcome_of_exception(loaded, error)
        finally:
            context.end()
        return outcomes.outcome_of_return(loaded, returned)

    def _await(self, coroutine: Coroutine[Any, Any, object]) -> object:
        """Run a coroutine on a new loop; SIGTERM cancels it."""
        import asyncio  # noqa: PLC0415 - see the start of this class

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


def _as_json(state: dict[str, JSON]) -> dict[str, str]:
    return {key: json.dumps(value, allow_nan=False) for key, value in state.items()}


def _changes(before: dict[str, str], state: dict[str, JSON]) -> messages.Message:
    """Return the keys that were set or removed, so that two runs at once can count."""
    keys: list[object] = list(state)
    if invalid := [key for key in keys if not isinstance(key, str)]:
        raise TypeError(f"the key {invalid[0]!r} is not a string")
    after = _as_json(state)
    changed = {key: state[key] for key in after if before.get(key) != after[key]}
    return {"set": changed, "gone": [key for key in before if key not in after]}


class NotLoadedError(Exception):
    """The strategy does not load here; the message says why and what to do."""


def load(config: messages.ChildConfig) -> LoadedStrategy:
    """Load the strategy with the daemon's parameters.

    Raises:
        NotLoadedError: it cannot be loaded, or is no longer in the file.
    """
    name, params = config.strategy, {config.strategy: config.params}
    if config.distribution:
        # The home is empty, so that nothing but the package's strategies is loaded.
        names = [
            one.name
            for one in installed_strategies()
            if one.distribution == config.distribution
        ]
        loading = load_folder(Path(config.home), params, names)
    else:
        loading = load_file(Path(config.file), params)
    for loaded in loading.strategies:
        if loaded.name == name:
            return loaded
    problems = "\n".join(map(str, loading.problems))
    raise NotLoadedError(problems or f"{config.file} no longer contains {name!r}")


MAX_NAME_BYTES = 15
"""Of a process's name (man 2 prctl, PR_SET_NAME)."""


def work(config: messages.ChildConfig, requests: int, replies: int) -> NoReturn:
    """Run tasks until the daemon closes the pipe of requests; never return.

    Whatever goes wrong here ends the process; the supervisor reports it.
    """
    code = 1
    try:
        _prepare(config, (requests, replies))
        _serve(config, requests, Replies(replies))
        code = 0
    except BaseException:  # noqa: BLE001 - the daemon reads it as this process's output
        traceback.print_exc()
    finally:
        # Not sys.exit: the author's exit handlers are not waited for.
        os._exit(code)


def _prepare(config: messages.ChildConfig, pipes: tuple[int, int]) -> None:
    # A session and group of its own: a signal to its own group spares the supervisor.
    os.setsid()
    os.umask(0o077)
    os.chdir(config.home)
    for descriptor in pipes:
        os.set_inheritable(descriptor, False)
    with suppress(OSError):
        name = f"jm:{config.strategy}".encode()[:MAX_NAME_BYTES]
        kernel.prctl(kernel.PR_SET_NAME, name)


def _serve(config: messages.ChildConfig, requests: int, replies: Replies) -> None:
    me = os.getpid()
    confine(config)
    install_host_check(config)
    try:
        loaded = load(config)
    except NotLoadedError as error:
        replies.send({"refused": str(error)})
        return
    runner = TaskRunner(config, loaded, replies)
    replies.send({"ready": me, "fingerprint": loaded.fingerprint})
    while (message := messages.read_frame(requests)) is not None:
        last = runner.run(message)
        if os.getpid() != me:
            # The author forked, and this is the copy: it must not reply as well.
            os._exit(0)
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):  # the author may have closed or replaced it
                stream.flush()
        replies.send(last)
