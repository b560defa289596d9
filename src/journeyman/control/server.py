"""The running daemon seen over HTTP: status, health, and the owner's commands.

Served on a unix socket in the data directory, readable by its owner alone, so that
`docker exec agent journeyman pause` needs no port and no password.
"""

import contextlib
import socket
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from journeyman.control import events
from journeyman.domain.errors import JourneymanError, UsageError
from journeyman.domain.tasks import JSON, NewTask, SpendId
from journeyman.observability.events import Log

UNAVAILABLE = 503
REFUSED = 409


class Desk(Protocol):
    """What can be asked of a running daemon."""

    def status(self) -> dict[str, JSON]:
        """Everything at a glance."""
        ...

    def health(self) -> dict[str, JSON]:
        """`healthy`, and why not."""
        ...

    def pause(self) -> None:
        """Claim nothing until `resume`."""
        ...

    def resume(self) -> None:
        """Claim again."""
        ...

    def stop(self) -> None:
        """Drain and exit, as after SIGTERM."""
        ...

    async def reload(self) -> dict[str, JSON]:
        """Load the strategies anew, or say why the old ones stay."""
        ...

    def release(self, strategy: str) -> dict[str, JSON]:
        """Let a strategy out of quarantine."""
        ...

    def promote(self, strategy: str) -> dict[str, JSON]:
        """Give a strategy work that was in shadow."""
        ...

    async def post(self, new: NewTask) -> dict[str, JSON]:
        """Publish a task within the owner's limits."""
        ...

    async def top_up(self, credits_: int) -> dict[str, JSON]:
        """Ask for a payment page."""
        ...

    def settle_top_up(self, spend_id: SpendId, *, paid: bool) -> dict[str, JSON]:
        """Book a top-up on the owner's word, or forget it."""
        ...


Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Console:
    """The endpoints; bodies are JSON objects."""

    desk: Desk

    async def status(self, _request: Request) -> Response:
        """GET /status."""
        return JSONResponse(self.desk.status())

    async def health(self, _request: Request) -> Response:
        """GET /healthz: 200 when healthy, else 503."""
        health = self.desk.health()
        return JSONResponse(health, 200 if health["healthy"] else UNAVAILABLE)

    async def pause(self, _request: Request) -> Response:
        """POST /pause."""
        self.desk.pause()
        return JSONResponse({"ok": True})

    async def resume(self, _request: Request) -> Response:
        """POST /resume."""
        self.desk.resume()
        return JSONResponse({"ok": True})

    async def stop(self, _request: Request) -> Response:
        """POST /stop."""
        self.desk.stop()
        return JSONResponse({"ok": True})

    async def reload(self, _request: Request) -> Response:
        """POST /reload: 200 also where the old strategies stay; `reloaded` tells."""
        return JSONResponse(await self.desk.reload())

    async def release(self, request: Request) -> Response:
        """POST /strategies/{name}/release."""
        return JSONResponse(self.desk.release(request.path_params["name"]))

    async def promote(self, request: Request) -> Response:
        """POST /strategies/{name}/promote."""
        return JSONResponse(self.desk.promote(request.path_params["name"]))

    async def post(self, request: Request) -> Response:
        """POST /posts with title, description, reward and optional fields."""
        return JSONResponse(await self.desk.post(_new_task(await _object(request))))

    async def top_up(self, request: Request) -> Response:
        """POST /top-ups with `credits`."""
        body = await _object(request)
        credits_ = body.get("credits")
        if not isinstance(credits_, int) or isinstance(credits_, bool):
            raise UsageError("`credits` must be a whole number")
        return JSONResponse(await self.desk.top_up(credits_))

    async def confirm_top_up(self, request: Request) -> Response:
        """POST /top-ups/{spend_id}/confirm."""
        return self._settle_top_up(request, paid=True)

    async def cancel_top_up(self, request: Request) -> Response:
        """POST /top-ups/{spend_id}/cancel."""
        return self._settle_top_up(request, paid=False)

    def _settle_top_up(self, request: Request, *, paid: bool) -> Response:
        spend_id = SpendId(request.path_params["spend_id"])
        return JSONResponse(self.desk.settle_top_up(spend_id, paid=paid))


def build_app(desk: Desk) -> Starlette:
    """Make the ASGI application."""
    console = Console(desk)

    def route(method: str, path: str, endpoint: Endpoint) -> Route:
        return Route(path, endpoint, methods=[method])

    return Starlette(
        routes=[
            route("GET", "/status", console.status),
            route("GET", "/healthz", console.health),
            route("POST", "/pause", console.pause),
            route("POST", "/resume", console.resume),
            route("POST", "/stop", console.stop),
            route("POST", "/reload", console.reload),
            route("POST", "/strategies/{name}/release", console.release),
            route("POST", "/strategies/{name}/promote", console.promote),
            route("POST", "/posts", console.post),
            route("POST", "/top-ups", console.top_up),
            route("POST", "/top-ups/{spend_id}/confirm", console.confirm_top_up),
            route("POST", "/top-ups/{spend_id}/cancel", console.cancel_top_up),
        ],
        exception_handlers={JourneymanError: _refuse},
    )


async def _refuse(_request: Request, error: Exception) -> Response:
    problem = error if isinstance(error, JourneymanError) else JourneymanError("")
    return JSONResponse(
        {
            "problem": problem.problem,
            "fix": problem.fix,
            "exit_code": problem.exit_code,
        },
        REFUSED,
    )


async def _object(request: Request) -> dict[str, JSON]:
    try:
        body = await request.json()
    except (ValueError, RecursionError) as error:  # also a body that is no UTF-8
        raise UsageError(f"the body is no JSON: {error}") from error
    if not isinstance(body, dict):
        raise UsageError("the body must be a JSON object")
    return body


def _new_task(body: dict[str, JSON]) -> NewTask:
    title, reward, tags = body.get("title"), body.get("reward"), body.get("tags", [])
    if not isinstance(title, str) or not title.strip():
        raise UsageError("a post needs a title")
    if not isinstance(reward, int) or isinstance(reward, bool) or reward < 1:
        raise UsageError("a post needs a reward of at least 1 credit")
    if not isinstance(tags, list):
        raise UsageError("`tags` must be a list of texts")
    return NewTask(
        title=title,
        description=str(body.get("description") or title),
        reward=reward,
        kind=str(body.get("kind") or ""),
        tags=tuple(str(tag) for tag in tags),
        input=body.get("input"),
    )


OWNER_ONLY = 0o600


async def serve_control(path: Path, desk: Desk, log: Log) -> None:
    """Answer commands until cancelled. Without a socket the daemon works all the same.

    The lock on the data directory is ours by now, so a socket file that is there was
    left by a killed daemon, and is replaced.
    """
    try:
        listener = _listen(path)
    except OSError as error:
        log.emit(events.CONTROL_UNAVAILABLE, path=str(path), problem=str(error))
        return
    config = uvicorn.Config(
        build_app(desk),
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    server = _Server(config)
    with listener:
        try:
            await server.serve(sockets=[listener])
        finally:
            await _close(server, listener)
            _remove(path)


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: the supervisor owns the signals."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _close(server: uvicorn.Server, listener: socket.socket) -> None:
    """Let answers that are on their way out, such as the one to a stop, arrive."""
    if server.started:
        with anyio.CancelScope(shield=True):
            await server.shutdown(sockets=[listener])


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
