"""What can go wrong with one request, by name.

Each fault is a way in which a request and its answer may fare, between a network that
works and a daemon that works. A fault that says "all was done" lets the network process
the request, and then tells the daemon something else.
"""

import gzip
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias

import anyio
import httpx2 as httpx
from tests.simulation.server import BOM, FIRST_ERROR, JSON_TYPE, Answer, Wire

Fault: TypeAlias = Callable[[Wire], Awaitable[httpx.Response]]


async def serve(wire: Wire) -> Answer:
    """Carry the request to the network, and let it do what is asked."""
    await wire.travel()
    return wire.serve()


def plain(
    wire: Wire,
    status: int,
    body: bytes,
    *,
    retry_after: bytes | None = None,
) -> httpx.Response:
    """Answer by a body that says it is JSON."""
    wait = () if retry_after is None else ((b"retry-after", retry_after),)
    return wire.response(Answer(status=status, headers=(*JSON_TYPE, *wait), body=body))


DRIP_SECONDS = 4.0
"""Between two bytes: within the patience for one, beyond that for all."""
HUGE_PIECES, HUGE_PIECE = 26, bytes(1024 * 1024)
BOMB_BYTES = 20 * 1024 * 1024
HTML = ((b"content-type", b"text/html"),)


async def truncated(wire: Wire) -> httpx.Response:
    """The answer ends in the middle."""
    answer = await serve(wire)
    return wire.response(replace(answer, body=answer.body[: len(answer.body) // 2]))


async def garbage_200(wire: Wire) -> httpx.Response:
    """All was done, and the answer is no text at all."""
    await serve(wire)
    return plain(wire, 200, b"\x00\xff{garbage\xfe")


async def byte_order_mark(wire: Wire) -> httpx.Response:
    """The answer begins with a byte-order mark."""
    answer = await serve(wire)
    return wire.response(replace(answer, body=BOM + answer.body))


async def empty_200(wire: Wire) -> httpx.Response:
    """All was done, and the answer is empty."""
    await serve(wire)
    return plain(wire, 200, b"")


async def no_content_204(wire: Wire) -> httpx.Response:
    """All was done, and there is nothing to say about it."""
    answer = await serve(wire)
    return wire.response(answer if _says_no(answer) else Answer(status=204))


async def doubled_headers(wire: Wire) -> httpx.Response:
    """Each header of the answer comes twice."""
    answer = await serve(wire)
    return wire.response(replace(answer, headers=answer.headers * 2))


async def odd_names(wire: Wire) -> httpx.Response:
    """All was done, and the answer calls everything by other names."""
    return _retold(wire, await serve(wire), _renamed)


async def odd_types(wire: Wire) -> httpx.Response:
    """All was done, and no value of the answer has the type that it had."""
    return _retold(wire, await serve(wire), _retyped)


async def html_200(wire: Wire) -> httpx.Response:
    """A page of something between, with a status that says yes."""
    return wire.response(
        Answer(status=200, headers=HTML, body=b"<html><body>Sign in</body></html>"),
    )


async def deep_json(wire: Wire) -> httpx.Response:
    """An answer nested a hundred thousand levels deep."""
    return plain(wire, 200, b"[" * 100_000)


async def not_a_number(wire: Wire) -> httpx.Response:
    """All was done, and the answer holds numbers that are none."""
    await serve(wire)
    return plain(wire, 200, b'{"credits": NaN, "balance": 1e999}')


async def slow_drip(wire: Wire) -> httpx.Response:
    """All was done, and the answer comes byte by byte."""
    answer = await serve(wire)
    drops = [(DRIP_SECONDS, bytes([byte])) for byte in answer.body[:100]]
    return wire.response(answer, drops)


async def huge_body(wire: Wire) -> httpx.Response:
    """An answer of 26 MB."""
    pieces = [(0.01, HUGE_PIECE)] * HUGE_PIECES
    return wire.response(Answer(status=200, headers=JSON_TYPE), pieces)


async def gzip_bomb(wire: Wire) -> httpx.Response:
    """A small answer that would unpack to 20 MB."""
    headers = (*JSON_TYPE, (b"content-encoding", b"gzip"))
    return wire.response(Answer(status=200, headers=headers, body=_bomb()))


@cache
def _bomb() -> bytes:
    return gzip.compress(bytes(BOMB_BYTES), mtime=0)


def _retold(wire: Wire, answer: Answer, retell: Callable[[Any], Any]) -> httpx.Response:
    if _says_no(answer):
        return wire.response(answer)
    content = retell(json.loads(answer.body))
    return wire.response(replace(answer, body=json.dumps(content).encode()))


def _says_no(answer: Answer) -> bool:
    """Tell whether it refuses, or finds a result wrong.

    Nobody could know that from other words, and no network would hide it in them.
    """
    if answer.status >= FIRST_ERROR:
        return True
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


async def refuse(wire: Wire) -> httpx.Response:
    """Nobody listens."""
    raise httpx.ConnectError("connection refused", request=wire.request)


async def no_such_host(wire: Wire) -> httpx.Response:
    """The network's name cannot be resolved."""
    raise httpx.ConnectError("Name or service not known", request=wire.request)


async def handshake_failed(wire: Wire) -> httpx.Response:
    """Whoever answers cannot prove to be the network (RFC 8446, section 6.2)."""
    await wire.travel()
    raise httpx.ConnectError(
        "certificate verify failed: certificate has expired", request=wire.request
    )


async def connect_timeout(wire: Wire) -> httpx.Response:
    """The connection is never made."""
    await wire.time_out("connect")
    raise httpx.ConnectTimeout("no connection in time", request=wire.request)


async def drop_before(wire: Wire) -> httpx.Response:
    """The connection breaks before the request arrives."""
    await wire.travel()
    raise httpx.ReadError("connection reset", request=wire.request)


async def reset_after(wire: Wire) -> httpx.Response:
    """The request is processed, then the connection breaks."""
    await serve(wire)
    raise httpx.RemoteProtocolError("server disconnected", request=wire.request)


async def cut_short(wire: Wire) -> httpx.Response:
    """All was done, and the connection breaks in the middle of the answer."""
    answer = await serve(wire)
    half = answer.body[: len(answer.body) // 2]
    return wire.response(answer, [(0.0, half)], breaks=True)


async def timeout_before(wire: Wire) -> httpx.Response:
    """The request is swallowed."""
    return await _never(wire)


async def timeout_after(wire: Wire) -> httpx.Response:
    """The request is processed, and its answer never comes."""
    await serve(wire)
    return await _never(wire)


async def late_ghost(wire: Wire) -> httpx.Response:
    """The request is processed long after the client has given up."""
    wire.call_later(wire.random.uniform(*GHOST_SECONDS), wire.serve_late)
    return await _never(wire)


async def replay(wire: Wire) -> httpx.Response:
    """Something between sends the request twice and hands on the second answer."""
    await serve(wire)
    return wire.response(wire.serve())


async def long_tail(wire: Wire) -> httpx.Response:
    """All is well, and slow."""
    await anyio.sleep(wire.random.uniform(1.0, 8.0))
    return wire.response(wire.serve())


async def _never(wire: Wire) -> NoReturn:
    await wire.time_out("read")
    raise httpx.ReadTimeout("no answer in time", request=wire.request)


ELSEWHERE = ((b"location", b"https://elsewhere.invalid/collect"),)
"""Another host, which is to see no token (the name is reserved: RFC 2606)."""
NO_WAITS = (b"-5", b"1e99", b"soon", b"Thu, 01 Jan 2099 00:00:00 GMT", b"7, 900")
"""What `Retry-After` may hold instead of seconds; two headers are joined by a comma."""


async def error_500_before(wire: Wire) -> httpx.Response:
    """An error of the server's, before anything was done."""
    return plain(wire, 500, b'{"error": "internal"}')


async def error_500_after(wire: Wire) -> httpx.Response:
    """An error of the server's, after all was done."""
    await serve(wire)
    return plain(wire, 500, b'{"error": "internal"}')


async def unavailable_503(wire: Wire) -> httpx.Response:
    """The service is away for a moment."""
    return plain(wire, 503, b"", retry_after=b"7")


async def throttled_429(wire: Wire) -> httpx.Response:
    """Too many requests, without a word on how long to wait."""
    return plain(wire, 429, b'{"error": "rate_limited"}')


async def throttled_429_valid(wire: Wire) -> httpx.Response:
    """Too many requests, with a time to wait."""
    seconds = str(wire.random.randint(1, 60)).encode()
    return plain(wire, 429, b'{"error": "rate_limited"}', retry_after=seconds)


async def throttled_429_garbage(wire: Wire) -> httpx.Response:
    """Too many requests, with a time to wait that is none."""
    return plain(wire, 429, b"", retry_after=wire.random.choice(NO_WAITS))


async def redirect_302(wire: Wire) -> httpx.Response:
    """The way leads to another host, in a way that makes a POST a GET."""
    return wire.response(Answer(status=302, headers=ELSEWHERE))


async def redirect_307(wire: Wire) -> httpx.Response:
    """The way leads to another host, for the same request."""
    return wire.response(Answer(status=307, headers=ELSEWHERE))


async def spurious_401(wire: Wire) -> httpx.Response:
    """A gateway that has forgotten the token for a moment."""
    return plain(wire, 401, b'{"error": "unauthorized"}')


async def spurious_404(wire: Wire) -> httpx.Response:
    """A gateway whose service restarts."""
    return plain(wire, 404, b"")


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
