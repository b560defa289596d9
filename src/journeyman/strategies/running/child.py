"""One child as the daemon sees it: started, spoken to, ended with all it started."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from journeyman.strategies.child.kernel import children_of
from journeyman.strategies.child.messages import (
    FrameBuffer,
    FrameError,
    Message,
    Orders,
    pack,
)
from journeyman.strategies.loading.loaded import LoadedStrategy


@dataclass(frozen=True, kw_only=True, slots=True)
class Isolation:
    """The owner's limits; a strategy's own `needs` go before where they say so."""

    cpu_seconds: float = 300.0
    """Of one run, for each of its processes."""
    memory_mb: int = 512
    """Of each process, and of all of a child's together; `needs.memory_mb` goes
    before."""
    file_mb: int = 256
    """The largest file that it may write."""
    open_files: int = 256
    processes: int = 32
    """How many it may start beside its own, at once."""
    output_bytes: int = 65_536
    """Of what one run prints, and of its log; the rest is dropped and counted."""
    warm_children: int = 2
    """How many may wait for a task, for each strategy; one is started ahead."""
    tasks_per_child: int = 100
    """After so many a child is replaced, so that what it leaks does not add up."""
    environment: tuple[str, ...] = ()
    """Variables that are passed on, beside the harmless ones."""
    homes: Path | None = None
    """Where children have their folders; None: the system's temporary folder."""
    private: tuple[Path, ...] = ()
    """Folders that no child may reach."""


HARMLESS: Final = ("PATH", "LANG", "LANGUAGE", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""What a child's environment may have; and `LC_*`."""
PREFIX: Final = "child-"
"""How the names of children's folders begin."""
_SCRIPT: Final = Path(__file__).parents[1] / "child" / "__main__.py"
_OURS: Final = "JOURNEYMAN_"


@dataclass(frozen=True, slots=True)
class Channels:
    """The daemon's ends of a child's pipes."""

    requests: int
    replies: int
    control: int
    epitaph: int
    output: int


@dataclass(frozen=True, slots=True)
class Launched:
    """A child that was started; it has not said anything yet."""

    supervisor: "subprocess.Popen[bytes]"
    channels: Channels
    home: Path
    orders: Orders


def launch(
    loaded: LoadedStrategy, isolation: Isolation, environ: Mapping[str, str]
) -> Launched:
    """Start a supervisor, which starts the worker.

    Raises:
        OSError: the system gives no process, folder or pipe.
    """
    home = Path(tempfile.mkdtemp(prefix=PREFIX, dir=isolation.homes)).resolve()
    orders = orders_for(loaded, isolation, home)
    theirs, ours = _pipes()
    try:
        supervisor = subprocess.Popen(  # noqa: S603 - this interpreter, and our own file
            _command(loaded.name, theirs),
            stdin=subprocess.DEVNULL,
            stdout=theirs[-1],
            stderr=theirs[-1],
            cwd=home,
            env=environment_for(home, isolation, environ),
            pass_fds=theirs[:-1],
            start_new_session=True,
        )
    except BaseException:
        for descriptor in ours:
            os.close(descriptor)
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    return Launched(supervisor, Channels(*ours), home, orders)


def orders_for(loaded: LoadedStrategy, isolation: Isolation, home: Path) -> Orders:
    """Say what a child of this strategy is told."""
    needs = loaded.needs
    return Orders(
        strategy=loaded.name,
        file=str((loaded.file or loaded.path).resolve()),
        distribution=loaded.distribution,
        params=dict(loaded.params),
        home=str(home),
        private=tuple(str(path.resolve()) for path in isolation.private),
        files=tuple(str(Path(path).expanduser().absolute()) for path in needs.files),
        hosts=tuple(needs.hosts),
        daemon=(os.getpid(), os.getpgrp()),
        cpu_seconds=isolation.cpu_seconds,
        memory_mb=needs.memory_mb or isolation.memory_mb,
        file_mb=isolation.file_mb,
        open_files=isolation.open_files,
        processes=isolation.processes,
        log_bytes=isolation.output_bytes,
    )


def environment_for(
    home: Path, isolation: Isolation, environ: Mapping[str, str]
) -> dict[str, str]:
    """Give what is harmless, and what the owner passes on; never anything of ours."""
    wanted = {*HARMLESS, *isolation.environment}
    kept = {
        name: value
        for name, value in environ.items()
        if (name in wanted or name.startswith("LC_")) and not name.startswith(_OURS)
    }
    return kept | {"HOME": str(home), "TMPDIR": str(home)}


def _command(name: str, theirs: tuple[int, ...]) -> list[str]:
    descriptors = ",".join(map(str, theirs[:-1]))
    # Isolated (-I), no bytecode written (-B), nothing held back in buffers (-u).
    python = [sys.executable, "-I", "-B", "-u", str(_SCRIPT)]
    return [*python, name, descriptors, *filter(os.path.isabs, sys.path)]


def _pipes() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Give their ends and ours, in the order of `Channels`."""
    requests_in, requests = os.pipe()
    replies, replies_out = os.pipe()
    control_in, control = os.pipe()
    epitaph, epitaph_out = os.pipe()
    output, output_out = os.pipe()
    ours = (requests, replies, control, epitaph, output)
    for descriptor in ours:
        os.set_blocking(descriptor, False)
    theirs = (requests_in, replies_out, control_in, epitaph_out, output_out)
    return theirs, ours


OUTPUT_PIECE: Final = 65_536
MOST_LINES: Final = 50
"""Of what one run printed, as lines of the log; the rest follows in one."""
FLOOD: Final = 256
"""So many times the limit is no chattiness any more; draining it costs CPU time."""


class Output:
    """Reads one child's standard output and error, for as long as it lives."""

    def __init__(
        self, descriptor: int, limit: int, on_flood: Callable[[], None]
    ) -> None:
        """Begin to read; `limit` is in bytes for each run."""
        self.total = 0
        """Bytes since the run began."""
        self.is_flood = False
        """It printed so much in one run that its child was given up."""
        self._kept = bytearray()
        self._descriptor = descriptor
        self._limit = limit
        self._on_flood = on_flood
        self._is_open = True
        asyncio.get_running_loop().add_reader(descriptor, self.drain_some)

    def begin(self) -> None:
        """Forget what was printed; a new run begins."""
        self.total = 0
        self._kept.clear()

    def drain_some(self) -> bool:
        """Read one piece; tell whether there was any."""
        if not self._is_open:
            return False
        try:
            piece = os.read(self._descriptor, OUTPUT_PIECE)
        except BlockingIOError:
            return False
        if not piece:
            self.close()
            return False
        self.total += len(piece)
        self._kept += piece[: self._limit - len(self._kept)]
        if self.total > FLOOD * self._limit and not self.is_flood:
            self.is_flood = True
            self._on_flood()
        return True

    def take(self) -> list[str]:
        """Give the lines that were printed, up to those that still lie in the pipe."""
        self.drain()
        lines = self._kept.decode(errors="replace").splitlines()
        if len(lines) > MOST_LINES:
            lines = [*lines[: MOST_LINES - 1], "\n".join(lines[MOST_LINES - 1 :])]
        if self.total > self._limit:
            lines.append(f"({self.total - self._limit} bytes more were dropped)")
        return lines

    def drain(self) -> None:
        """Read what still lies in the pipe."""
        for _ in range(FLOOD):
            if not self.drain_some():
                break

    def close(self) -> None:
        """Read no more."""
        if self._is_open:
            self._is_open = False
            asyncio.get_running_loop().remove_reader(self._descriptor)


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
