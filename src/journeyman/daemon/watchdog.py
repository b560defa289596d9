"""A watchdog beside the process: it ends a daemon whose event loop no longer turns.

Code that neither returns nor awaits, and catches what is raised into it, makes the
daemon deaf for ever: to its network, its owner, and to signals. Nothing inside can be
relied on then. A thread needs the interpreter's lock, which C code may hold, and a
timer also strikes where the machine, or the daemon, was only stopped for a while.

So a child process, forked before anything was read, is sent a byte every second. When
too many seconds bring none, while the daemon is not stopped, it sends SIGABRT: then
`faulthandler` writes the stack from a C signal handler, and the process ends. Nothing
is lost by that, as by any kill. The next start reads the stack, names the strategy in
it, and calls nothing of that strategy until its file or its settings have changed. A
crash in C code leaves its stack in the same way.
"""

import faulthandler
import os
import re
import resource
import select
import signal
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
TICK_SECONDS = 1.0
DUMP_SECONDS = 5.0
"""What a process may take to write its stack and to end."""
_LONGEST_STACK = 20_000
_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$', re.MULTILINE)
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


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
        self._pid = os.fork()
        if not self._pid:
            os.close(self._pipe)
            _watch(os.getppid(), fed, self.silent_seconds, self.tick_seconds)
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


def _watch(daemon: int, fed: int, seconds: float, tick: float) -> NoReturn:
    """Watch, in the child, until the daemon has ended."""
    try:
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        ready = select.poll()
        ready.register(fed, select.POLLIN)
        if _is_silent(daemon, fed, ready, seconds, tick):
            _end(daemon, ready, seconds)
    finally:
        os._exit(0)


def _is_silent(
    daemon: int, fed: int, ready: select.poll, seconds: float, tick: float
) -> bool:
    """Return True when nothing came for so long; False when the daemon has ended.

    What is counted are our own waits: they pass only while this machine runs.
    """
    silent, is_fed = 0.0, False
    while silent < seconds:
        if ready.poll(2000 * tick):
            if not os.read(fed, 4096):
                return False
            silent, is_fed = 0.0, True
        elif is_fed and not _is_stopped(daemon):
            silent += 2 * tick
    return os.getppid() == daemon


def _is_stopped(daemon: int) -> bool:
    """Return whether a signal or a debugger has stopped it, where Linux tells that."""
    try:
        stat = Path(f"/proc/{daemon}/stat").read_text(errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] in {"T", "t"}


def _end(daemon: int, ready: select.poll, seconds: float) -> None:
    said = f"journeyman: its event loop did not turn for {seconds:g} s; it is ended\n"
    os.write(2, said.encode())
    os.kill(daemon, signal.SIGABRT)
    # Its end of the pipe closes with it.
    if not ready.poll(1000 * DUMP_SECONDS):
        os.kill(daemon, signal.SIGKILL)


# -- at the next start ---------------------------------------------------------------


def report_crash(
    stack: Path, strategies: Iterable[LoadedStrategy], quarantine: Quarantine, log: Log
) -> None:
    """Log how the last process crashed; call nothing more of the strategy that did it.

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
            yield files[file], f"{short_path(Path(file))}:{line} in {function}"


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
