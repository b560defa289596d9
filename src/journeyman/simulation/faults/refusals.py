"""Faults in which somebody on the way, or the network itself, says no."""

import httpx2 as httpx

from journeyman.simulation.exchange import Answer
from journeyman.simulation.faults.making import plain, serve
from journeyman.simulation.wire import Wire

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
