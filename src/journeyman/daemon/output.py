"""Standard output belongs to the log: what anybody else writes becomes an event of it.

A strategy in the daemon's process may print, warn, use `logging`, call a library in C
or start a program. Neither of these may put a line of its own between those of the log,
which others read as JSON.
"""

import asyncio
import atexit
import io
import os
import select
import sys
import threading
from collections.abc import Iterator
from contextlib import (
    ExitStack,
    contextmanager,
    redirect_stderr,
    redirect_stdout,
    suppress,
)
from dataclasses import dataclass, field
from functools import partial
from typing import TextIO

from journeyman.daemon import events
from journeyman.lifecycle.events import STRATEGY_SAID
from journeyman.observability.events import Log
from journeyman.strategies.printed import PrintedLines
from journeyman.strategies.speaker import Speaking, speaker

OUTPUT, ERRORS = 1, 2
"""The descriptors that every program writes to."""
PIECE = 65_536
MOST_WAITING = 1 << 20
"""Bytes that are kept while the event loop is busy; more are counted."""
LONGEST_LINE = 65_536
"""Characters, or bytes; what is longer is told in parts."""


@contextmanager
def private_output() -> Iterator[TextIO]:
    """Yield a stream to standard output that stays when that is captured."""
    if not _is_standard(sys.stdout):
        yield sys.stdout
        return
    sys.stdout.flush()
    with os.fdopen(os.dup(OUTPUT), "w", encoding="utf-8", newline="\n") as stream:
        yield stream


def _is_standard(stream: TextIO) -> bool:
    """Return whether a stream writes to standard output; in tests it may not."""
    try:
        return stream.fileno() == OUTPUT
    except (OSError, ValueError):
        return False


@contextmanager
def captured_output(log: Log, limit: int = LONGEST_LINE) -> Iterator[None]:
    """Log what is written to standard output and error inside the block.

    The log itself must write to a `private_output`. Of what a strategy prints in one
    run, the first `limit` bytes are told.
    """
    with ExitStack() as stack:
        stack.enter_context(_captured_descriptors(log))
        printed = stack.enter_context(_PrintedText(log, limit))
        stack.enter_context(redirect_stdout(printed))
        stack.enter_context(redirect_stderr(printed))
        yield


@contextmanager
def nothing_afterwards() -> Iterator[None]:
    """Discard what is written after the block, where nothing makes events of it.

    A strategy in this process may print when Python ends, in exit handlers and
    finalizers. After a failure there is still our message on standard error.
    """
    try:
        yield
    except BaseException:
        _discard(OUTPUT)
        # Exit handlers run in reverse order: this one before those of strategies.
        atexit.register(_discard, ERRORS)
        raise
    _discard(OUTPUT, ERRORS)


def _discard(*descriptors: int) -> None:
    if not _is_standard(sys.stdout):
        return
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


class _PrintedText(io.TextIOWrapper):
    """What Python code prints, told under the strategy whose code is running.

    What is written to its `buffer` takes the way of other programs' output.
    """

    def __init__(self, log: Log, limit: int) -> None:
        super().__init__(io.FileIO(OUTPUT, "w", closefd=False), encoding="utf-8")
        self._log = log
        self._limit = limit
        self._begun: dict[Speaking | None, str] = {}
        self._printed: dict[Speaking, PrintedLines] = {}
        """What each run has printed that is not over."""

    def write(self, text: str) -> int:
        who = speaker()
        *lines, rest = (self._begun.pop(who, "") + text).split("\n")
        for line in lines:
            self._tell(line, who)
        if len(rest) > LONGEST_LINE:
            self._tell(rest, who)
        elif rest:
            self._begun[who] = rest
        if who is not None:
            who.at_end = partial(self._end, who)
        return len(text)

    def _tell(self, line: str, who: Speaking | None) -> None:
        if who is None:
            _tell(self._log, line)
            return
        printed = self._printed.setdefault(who, PrintedLines(self._limit))
        _tell(self._log, printed.take(line.encode(errors="backslashreplace")), who)

    def _end(self, who: Speaking | None) -> None:
        """Tell what has no end of line, and how much was left out."""
        self._tell(self._begun.pop(who, ""), who)
        if who is not None and who in self._printed:
            _tell(self._log, self._printed.pop(who).note, who)

    def close(self) -> None:
        for who in {*self._begun, *self._printed}:
            self._end(who)
        super().close()


@contextmanager
def _captured_descriptors(log: Log) -> Iterator[None]:
    """Capture what does not pass through Python: libraries in C, other programs."""
    reading, writing = os.pipe()
    kept = {number: os.dup(number) for number in (OUTPUT, ERRORS)}
    for number in kept:
        os.dup2(writing, number)
    os.close(writing)
    lines = _PipedLines(reading, log, asyncio.get_running_loop())
    lines.begin()
    try:
        yield
    finally:
        for number, original in kept.items():
            os.dup2(original, number)
            os.close(original)
        lines.end()


@dataclass(eq=False)
class _PipedLines:
    """Lines from a pipe; nobody knows who wrote them.

    A thread reads them: code on the event loop that writes more than a pipe holds, or
    runs a program that does, would otherwise wait for the loop for ever.
    """

    descriptor: int
    log: Log
    loop: asyncio.AbstractEventLoop
    _begun: bytes = field(default=b"", init=False)
    _waiting: bytearray = field(default_factory=bytearray, init=False)
    """What was read and is not told yet; the lock is for it."""
    _left_out: int = field(default=0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def begin(self) -> None:
        """Begin to read."""
        self._ended, self._end = os.pipe()
        self._reader = threading.Thread(target=self._read, daemon=True)  # noqa: TID251 - see above
        self._reader.start()

    def _read(self) -> None:
        poll = select.poll()
        for descriptor in (self.descriptor, self._ended):
            poll.register(descriptor, select.POLLIN)
        while (self._ended, select.POLLIN) not in poll.poll():
            if piece := os.read(self.descriptor, PIECE):
                self._keep(piece)
            else:
                poll.unregister(self.descriptor)  # some code has closed both outputs

    def _keep(self, piece: bytes) -> None:
        with self._lock:
            is_first = not self._waiting
            fits = piece[: MOST_WAITING - len(self._waiting)]
            self._waiting += fits
            self._left_out += len(piece) - len(fits)
        if is_first:
            self.loop.call_soon_threadsafe(self._tell_all)

    def _tell_all(self) -> None:
        with self._lock:
            text, self._waiting = self._begun + self._waiting, bytearray()
            left_out, self._left_out = self._left_out, 0
        *lines, self._begun = text.split(b"\n")
        for line in lines:
            self._tell(line)
        if len(self._begun) > LONGEST_LINE or left_out:
            rest, self._begun = self._begun, b""
            self._tell(rest)
        if left_out:
            _tell(self.log, f"{left_out} bytes more, while the event loop was busy")

    def end(self) -> None:
        """Read no more, and log all that was written, also without an end of line."""
        os.write(self._end, b".")
        self._reader.join()
        os.set_blocking(self.descriptor, False)
        with suppress(BlockingIOError):
            while piece := os.read(self.descriptor, PIECE):
                self._keep(piece)
        self._tell_all()
        self._tell(self._begun)
        for descriptor in (self.descriptor, self._ended, self._end):
            os.close(descriptor)

    def _tell(self, line: bytes) -> None:
        for start in range(0, len(line), LONGEST_LINE):
            part = line[start : start + LONGEST_LINE]
            _tell(self.log, part.decode(errors="replace"))


def _tell(log: Log, line: str, who: Speaking | None = None) -> None:
    if not line.strip():
        return
    if who is None:
        log.emit(events.PRINTED, text=line)
        return
    said: dict[str, object] = {"message": "printed", "details": {"text": line}}
    log.emit(STRATEGY_SAID, severity="info", **said, **who.fields)
