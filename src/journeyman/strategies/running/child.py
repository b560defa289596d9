"""One child as the daemon sees it: started, given tasks, ended with all it started."""

import asyncio
import os
import select
import signal
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import anyio

from journeyman.strategies.child import messages
from journeyman.strategies.child.kernel import children_of
from journeyman.strategies.child.metadata import remove_folder
from journeyman.strategies.loading.libraries import installed_for
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.printed import PrintedLines
from journeyman.strategies.running.template import Template


@dataclass(frozen=True, kw_only=True, slots=True)
class Isolation(messages.ProcessLimits):
    """The owner's limits; a strategy's `needs.memory_mb` overrides `memory_mb`."""

    warm_children: int = 2
    """How many may wait for a task, for each strategy."""
    idle_seconds: float = 10.0
    """How long they wait; then they are ended."""
    tasks_per_child: int = 100
    """After so many a child is replaced, so that its memory leaks do not add up."""
    environment: tuple[str, ...] = ()
    """Variables that are passed on, beside the harmless ones."""
    homes: Path | None = None
    """Where children have their folders; None: the system's temporary folder."""
    private: tuple[Path, ...] = ()
    """Folders that no child may access."""
    libraries: Path | None = None
    """Where the libraries are that strategies name; None: nowhere."""


PREFIX = "child-"
"""The first characters of the names of children's folders."""


@dataclass(frozen=True, slots=True)
class ChildPipes:
    """The daemon's ends of a child's pipes."""

    requests: int
    replies: int
    control: int
    report: int
    output: int


@dataclass(frozen=True, slots=True)
class LaunchedProcess:
    """A child that was asked for; it has not sent anything yet."""

    pipes: ChildPipes
    config: messages.ChildConfig


def launch(config: messages.ChildConfig, template: Template) -> LaunchedProcess:
    """Fork a supervisor off the template, which starts the worker.

    Raises:
        OSError: the system has no process or pipe left.
    """
    theirs, ours = _pipes()
    try:
        template.fork(theirs)
    except BaseException:
        for descriptor in ours:
            os.close(descriptor)
        Path(config.home).rmdir()
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    return LaunchedProcess(ChildPipes(*ours), config)


def new_home(isolation: Isolation) -> Path:
    """Create the folder of a child.

    Raises:
        OSError: the disk refuses.
    """
    return Path(tempfile.mkdtemp(prefix=PREFIX, dir=isolation.homes)).resolve()


def child_config(loaded: LoadedStrategy, isolation: Isolation) -> messages.ChildConfig:
    """Return the configuration of a child for this strategy; it has no `home` yet."""
    needs = loaded.needs
    limits = _limits(isolation)
    if needs.memory_mb is not None:
        limits["memory_mb"] = needs.memory_mb
    file = (loaded.file or loaded.path).resolve()
    return messages.ChildConfig(
        strategy=loaded.name,
        file=str(file),
        distribution=loaded.distribution,
        libraries=installed_for(file, isolation.libraries),
        params=dict(loaded.params),
        home="",
        private=_absolute(isolation.private),
        files=tuple(str(Path(path).expanduser().absolute()) for path in needs.files),
        hosts=tuple(needs.hosts),
        untouchable=(os.getpid(), os.getpgrp()),
        **limits,
    )


def describing_config(
    file: Path, entry_point: str, isolation: Isolation, home: Path
) -> messages.ChildConfig:
    """Return the configuration of a child that imports a file, and describes it.

    It gets no parameters, no network and no files: what its strategies need is not
    known yet.
    """
    return messages.ChildConfig(
        strategy="",
        file=str(file),
        entry_point=entry_point,
        distribution="",
        libraries=installed_for(file, isolation.libraries),
        params={},
        home=str(home),
        private=_absolute(isolation.private),
        files=(),
        hosts=(),
        untouchable=(os.getpid(), os.getpgrp()),
        **_limits(isolation),
    )


def _limits(isolation: Isolation) -> dict[str, Any]:
    return {
        one.name: getattr(isolation, one.name) for one in fields(messages.ProcessLimits)
    }


def _absolute(paths: Iterable[Path]) -> tuple[str, ...]:
    return tuple(str(path.resolve()) for path in paths)


def _pipes() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the child's ends and the daemon's, in the order of `ChildPipes`."""
    requests_in, requests = os.pipe()
    replies, replies_out = os.pipe()
    control_in, control = os.pipe()
    report, report_out = os.pipe()
    output, output_out = os.pipe()
    ours = (requests, replies, control, report, output)
    for descriptor in ours:
        os.set_blocking(descriptor, False)
    theirs = (requests_in, replies_out, control_in, report_out, output_out)
    return theirs, ours


PIECE = 65_536
FLOOD = 256
"""A child that prints so many times its limit is ended: reading costs CPU time."""


@dataclass(eq=False)
class ChildOutput:
    """Reads one child's standard output and error, for as long as it lives."""

    descriptor: int
    limit: int
    """In bytes for each run."""
    on_flood: Callable[[], None]
    total: int = field(default=0, init=False)
    """Bytes since the run began."""
    is_flood: bool = field(default=False, init=False)
    """It printed so much in one run that its child is ended."""
    _kept: bytearray = field(default_factory=bytearray, init=False)
    _is_open: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        asyncio.get_running_loop().add_reader(self.descriptor, self.read_piece)

    def clear(self) -> None:
        """Forget what was printed, before a new run."""
        self.total = 0
        self._kept.clear()

    def read_piece(self) -> bool:
        """Read one piece; return whether there was any."""
        if not self._is_open:
            return False
        try:
            piece = os.read(self.descriptor, PIECE)
        except BlockingIOError:
            return False
        if not piece:
            self.close()
            return False
        self.total += len(piece)
        self._kept += piece[: self.limit - len(self._kept)]
        if self.total > FLOOD * self.limit and not self.is_flood:
            self.is_flood = True
            self.on_flood()
        return True

    def take(self) -> list[str]:
        """Return the lines that were printed, with those that are still in the pipe."""
        self.drain()
        printed = PrintedLines(self.limit)
        taken = [printed.take(line) for line in bytes(self._kept).split(b"\n")]
        printed.left_out += self.total - len(self._kept)
        return [line for line in (*taken, printed.note) if line]

    def drain(self) -> None:
        """Read what is still in the pipe."""
        for _ in range(FLOOD):
            if not self.read_piece():
                break

    def close(self) -> None:
        """Stop reading."""
        if self._is_open:
            self._is_open = False
            asyncio.get_running_loop().remove_reader(self.descriptor)


KILL_SECONDS = 5.0
"""What a supervisor may take to end everything, before it is killed itself."""
REMOVE_SECONDS = 60.0
"""What it may take after that to remove its folder."""
MAX_MESSAGES = 2_000
"""In one run. A worker that keeps to the rules sends at most 1,000 costs
(`MOST_COSTS`), 200 lines of its log (`worker.MAX_LINES`) and the outcome."""
PLEASE_END = b"T"
SIGNALS = {
    "SIGXCPU": "it used more CPU time than isolation.cpu_seconds",
    "SIGSEGV": "it crashed in C code",
    "SIGKILL": "by somebody, or because the machine was out of memory",
}


class ChildGoneError(Exception):
    """The child ended, or does not keep to the protocol; the message says how."""


class ChildKilledError(ChildGoneError):
    """The child was killed from outside: nothing is known against its strategy."""


class NotStartedError(Exception):
    """The strategy does not load in its process; the message says why."""


class Child:
    """A supervisor and its worker."""

    def __init__(self, launched: LaunchedProcess) -> None:
        """Take over what was launched; the worker is not ready yet."""
        self.tasks_done = 0
        self.fingerprint = ""
        """Of the files that it loaded."""
        self.is_ending = False
        """It has ended, or is being ended; it takes no more tasks."""
        self._config = launched.config
        self._pipes = launched.pipes
        self._supervisor = 0
        self._worker = 0
        self._frames = messages.FrameBuffer()
        self._reports = messages.FrameBuffer()
        self._end: tuple[int, str] | None = None
        self._control_is_open = True
        self._is_reaped = False
        limit = launched.config.output_bytes
        self.output = ChildOutput(self._pipes.output, limit, self._kill)

    async def become_ready(self) -> None:
        """Send the configuration, and wait until the strategy is loaded.

        Raises:
            NotStartedError: it does not load.
            ChildGoneError: the process ended.
        """
        match await self._begin():
            case {"fingerprint": str(fingerprint)}:
                self.fingerprint = fingerprint
            case {"refused": str(problems)}:
                raise NotStartedError(problems)
            case _:
                raise ChildGoneError("it began with an unknown message")

    async def describe(self) -> messages.Message:
        """Send the configuration of a child that describes a file; return that.

        Raises:
            ChildGoneError: the process ended.
        """
        return await self._begin()

    async def _begin(self) -> messages.Message:
        await self._send(messages.pack(asdict(self._config)))
        match await self._receive(self._pipes.report, self._reports):
            case {"supervisor": int(supervisor), "worker": int(worker)}:
                self._supervisor, self._worker = supervisor, worker
            case _:
                raise ChildGoneError("its supervisor ended at once")
        return await self._receive(self._pipes.replies, self._frames)

    async def run(
        self, request: bytes, run: int, on_report: Callable[[messages.Message], None]
    ) -> messages.Message:
        """Send a task, and return the message with its outcome.

        Args:
            request: a packed message with the number of the run under `run`.
            run: that number.
            on_report: called with each message before the last: log, progress, costs.

        Raises:
            ChildGoneError: the process ended, or broke the protocol.
        """
        self.tasks_done += 1
        await self._send(request)
        for _ in range(MAX_MESSAGES):
            message = await self._receive(self._pipes.replies, self._frames)
            if message.get("run") != run:
                break
            if "outcome" in message:
                return message
            on_report(message)
        raise ChildGoneError("it sent messages that do not belong to the run")

    @property
    def pids(self) -> dict[str, int]:
        """Its processes, once it is ready."""
        return {"supervisor": self._supervisor, "worker": self._worker}

    @property
    def is_alive(self) -> bool:
        """Whether its supervisor still runs: it is silent, and its pipe is open."""
        if self.is_ending:
            return False
        poll = select.poll()
        poll.register(self._pipes.report, select.POLLIN)
        return not poll.poll(0)

    @property
    def has_descendants(self) -> bool:
        """Whether something that it started may be left, as far as /proc shows."""
        own = children_of(self._supervisor)
        is_alone = own in ([self._worker], []) and not children_of(self._worker)
        return not (self._worker and is_alone)

    async def end(self, grace: float) -> None:
        """End it and all that it started, and wait for that; once is enough.

        Args:
            grace: seconds between asking (SIGTERM) and killing; 0: kill at once.
        """
        self.is_ending = True
        if grace and self._control_is_open:
            with suppress(BrokenPipeError, BlockingIOError):
                os.write(self._pipes.control, PLEASE_END)
            with anyio.move_on_after(grace):
                await self._reap()
        self._kill()
        with anyio.move_on_after(KILL_SECONDS):
            await self._reap()
        if self._end_report():
            with anyio.move_on_after(REMOVE_SECONDS):
                await self._reap()
        if not self._is_reaped and self._supervisor:
            # It was stopped by somebody else, or the machine is far too busy. Its pipe
            # is open, so the number is still its own.
            with suppress(ProcessLookupError):
                os.killpg(self._supervisor, signal.SIGKILL)
            await self._reap()

    def _kill(self) -> None:
        """Close the control pipe: the supervisor then kills everything at once."""
        self.is_ending = True
        if self._control_is_open:
            self._control_is_open = False
            os.close(self._pipes.control)

    async def _reap(self) -> None:
        """Wait until all processes are gone; then free their pipes and folder."""
        if self._is_reaped:
            return
        while piece := await self._read(self._pipes.report):
            self._reports.add(piece)
        self._kill()
        self.output.drain()
        self.output.close()
        pipes = self._pipes
        for descriptor in (
            pipes.requests,
            pipes.replies,
            pipes.report,
            pipes.output,
        ):
            os.close(descriptor)
        remove_folder(self._config.home)
        self._is_reaped = True

    @property
    def exit_reason(self) -> str:
        """How the worker ended, after `end`."""
        if self.output.is_flood:
            return "it was ended because it printed without end"
        if (end := self._end_report()) is None:
            return "its supervisor was killed"
        code, reason = end
        if reason:
            return f"it was ended because of {reason}"
        if code >= 0:
            return f"it ended by itself with exit code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = str(-code)
        meaning = SIGNALS.get(name, "")
        return f"it was killed by signal {name}{meaning and ': '}{meaning}"

    @property
    def was_killed(self) -> bool:
        """Whether, after `end`, its supervisor has not said how the worker ended.

        The strategy cannot reach the supervisor: somebody else has killed it, the
        kernel in want of memory, or we, because it did not get to its work in time.
        """
        return self._end_report() is None and not self.output.is_flood

    def _end_report(self) -> tuple[int, str] | None:
        """Return the worker's exit code, and why the supervisor ended it."""
        with suppress(messages.FrameError):
            while (report := self._reports.take()) is not None:
                match report:
                    case {"code": int(code), "reason": str(reason)}:
                        self._end = code, reason
                    case _:
                        pass
        return self._end

    async def _receive(
        self, descriptor: int, frames: messages.FrameBuffer
    ) -> messages.Message:
        try:
            while (message := frames.take()) is None:
                piece = await self._read(descriptor)
                if not piece:
                    raise ChildGoneError
                frames.add(piece)
        except messages.FrameError as error:
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
