"""What carries the bytes: certificates, and connections that are shared."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import httpx2 as httpx
import pytest
import trustme
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSListener

from journeyman.domain.outcomes import NotSent
from journeyman.network.advice import advice_for
from journeyman.network.http import HttpClient, HttpLimits
from journeyman.network.transport import AiohttpTransport

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nOK"


class Server:
    """Answers every request with OK, and counts connections."""

    port = 0
    connections = 0
    requests = 0
    answers = True

    def __init__(self) -> None:
        self.tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)

    async def serve(self, stream: ByteStream) -> None:
        self.connections += 1
        # A client goes without a word, also in the middle of a handshake.
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, OSError):
            async with stream:
                while await stream.receive():
                    self.requests += 1
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
        certificate.configure_cert(server.tls)
        listener = TLSListener(tcp, server.tls)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, server.serve)
        yield server
        group.cancel_scope.cancel()


def in_days(days: int) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)  # noqa: TID251  # TLS has the machine's clock


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
    ("name", "is_known", "days", "reason"),
    [
        pytest.param("127.0.0.1", False, 1, "issuer", id="nobody-vouches-for-it"),
        pytest.param("another.example", True, 1, "mismatch", id="for-another-host"),
        pytest.param("127.0.0.1", True, -1, "has expired", id="expired"),
    ],
)
async def test_a_wrong_certificate_ends_a_call_before_anything_is_sent(
    name: str, *, is_known: bool, days: int, reason: str
) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert(name, not_after=in_days(days))

    async with (
        serving(certificate) as server,
        transport(authority if is_known else None) as carrier,
    ):
        outcome = await HttpClient(HttpLimits(), carrier).send(
            "GET", f"https://127.0.0.1:{server.port}/", headers={}
        )

    assert isinstance(outcome, NotSent)
    assert "certificate is not accepted" in outcome.message
    assert reason in outcome.message
    assert "clock" in advice_for(outcome, has_token=True)
    assert server.requests == 0


async def test_a_renewed_certificate_is_accepted_without_a_new_start() -> None:
    authority = trustme.CA()
    expired = authority.issue_cert("127.0.0.1", not_after=in_days(-1))

    async with serving(expired) as server, transport(authority) as carrier:
        with pytest.raises(httpx.ConnectError):
            await get(carrier, f"https://127.0.0.1:{server.port}/")
        authority.issue_cert("127.0.0.1").configure_cert(server.tls)
        body = await get(carrier, f"https://127.0.0.1:{server.port}/")

    assert body == b"OK"


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
