"""HTTP by hand: servers of tests that read and write the bytes themselves."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import anyio
from anyio.abc import SocketAttribute, SocketStream

from journeyman.domain.tasks import JSON

CLIENT_LEFT = (
    anyio.EndOfStream,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    OSError,
)
"""What a server sees when its client goes, which it may do at any byte."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came."""

    method: str
    target: str
    """The path, and what follows it."""
    headers: Mapping[str, str]
    """By name in lower case."""
    body: bytes

    @property
    def json(self) -> JSON:
        value: JSON = json.loads(self.body)
        return value


async def read_request(stream: SocketStream) -> Request:
    """Read one request.

    Raises:
        anyio.EndOfStream: The client left before the whole of it was read.
        anyio.BrokenResourceError: The connection broke, or speaks something else.
    """
    received = b""
    while b"\r\n\r\n" not in received:
        received += await stream.receive()
        if not received[:1].isalpha():
            raise anyio.BrokenResourceError("not HTTP: TLS, most likely")
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    pairs = (line.split(":", 1) for line in lines)
    headers = {name.lower(): value.strip() for name, value in pairs}
    while len(body) < int(headers.get("content-length", 0)):
        body += await stream.receive()
    return Request(method, target, headers, body)


@asynccontextmanager
async def listening(
    serve: Callable[[SocketStream], Awaitable[None]],
) -> AsyncIterator[int]:
    """Serve on a free port of loopback, which is given, until the block ends."""

    async def connection(stream: SocketStream) -> None:
        with suppress(*CLIENT_LEFT):
            async with stream:
                await serve(stream)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, connection)
        yield listener.extra(SocketAttribute.local_port)  # noqa: S610 - not Django's
        group.cancel_scope.cancel()
