"""A watchdog beside the process: it ends a daemon whose event loop no longer turns.

Code that neither returns nor awaits, and catches what is raised into it, makes the
daemon deaf for ever: to its network, its owner, and to signals. Nothing inside can be
relied on then. A thread needs the interpreter's lock, which C code may hold, and a
timer also strikes where the machine, or the daemon, was only stopped for a while.

So a child process (`watchdog_child.py`), begun before anything was read, is sent a byte
now and then. When too many seconds bring none, while the daemon is not stopped, it
sends SIGABRT: then `faulthandler` writes the stack from a C signal handler, and the
process ends. Nothing is lost by that, as by any kill. The next start reads the stack,
names the strategy in it, and calls nothing of that strategy until its file or its
settings have changed. A crash in C code leaves its stack in the same way.
"""

import faulthandler
import os
import re
import resource
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NoReturn, Self

from journeyman.daemon import events
from journeyman.domain.clock import Clock
from journeyman.journal.files import PRIVATE_FILE
from journeyman.lifecycle.quarantine import Quarantine
from journeyman.observability.events import Log
from journeyman.strategies.loading.loaded import LoadedStrategy, short_path

SILENT_SECONDS = 60.0
"""Far above what a slow disk takes, and what strategies may block (5 s) a few times."""
TICK_SECONDS = 10.0
"""Each wakes both processes."""
CHILD = Path(__file__).with_name("watchdog_child.py")
KEPT = ("LD_LIBRARY_PATH",)
"""What an interpreter may need to start."""
_LONGEST_STACK = 20_000
_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$', re.MULTILINE)


@dataclass(eq=False)
class Watchdog:
    """The child process, and what feeds it. Enter it before an event loop starts."""

    silent_seconds: float = SILENT_SECONDS
    """The daemon is ended when its loop has not turned for so long."""
    tick_seconds: float = TICK_SECONDS
    _pid: int = field(init=False, default=0)
    _pipe: int = field(init=False, default=-1)
    _stack: BinaryIO | None = field(init=False, default=None)

    def __enter__(self) -> Self:
        fed, self._pipe = os.pipe()
        daemon = os.getpid()
        self._pid = os.fork()
        if not self._pid:
            _become_watcher(daemon, fed, self.silent_seconds, self.tick_seconds)
        os.close(fed)
        os.set_blocking(self._pipe, False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._pipe)
        os.waitpid(self._pid, 0)
        if self._stack is not None:
            faulthandler.disable()
            self._stack.close()

    async def run(self, stack: Path, clock: Clock) -> NoReturn:
        """Feed it for ever; from now on a crash writes its stack to this file."""
        descriptor = os.open(stack, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
        self._stack = os.fdopen(descriptor, "wb")
        faulthandler.enable(self._stack)
        # A dump of the memory would have the token in it.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        while True:
            # Full or gone: somebody has stopped or killed it, and work goes on.
            with suppress(BlockingIOError, BrokenPipeError):
                os.write(self._pipe, b".")
            await clock.sleep(self.tick_seconds)


def _become_watcher(daemon: int, fed: int, seconds: float, tick: float) -> NoReturn:
    """Be the small process that watches; of our environment it gets next to nothing."""
    try:
        os.dup2(fed, 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        numbers = (str(number) for number in (daemon, seconds, tick))
        line = [sys.executable, "-I", "-S", str(CHILD), *numbers]
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        os.execve(sys.executable, line, kept)  # noqa: S606 - this interpreter, and a file of ours
    finally:
        os._exit(1)


# -- at the next start ---------------------------------------------------------------


def report_crash(
    stack: Path,
    strategies: Iterable[LoadedStrategy],
    folders: Iterable[Path],
    quarantine: Quarantine,
    log: Log,
) -> None:
    """Log how the last process crashed; call nothing more of the strategy that did it.

    In the folders of strategies there may be a file that is none, or none yet.

    One whose files have changed since is not to blame any more.
    """
    try:
        text = stack.read_text(errors="replace")[:_LONGEST_STACK]
        crashed_at = stack.stat().st_mtime
    except FileNotFoundError:
        return
    if not text:
        return
    found = next(_culprits(text, strategies), None)
    name, where = (found[0].name, found[1]) if found else ("", "")
    where = where or next(_places_in(text, folders), "")
    log.emit(events.CRASHED, strategy=name, where=where, stack=text)
    if found and crashed_at > max(map(_changed_at, found[0].sources), default=0.0):
        with quarantine.journal.tx("crash"):
            quarantine.mark_stuck(name, f"it stopped the whole daemon at {where}")
        quarantine.report(name)
    stack.unlink()


def _culprits(
    text: str, strategies: Iterable[LoadedStrategy]
) -> Iterator[tuple[LoadedStrategy, str]]:
    """Yield strategies in a stack, deepest frames first, and where each of them was."""
    files = {str(path): one for one in strategies for path in (one.path, *one.sources)}
    for file, line, function in _FRAME.findall(text):
        if file in files:
            yield files[file], _place(file, line, function)


def _places_in(text: str, folders: Iterable[Path]) -> Iterator[str]:
    """Yield the places in a stack that lie in these folders, deepest frames first."""
    whole = [folder.resolve() for folder in folders]
    for file, line, function in _FRAME.findall(text):
        if any(Path(file).resolve().is_relative_to(folder) for folder in whole):
            yield _place(file, line, function)


def _place(file: str, line: str, function: str) -> str:
    return f"{short_path(Path(file))}:{line} in {function}"


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
