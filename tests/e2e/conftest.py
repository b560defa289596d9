"""Real processes: a sandbox with its SQLite file, and daemons that come and go."""

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import pytest
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from journeyman.daemon.system import SystemClock
from journeyman.domain.tasks import IN_FLIGHT
from journeyman.journal.journal import Journal

PATIENCE_SECONDS = 120
"""Reached only by what never happens: a busy machine takes its time."""
LONGEST_LINE = 1 << 20


class Command:
    """One `journeyman` process; it does not outlive its test."""

    def __init__(self, process: Process, errors: Path) -> None:
        assert process.stdout is not None
        self.process = process
        self.seen: list[str] = []
        self._lines = BufferedByteReceiveStream(process.stdout)
        self._errors = errors

    @property
    def stderr(self) -> str:
        return self._errors.read_text()

    async def line(self) -> str:
        raw = await self._lines.receive_until(b"\n", LONGEST_LINE)
        self.seen.append(raw.decode())
        return self.seen[-1]

    async def event(self, name: str, count: int = 1) -> None:
        """Read the log until it has told of an event so many times."""
        with anyio.fail_after(PATIENCE_SECONDS):
            while count:
                count -= json.loads(await self.line())["event"] == name

    async def ended(self) -> int:
        """Read the rest of the output, wait, and give the exit code."""
        with anyio.fail_after(PATIENCE_SECONDS):
            try:
                while True:
                    await self.line()
            except anyio.IncompleteRead:
                self.seen.append(self._lines.buffer.decode())
            return await self.process.wait()

    async def killed(self) -> None:
        """Kill it as `kill -9` does."""
        self.process.kill()
        await self.process.wait()

    @property
    def stdout(self) -> str:
        return "".join(self.seen)


Start = Callable[..., Awaitable[Command]]


@dataclass(frozen=True)
class Network:
    """A sandbox, seen from outside."""

    base_url: str
    process: Process

    async def ledger(self) -> dict[str, Any]:
        async with httpx.AsyncClient(trust_env=False) as client:
            response = await client.get(f"{self.base_url}/sandbox/ledger")
            return dict(response.raise_for_status().json())

    async def newcomers(self) -> list[dict[str, Any]]:
        """The agents that registered; the sandbox's own posters did not."""
        agents = (await self.ledger())["agents"]
        return [a for a in agents if not a["agent_id"].startswith("agent_poster_")]


@dataclass(frozen=True)
class Remains:
    """What a data directory says when no daemon runs."""

    balance: int
    fault: str | None
    kinds: set[str]
    in_flight: int
    completed: int
    earners: set[str]


@pytest.fixture(autouse=True)
def hears_ctrl_c() -> Iterator[None]:
    """Let our processes hear SIGINT, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    async with AsyncExitStack() as stack:
        number = 0

        async def start_one(
            *arguments: str, program: Sequence[str] = ("-m", "journeyman")
        ) -> Command:
            nonlocal number
            number += 1
            errors = tmp_path / f"stderr-{number}"
            with errors.open("wb") as written:
                process = await anyio.open_process(
                    [sys.executable, *program, *arguments],
                    stdin=subprocess.PIPE,
                    stderr=written,
                    cwd=tmp_path,
                )
            stack.push_async_callback(_gone, process)
            return Command(process, errors)

        yield start_one


async def _gone(process: Process) -> None:
    if process.returncode is None:
        process.kill()
    await process.aclose()


StartNetwork = Callable[..., Awaitable[Network]]


@pytest.fixture
def start_network(start: Start, tmp_path: Path) -> StartNetwork:
    async def start_one(*arguments: str) -> Network:
        data = str(tmp_path / "sandbox.db")
        shared = ("sandbox", "--json", "--port", "0", "--data", data)
        sandbox = await start(*shared, "--until-stdin-closes", *arguments)
        base_url = json.loads(await sandbox.line())["base_url"]
        return Network(base_url, sandbox.process)

    return start_one


@pytest.fixture
def remains() -> Callable[[Path], Remains]:
    def read(data: Path) -> Remains:
        with Journal(data / "journal.db", SystemClock().now, read_only=True) as journal:
            entries = journal.ledger.recent(-1)
            return Remains(
                balance=journal.ledger.balance(),
                fault=journal.ledger.first_fault(),
                kinds={entry.kind for entry in entries},
                in_flight=journal.tasks.count_in(IN_FLIGHT),
                completed=journal.tasks.counts().get("completed", 0),
                earners={entry.strategy for entry in entries if entry.strategy},
            )

    return read
