"""A whole network in this process, and the real daemon working there.

The network is the sandbox with its database in a file, reached over HTTP without
sockets. The daemon's clock runs fast, so that a wait of seconds costs a test
milliseconds.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import anyio
import httpx2 as httpx

from journeyman.daemon.daemon import run_daemon
from journeyman.daemon.environment import Environment
from journeyman.daemon.system import SystemClock, SystemRandomness
from journeyman.domain.tasks import IN_FLIGHT, JSON, TaskId, TaskState
from journeyman.journal.journal import Journal
from journeyman.observability.redaction import Redactor
from journeyman.sandbox import SandboxOptions, create_app
from journeyman.settings.sections import Settings
from journeyman.settings.sources import load_settings
from journeyman.strategies.loading.loader import load
from journeyman.testing.agent import RecordingLog, StrategyNotLoadedError

PATHS = {
    "register": "create-free-agent-public",
    "discover": "get-marketplace-tasks",
    "claim": "claim-task-public",
    "submit": "submit-task-result-public",
    "complete": "complete-task-public",
    "post": "write-post-task-public",
}
"""The calls that can be made to fail, and the end of their paths (contract
section 4)."""
FAULTS = ("lost_request", "lost_answer", "garbage", "429", "503", "409", "500")


@dataclass(slots=True)
class PlannedFault:
    """One fault that a test asked for."""

    fault: str
    """One of FAULTS."""
    call: str
    """A key of PATHS."""
    times: int
    """How many requests will meet it."""


@dataclass(eq=False)
class FaultyTransport(httpx.AsyncBaseTransport):
    """Passes requests on to the sandbox, except those that meet a planned fault."""

    inner: httpx.AsyncBaseTransport
    planned: list[PlannedFault]

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        for plan in self.planned:
            if plan.times and request.url.path.endswith(PATHS[plan.call]):
                plan.times -= 1
                return await self._fail(plan.fault, request)
        return await self.inner.handle_async_request(request)

    async def _fail(self, fault: str, request: httpx.Request) -> httpx.Response:
        if fault in ("lost_answer", "garbage", "500"):
            # The request is processed, and only its answer is bad.
            await self.inner.handle_async_request(request)
        answer = partial(httpx.Response, request=request)
        match fault:
            case "garbage":
                return answer(200, content=b"\x00{garbage\xff")
            case "429":
                headers = {"retry-after": "1"}
                return answer(429, headers=headers, json={"error": "rate_limited"})
            case "503":
                return answer(503, json={"error": "unavailable"})
            case "409":
                return answer(409, json={"error": "already_claimed"})
            case "500":
                return answer(500, json={"error": "internal"})
            case _:
                raise httpx.ReadError("connection reset", request=request)


URL = "http://127.0.0.1:8080"
"""Appears in documents and in the identity; nothing listens there."""
SPEED = 50.0
"""Seconds of the daemon's clock in one second of the machine's."""
MAX_SECONDS = 30.0
"""Of the machine: what is not done by then is left unfinished."""
PAUSE_SECONDS = 0.02
"""How often the daemon looks whether a retry is due."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PostedTask:
    """A task that the test posted."""

    task_id: TaskId
    state: str
    """Its state in the daemon's journal; empty when the daemon never saw it."""
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What the daemon did, read from its journal after it had ended."""

    credits: int
    """The balance by the ledger."""
    counts: Mapping[str, int]
    """Tasks by their state."""
    posted: tuple[PostedTask, ...]
    """The tasks that the test posted, in their order."""
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
    """A network that a test sets up, with a daemon; the fixture `market` is one."""

    def __init__(self, folder: Path, root: Path | None = None) -> None:
        """Keep all files in `folder`; look for strategies here, then in `root`."""
        self._folder = folder
        self._root = root
        self._options = SandboxOptions(data=folder / "sandbox.db", tasks=0)
        self._planned: list[PlannedFault] = []
        self._unposted: list[dict[str, Any]] = []
        self._posted: list[TaskId] = []
        # One clock for all daemons: a later one continues where the first ended.
        self._clock = _FastClock()

    def stock(self, tasks: int, *kinds: str, seed: int = 1) -> None:
        """Make the sandbox generate tasks, each with a grader that judges the result.

        Call it before the first `work`. `docs/reference/sandbox-tasks.md`
        lists the kinds; without any, all are used.
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
        """Post a task before the next `work`.

        Its text is the description, and the `text` of its input. `fields` are other
        fields of the input.
        """
        self._unposted.append(
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
        """Make the next requests of one kind fail.

        Args:
            fault: lost_request, lost_answer, garbage, 429, 503, 409 or 500.
            call: register, discover, claim, submit, complete or post.
            times: how many requests meet it.

        Raises:
            ValueError: there is no such fault, or no such call.
        """
        if fault not in FAULTS:
            raise ValueError(f"no fault {fault!r}; use one of {', '.join(FAULTS)}")
        if call not in PATHS:
            raise ValueError(f"no call {call!r}; use one of {', '.join(PATHS)}")
        self._planned.append(PlannedFault(fault, call, times))

    def work(self, strategy: str | Path, **settings: Any) -> Report:  # noqa: ANN401 - any setting
        """Run the daemon until it has joined, and finished all tasks that it wants.

        While a task waits for a retry the daemon is started again, so that each fault
        also tests a restart. After half a minute it ends wherever it is.

        Args:
            strategy: the strategy's file, or a folder for all strategies in it.
            settings: other settings, `work__slots=1` for `work.slots`.

        Raises:
            StrategyNotLoadedError: there is no such file.
            JourneymanError: the daemon could not start.
        """
        return anyio.run(partial(self._work, self._find(Path(strategy)), settings))

    def ledger(self) -> dict[str, Any]:
        """Return the sandbox's ledger: all agents with their credits."""
        return anyio.run(self._read_ledger)

    def _find(self, path: Path) -> Path:
        if not path.exists() and self._root is not None:
            path = self._root / path
        if not path.exists():
            raise StrategyNotLoadedError(f"there is no strategy at {path}")
        return path

    async def _work(self, strategy: Path, changes: dict[str, Any]) -> Report:
        log = RecordingLog()
        async with self._network() as transport:
            await self._post_all(transport)
            environment = Environment(
                clock=self._clock,
                randomness=SystemRandomness(),
                log=log,
                redactor=Redactor(),
                transport=FaultyTransport(transport, self._planned),
            )
            settings = self._settings(strategy, changes)
            with anyio.move_on_after(MAX_SECONDS):
                await run_daemon(settings, URL, environment)
                while self._report(log).open:
                    await anyio.sleep(PAUSE_SECONDS)
                    await run_daemon(settings, URL, environment)
        return self._report(log)

    async def _read_ledger(self) -> dict[str, Any]:
        async with self._network() as transport, _client(transport) as client:
            ledger: dict[str, Any] = (await client.get("/sandbox/ledger")).json()
            return ledger

    @asynccontextmanager
    async def _network(self) -> AsyncIterator[httpx.AsyncBaseTransport]:
        self._folder.mkdir(parents=True, exist_ok=True)
        app = create_app(self._options)
        async with app.router.lifespan_context(app):
            yield httpx.ASGITransport(app)

    async def _post_all(self, transport: httpx.AsyncBaseTransport) -> None:
        """Post the test's tasks, each from a new agent, which has credits for it."""
        async with _client(transport) as client:
            for wanted in self._unposted:
                place = "/functions/v1/create-free-agent-public"
                joined = (await client.post(place, json={})).json()
                answer = await client.post(
                    "/functions/v1/write-post-task-public",
                    json=wanted,
                    headers={"authorization": f"Bearer {joined['access_token']}"},
                )
                if answer.is_error:
                    raise ValueError(f"the sandbox refused the task: {answer.text}")
                self._posted.append(TaskId(str(answer.json()["task_id"])))
        self._unposted.clear()

    def _settings(self, strategy: Path, changes: dict[str, Any]) -> Settings:
        folder = strategy if strategy.is_dir() else strategy.parent
        given = {
            "network.base_url": URL,
            "data.directory": self._folder / "agent",
            "strategies.directory": folder,
            # The author runs the author's own code: as trusted as this process.
            "strategies.trusted": ("*",),
            "strategies.disabled": [] if folder == strategy else _others(strategy),
            "work.once": True,
            "schedule.deliver_every_seconds": PAUSE_SECONDS,
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
    """Return the names of the strategies in other files of the folder."""
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


def _client(transport: httpx.AsyncBaseTransport) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=transport, base_url=URL)


class _FastClock:
    """The machine's clock, sped up from the moment at which it is created."""

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
