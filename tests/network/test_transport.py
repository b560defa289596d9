"""What carries the bytes: certificates, and connections that are shared."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import httpx2 as httpx
import pytest
import trustme
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSListener

from journeyman.network.transport import AiohttpTransport

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nOK"


class Server:
    """Answers every request with OK, and counts connections."""

    port = 0
    connections = 0
    answers = True

    async def serve(self, stream: ByteStream) -> None:
        self.connections += 1
        # A client goes without a word, also in the middle of a handshake.
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, OSError):
            async with stream:
                while await stream.receive():
                    if not self.answers:
                        await anyio.sleep_forever()
                    await stream.send(OK)


@asynccontextmanager
async def serving(certificate: trustme.LeafCert | None) -> AsyncIterator[Server]:
    server = Server()
    tcp = await anyio.create_tcp_listener(local_host="127.0.0.1")
    server.port = tcp.extra(SocketAttribute.local_port)  # noqa: S610 - not Django's
    listener: Any = tcp
    if certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        certificate.configure_cert(context)
        listener = TLSListener(tcp, context)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, server.serve)
        yield server
        group.cancel_scope.cancel()


def transport(
    authority: trustme.CA | None = None, connections: int = 4
) -> AiohttpTransport:
    context = httpx.create_ssl_context(trust_env=False)
    if authority:
        authority.configure_trust(context)
    return AiohttpTransport(
        max_connections=connections, keepalive_seconds=5, context=context
    )


async def get(carrier: AiohttpTransport, url: str, **seconds: float) -> bytes:
    request = httpx.Request("GET", url, extensions={"timeout": seconds})
    response = await carrier.handle_async_request(request)
    try:
        return await response.aread()
    finally:
        await response.aclose()


async def test_a_certificate_that_a_known_authority_issued_is_accepted() -> None:
    authority = trustme.CA()

    async with (
        serving(authority.issue_cert("127.0.0.1")) as server,
        transport(authority) as carrier,
    ):
        body = await get(carrier, f"https://127.0.0.1:{server.port}/")

    assert body == b"OK"


@pytest.mark.parametrize(
    ("name", "is_known"),
    [
        pytest.param("127.0.0.1", False, id="nobody-vouches-for-it"),
        pytest.param("another.example", True, id="it-names-another-host"),
    ],
)
async def test_a_wrong_certificate_ends_before_anything_is_sent(
    name: str, *, is_known: bool
) -> None:
    authority = trustme.CA()

    async with (
        serving(authority.issue_cert(name)) as server,
        transport(authority if is_known else None) as carrier,
    ):
        with pytest.raises(httpx.ConnectError, match=r"(?i)certificate"):
            await get(carrier, f"https://127.0.0.1:{server.port}/")


async def test_a_host_that_does_not_exist_is_a_failed_connection() -> None:
    async with transport() as carrier:
        with pytest.raises(httpx.ConnectError):
            await get(carrier, "http://nobody.invalid/", connect=5)


async def test_a_connection_is_used_again() -> None:
    async with serving(None) as server, transport() as carrier:
        for _ in range(3):
            await get(carrier, f"http://127.0.0.1:{server.port}/")

    assert server.connections == 1


async def test_a_request_that_finds_no_free_connection_was_never_sent() -> None:
    async with serving(None) as server:
        server.answers = False
        url = f"http://127.0.0.1:{server.port}/"
        async with transport(connections=1) as carrier, anyio.create_task_group() as go:
            go.start_soon(get, carrier, url)
            await anyio.wait_all_tasks_blocked()

            with pytest.raises(httpx.PoolTimeout):
                await get(carrier, url, pool=0.01)

            go.cancel_scope.cancel()


async def test_a_call_that_was_stopped_gives_its_connection_back() -> None:
    async with serving(None) as server:
        server.answers = False
        url = f"http://127.0.0.1:{server.port}/"
        async with transport(connections=1) as carrier:
            with anyio.move_on_after(0.05):
                await get(carrier, url)
            server.answers = True

            assert await get(carrier, url, pool=1) == b"OK"
