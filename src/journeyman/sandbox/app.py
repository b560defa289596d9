"""The sandbox as an ASGI application, and as a server."""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager

import anyio
import uvicorn
from fastapi import Depends, FastAPI, Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from journeyman.sandbox import errors, task_generator
from journeyman.sandbox.chaos import CLOSE_CONNECTION, ChaosMiddleware
from journeyman.sandbox.competitors import Competitor
from journeyman.sandbox.contract import VERSION
from journeyman.sandbox.endpoints import add_contract
from journeyman.sandbox.options import SandboxOptions
from journeyman.sandbox.store import SandboxEnvironment, State, open_state
from journeyman.sandbox.web import WEB_ROUTER

_BACKLOG = 2048
"""How many connections may wait to be accepted."""
_LAST_PORT = 65535
_GRACE_SECONDS = 3
"""How long requests in flight may take when it stops."""


def create_app(
    options: SandboxOptions, environment: SandboxEnvironment | None = None
) -> FastAPI:
    """Open the data, create the first tasks and build the application.

    It answers at once. Competitors run during its lifespan, which closes the data.

    Raises:
        SandboxError: the data cannot be used.
    """
    state = open_state(options, environment or SandboxEnvironment())
    task_generator.create_first_tasks(state)
    app = FastAPI(
        title="Agent Network Service (sandbox)",
        version=VERSION,
        lifespan=_lifespan,
        openapi_url=None if options.undescribed else "/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.sandbox = state
    add_contract(app.router, options, [Depends(_pause), Depends(_delay)])
    app.include_router(WEB_ROUTER)
    errors.install_error_handlers(app, errors.ERROR_FORMATS[options.error_format])
    if options.chaos_level != "off":
        app.add_middleware(ChaosMiddleware, state=state)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    state: State = app.state.sandbox
    try:
        async with anyio.create_task_group() as group:
            for number in range(1, state.options.competitors + 1):
                group.start_soon(Competitor(state, number).run)
            yield
            group.cancel_scope.cancel()
    finally:
        state.db.close()


async def _pause(request: Request) -> None:
    state: State = request.app.state.sandbox
    state.pauses.let_pass(state.options.pause_every, state.environment.now())


async def _delay(request: Request) -> None:
    state: State = request.app.state.sandbox
    if state.options.latency_seconds:
        await state.environment.sleep(state.options.latency_seconds)


class _Connection(H11Protocol):
    """A connection that a request can ask to be closed."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn narrows it
        """Make the function that closes it known to requests."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, CLOSE_CONNECTION: transport.close}


class _Server(uvicorn.Server):
    """Uvicorn, which reports when it is ready, and leaves signals alone."""

    def __init__(self, app: FastAPI) -> None:
        config = uvicorn.Config(
            app,
            http=_Connection,
            access_log=False,
            lifespan="on",
            log_config=None,
            backlog=_BACKLOG,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        super().__init__(config)
        self.ready = anyio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, then report it."""
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to the caller: uvicorn would raise them again at its end."""
        yield


@asynccontextmanager
async def serving(
    options: SandboxOptions, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[str]:
    """Serve inside a running event loop; yield the base address.

    Port 0 means any free port.

    Raises:
        SandboxError: the address cannot be listened on, or the data cannot be used.
    """
    with _listener(host, port) as listener:
        base_url = options.base_url or _address(host, listener)
        server = _Server(create_app(options.model_copy(update={"base_url": base_url})))
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve, [listener])
            await server.ready.wait()
            try:
                yield base_url
            finally:
                server.should_exit = True


def _listener(host: str, port: int) -> socket.socket:
    """Bind before anything else, so that the address is known, and known to be free."""
    if not 0 <= port <= _LAST_PORT:
        raise errors.SandboxError(
            f"{port} is not a valid port",
            f"Choose one from 0 to {_LAST_PORT}; 0 means any free port.",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise _cannot_listen(host, port, error) from error


def _cannot_listen(host: str, port: int, error: OSError) -> errors.SandboxError:
    if error.errno == errno.EADDRINUSE:
        return errors.SandboxError(
            f"port {port} on {host} is taken",
            "Stop what listens there, or choose another port; 0 means any free port.",
        )
    return errors.SandboxError(
        f"cannot listen on port {port} of {host}: {error.strerror or error}",
        "Choose an address of this machine, such as 127.0.0.1, and a port over 1023.",
    )


def _address(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    # Nobody can connect to "all addresses"; loopback is always one of them.
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104 - compared, not listened on
    return (
        f"http://[{reachable}]:{port}"
        if ":" in reachable
        else f"http://{reachable}:{port}"
    )
