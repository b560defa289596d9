"""Whole daemons in this process, against a real sandbox without sockets."""

import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import pytest
from tests.one_task import in_one_task

from journeyman.daemon.daemon import run_daemon
from journeyman.daemon.environment import Environment
from journeyman.daemon.system import SystemClock, SystemRandomness
from journeyman.journal.journal import Journal
from journeyman.observability.redaction import Redactor
from journeyman.sandbox import SandboxOptions, create_app
from journeyman.settings.sections import Settings
from journeyman.settings.sources import load_settings
from journeyman.testing import RecordingLog

URL = "http://127.0.0.1:8080"
READY = Path(__file__).parents[2] / "strategies" / "count_words.py"


@dataclass
class Site:
    """One data directory, one network, and the daemons that run there in turn."""

    folder: Path
    transport: httpx.AsyncBaseTransport
    log: RecordingLog = field(default_factory=RecordingLog)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def settings(self, **changes: Any) -> Settings:  # noqa: ANN401 - any setting
        """Return settings; `work__slots` stands for `work.slots`."""
        given = {
            "network.base_url": URL,
            "data.directory": self.data,
            "strategies.directory": self.folder / "strategies",
            "strategies.trusted": ("*",),
            **{name.replace("__", "."): value for name, value in changes.items()},
        }
        return load_settings(
            files=[], overrides=given, environ={}, cwd=self.folder
        ).settings

    def environment(self) -> Environment:
        return Environment(
            clock=SystemClock(),
            randomness=SystemRandomness(),
            log=self.log,
            redactor=Redactor(),
            transport=self.transport,
        )

    async def run(self, base_url: str = URL, **changes: Any) -> None:  # noqa: ANN401 - as above
        """Run a daemon until it ends by itself."""
        with anyio.fail_after(60):
            await run_daemon(self.settings(**changes), base_url, self.environment())

    async def logged(self, event: str) -> None:
        """Wait until an event was logged."""
        with anyio.fail_after(60):
            await self.log.until(event)

    @contextmanager
    def journal(self) -> Iterator[Journal]:
        clock = SystemClock()
        with Journal(self.data / "journal.db", clock.now, read_only=True) as journal:
            yield journal

    async def ledger(self) -> dict[str, Any]:
        """Return the sandbox's own ledger."""
        async with httpx.AsyncClient(transport=self.transport, base_url=URL) as client:
            ledger: dict[str, Any] = (await client.get("/sandbox/ledger")).json()
            return ledger


MakeSite = Callable[..., Awaitable[Site]]


class Unclosed(httpx.AsyncBaseTransport):
    """Passes requests on; stays open when a client that used it is closed."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._inner.handle_async_request(request)


@pytest.fixture
async def make_site(tmp_path: Path) -> AsyncIterator[MakeSite]:
    async with AsyncExitStack() as stack:

        async def make(**options: Any) -> Site:  # noqa: ANN401 - as SandboxOptions takes them
            given = {"tasks": 6, "kinds": ("word_count",), **options}
            app = create_app(SandboxOptions(**given))
            running = in_one_task(app.router.lifespan_context(app))
            await stack.enter_async_context(running)
            (tmp_path / "strategies").mkdir()
            (tmp_path / "strategies" / "count_words.py").write_text(READY.read_text())
            return Site(tmp_path, Unclosed(httpx.ASGITransport(app)))

        yield make


@pytest.fixture
async def site(make_site: MakeSite) -> Site:
    return await make_site()


class Answering(httpx.AsyncBaseTransport):
    """A network that gives one and the same answer to everything."""

    def __init__(
        self, status: int = 200, content: bytes = b"{}", kind: str = ""
    ) -> None:
        self.requests: list[httpx.Request] = []
        self._status, self._content, self._kind = status, content, kind

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        headers = {"content-type": self._kind or "application/json"}
        return httpx.Response(self._status, content=self._content, headers=headers)


class Unreachable(httpx.AsyncBaseTransport):
    """A network to which no connection can be made."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)


@pytest.fixture
def not_deaf() -> Iterator[None]:
    """Hear SIGHUP, also where the tests were started by `nohup`."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)
