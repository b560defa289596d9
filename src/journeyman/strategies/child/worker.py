"""The worker: confines itself, loads the strategy, and runs task after task."""

import asyncio
import inspect
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from socket import socket
from types import FrameType
from typing import Any, NoReturn

from journeyman.domain.tasks import JSON, NewTask, Result, Task
from journeyman.strategies import outcomes
from journeyman.strategies.api import (
    BudgetView,
    Context,
    OutcomeReport,
    Skip,
    StrategyLog,
)
from journeyman.strategies.api.context import end_context
from journeyman.strategies.child import kernel, messages
from journeyman.strategies.child.confinement import confine, install_host_check
from journeyman.strategies.child.description import (
    answer_about,
    description_of,
    problem_message,
)
from journeyman.strategies.child.limits import allow_cpu_seconds
from journeyman.strategies.child.metadata import remove_folder
from journeyman.strategies.loading.definitions import installed_strategies
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import load as load_folder
from journeyman.strategies.loading.loader import load_file
from journeyman.strategies.watchdog import BlockedError

MAX_NOTE = 200
"""Characters of the note on a cost."""
WANTS_SECONDS = 5.0
"""What `wants` may take for one task."""
ANSWERING = frozenset({"on_claim", "post", "status"})
"""Hooks whose value is of interest."""
MOST_ITEMS = 100
"""Of what a hook yields; the rest is not asked for."""
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
        texts = (str(event), *plain, *map(str, plain.values()))
        size = sum(map(len, texts))
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
    """Does what one strategy is asked: tasks, hooks, and what it thinks of tasks."""

    def __init__(
        self, config: messages.ChildConfig, loaded: LoadedStrategy, replies: Replies
    ) -> None:
        self._config = config
        self._loaded = loaded
        self._replies = replies
        # One loop for as long as this process lives: what `on_start` has opened, such
        # as a client's connections, belongs to the loop that it was opened on.
        self._loop = asyncio.Runner()
        self._is_started = "on_start" not in loaded.hooks
        self._blocked = ""
        self._stop: Callable[[], None] = lambda: None
        signal.signal(signal.SIGTERM, self._on_term)

    def run(self, message: messages.Message) -> messages.Message:
        """Do what one message asks, and return the message with the outcome."""
        self._clear_home()
        allow_cpu_seconds(self._config.cpu_seconds)
        log = ChildLog(self._replies, message["run"], self._config.output_bytes)
        state = message["state"]
        before = _as_json(state)
        outcome = self._do(message, self._context(message, log))
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
                    remove_folder(entry.path)
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
            budget=partial(BudgetView, **message["budget"]),
            cancelled=lambda: False,
            canary=message["canary"],
            cost=log.cost,
        )
        self._stop = partial(end_context, context)
        return context

    def _do(self, message: messages.Message, ctx: Context) -> outcomes.RunOutcome:
        loaded = self._loaded
        try:
            if not self._is_started and message.get("hook") != "on_start":
                self._call_hook("on_start", ctx)
            match message:
                case {"hook": str(name)}:
                    return self._call_hook(name, ctx, **_reported(message))
                case {"wants": list(tasks)}:
                    return self._answers(map(messages.task_from, tasks))
                case _:
                    given = loaded.arguments(messages.task_from(message["task"]), ctx)
                    returned = self._finish(loaded.run(**given))
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
            return outcomes.outcome_of_exception(loaded, error)
        finally:
            end_context(ctx)
        return outcomes.outcome_of_return(loaded, returned)

    def _call_hook(
        self, name: str, ctx: Context, **given: object
    ) -> outcomes.RunOutcome:
        self._is_started = self._is_started or name == "on_start"
        returned = self._finish(self._loaded.hooks[name].bind(ctx=ctx, **given)())
        value = _hook_value(returned) if name in ANSWERING else None
        return Result({"value": json.loads(json.dumps(value, allow_nan=False))})

    def _answers(self, tasks: Iterable[Task]) -> outcomes.RunOutcome:
        """Ask `wants` about each task; one that blocks is not asked again."""
        answers: dict[str, JSON] = {}
        for task in tasks:
            if not self._blocked:
                try:
                    answers[task.id] = answer_about(self._loaded, task, WANTS_SECONDS)
                except BlockedError:
                    reason = f"wants took longer than {WANTS_SECONDS:g} s"
                    self._blocked = f"{reason}; it is not asked again"
        return Result({"answers": answers, "blocked": self._blocked})

    def _finish(self, returned: object) -> object:
        """Run a coroutine to its end, on the loop of this process."""
        if not inspect.iscoroutine(returned):
            return returned
        try:
            return self._loop.run(self._until_stopped(returned))
        finally:
            self._loop.run(_end_tasks())

    async def _until_stopped(self, coroutine: Coroutine[Any, Any, object]) -> object:
        """Await a coroutine; SIGTERM cancels it."""
        task, loop, end = asyncio.current_task(), self._loop.get_loop(), self._stop

        def stop() -> None:
            end()
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)

        self._stop = stop
        return await coroutine

    def _on_term(self, _number: int, _frame: FrameType | None) -> None:
        self._stop()


async def _end_tasks() -> None:
    """Cancel what a run has left on the loop: nobody would wait for it."""
    left = asyncio.all_tasks() - {asyncio.current_task()}  # noqa: TID251 - the child has no task groups
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left)  # noqa: TID251 - as above


def _reported(message: messages.Message) -> dict[str, object]:
    """Return what a hook may take beside `ctx`; only what it does take was sent."""
    given: dict[str, object] = {}
    if "task" in message:
        given["task"] = messages.task_from(message["task"])
    if "outcome" in message:
        given["outcome"] = OutcomeReport(**message["outcome"])
    if "post" in message:
        given["post"] = messages.new_task_from(message["post"])
    if "result" in message:
        given["result"] = message["result"]
    return given


def _hook_value(returned: object) -> object:
    """Return what a hook returned; tasks to post as a list of their fields."""
    if isinstance(returned, Skip):
        return {messages.SKIP: str(returned.reason), "for_now": bool(returned.for_now)}
    if isinstance(returned, NewTask):
        return _hook_value([returned])
    is_plain = isinstance(returned, str | bytes | dict)
    if is_plain or not isinstance(returned, Iterable):
        return returned
    items = list(islice(returned, MOST_ITEMS))
    if not any(isinstance(item, NewTask) for item in items):
        return items
    return {messages.NEW_TASKS: [_new_task(item) for item in items]}


def _new_task(item: object) -> dict[str, Any]:
    return asdict(item) if isinstance(item, NewTask) else {"not": type(item).__name__}


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


def described(config: messages.ChildConfig) -> messages.Message:
    """Return the descriptions of all that is in a file, and its problems."""
    if config.entry_point:
        loading = load_folder(Path(config.home), {}, [config.entry_point])
    else:
        loading = load_file(Path(config.file))
    return {
        "described": [description_of(one) for one in loading.strategies],
        "problems": [problem_message(one) for one in loading.problems],
    }


MAX_NAME_BYTES = 15
"""Of a process's name (man 2 prctl, PR_SET_NAME)."""


def work(
    config: messages.ChildConfig,
    common: Iterable[Path],
    pipes: tuple[int, int],
    supervisor: socket,
) -> NoReturn:
    """Run tasks until the daemon closes the pipe of requests; never return.

    Whatever goes wrong here ends the process; the supervisor reports it.
    """
    code = 1
    requests, replies = pipes
    try:
        _prepare(config, pipes)
        with supervisor:
            confine(config, common, supervisor)
        install_host_check(config)
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
    if config.libraries:
        # Before all else: what the strategy names wins over what the daemon has.
        sys.path.insert(0, config.libraries)
    for descriptor in pipes:
        os.set_inheritable(descriptor, False)
    with suppress(OSError):
        name = f"jm:{config.strategy}".encode()[:MAX_NAME_BYTES]
        kernel.prctl(kernel.PR_SET_NAME, name)


def _serve(config: messages.ChildConfig, requests: int, replies: Replies) -> None:
    me = os.getpid()
    if not config.strategy:
        replies.send(described(config))
        return
    try:
        loaded = load(config)
    except NotLoadedError as error:
        replies.send({"refused": str(error)})
        return
    runner = TaskRunner(config, loaded, replies)
    replies.send({"fingerprint": loaded.fingerprint})
    while (message := messages.read_frame(requests)) is not None:
        last = runner.run(message)
        if os.getpid() != me:
            # The author forked, and this is the copy: it must not reply as well.
            os._exit(0)
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):  # the author may have closed or replaced it
                stream.flush()
        replies.send(last)
