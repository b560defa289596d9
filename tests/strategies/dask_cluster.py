"""A real scheduler and real workers, each a process, and a wire that can be cut."""

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import anyio
from anyio.abc import SocketStream

Process = subprocess.Popen[bytes]


@dataclass(eq=False)
class DaskCluster:
    """A scheduler, started at once, and the workers that a test asks for."""

    folder: Path
    options: Sequence[str] = ()
    """Of every process, such as those of TLS."""
    scheduler: Process = field(init=False)
    address: str = field(init=False)
    workers: list[Process] = field(init=False, default_factory=list)

    def __enter__(self) -> Self:
        self.folder.mkdir(exist_ok=True)
        self.start_scheduler()
        return self

    def __exit__(self, *_: object) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()

    def start_scheduler(self, *, port: int = 0) -> None:
        at = self.folder / "scheduler.json"
        at.unlink(missing_ok=True)
        self.scheduler = self._start(
            *("scheduler", "--host", "127.0.0.1", "--port", str(port)),
            *("--scheduler-file", str(at)),
        )
        self.address = str(json.loads(_content(at, self.scheduler))["address"])

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    def start_worker(
        self, *more: str, threads: int = 1, env: Mapping[str, str] | None = None
    ) -> Process:
        number = len(self.workers)
        worker = self._start(
            *("worker", self.address, "--no-nanny", "--nthreads", str(threads)),
            *("--name", f"w{number}", "--host", "127.0.0.1"),
            *("--local-directory", str(self.folder / f"w{number}")),
            *more,
            env=env,
        )
        self.workers.append(worker)
        return worker

    def _start(self, *words: str, env: Mapping[str, str] | None = None) -> Process:
        with (self.folder / f"{words[0]}.log").open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - this interpreter
                [sys.executable, "-m", "dask", *words, "--no-dashboard", *self.options],
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **(env or {})},
                stdout=subprocess.DEVNULL,
                stderr=log,
            )


def _content(path: Path, process: Process) -> str:
    while process.poll() is None:
        if path.exists() and (text := path.read_text()):
            return text
        time.sleep(0.02)  # noqa: TID251 - a process of somebody else's
    raise AssertionError(f"ended with {process.returncode}: {path.parent}")


@dataclass(eq=False)
class Wire:
    """A port that leads to another, until it is cut."""

    port: int
    is_whole: anyio.Event = field(default_factory=anyio.Event)

    def cut(self) -> None:
        """Let nothing arrive any more, and tell nobody."""
        self.is_whole = anyio.Event()

    def mend(self) -> None:
        self.is_whole.set()


@asynccontextmanager
async def wire_to(port: int) -> AsyncIterator[Wire]:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    attribute = anyio.abc.SocketAttribute.local_port
    wire = Wire(listener.listeners[0].extra(attribute))  # noqa: S610 - not Django's
    wire.mend()

    async def pump(source: SocketStream, target: SocketStream) -> None:
        try:
            async for piece in source:
                await wire.is_whole.wait()
                await target.send(piece)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        finally:
            with anyio.CancelScope(shield=True):
                await target.aclose()

    async def serve(near: SocketStream) -> None:
        far = await anyio.connect_tcp("127.0.0.1", port)
        async with near, far, anyio.create_task_group() as group:
            group.start_soon(pump, near, far)
            group.start_soon(pump, far, near)

    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, serve)
        yield wire
        group.cancel_scope.cancel()
