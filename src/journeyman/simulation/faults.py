"""Everything that can go wrong with one request, each kind by its name.

The kinds are the network axis of the fault matrix in docs/reference/invariants.md.
"""

import gzip
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import NoReturn, TypeAlias

import anyio
import httpx2 as httpx

from journeyman.simulation.exchange import BOM, Answer
from journeyman.simulation.wire import Wire

Fault: TypeAlias = Callable[[Wire], Awaitable[httpx.Response]]

GHOST_SECONDS = (30.0, 600.0)
"""How much later a request may arrive than whoever sent it has given up."""
DRIP_SECONDS = 4.0
"""Between two bytes: within the patience for one, beyond that for all."""
HUGE_PIECES, HUGE_PIECE = 26, bytes(1024 * 1024)
BOMB_BYTES = 20 * 1024 * 1024
JSON = ((b"content-type", b"application/json"),)
HTML = ((b"content-type", b"text/html"),)


async def drop_before(wire: Wire) -> httpx.Response:
    """The connection breaks before the request arrives."""
    await wire.travel()
    raise httpx.ReadError("connection reset", request=wire.request)


async def refuse(wire: Wire) -> httpx.Response:
    """Nobody listens."""
    raise httpx.ConnectError("connection refused", request=wire.request)


async def connect_timeout(wire: Wire) -> httpx.Response:
    """The connection is never made."""
    await wire.time_out("connect")
    raise httpx.ConnectTimeout("no connection in time", request=wire.request)


async def reset_after(wire: Wire) -> httpx.Response:
    """The request is processed, then the connection breaks."""
    await wire.travel()
    wire.serve()
    raise httpx.RemoteProtocolError("server disconnected", request=wire.request)


async def timeout_before(wire: Wire) -> httpx.Response:
    """The request is swallowed."""
    return await _never(wire)


async def timeout_after(wire: Wire) -> httpx.Response:
    """The request is processed, and its answer never comes."""
    await wire.travel()
    wire.serve()
    return await _never(wire)


async def late_ghost(wire: Wire) -> httpx.Response:
    """The request is processed long after the client has given up."""
    wire.call_later(wire.random.uniform(*GHOST_SECONDS), wire.serve)
    return await _never(wire)


async def replay(wire: Wire) -> httpx.Response:
    """Something between sends the request twice and hands on the second answer."""
    await wire.travel()
    wire.serve()
    return wire.response(wire.serve())


async def error_500_before(wire: Wire) -> httpx.Response:
    """An error of the server's, before anything was done."""
    return _plain(wire, 500, b'{"error": "internal"}')


async def error_500_after(wire: Wire) -> httpx.Response:
    """An error of the server's, after all was done."""
    await wire.travel()
    wire.serve()
    return _plain(wire, 500, b'{"error": "internal"}')


async def unavailable_503(wire: Wire) -> httpx.Response:
    """The service is away for a moment."""
    return _plain(wire, 503, b"", retry_after=b"7")


async def throttled_429(wire: Wire) -> httpx.Response:
    """Too many requests, without a word on how long to wait."""
    return _plain(wire, 429, b'{"error": "rate_limited"}')


async def throttled_429_valid(wire: Wire) -> httpx.Response:
    """Too many requests, with a time to wait."""
    seconds = str(wire.random.randint(1, 60)).encode()
    return _plain(wire, 429, b'{"error": "rate_limited"}', retry_after=seconds)


async def throttled_429_garbage(wire: Wire) -> httpx.Response:
    """Too many requests, with a time to wait that is none."""
    choices = (b"-5", b"1e99", b"soon", b"Thu, 01 Jan 2099 00:00:00 GMT")
    return _plain(wire, 429, b"", retry_after=wire.random.choice(choices))


async def truncated(wire: Wire) -> httpx.Response:
    """The answer ends in the middle."""
    await wire.travel()
    answer = wire.serve()
    return wire.response(replace(answer, body=answer.body[: len(answer.body) // 2]))


async def garbage_200(wire: Wire) -> httpx.Response:
    """All was done, and the answer is no text at all."""
    await wire.travel()
    wire.serve()
    return _plain(wire, 200, b"\x00\xff{garbage\xfe")


async def byte_order_mark(wire: Wire) -> httpx.Response:
    """The answer begins with a byte-order mark."""
    await wire.travel()
    answer = wire.serve()
    return wire.response(replace(answer, body=BOM + answer.body))


async def empty_200(wire: Wire) -> httpx.Response:
    """All was done, and the answer is empty."""
    await wire.travel()
    wire.serve()
    return _plain(wire, 200, b"")


async def html_200(wire: Wire) -> httpx.Response:
    """A page of something between, with a status that says yes."""
    return wire.response(
        Answer(status=200, headers=HTML, body=b"<html><body>Sign in</body></html>"),
    )


async def deep_json(wire: Wire) -> httpx.Response:
    """An answer nested a hundred thousand levels deep."""
    return _plain(wire, 200, b"[" * 100_000)


async def not_a_number(wire: Wire) -> httpx.Response:
    """All was done, and the answer holds numbers that are none."""
    await wire.travel()
    wire.serve()
    return _plain(wire, 200, b'{"credits": NaN, "balance": 1e999}')


async def redirect_307(wire: Wire) -> httpx.Response:
    """The way leads to another host."""
    away = ((b"location", b"https://elsewhere.invalid/collect"),)
    return wire.response(Answer(status=307, headers=away))


async def slow_drip(wire: Wire) -> httpx.Response:
    """All was done, and the answer comes byte by byte."""
    await wire.travel()
    answer = wire.serve()
    drops = [(DRIP_SECONDS, bytes([byte])) for byte in answer.body[:100]]
    return wire.response(answer, drops)


async def huge_body(wire: Wire) -> httpx.Response:
    """An answer of 26 MB."""
    pieces = [(0.01, HUGE_PIECE)] * HUGE_PIECES
    return wire.response(Answer(status=200, headers=JSON), pieces)


async def gzip_bomb(wire: Wire) -> httpx.Response:
    """A small answer that would unpack to 20 MB."""
    headers = (*JSON, (b"content-encoding", b"gzip"))
    return wire.response(Answer(status=200, headers=headers, body=_bomb()))


async def spurious_401(wire: Wire) -> httpx.Response:
    """A gateway that has forgotten the token for a moment."""
    return _plain(wire, 401, b'{"error": "unauthorized"}')


async def spurious_404(wire: Wire) -> httpx.Response:
    """A gateway whose service restarts."""
    return _plain(wire, 404, b"")


async def long_tail(wire: Wire) -> httpx.Response:
    """All is well, and slow."""
    await anyio.sleep(wire.random.uniform(1.0, 8.0))
    return wire.response(wire.serve())


FAULTS: MappingProxyType[str, Fault] = MappingProxyType(
    {
        fault.__name__: fault
        for fault in (
            drop_before,
            refuse,
            connect_timeout,
            reset_after,
            timeout_before,
            timeout_after,
            late_ghost,
            replay,
            error_500_before,
            error_500_after,
            unavailable_503,
            throttled_429,
            throttled_429_valid,
            throttled_429_garbage,
            truncated,
            garbage_200,
            byte_order_mark,
            empty_200,
            html_200,
            deep_json,
            not_a_number,
            redirect_307,
            slow_drip,
            huge_body,
            gzip_bomb,
            spurious_401,
            spurious_404,
            long_tail,
        )
    },
)


async def _never(wire: Wire) -> NoReturn:
    await wire.time_out("read")
    raise httpx.ReadTimeout("no answer in time", request=wire.request)


def _plain(
    wire: Wire,
    status: int,
    body: bytes,
    *,
    retry_after: bytes | None = None,
) -> httpx.Response:
    wait = () if retry_after is None else ((b"retry-after", retry_after),)
    return wire.response(Answer(status=status, headers=(*JSON, *wait), body=body))


@cache
def _bomb() -> bytes:
    return gzip.compress(bytes(BOMB_BYTES), mtime=0)
