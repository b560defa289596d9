"""Faults of the connection: it is not made, it breaks, or it is slow."""

from typing import NoReturn

import anyio
import httpx2 as httpx

from journeyman.simulation.faults.making import serve
from journeyman.simulation.wire import Wire

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
