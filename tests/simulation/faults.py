"""The faults of a request and its answer, by name.

Each is between a network that works and a daemon that works. Where "the request is
processed", the daemon sees something else than the network's answer.
"""

import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias

import anyio
import httpx2 as httpx
from tests.simulation.network import (
    ACCEPTED,
    BOM,
    FIRST_ERROR,
    JSON_TYPE,
    NetworkRequest,
    NetworkResponse,
)

Chunk = tuple[float, bytes]
"""Seconds that a piece of a body is waited for, and the piece."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Connection:
    """One request on its way to the network, and its answer on the way back."""

    request: httpx.Request
    network_request: NetworkRequest
    random: Random
    handle: Callable[[NetworkRequest], NetworkResponse]
    """Makes the network process it, now."""
    call_later: Callable[[float, Callable[[], object]], None]
    """Calls something in so many seconds, whether the daemon is alive or not."""
    on_bytes: Callable[[int], None]
    """Called with the length of each piece of the body that the daemon has read."""
    on_close: Callable[[], None]
    """Called when the daemon is done with the answer."""

    def serve(self) -> NetworkResponse:
        """Make the network process the request, now."""
        return self.handle(self.network_request)

    def serve_late(self) -> NetworkResponse:
        """Make the network process it when nobody waits for its answer any more."""
        return self.handle(replace(self.network_request, is_late=True))

    async def travel(self) -> None:
        """Take the time that a good network takes, one way."""
        await anyio.sleep(self.random.uniform(0.005, 0.1))

    async def time_out(self, kind: str) -> None:
        """Wait as long as the client has the patience for this kind of step.

        `kind` is httpx's: connect, read, write or pool.
        """
        limits = self.request.extensions.get("timeout", {})
        await anyio.sleep(limits.get(kind) or 0.0)

    def response(
        self,
        answer: NetworkResponse,
        chunks: list[Chunk] | None = None,
        *,
        breaks: bool = False,
    ) -> httpx.Response:
        """Return the client's side of an answer.

        Its body may come in pieces; it `breaks` if the connection ends after them.
        """
        pieces = [(0.0, answer.body)] if chunks is None else chunks
        return httpx.Response(
            answer.status,
            headers=list(answer.headers),
            stream=_TimedBody(pieces, self, breaks=breaks),
        )


class _TimedBody(httpx.AsyncByteStream):
    """A body that arrives over time, under the client's read time-out."""

    def __init__(
        self, chunks: list[Chunk], connection: Connection, *, breaks: bool
    ) -> None:
        self._chunks = chunks
        self._connection = connection
        self._breaks = breaks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        patience = self._connection.request.extensions.get("timeout", {}).get("read")
        for seconds, piece in self._chunks:
            if patience is not None and seconds > patience:
                await anyio.sleep(patience)
                raise httpx.ReadTimeout(
                    "no byte in time", request=self._connection.request
                )
            if seconds:
                await anyio.sleep(seconds)
            self._connection.on_bytes(len(piece))
            yield piece
        if self._breaks:
            message = "peer closed connection without sending complete message body"
            raise httpx.RemoteProtocolError(message, request=self._connection.request)

    async def aclose(self) -> None:
        self._connection.on_close()


Fault: TypeAlias = Callable[[Connection], Awaitable[httpx.Response]]


async def serve(connection: Connection) -> NetworkResponse:
    """Deliver the request to the network, which processes it."""
    await connection.travel()
    return connection.serve()


def plain(
    connection: Connection,
    status: int,
    body: bytes,
    *,
    retry_after: bytes | None = None,
) -> httpx.Response:
    """Answer by a body that says it is JSON."""
    wait = () if retry_after is None else ((b"retry-after", retry_after),)
    return connection.response(
        NetworkResponse(status=status, headers=(*JSON_TYPE, *wait), body=body)
    )


DRIP_SECONDS = 4.0
"""Between two bytes: within the patience for one, beyond that for all."""
HUGE_PIECES, HUGE_PIECE = 26, bytes(1024 * 1024)
BOMB_BYTES = 20 * 1024 * 1024
HTML = ((b"content-type", b"text/html"),)


async def truncated(connection: Connection) -> httpx.Response:
    """The answer ends in the middle."""
    answer = await serve(connection)
    return connection.response(
        replace(answer, body=answer.body[: len(answer.body) // 2])
    )


async def garbage_200(connection: Connection) -> httpx.Response:
    """The request is processed, and the answer is no text at all."""
    await serve(connection)
    return plain(connection, 200, b"\x00\xff{garbage\xfe")


async def byte_order_mark(connection: Connection) -> httpx.Response:
    """The answer begins with a byte-order mark."""
    answer = await serve(connection)
    return connection.response(replace(answer, body=BOM + answer.body))


async def empty_200(connection: Connection) -> httpx.Response:
    """The request is processed, and the answer is empty."""
    await serve(connection)
    return plain(connection, 200, b"")


async def no_content_204(connection: Connection) -> httpx.Response:
    """The request is processed, and there is nothing to say about it."""
    answer = await serve(connection)
    return connection.response(
        answer if _is_refusal(answer) else NetworkResponse(status=204)
    )


async def doubled_headers(connection: Connection) -> httpx.Response:
    """Each header of the answer comes twice."""
    answer = await serve(connection)
    return connection.response(replace(answer, headers=answer.headers * 2))


async def odd_names(connection: Connection) -> httpx.Response:
    """The request is processed, and the answer calls everything by other names."""
    return _rewritten(connection, await serve(connection), _renamed)


async def odd_types(connection: Connection) -> httpx.Response:
    """The request is processed, and no value of the answer has the type that it had."""
    return _rewritten(connection, await serve(connection), _retyped)


async def html_200(connection: Connection) -> httpx.Response:
    """A page of something between, with a status that says yes."""
    return connection.response(
        NetworkResponse(
            status=200, headers=HTML, body=b"<html><body>Sign in</body></html>"
        ),
    )


async def deep_json(connection: Connection) -> httpx.Response:
    """An answer nested a hundred thousand levels deep."""
    return plain(connection, 200, b"[" * 100_000)


async def not_a_number(connection: Connection) -> httpx.Response:
    """The request is processed, and the answer holds numbers that are none."""
    await serve(connection)
    return plain(connection, 200, b'{"credits": NaN, "balance": 1e999}')


async def slow_drip(connection: Connection) -> httpx.Response:
    """The request is processed, and the answer comes byte by byte."""
    answer = await serve(connection)
    drops = [(DRIP_SECONDS, bytes([byte])) for byte in answer.body[:100]]
    return connection.response(answer, drops)


async def huge_body(connection: Connection) -> httpx.Response:
    """An answer of 26 MB."""
    pieces = [(0.01, HUGE_PIECE)] * HUGE_PIECES
    return connection.response(NetworkResponse(status=200, headers=JSON_TYPE), pieces)


async def gzip_bomb(connection: Connection) -> httpx.Response:
    """A small answer that would unpack to 20 MB."""
    headers = (*JSON_TYPE, (b"content-encoding", b"gzip"))
    return connection.response(
        NetworkResponse(status=200, headers=headers, body=_bomb())
    )


@cache
def _bomb() -> bytes:
    return gzip.compress(bytes(BOMB_BYTES), mtime=0)


def _rewritten(
    connection: Connection, answer: NetworkResponse, rewrite: Callable[[Any], Any]
) -> httpx.Response:
    if not _is_json(answer) or _is_refusal(answer):
        return connection.response(answer)
    content = rewrite(json.loads(answer.body))
    return connection.response(replace(answer, body=json.dumps(content).encode()))


def _is_json(answer: NetworkResponse) -> bool:
    """Return whether it is JSON: some documents are pages and plain text."""
    return answer.body.removeprefix(BOM)[:1] in {b"{", b"["}


def _is_document(answer: NetworkResponse) -> bool:
    """Return whether it is a text of the portal, and no JSON."""
    return not answer.body.removeprefix(BOM).startswith((b"{", b"["))


def _is_refusal(answer: NetworkResponse) -> bool:
    """Return whether it refuses, finds a result wrong, or says that it is not done.

    Nobody could know that from other words, and no network would hide it in them.
    """
    if answer.status >= FIRST_ERROR or answer.status == ACCEPTED:
        return True
    if _is_document(answer):
        return False
    if not _is_json(answer):
        return False
    return json.loads(answer.body.removeprefix(BOM)).get("accepted") is False


def _renamed(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {f"x_{name}": _renamed(inner) for name, inner in value.items()}
    return [_renamed(inner) for inner in value] if isinstance(value, list) else value


def _retyped(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {name: _retyped(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_retyped(inner) for inner in value]
    if isinstance(value, str):
        return [value]
    return None if isinstance(value, bool) else str(value)


GHOST_SECONDS = (30.0, 600.0)
"""How much later a request may arrive than whoever sent it has given up."""


async def refuse(connection: Connection) -> httpx.Response:
    """Nobody listens."""
    raise httpx.ConnectError("connection refused", request=connection.request)


async def no_such_host(connection: Connection) -> httpx.Response:
    """The network's name cannot be resolved."""
    raise httpx.ConnectError("Name or service not known", request=connection.request)


async def handshake_failed(connection: Connection) -> httpx.Response:
    """Whoever answers cannot prove to be the network (RFC 8446, section 6.2)."""
    await connection.travel()
    raise httpx.ConnectError(
        "certificate verify failed: certificate has expired", request=connection.request
    )


async def connect_timeout(connection: Connection) -> httpx.Response:
    """The connection is never made."""
    await connection.time_out("connect")
    raise httpx.ConnectTimeout("no connection in time", request=connection.request)


async def drop_before(connection: Connection) -> httpx.Response:
    """The connection breaks before the request arrives."""
    await connection.travel()
    raise httpx.ReadError("connection reset", request=connection.request)


async def reset_after(connection: Connection) -> httpx.Response:
    """The request is processed, then the connection breaks."""
    await serve(connection)
    raise httpx.RemoteProtocolError("server disconnected", request=connection.request)


async def cut_short(connection: Connection) -> httpx.Response:
    """The request is processed, and the connection breaks within the answer."""
    answer = await serve(connection)
    half = answer.body[: len(answer.body) // 2]
    return connection.response(answer, [(0.0, half)], breaks=True)


async def timeout_before(connection: Connection) -> httpx.Response:
    """The request is swallowed."""
    return await _never(connection)


async def timeout_after(connection: Connection) -> httpx.Response:
    """The request is processed, and its answer never comes."""
    await serve(connection)
    return await _never(connection)


async def late_ghost(connection: Connection) -> httpx.Response:
    """The request is processed long after the client has given up."""
    connection.call_later(
        connection.random.uniform(*GHOST_SECONDS), connection.serve_late
    )
    return await _never(connection)


async def replay(connection: Connection) -> httpx.Response:
    """Something between sends the request twice and hands on the second answer."""
    await serve(connection)
    return connection.response(connection.serve())


async def long_tail(connection: Connection) -> httpx.Response:
    """All is well, and slow."""
    await anyio.sleep(connection.random.uniform(1.0, 8.0))
    return connection.response(connection.serve())


async def _never(connection: Connection) -> NoReturn:
    await connection.time_out("read")
    raise httpx.ReadTimeout("no answer in time", request=connection.request)


ELSEWHERE = ((b"location", b"https://elsewhere.invalid/collect"),)
"""Another host, which is to see no token (the name is reserved: RFC 2606)."""
NO_WAITS = (b"-5", b"1e99", b"soon", b"Thu, 01 Jan 2099 00:00:00 GMT", b"7, 900")
"""What `Retry-After` may hold instead of seconds; two headers are joined by a comma."""


async def error_500_before(connection: Connection) -> httpx.Response:
    """An error of the server's, before the request was processed."""
    return plain(connection, 500, b'{"error": "internal"}')


async def error_500_after(connection: Connection) -> httpx.Response:
    """An error of the server's, after the request was processed."""
    await serve(connection)
    return plain(connection, 500, b'{"error": "internal"}')


async def unavailable_503(connection: Connection) -> httpx.Response:
    """The service is away for a moment."""
    return plain(connection, 503, b"", retry_after=b"7")


async def throttled_429(connection: Connection) -> httpx.Response:
    """Too many requests, without a word on how long to wait."""
    return plain(connection, 429, b'{"error": "rate_limited"}')


async def throttled_429_valid(connection: Connection) -> httpx.Response:
    """Too many requests, with a time to wait."""
    seconds = str(connection.random.randint(1, 60)).encode()
    return plain(connection, 429, b'{"error": "rate_limited"}', retry_after=seconds)


async def throttled_429_garbage(connection: Connection) -> httpx.Response:
    """Too many requests, with a time to wait that is none."""
    return plain(connection, 429, b"", retry_after=connection.random.choice(NO_WAITS))


async def redirect_302(connection: Connection) -> httpx.Response:
    """The way leads to another host, in a way that makes a POST a GET."""
    return connection.response(NetworkResponse(status=302, headers=ELSEWHERE))


async def redirect_307(connection: Connection) -> httpx.Response:
    """The way leads to another host, for the same request."""
    return connection.response(NetworkResponse(status=307, headers=ELSEWHERE))


async def spurious_401(connection: Connection) -> httpx.Response:
    """A gateway that has forgotten the token for a moment."""
    return plain(connection, 401, b'{"error": "unauthorized"}')


async def spurious_404(connection: Connection) -> httpx.Response:
    """A gateway whose service restarts."""
    return plain(connection, 404, b"")


FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        fault.__name__: fault
        for fault in (
            refuse,
            no_such_host,
            handshake_failed,
            connect_timeout,
            drop_before,
            reset_after,
            cut_short,
            timeout_before,
            timeout_after,
            late_ghost,
            replay,
            long_tail,
            error_500_before,
            error_500_after,
            unavailable_503,
            throttled_429,
            throttled_429_valid,
            throttled_429_garbage,
            redirect_302,
            redirect_307,
            spurious_401,
            spurious_404,
            truncated,
            garbage_200,
            byte_order_mark,
            empty_200,
            no_content_204,
            doubled_headers,
            odd_names,
            odd_types,
            html_200,
            deep_json,
            not_a_number,
            slow_drip,
            huge_body,
            gzip_bomb,
        )
    },
)

NEVER_LEFT = frozenset(
    {"refuse", "no_such_host", "handshake_failed", "connect_timeout"}
)
"""Those of a connection that was never made: nothing can have arrived."""
