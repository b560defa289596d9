"""The control socket: the console, served on a unix socket in the data directory."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import anyio
import uvicorn

from journeyman.console import Desk, build_app
from journeyman.daemon import events
from journeyman.observability import Log

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
