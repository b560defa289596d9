"""One child as the daemon sees it: started, spoken to, ended with all it started."""

import json
import os
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import anyio

from journeyman.strategies.child.descendants import children_of
from journeyman.strategies.child.frames import FrameBuffer, FrameError, Message, pack
from journeyman.strategies.runners.process.launch import Launched
from journeyman.strategies.runners.process.output import Output

PIECE: Final = 65_536
KILL_SECONDS: Final = 5.0
"""What a supervisor may take to end everything, before it is killed itself."""
MOST_MESSAGES: Final = 2_000
"""In one run. A worker that keeps to the rules sends at most a thousand costs
(`MOST_COSTS`), two hundred lines of its log (`MOST_LINES`) and its end."""
PLEASE_END: Final = b"T"
MEANINGS: Final = {
    "SIGXCPU": "it used more CPU time than isolation.cpu_seconds",
    "SIGSEGV": "it crashed in C code",
    "SIGKILL": "by somebody, or because the machine had no memory left",
}


class ChildGoneError(Exception):
    """The child ended, or does not keep to the protocol; the text says how."""


class NotStartedError(Exception):
    """The strategy does not load in its process; the text says why."""


class Child:
    """A supervisor and its worker."""

    def __init__(self, launched: Launched, output_bytes: int) -> None:
        """Take over what was launched; the worker is not ready yet."""
        self.tasks_done = 0
        self.holds: dict[str, str] = {}
        """By what the worker is shut in."""
        self.fingerprint = ""
        """Of the files that it loaded."""
        self.is_over = False
        """It has ended, or was told to; it takes no more tasks."""
        self._launched = launched
        self._pipes = launched.channels
        self._supervisor = launched.supervisor
        self._worker = 0
        self._frames = FrameBuffer()
        self._control_is_open = True
        self._epitaph = bytearray()
        self._is_buried = False
        self.output = Output(self._pipes.output, output_bytes, self._give_up)

    async def become_ready(self) -> None:
        """Hand over the orders, and wait until the strategy is loaded.

        Raises:
            NotStartedError: it does not load.
            ChildGoneError: the process ended.
        """
        await self._send(pack(self._launched.orders.as_message()))
        match await self._receive():
            case {"ready": dict(holds), "worker": int(worker), "fingerprint": str(f)}:
                self.holds = {str(name): str(means) for name, means in holds.items()}
                self._worker, self.fingerprint = worker, f
            case {"refused": str(problems)}:
                raise NotStartedError(problems)
            case _:
                raise ChildGoneError("it began with an unknown message")

    async def ask(
        self, request: bytes, run: int, hear: Callable[[Message], None]
    ) -> Message:
        """Hand over a task, and give the message that tells its end.

        Args:
            request: a packed message with the number of the run under `run`.
            run: that number.
            hear: called with each message before the last: the log, the progress.

        Raises:
            ChildGoneError: the process ended, or broke the protocol.
        """
        self.output.begin()
        self.tasks_done += 1
        await self._send(request)
        for _ in range(MOST_MESSAGES):
            message = await self._receive()
            if message.get("run") != run:
                break
            if "ended" in message:
                return message
            hear(message)
        raise ChildGoneError("it sent what nobody had asked for")

    @property
    def is_alive(self) -> bool:
        """Its supervisor has not ended."""
        return not self.is_over and self._supervisor.poll() is None

    @property
    def is_alone(self) -> bool:
        """Nothing that it started is left, as far as /proc tells."""
        if not self._worker:
            return False
        own = children_of(self._supervisor.pid)
        return own in ([self._worker], []) and not children_of(self._worker)

    async def end(self, grace: float) -> None:
        """End it and all that it started, and wait for that; once is enough.

        Args:
            grace: seconds between asking (SIGTERM) and killing; 0: kill at once.
        """
        self.is_over = True
        if grace and self._control_is_open:
            with suppress(BrokenPipeError, BlockingIOError):
                os.write(self._pipes.control, PLEASE_END)
            with anyio.move_on_after(grace):
                await self._bury()
        self._give_up()
        with anyio.move_on_after(KILL_SECONDS):
            await self._bury()
        if not self._is_buried:
            # Only if the supervisor itself was stopped or killed by somebody else.
            with suppress(ProcessLookupError):
                os.killpg(self._supervisor.pid, signal.SIGKILL)
            await self._bury()

    def _give_up(self) -> None:
        """Let go of the control pipe: the supervisor kills all, at once."""
        self.is_over = True
        if self._control_is_open:
            self._control_is_open = False
            os.close(self._pipes.control)

    async def _bury(self) -> None:
        """Wait until all are gone; then free what they held."""
        if self._is_buried:
            return
        while piece := await self._read(self._pipes.epitaph):
            self._epitaph += piece[: PIECE - len(self._epitaph)]
        self._supervisor.wait()
        self._give_up()
        self.output.drain()
        self.output.close()
        for name in ("requests", "replies", "epitaph", "output"):
            os.close(getattr(self._pipes, name))
        shutil.rmtree(self._launched.home, ignore_errors=True)
        self._is_buried = True

    @property
    def last_words(self) -> str:
        """How the worker ended, after `end`."""
        if self.output.is_flood:
            return "it was ended for printing without end"
        try:
            told = json.loads(self._epitaph)
            code, reason = int(told["code"]), str(told["reason"])
        except (ValueError, KeyError, TypeError):
            return f"its supervisor ended ({self._supervisor.returncode})"
        if reason:
            return f"it was ended for {reason}"
        if code >= 0:
            return f"it ended by itself with exit code {code}"
        return _killed_by(-code)

    async def _receive(self) -> Message:
        try:
            while (message := self._frames.take()) is None:
                piece = await self._read(self._pipes.replies)
                if not piece:
                    raise ChildGoneError
                self._frames.add(piece)
        except FrameError as error:
            raise ChildGoneError(f"it broke the protocol: {error}") from error
        return message

    async def _read(self, descriptor: int) -> bytes:
        while True:
            try:
                return os.read(descriptor, PIECE)
            except BlockingIOError:
                await anyio.wait_readable(descriptor)

    async def _send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._pipes.requests, view) :]
            except BlockingIOError:
                await anyio.wait_writable(self._pipes.requests)
            except BrokenPipeError as error:
                raise ChildGoneError from error


def _killed_by(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = str(number)
    meaning = MEANINGS.get(name, "")
    return f"it was killed by signal {name}{meaning and ': '}{meaning}"
