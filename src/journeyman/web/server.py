"""Serves the page from within the daemon's event loop."""

import socket
from collections.abc import Collection
from dataclasses import dataclass

from pydantic import SecretStr

from journeyman.control.server import serve_app
from journeyman.daemon.commands import OwnerCommands
from journeyman.web import events
from journeyman.web.access import Access
from journeyman.web.app import build_app
from journeyman.web.live import Live
from journeyman.web.metrics import Meters


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where the page is served, and to whom."""

    host: str
    port: int
    """0: any that is free."""
    names: Collection[str]
    password: SecretStr | None


async def serve_web(place: Place, meters: Meters, commands: OwnerCommands) -> None:
    """Serve the page until cancelled. Without a port the daemon works all the same."""
    environment = commands.agent.environment
    if place.password is not None:
        environment.redactor.add(place.password.get_secret_value())
    try:
        listener = _listen(place)
    except OSError as error:
        problem = error.strerror or str(error)
        environment.log.emit(
            events.UNAVAILABLE, host=place.host, port=place.port, problem=problem
        )
        return
    access = Access(
        password=place.password,
        names=[*place.names, place.host],
        clock=environment.clock,
        randomness=environment.randomness,
        log=environment.log,
    )
    live = Live(environment.clock)
    environment.log.emit(
        events.STARTED,
        address=_address(place.host, listener.getsockname()[1]),
        has_password=place.password is not None,
    )
    commands.agent.journal.database.observe(meters)
    await serve_app(build_app(commands, access, live, meters), listener, live.close)


def _listen(place: Place) -> socket.socket:
    """Bind the port.

    Raises:
        OSError: it is taken, or the host has no such address.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(
        place.host, place.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def _address(host: str, port: int) -> str:
    """Return what a browser on this machine opens."""
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 - compared
    shown = f"[{name}]" if ":" in name and not name.startswith("[") else name
    return f"http://{shown}:{port}/"
