"""Standard output belongs to the log: what anybody else writes becomes an event of it.

A strategy in the daemon's process may print, warn, use `logging`, call a library in C
or start a program. Neither of these may put a line of its own between those of the log,
which others read as JSON.
"""

import asyncio
import atexit
import io
import os
import sys
from collections.abc import Iterator
from contextlib import (
    ExitStack,
    contextmanager,
    redirect_stderr,
    redirect_stdout,
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
    os.set_blocking(reading, False)
    kept = {number: os.dup(number) for number in (OUTPUT, ERRORS)}
    for number in kept:
        os.dup2(writing, number)
    os.close(writing)
    lines = _PipedLines(reading, log)
    loop = asyncio.get_running_loop()
    loop.add_reader(reading, lines.read)
    try:
        yield
    finally:
        for number, original in kept.items():
            os.dup2(original, number)
            os.close(original)
        loop.remove_reader(reading)
        while lines.read():
            pass
        lines.end()
        os.close(reading)


@dataclass(eq=False)
class _PipedLines:
    """Lines from a pipe; nobody knows who wrote them."""

    descriptor: int
    log: Log
    _begun: bytes = field(default=b"", init=False)

    def read(self) -> bool:
        """Read a piece; return whether there may be more."""
        try:
            piece = os.read(self.descriptor, PIECE)
        except BlockingIOError:
            return False
        *lines, self._begun = (self._begun + piece).split(b"\n")
        for line in lines:
            self._tell(line)
        if len(self._begun) > LONGEST_LINE:
            self.end()
        return bool(piece)

    def end(self) -> None:
        """Log what has no end of line."""
        rest, self._begun = self._begun, b""
        self._tell(rest)

    def _tell(self, line: bytes) -> None:
        _tell(self.log, line.decode(errors="replace"))


def _tell(log: Log, line: str, who: Speaking | None = None) -> None:
    if not line.strip():
        return
    if who is None:
        log.emit(events.PRINTED, text=line)
        return
    said: dict[str, object] = {"message": "printed", "details": {"text": line}}
    log.emit(STRATEGY_SAID, severity="info", **said, **who.fields)
