"""What carries the bytes: certificates, and connections that are shared."""

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import httpx2 as httpx
import pytest
import trustme
from anyio.abc import ByteStream, SocketAttribute, SocketStream
from anyio.streams.tls import TLSListener
from tests.raw_http import CLIENT_LEFT, listening, read_request

from journeyman.domain.outcomes import NotSent, Unknown
from journeyman.network.advice import advice_for
from journeyman.network.http import HttpClient, HttpLimits
from journeyman.network.transport import PooledTransport, TotalTimeout

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
) -> PooledTransport:
    context = httpx.create_ssl_context(trust_env=False)
    if authority:
        authority.configure_trust(context)
    return PooledTransport(
        max_connections=connections, keepalive_seconds=5, context=context
    )


async def get(carrier: PooledTransport, url: str, **seconds: float) -> bytes:
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


async def test_nobody_waits_for_a_connection_longer_than_for_the_whole_call() -> None:
    async with serving(None) as server:
        server.answers = False
        url = f"http://127.0.0.1:{server.port}/"
        async with transport(connections=1) as carrier, anyio.create_task_group() as go:
            go.start_soon(get, carrier, url)
            await anyio.wait_all_tasks_blocked()

            with pytest.raises(httpx.PoolTimeout), anyio.fail_after(5):
                await get(carrier, url, total=0.05)

            go.cancel_scope.cancel()


async def test_a_call_that_took_too_long_gives_its_connection_back() -> None:
    async with serving(None) as server:
        server.answers = False
        url = f"http://127.0.0.1:{server.port}/"
        async with transport(connections=1) as carrier:
            with pytest.raises(TotalTimeout):
                await get(carrier, url, total=0.05)
            server.answers = True

            assert await get(carrier, url, pool=1) == b"OK"


async def test_a_call_that_was_stopped_gives_its_connection_back() -> None:
    async with serving(None) as server:
        server.answers = False
        url = f"http://127.0.0.1:{server.port}/"
        async with transport(connections=1) as carrier:
            with anyio.move_on_after(0.05):
                await get(carrier, url)
            server.answers = True

            assert await get(carrier, url, pool=1) == b"OK"


Script = Callable[[int], tuple[bytes, bool]]
"""What a connection answers to its requests by their number, and whether it closes."""


@asynccontextmanager
async def answering(script: Script) -> AsyncIterator[tuple[str, list[int]]]:
    """Serve what a script says; yield the address, and the requests by connection."""
    requests: list[int] = []

    async def serve(stream: SocketStream) -> None:
        requests.append(0)
        mine, number = len(requests) - 1, 0
        while True:
            await read_request(stream)
            number += 1
            requests[mine] = number
            written, closes = script(sum(requests))
            await stream.send(written)
            if closes:
                return

    async with listening(serve) as port:
        yield f"http://127.0.0.1:{port}/", requests


async def said(script: Script) -> bytes:
    """Return what two requests get, one after the other."""
    async with answering(script) as (url, _), transport() as carrier:
        return await get(carrier, url) + b", " + await get(carrier, url)


async def test_a_body_without_a_length_ends_with_its_connection() -> None:
    body = await said(lambda _: (b"HTTP/1.1 200 OK\r\n\r\nto the end", True))

    assert body == b"to the end, to the end"


async def test_interim_answers_are_passed_over() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"

    assert await said(lambda _: (2 * hints + OK, False)) == b"OK, OK"


async def test_a_body_in_chunks_may_have_trailers() -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    chunks = b"2\r\nin\r\n7;part=2\r\n pieces\r\n0\r\nchecksum: 1\r\n\r\n"

    body = await said(lambda _: (head + chunks, False))

    assert body == b"in pieces, in pieces"


@pytest.mark.parametrize(
    "endless",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nx: " + 70_000 * b"y", id="a-header"),
        pytest.param(b"HTTP/1.1 200 OK\r\n" + 300 * b"x: y\r\n", id="headers"),
        pytest.param(2_000 * b"HTTP/1.1 103 OK\r\nx: y12345678\r\n\r\n", id="hints"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: "
            + 700_000 * b"y",
            id="a-trailer",
        ),
    ],
)
async def test_headers_without_an_end_are_given_up(endless: bytes) -> None:
    async with (
        answering(lambda _: (endless, False)) as (url, _),
        transport() as carrier,
    ):
        with pytest.raises(httpx.RemoteProtocolError, match="more headers"):
            await get(carrier, url)


async def test_an_answer_that_nobody_asked_for_is_given_to_no_request() -> None:
    forged = OK.replace(b"OK", b"NO")
    async with (
        answering(lambda n: (OK + forged if n == 1 else OK, False)) as (url, requests),
        transport() as carrier,
    ):
        bodies = [await get(carrier, url) for _ in range(2)]

    assert bodies == [b"OK", b"OK"]
    assert requests == [1, 1]  # its connection was not used again


async def test_a_connection_that_the_server_will_close_is_not_used_again() -> None:
    closing = OK.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
    async with (
        answering(lambda _: (closing, False)) as (url, requests),
        transport() as carrier,
    ):
        bodies = [await get(carrier, url) for _ in range(2)]

    assert bodies == [b"OK", b"OK"]
    assert requests == [1, 1]


async def test_a_read_that_meets_a_closing_connection_is_sent_again() -> None:
    def closes_at_the_second(number: int) -> tuple[bytes, bool]:
        return (b"", True) if number == 2 else (OK, False)

    async with (
        answering(closes_at_the_second) as (url, requests),
        transport() as carrier,
    ):
        bodies = [await get(carrier, url) for _ in range(2)]

    assert bodies == [b"OK", b"OK"]
    assert requests == [2, 1]


async def test_an_action_that_meets_a_closing_connection_is_sent_once() -> None:
    def closes_at_the_second(number: int) -> tuple[bytes, bool]:
        return (b"", True) if number == 2 else (OK, False)

    async with (
        answering(closes_at_the_second) as (url, requests),
        transport() as carrier,
    ):
        await get(carrier, url)
        outcome = await HttpClient(HttpLimits(), carrier).send("POST", url, headers={})

    assert isinstance(outcome, Unknown)
    assert requests == [2]


async def test_an_idle_connection_is_closed_after_a_while() -> None:
    closed = anyio.Event()

    async def serve(stream: SocketStream) -> None:
        await read_request(stream)
        await stream.send(OK)
        with suppress(*CLIENT_LEFT):
            await stream.receive()
        closed.set()

    context = httpx.create_ssl_context(trust_env=False)
    async with (
        listening(serve) as port,
        PooledTransport(
            max_connections=1, keepalive_seconds=0.02, context=context
        ) as carrier,
    ):
        await get(carrier, f"http://127.0.0.1:{port}/")
        with anyio.fail_after(5):
            await closed.wait()


async def test_a_header_that_would_be_two_is_not_sent() -> None:
    async with (
        answering(lambda _: (OK, False)) as (url, requests),
        transport() as carrier,
    ):
        forged = httpx.Request("GET", url, headers={"x": "a\r\nauthorization: b"})
        with pytest.raises(httpx.LocalProtocolError):
            await carrier.handle_async_request(forged)

    assert requests == []


async def test_a_body_is_not_read_faster_than_it_is_wanted() -> None:
    long = 20_000_000
    sent = 0

    async def serve(stream: SocketStream) -> None:
        nonlocal sent
        await read_request(stream)
        await stream.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % long)
        while sent < long:
            await stream.send(bytes(100_000))
            sent += 100_000

    async with listening(serve) as port, transport() as carrier:
        request = httpx.Request("GET", f"http://127.0.0.1:{port}/")
        response = await carrier.handle_async_request(request)
        await anyio.wait_all_tasks_blocked()
        sent_before = sent
        body = await response.aread()
        await response.aclose()

    assert len(body) == long
    assert sent_before < long
