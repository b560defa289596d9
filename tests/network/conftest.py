"""A scripted HTTP server on loopback, and the client that speaks with it.

The fake is the server, not the client: real requests make a round trip, and the
server can do what no well-behaved one does.
"""

import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from tests.one_task import in_one_task
from tests.raw_http import Request, listening, read_request

from journeyman.domain.tasks import JSON, AccessToken, AgentId, Identity
from journeyman.network.client import NetworkClient
from journeyman.network.http import HttpLimits
from journeyman.network.service_model.configured import configured_shape
from journeyman.network.service_model.request import RequestShape
from journeyman.network.service_model.search import RequestSearch
from journeyman.testing import RecordingLog

TOKEN = "tok-4f1d9c0a-secret"  # noqa: S105  # of no real service
PINNED = {
    action: configured_shape(action, {name: name for name in names.split()})
    for action, names in {
        "claim": "task_id agent_id",
        "submit": "task_id agent_id result",
        "complete": "task_id agent_id",
        "post_task": "agent_id title description reward",
    }.items()
}
"""One request for each call: what is asked is not whether another would do."""
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


Behaviour = Callable[[SocketStream], Awaitable[None]]


def answer(
    status: int = 200,
    body: "JSON | bytes" = None,
    headers: Mapping[str, str] | None = None,
) -> Behaviour:
    """Answer properly; bytes are sent as they are, anything else as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = {"content-type": "application/json", **(headers or {})}

    async def behave(stream: SocketStream) -> None:
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        start = f"HTTP/1.1 {status} Scripted\r\ncontent-length: {len(content)}\r\n"
        await stream.send(f"{start}{head}\r\n".encode() + content)

    return behave


def raw(content: bytes) -> Behaviour:
    """Send these very bytes, then hang up."""

    async def behave(stream: SocketStream) -> None:
        await stream.send(content)
        await stream.aclose()

    return behave


async def hang_up(stream: SocketStream) -> None:
    """Close the connection without an answer."""
    await stream.aclose()


async def reset(stream: SocketStream) -> None:
    """Reset the connection without an answer."""
    connection: socket.socket = stream.extra(  # noqa: S610  # not Django's
        SocketAttribute.raw_socket,
    )
    linger = struct.pack("ii", 1, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    await stream.aclose()


async def stall(_: SocketStream) -> None:
    """Never answer."""
    await anyio.sleep_forever()


async def drip(stream: SocketStream) -> None:
    """Send a byte now and then, without end: no read time-out ever fires."""
    await stream.send(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
    while True:
        await stream.send(b" ")
        await anyio.sleep(0.005)


@dataclass
class ScriptedServer:
    """Plays the behaviours in order; the last one again and again."""

    base_url: str = ""
    requests: list[Request] = field(default_factory=list)
    script: list[Behaviour] = field(default_factory=lambda: [answer(200, {})])

    def will(self, *behaviours: Behaviour) -> None:
        self.script = list(behaviours)

    async def serve(self, stream: SocketStream) -> None:
        while True:
            self.requests.append(await read_request(stream))
            play = self.script[0]
            self.script = self.script[1:] or self.script
            await play(stream)


class StoppedClock:
    """A clock whose time does not pass."""

    def monotonic(self) -> float:
        return 100.0

    def now(self) -> datetime:
        return NOW

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(f"the client never sleeps, not even {seconds} s")


@asynccontextmanager
async def serving() -> AsyncIterator[ScriptedServer]:
    server = ScriptedServer()
    async with listening(server.serve) as port:
        server.base_url = f"http://127.0.0.1:{port}"
        yield server


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with in_one_task(serving()) as scripted:
        yield scripted


@pytest.fixture
async def other_server() -> AsyncIterator[ScriptedServer]:
    async with in_one_task(serving()) as scripted:
        yield scripted


@pytest.fixture
def log() -> RecordingLog:
    return RecordingLog()


ClientFor = Callable[..., AbstractAsyncContextManager[NetworkClient]]


@pytest.fixture
def client_for(log: RecordingLog) -> ClientFor:
    """Return a client of an address; identified unless told otherwise."""

    @asynccontextmanager
    async def open_client(
        base_url: str,
        *,
        portal_url: str | None = None,
        identified: bool = True,
        limits: HttpLimits | None = None,
        owner: Mapping[str, RequestShape] = PINNED,
    ) -> AsyncIterator[NetworkClient]:
        client = NetworkClient(
            base_url=base_url,
            portal_url=portal_url,
            log=log,
            clock=StoppedClock(),
            limits=limits or HttpLimits(),
            search=RequestSearch(owner=owner, clock=StoppedClock(), log=log),
        )
        if identified:
            client.identify(identity_at(base_url))
        async with client:
            yield client

    return open_client


@pytest.fixture
async def network(
    server: ScriptedServer,
    client_for: ClientFor,
) -> AsyncIterator[NetworkClient]:
    """Return an identified client of `server`."""
    async with in_one_task(client_for(server.base_url)) as client:
        yield client


def identity_at(base_url: str) -> Identity:
    return Identity(AgentId("agent-1"), AccessToken(TOKEN), base_url)
