"""A whole network in this process, and the real daemon at work there.

The network is the sandbox with its books in a file, spoken to over HTTP without
sockets. The daemon's clock runs fast, so that a repeat after seconds costs a test
milliseconds.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import anyio
import httpx2 as httpx

from journeyman.daemon.daemon import run_daemon
from journeyman.daemon.environment import Environment, SystemClock, SystemRandomness
from journeyman.domain.tasks import IN_FLIGHT, JSON, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.observability.redaction import Redactor
from journeyman.sandbox import SandboxOptions, create_app
from journeyman.settings.loading import load_settings
from journeyman.settings.sections import Settings
from journeyman.strategies.loading.loader import load
from journeyman.testing.agent import RecordingLog, StrategyNotLoadedError

Send: TypeAlias = Callable[[httpx.Request], Awaitable[httpx.Response]]

PATHS: Final = {
    "register": "create-free-agent-public",
    "discover": "get-marketplace-tasks",
    "claim": "claim-task-public",
    "submit": "submit-task-result-public",
    "complete": "complete-task-public",
    "post": "write-post-task-public",
}
"""The calls that a fault can be ordered for, and the end of their paths (contract
section 4)."""


async def lost_request(request: httpx.Request, _send: Send) -> httpx.Response:
    """The connection breaks before the request arrives."""
    raise httpx.ReadError("connection reset", request=request)


async def lost_answer(request: httpx.Request, send: Send) -> httpx.Response:
    """The request is processed, and its answer never arrives."""
    await send(request)
    raise httpx.ReadError("connection reset", request=request)


async def garbage(request: httpx.Request, send: Send) -> httpx.Response:
    """The request is processed, and the answer cannot be read."""
    await send(request)
    return httpx.Response(200, content=b"\x00{garbage\xff", request=request)


async def throttled(request: httpx.Request, _send: Send) -> httpx.Response:
    """Too many requests; come back in a second."""
    headers = {"retry-after": "1"}
    body = {"error": "rate_limited"}
    return httpx.Response(429, headers=headers, json=body, request=request)


async def unavailable(request: httpx.Request, _send: Send) -> httpx.Response:
    """The service is away for a moment."""
    return httpx.Response(503, json={"error": "unavailable"}, request=request)


async def conflict(request: httpx.Request, _send: Send) -> httpx.Response:
    """Another agent was first."""
    return httpx.Response(409, json={"error": "already_claimed"}, request=request)


async def error_after(request: httpx.Request, send: Send) -> httpx.Response:
    """The request is processed, and the answer is an error of the server's."""
    await send(request)
    return httpx.Response(500, json={"error": "internal"}, request=request)


FAULTS: Final = {
    "lost_request": lost_request,
    "lost_answer": lost_answer,
    "garbage": garbage,
    "429": throttled,
    "503": unavailable,
    "409": conflict,
    "500": error_after,
}


@dataclass(slots=True)
class Order:
    """One fault that was ordered."""

    fault: str
    """A key of FAULTS."""
    call: str
    """A key of PATHS."""
    times: int
    """How many requests will meet it."""


class FaultyTransport(httpx.AsyncBaseTransport):
    """Hands requests on to the sandbox, but for those that meet an ordered fault."""

    def __init__(self, inner: httpx.AsyncBaseTransport, orders: list[Order]) -> None:
        self._inner = inner
        self._orders = orders

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        for order in self._orders:
            if order.times and request.url.path.endswith(PATHS[order.call]):
                order.times -= 1
                send = self._inner.handle_async_request
                return await FAULTS[order.fault](request, send)
        return await self._inner.handle_async_request(request)


URL: Final = "http://127.0.0.1:8080"
"""Named in documents and in the identity; nothing listens there."""
SPEED: Final = 50.0
"""Seconds of the daemon's clock in one second of the machine's."""
LONGEST_SECONDS: Final = 30.0
"""Of the machine: what is not done by then is left as it is."""
BEAT_SECONDS: Final = 0.02
"""How often the daemon looks whether a repeat is due."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PostedTask:
    """A task of the test's own, on the market."""

    task_id: TaskId
    state: str
    """Its state in the daemon's journal; empty when the daemon never saw it."""
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What the daemon's work came to, read from its journal after it had ended."""

    credits: int
    """The balance by the ledger."""
    counts: Mapping[str, int]
    """Tasks by their state."""
    posted: tuple[PostedTask, ...]
    """The test's own tasks, in the order in which they were posted."""
    log: RecordingLog

    @property
    def open(self) -> int:
        """How many tasks still need something."""
        states = (TaskState.WANTED, *IN_FLIGHT)
        return sum(self.counts.get(state, 0) for state in states)

    @property
    def completed(self) -> int:
        """How many tasks were completed."""
        return self.counts.get("completed", 0)


class Market:
    """A network to order, and a daemon to send there; the fixture `market` is one."""

    def __init__(self, folder: Path, root: Path | None = None) -> None:
        """Keep all files in `folder`; relative paths start here, or else at `root`."""
        self._folder = folder
        self._root = root
        self._options = SandboxOptions(data=folder / "sandbox.db", tasks=0)
        self._orders: list[Order] = []
        self._wanted: list[dict[str, Any]] = []
        self._posted: list[TaskId] = []
        # One clock for all the daemons: the later one goes on where the first ended.
        self._clock = _FastClock()

    def stock(self, tasks: int, *kinds: str, seed: int = 1) -> None:
        """Have the sandbox make tasks, each with a grader that judges the result.

        It must be called before the first `work`. `docs/reference/sandbox-tasks.md`
        lists the kinds; none named means all.
        """
        data = self._options.data
        self._options = SandboxOptions(data=data, tasks=tasks, kinds=kinds, seed=seed)

    def post(
        self,
        text: str,
        *,
        kind: str = "",
        tags: tuple[str, ...] = (),
        reward: int = 1,
        title: str = "A task",
        **fields: JSON,
    ) -> None:
        """Put a task of the test's own on the market, before the next `work`.

        Its text is the description, and the `text` of its input. `fields` are other
        fields of the input.
        """
        self._wanted.append(
            {
                "title": title,
                "description": text,
                "kind": kind,
                "tags": list(tags),
                "reward": reward,
                "input": {"text": text, **fields},
            }
        )

    def fail(self, fault: str, call: str, times: int = 1) -> None:
        """Order a fault for the next requests of one kind.

        Args:
            fault: lost_request, lost_answer, garbage, 429, 503, 409 or 500.
            call: register, discover, claim, submit, complete or post.
            times: how many requests meet it.

        Raises:
            ValueError: there is no such fault, or no such call.
        """
        if fault not in FAULTS:
            raise ValueError(f"no fault {fault!r}; there are {', '.join(FAULTS)}")
        if call not in PATHS:
            raise ValueError(f"no call {call!r}; there are {', '.join(PATHS)}")
        self._orders.append(Order(fault, call, times))

    def work(self, strategy: str | Path, **settings: Any) -> Report:  # noqa: ANN401 - any setting
        """Let the daemon join, look, and work until all that followed is done.

        While something waits for its repeat the daemon is started again, so each
        fault also tests a restart. After half a minute it ends wherever it is.

        Args:
            strategy: the strategy's file, or its folder for all that are in it.
            settings: other settings, `work__slots=1` for `work.slots`.

        Raises:
            NotLoadedError: there is no such file.
            JourneymanError: the daemon could not start.
        """
        return anyio.run(partial(self._work, self._find(Path(strategy)), settings))

    def books(self) -> dict[str, Any]:
        """Give the sandbox's own books: all agents with their credits."""
        return anyio.run(self._books)

    def _find(self, path: Path) -> Path:
        if not path.exists() and self._root is not None:
            path = self._root / path
        if not path.exists():
            raise StrategyNotLoadedError(f"there is no strategy at {path}")
        return path

    async def _work(self, strategy: Path, changes: dict[str, Any]) -> Report:
        log = RecordingLog()
        async with self._network() as transport:
            await self._put_up(transport)
            environment = self._environment(
                log, FaultyTransport(transport, self._orders)
            )
            settings = self._settings(strategy, changes)
            with anyio.move_on_after(LONGEST_SECONDS):
                await run_daemon(settings, URL, environment)
                while self._report(log).open:
                    await anyio.sleep(BEAT_SECONDS)
                    await run_daemon(settings, URL, environment)
        return self._report(log)

    def _environment(
        self, log: RecordingLog, transport: httpx.AsyncBaseTransport
    ) -> Environment:
        return Environment(
            clock=self._clock,
            randomness=SystemRandomness(),
            log=log,
            redactor=Redactor(),
            transport=transport,
        )

    async def _books(self) -> dict[str, Any]:
        async with self._network() as transport, _client(transport) as client:
            books: dict[str, Any] = (await client.get("/sandbox/ledger")).json()
            return books

    @asynccontextmanager
    async def _network(self) -> AsyncIterator[httpx.AsyncBaseTransport]:
        self._folder.mkdir(parents=True, exist_ok=True)
        app = create_app(self._options)
        async with app.router.lifespan_context(app):
            yield _Unclosed(httpx.ASGITransport(app))

    async def _put_up(self, transport: httpx.AsyncBaseTransport) -> None:
        """Post the test's tasks, each from a fresh agent: it has credits for it."""
        async with _client(transport) as client:
            for wanted in self._wanted:
                place = "/functions/v1/create-free-agent-public"
                joined = (await client.post(place, json={})).json()
                answer = await client.post(
                    "/functions/v1/write-post-task-public",
                    json=wanted,
                    headers={"authorization": f"Bearer {joined['access_token']}"},
                )
                self._posted.append(TaskId(_task_id(answer)))
        self._wanted.clear()

    def _settings(self, strategy: Path, changes: dict[str, Any]) -> Settings:
        folder = strategy if strategy.is_dir() else strategy.parent
        given = {
            "network.base_url": URL,
            "data.directory": self._folder / "agent",
            "strategies.directory": folder,
            "strategies.disabled": [] if folder == strategy else _others(strategy),
            "work.once": True,
            "schedule.deliver_every_seconds": BEAT_SECONDS,
            **{name.replace("__", "."): value for name, value in changes.items()},
        }
        return load_settings(
            files=[], overrides=given, environ={}, cwd=Path.cwd()
        ).settings

    def _report(self, log: RecordingLog) -> Report:
        file = self._folder / "agent" / "journal.db"
        with Journal(file, self._clock.now, read_only=True) as journal:
            return Report(
                credits=journal.ledger.balance(),
                counts=MappingProxyType(dict(journal.tasks.counts())),
                posted=tuple(_posted(journal, one) for one in self._posted),
                log=log,
            )


def _others(strategy: Path) -> list[str]:
    """Name the strategies of the folder that are in other files."""
    return [
        loaded.name
        for loaded in load(strategy.parent).strategies
        if (loaded.file or loaded.path).name != strategy.name
    ]


def _posted(journal: Journal, task_id: TaskId) -> PostedTask:
    try:
        record = journal.tasks.get(task_id)
    except KeyError:
        return PostedTask(task_id=task_id, state="", reason="")
    return PostedTask(task_id=task_id, state=record.state, reason=record.reason)


def _task_id(answer: httpx.Response) -> str:
    if answer.is_error:
        raise ValueError(f"the sandbox refused the task: {answer.text}")
    return str(answer.json()["task_id"])


def _client(transport: httpx.AsyncBaseTransport) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=transport, base_url=URL)


class _Unclosed(httpx.AsyncBaseTransport):
    """Stays open when a client that used it is closed."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._inner.handle_async_request(request)


class _FastClock:
    """The machine's clock, run fast from the moment at which it is made."""

    def __init__(self) -> None:
        self._real = SystemClock()
        self._began = self._real.monotonic()
        self._start = self._real.now()

    def monotonic(self) -> float:
        return (self._real.monotonic() - self._began) * SPEED

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.monotonic())

    async def sleep(self, seconds: float) -> None:
        await self._real.sleep(seconds / SPEED)
