"""The control socket of a running daemon: the verbs over HTTP.

Served on a unix socket in the data directory, readable by its owner alone, so that
`docker exec agent journeyman pause` needs no port and no password.
"""

import contextlib
import json
import socket
from collections.abc import Awaitable, Callable, Iterator
from inspect import isawaitable
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from pydantic import TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from journeyman.control import events
from journeyman.control.verbs import HEALTH, VERBS, Verb, VerbRequest
from journeyman.domain.errors import JourneymanError, UsageError
from journeyman.observability.events import Log

OK, UNAVAILABLE, REFUSED = 200, 503, 409


def build_app(commands: object) -> Starlette:
    """Return the ASGI application, with a route for each verb.

    Raises:
        TypeError: `commands` lacks a method of the name of a verb.
    """
    routes = []
    for verb in VERBS:
        handler = getattr(commands, verb.name, None)
        if not callable(handler):
            raise TypeError(f"{type(commands).__name__} has no method {verb.name}")
        routes.append(Route(verb.path, _endpoint(verb, handler), methods=[verb.method]))
    return Starlette(routes=routes, exception_handlers={JourneymanError: _refuse})


def _endpoint(
    verb: Verb[Any], handler: Callable[..., Any]
) -> Callable[[HttpRequest], Awaitable[Response]]:
    async def endpoint(request: HttpRequest) -> Response:
        asked = [await _read(request, verb.request)] if verb.request else []
        answer = handler(*asked)
        if isawaitable(answer):
            answer = await answer
        is_ill = verb is HEALTH and not answer["healthy"]
        return JSONResponse(answer or {"ok": True}, UNAVAILABLE if is_ill else OK)

    return endpoint


async def _read(request: HttpRequest, kind: type[VerbRequest]) -> VerbRequest:
    in_path = request.path_params
    # What is asked without a word more is asked with the defaults.
    body = await request.body() or b"{}"
    text = json.dumps(in_path).encode() if in_path else body
    # Made for each request, as they are rare: one for each verb would hold up a start.
    model: TypeAdapter[VerbRequest] = TypeAdapter(kind)
    try:
        return model.validate_json(text, strict=True)
    except ValidationError as error:
        problems = (
            ": ".join([*map(str, detail["loc"]), detail["msg"]])
            for detail in error.errors()
        )
        raise UsageError(f"the request is wrong: {'; '.join(problems)}") from error


async def _refuse(_request: HttpRequest, error: Exception) -> Response:
    problem = error if isinstance(error, JourneymanError) else JourneymanError("")
    return JSONResponse(
        {
            "problem": problem.problem,
            "fix": problem.fix,
            "exit_code": problem.exit_code,
        },
        REFUSED,
    )


OWNER_ONLY = 0o600


def _pass() -> None:
    """Do nothing."""


async def serve_control(path: Path, commands: object, log: Log) -> None:
    """Answer commands until cancelled. Without a socket the daemon works all the same.

    The lock on the data directory is ours by now, so a socket file that is there was
    left by a killed daemon, and is replaced.
    """
    try:
        listener = _listen(path)
    except OSError as error:
        log.emit(events.CONTROL_UNAVAILABLE, path=str(path), problem=str(error))
        return
    try:
        await serve_app(build_app(commands), listener)
    finally:
        _remove(path)


async def serve_app(
    app: ASGIApp, listener: socket.socket, on_close: Callable[[], None] = _pass
) -> None:
    """Serve HTTP on a socket until cancelled; answers on their way out are waited for.

    `on_close` is called first, to end answers that have no end of their own.
    """
    config = uvicorn.Config(
        app,
        http=H11Protocol,  # not by its name, for which it imports while others wait
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=1,
    )
    server = _Server(config)
    with listener:
        try:
            await server.serve(sockets=[listener])
        finally:
            on_close()
            await _close(server, listener)


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers, for the daemon has its own, and its ticks.

    Ten times a second they look whether to end, and write the date for headers anew.
    """

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await anyio.sleep_forever()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _close(server: uvicorn.Server, listener: socket.socket) -> None:
    """Wait for answers that are on their way out, such as the one to a stop.

    Where there are none, uvicorn would sleep all the same.
    """
    if not server.started:
        return
    if server.server_state.connections or server.server_state.tasks:
        with anyio.CancelScope(shield=True):
            await server.shutdown(sockets=[listener])
    for one in server.servers:
        one.close()


def _listen(path: Path) -> socket.socket:
    _remove(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(OWNER_ONLY)
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
