"""The owner's cluster as the daemon sees it: a bridge that is asked, and what it tells.

The daemon never speaks to Dask itself and unpickles nothing: the bridge, a process of
its own, does (`strategies.cluster`). What comes back is read like what a child sends.
"""

import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self, get_args

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from journeyman import __version__
from journeyman.domain.text import storable
from journeyman.strategies.api import Context, Needs, RetryLater
from journeyman.strategies.api.context import end_context
from journeyman.strategies.child import messages
from journeyman.strategies.child.description import folder_of
from journeyman.strategies.child.limits import MIB
from journeyman.strategies.loading.libraries import Libraries, named_in
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import RunOutcome, TimedOut
from journeyman.strategies.printed import last_lines
from journeyman.strategies.running.child import Isolation, child_config
from journeyman.strategies.running.process import (
    EndOfRun,
    How,
    cannot_be_sent,
    outcome_of,
    take_report,
)
from journeyman.strategies.running.template import environment_for

_SCRIPT = Path(__file__).parents[1] / "cluster" / "__main__.py"
STUCK_SECONDS = 5.0
"""A bridge that takes no message for so long is given up."""
RESTART_SECONDS = 5.0
"""Before a bridge that ended is started again."""
LATE_SECONDS = 30.0
"""How much later than its limit the end of a run may be heard of."""
MOST_TEXT = 4 * MIB
"""Of a strategy's files, in characters."""
LOST_AFTER_SECONDS = 5.0
"""Until a run that was lost with its worker is tried again."""
A_LABEL = 2.0**-20
"""How much of a label one run takes: it is a mark, of which there is enough. A power of
two, so that no remainder is left by adding and subtracting."""
MEMORY = "MEMORY"
"""The resource that is asked for in bytes, where any worker offers it."""
PIECE = 65_536


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterAddress:
    """Where the owner's scheduler is, and how it knows us."""

    scheduler: str
    """Such as "tls://scheduler.example:8786"."""
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    connect_seconds: float = 10.0
    wait_seconds: float = 300.0
    """How long a run waits for a worker."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterWorker:
    """One worker that can be used."""

    address: str
    threads: int
    resources: Mapping[str, float] = field(default_factory=dict)

    def room_for(self, wanted: Mapping[str, float]) -> int:
        """Return how many runs that want this it can do at once."""
        fits = [self.resources.get(name, 0) // each for name, each in wanted.items()]
        return int(min([self.threads, *fits]))


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterStatus:
    """What is known of the cluster now."""

    problem: str = "it has not been connected to yet"
    """Why it cannot be used; empty: it can."""
    workers: tuple[ClusterWorker, ...] = ()
    mismatches: tuple[str, ...] = ()
    """What is installed there in another version; such workers get nothing."""

    @property
    def capacity(self) -> int:
        """How many runs it can do at once."""
        return sum(worker.threads for worker in self.workers)

    def resources_for(self, needs: Needs, memory_mb: int) -> dict[str, float]:
        """Return what a run asks of a worker, as Dask's resources."""
        wanted: dict[str, float] = dict.fromkeys(needs.labels, A_LABEL)
        if needs.gpus:
            wanted["GPU"] = float(needs.gpus)
        if any(MEMORY in worker.resources for worker in self.workers):
            wanted[MEMORY] = float((needs.memory_mb or memory_mb) * MIB)
        return wanted

    def room_for(self, wanted: Mapping[str, float]) -> int:
        """Return how many runs that want this it can do at once."""
        return sum(worker.room_for(wanted) for worker in self.workers)


class _BridgeGoneError(Exception):
    """The bridge ended; the message says why, where it is known."""


class _Bridge:
    """The process that is the client of the scheduler."""

    def __init__(self) -> None:
        """Start it.

        Raises:
            OSError: the system has no process or pipe left.
        """
        paths = filter(os.path.isabs, sys.path)
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and our own file
            [sys.executable, "-I", "-B", "-u", str(_SCRIPT), *paths],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment_for((), os.environ),
            start_new_session=True,
        )
        assert self._process.stdin is not None  # noqa: S101 - it was asked for
        assert self._process.stdout is not None  # noqa: S101 - as above
        self._requests = self._process.stdin.fileno()
        self._replies = self._process.stdout.fileno()
        for descriptor in (self._requests, self._replies):
            os.set_blocking(descriptor, False)
        self._frames = messages.FrameBuffer()
        self._lock = anyio.Lock()

    async def send(self, packed: bytes) -> None:
        """Send one message whole, whoever else sends.

        Raises:
            _BridgeGoneError: the process ended.
        """
        async with self._lock:
            # Shielded, since nothing can follow half a message.
            with anyio.move_on_after(STUCK_SECONDS, shield=True) as time:
                await self._write(memoryview(packed))
        if time.cancelled_caught:
            self._process.kill()
            raise _BridgeGoneError(f"it took nothing for {STUCK_SECONDS:g} s")

    async def _write(self, view: memoryview) -> None:
        try:
            while view:
                try:
                    view = view[os.write(self._requests, view) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._requests)
        except (OSError, anyio.ClosedResourceError) as error:
            raise _BridgeGoneError("its process ended") from error

    async def receive(self) -> messages.Message:
        """Return the next message.

        Raises:
            _BridgeGoneError: the process ended, or does not keep to the protocol.
        """
        try:
            while (message := self._frames.take()) is None:
                await anyio.wait_readable(self._replies)
                with suppress(BlockingIOError):
                    piece = os.read(self._replies, PIECE)
                    if not piece:
                        raise _BridgeGoneError("its process ended")
                    self._frames.add(piece)
        except messages.FrameError as error:
            raise _BridgeGoneError(f"it broke the protocol: {error}") from error
        return message

    def close(self) -> None:
        """End the process; what it has asked for ends with it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None  # noqa: S101 - as above
            with suppress(OSError):
                stream.close()


def _ignore(_status: ClusterStatus) -> None:
    """Stand for nobody who wants to know."""


@dataclass(kw_only=True, eq=False)
class Cluster:
    """Runs strategies on the owner's cluster, inside of `running`."""

    address: ClusterAddress
    isolation: Isolation
    grace_seconds: float = 2.0
    told: Callable[[ClusterStatus], None] = _ignore
    """Is told each change."""
    status: ClusterStatus = field(default_factory=ClusterStatus, init=False)
    busy: Counter[str] = field(default_factory=Counter, init=False)
    """How many runs of each strategy wait or work there."""
    _changed: anyio.Event = field(default_factory=anyio.Event, init=False)
    _bridge: _Bridge | None = field(default=None, init=False)
    _runs: int = field(default=0, init=False)
    _listening: dict[int, MemoryObjectSendStream[messages.Message]] = field(
        default_factory=dict, init=False
    )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Keep the bridge until the end of the block."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._keep_bridge)
            try:
                yield self
            finally:
                group.cancel_scope.cancel()

    def room(self, loaded: LoadedStrategy) -> int:
        """Return how many more runs of a strategy the cluster can do now."""
        wanted = self.status.resources_for(loaded.needs, self.isolation.memory_mb)
        free = self.status.capacity - self.busy.total()
        return min(free, self.status.room_for(wanted) - self.busy[loaded.name])

    async def settled(self) -> ClusterStatus:
        """Return the status when the first attempt to connect has ended."""
        while self.status == ClusterStatus():
            await self._changed.wait()
        return self.status

    # -- the bridge ----------------------------------------

    async def _keep_bridge(self) -> None:
        while True:
            try:
                await self._use_bridge()
            except (OSError, _BridgeGoneError) as error:
                self._lose(f"the bridge to the cluster is gone: {error}")
            await anyio.sleep(RESTART_SECONDS)

    async def _use_bridge(self) -> None:
        """Start a bridge and listen to it until it ends.

        Raises:
            OSError: it cannot be started.
            _BridgeGoneError: it ended.
        """
        bridge = _Bridge()
        try:
            await bridge.send(messages.pack(self._configuration()))
            self._bridge = bridge
            while True:
                message = await bridge.receive()
                if "crashed" in message:
                    last = last_lines(str(message["crashed"]).splitlines())[-1:]
                    raise _BridgeGoneError(storable("".join(last)))
                self._take(message)
        finally:
            self._bridge = None
            bridge.close()

    def _configuration(self) -> messages.Message:
        at = self.address
        paths = {"ca": at.ca, "certificate": at.certificate, "key": at.key}
        return {
            "scheduler": at.scheduler,
            "tls": {name: path and str(path.resolve()) for name, path in paths.items()},
            "connect_seconds": at.connect_seconds,
            "private": [str(path.resolve()) for path in self.isolation.private],
        }

    def _take(self, message: messages.Message) -> None:
        """Take what the bridge tells; it listens to strangers, so it is checked."""
        match message:
            case {"cluster": {"workers": list(workers), "mismatches": list(others)}}:
                known = tuple(one for each in workers if (one := _worker_from(each)))
                told = tuple(storable(str(one)) for one in others)
                self._become(ClusterStatus(problem="", workers=known, mismatches=told))
            case {"run": int(run)} if run in self._listening:
                self._listening[run].send_nowait(message)
            case {"lost": str(reason)} if "run" not in message:
                self._lose(storable(reason))
            case _:
                pass

    def _become(self, status: ClusterStatus) -> None:
        changed, self._changed = self._changed, anyio.Event()
        self.status = status
        changed.set()
        self.told(status)

    def _lose(self, reason: str) -> None:
        for run, stream in self._listening.items():
            stream.send_nowait({"run": run, "lost": reason})
        if self.status.problem != reason:
            self._become(ClusterStatus(problem=reason))

    # -- the runs ----------------------------------------

    async def run(
        self,
        loaded: LoadedStrategy,
        context: Context,
        limit: float,
        *,
        at_most: float | None,
        task: messages.Message,
    ) -> RunOutcome:
        """Have a worker do a task.

        Args:
            loaded: the strategy.
            context: what it gets as `ctx`; it is ended afterwards.
            limit: seconds that the run may take, from when a child there has it.
            at_most: seconds until nobody needs the result; None: it does not matter.
            task: as a message.
        """
        self._runs += 1
        run = self._runs
        self.busy[loaded.name] += 1
        tell, heard = anyio.create_memory_object_stream[messages.Message](math.inf)
        self._listening[run] = tell
        most = limit + self.grace_seconds + LATE_SECONDS
        there = _RunThere(loaded, context, limit, most)
        try:
            request = messages.run_message(context, run=run, task=task)
            order = self._order(loaded, request, limit)
            messages.pack(order)  # whatever cannot be sent is told now
            with anyio.move_on_after(at_most):
                return await self._have_done(there, order, heard)
        except (TypeError, ValueError) as error:
            return cannot_be_sent(loaded, error)
        finally:
            end_context(context)
            self.busy[loaded.name] -= 1
            self._listening.pop(run).close()
            heard.close()
            await self._cancel(run)
        return TimedOut(limit)

    async def _have_done(
        self,
        run: "_RunThere",
        order: messages.Message,
        heard: MemoryObjectReceiveStream[messages.Message],
    ) -> RunOutcome:
        wait = self.address.wait_seconds
        with anyio.move_on_after(wait) as run.time:
            resources = await self._until_it_fits(run.loaded)
            packed = messages.pack({"order": order, "resources": resources})
            try:
                if self._bridge is None:
                    return _lost("the bridge to the cluster is gone")
                await self._bridge.send(packed)
            except _BridgeGoneError:
                return _lost("the bridge to the cluster is gone")
            async for message in heard:
                if (outcome := run.take(message)) is not None:
                    return outcome
        if run.place:
            return _lost(f"nothing more was heard from {run.place}")
        return RetryLater(self._obstacle(run.loaded), after=wait)

    async def _until_it_fits(self, loaded: LoadedStrategy) -> dict[str, float]:
        """Wait for a worker that offers what a strategy needs; return that."""
        while True:
            memory = self.isolation.memory_mb
            resources = self.status.resources_for(loaded.needs, memory)
            if self.status.room_for(resources):
                return resources
            await self._changed.wait()

    def _obstacle(self, loaded: LoadedStrategy) -> str:
        """Return why a run did not begin."""
        status = self.status
        if status.problem:
            return f"the cluster cannot be used: {status.problem}"
        wanted = status.resources_for(loaded.needs, self.isolation.memory_mb)
        if not status.workers and status.mismatches:
            return f"the cluster has no worker like here: {status.mismatches[0]}"
        if not status.workers:
            return "the cluster has no worker; start one with `dask worker`"
        if not status.room_for(wanted):
            offer = " ".join(f"{name}={each:g}" for name, each in wanted.items())
            return (
                "no worker of the cluster offers what it needs; start one with "
                f'`dask worker --resources "{offer}"` or more'
            )
        seconds = self.address.wait_seconds
        return f"no worker of the cluster was free for {seconds:g} s"

    async def _cancel(self, run: int) -> None:
        """Have a run ended that may still go on; of one that has ended, nothing."""
        if self._bridge is None:
            return
        gone = suppress(_BridgeGoneError)
        with anyio.CancelScope(shield=True), gone:
            await self._bridge.send(messages.pack({"cancel": run}))

    def _order(
        self, loaded: LoadedStrategy, request: messages.Message, limit: float
    ) -> messages.Message:
        files, main = _files_of(loaded)
        config = asdict(child_config(loaded, self.isolation))
        shared = {
            one.name: getattr(self.isolation, one.name) for one in fields(Isolation)
        }
        named = _libraries_of(loaded) if config["libraries"] else None
        # A worker has its own places; ours are nothing that it should know.
        config |= {"file": main, "private": (), "untouchable": (), "libraries": ""}
        return {
            "version": __version__,
            "files": files,
            "libraries": named and asdict(named),
            "config": config,
            "isolation": shared | {"homes": None, "private": (), "libraries": None},
            "fingerprint": loaded.fingerprint,
            "limit": limit,
            "grace": self.grace_seconds,
            "request": request,
        }


@dataclass(eq=False)
class _RunThere:
    """One run on the cluster, as far as was heard of it."""

    loaded: LoadedStrategy
    context: Context
    limit: float
    most: float
    """Seconds after its beginning in which its end must be heard of."""
    time: anyio.CancelScope = field(default_factory=anyio.CancelScope, init=False)
    place: str = field(default="", init=False)
    """The worker that has it; empty: none yet."""

    def take(self, message: messages.Message) -> RunOutcome | None:
        """Take what was heard; return the outcome if it was that."""
        match message:
            case {"began": str(place)}:
                self._begin(storable(place))
            case {"report": dict(report)}:
                take_report(self.context, report)
            case {"answer": dict(answer)}:
                return self._outcome(answer)
            case {"lost": str(reason)}:
                return _lost(storable(reason))
            case _:
                pass
        return None

    def _begin(self, place: str) -> None:
        if self.place:
            self.context.log.warning("its worker was lost; another one begins anew")
        self.place = place
        self.time.deadline = anyio.current_time() + self.most

    def _outcome(self, answer: Mapping[str, Any]) -> RunOutcome:
        match answer:
            case {"ended": dict(ended)}:
                end = _ended_from(ended)
                return outcome_of(self.loaded, self.context, end, self.limit)
            case {"mismatch": str(version)}:
                return _lost(
                    f"a worker has journeyman {version}, here is {__version__}"
                )
            case _:
                return _lost("a worker answered in an unknown way")


def _lost(reason: str) -> RetryLater:
    return RetryLater(f"lost on the cluster: {reason}", after=LOST_AFTER_SECONDS)


def _files_of(loaded: LoadedStrategy) -> tuple[dict[str, str], str]:
    """Return the texts of a strategy's files, and the name of the one to load.

    Of an installed strategy none is sent: its package must be installed there.

    Raises:
        ValueError: they cannot be read, or are too large to be sent with each task.
    """
    main = (loaded.file or loaded.path).resolve()
    if loaded.distribution:
        return {}, main.name
    home = folder_of(main)
    files = {}
    for path in {main, *(one.resolve() for one in loaded.sources)}:
        try:
            text = path.read_bytes().decode("utf-8", "surrogateescape")
        except OSError as error:
            raise ValueError(f"its file cannot be read: {error}") from error
        files[f"{home.name}/{path.relative_to(home)}"] = text
    if sum(map(len, files.values())) > MOST_TEXT:
        raise ValueError(f"its files have more than {MOST_TEXT} characters")
    return files, f"{home.name}/{main.relative_to(home)}"


def _libraries_of(loaded: LoadedStrategy) -> Libraries | None:
    """Return the libraries that a strategy's file names."""
    file = loaded.file or loaded.path
    return named_in(file, file.read_text("utf-8-sig"))


def _worker_from(told: object) -> ClusterWorker | None:
    match told:
        case {
            "address": str(address),
            "threads": int(threads),
            "resources": dict(given),
        }:
            resources = {
                name: float(each)
                for name, each in given.items()
                if isinstance(each, int | float)
            }
            address = storable(address)
            return ClusterWorker(address=address, threads=threads, resources=resources)
        case _:
            return None


def _ended_from(message: Mapping[str, Any]) -> EndOfRun:
    """Read how a run ended; what a worker sends is checked here."""
    match message:
        case {"how": "done", "last": dict(last)}:
            return EndOfRun("done", last=last)
        case {"how": str(how), "problem": str(problem)} if how in get_args(How):
            if how != "done":
                return EndOfRun(how, storable(problem))  # type: ignore[arg-type] # looked up
        case _:
            pass
    return EndOfRun("gone", "its worker answered in an unknown way")


def has_extra() -> bool:
    """Return whether the extra `cluster` is installed."""
    return find_spec("distributed") is not None
