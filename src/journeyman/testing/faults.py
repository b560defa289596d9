"""Faults to order, between a daemon and the sandbox in the same process."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import httpx2 as httpx

Send: TypeAlias = Callable[[httpx.Request], Awaitable[httpx.Response]]

PATHS: Final = {
    "register": "create-free-agent-public",
    "discover": "get-marketplace-tasks",
    "claim": "claim-task-public",
    "submit": "submit-task-result-public",
    "complete": "complete-task-public",
    "post": "write-post-task-public",
}
"""The calls that a fault can be ordered for, and the end of their paths (contract
section 4)."""


async def lost_request(request: httpx.Request, _send: Send) -> httpx.Response:
    """The connection breaks before the request arrives."""
    raise httpx.ReadError("connection reset", request=request)


async def lost_answer(request: httpx.Request, send: Send) -> httpx.Response:
    """The request is processed, and its answer never arrives."""
    await send(request)
    raise httpx.ReadError("connection reset", request=request)


async def garbage(request: httpx.Request, send: Send) -> httpx.Response:
    """The request is processed, and the answer cannot be read."""
    await send(request)
    return httpx.Response(200, content=b"\x00{garbage\xff", request=request)


async def throttled(request: httpx.Request, _send: Send) -> httpx.Response:
    """Too many requests; come back in a second."""
    headers = {"retry-after": "1"}
    body = {"error": "rate_limited"}
    return httpx.Response(429, headers=headers, json=body, request=request)


async def unavailable(request: httpx.Request, _send: Send) -> httpx.Response:
    """The service is away for a moment."""
    return httpx.Response(503, json={"error": "unavailable"}, request=request)


async def conflict(request: httpx.Request, _send: Send) -> httpx.Response:
    """Another agent was first."""
    return httpx.Response(409, json={"error": "already_claimed"}, request=request)


async def error_after(request: httpx.Request, send: Send) -> httpx.Response:
    """The request is processed, and the answer is an error of the server's."""
    await send(request)
    return httpx.Response(500, json={"error": "internal"}, request=request)


FAULTS: Final = {
    "lost_request": lost_request,
    "lost_answer": lost_answer,
    "garbage": garbage,
    "429": throttled,
    "503": unavailable,
    "409": conflict,
    "500": error_after,
}


@dataclass(slots=True)
class Order:
    """One fault that was ordered."""

    fault: str
    """A key of FAULTS."""
    call: str
    """A key of PATHS."""
    times: int
    """How many requests will meet it."""


class FaultyTransport(httpx.AsyncBaseTransport):
    """Hands requests on to the sandbox, but for those that meet an ordered fault."""

    def __init__(self, inner: httpx.AsyncBaseTransport, orders: list[Order]) -> None:
        self._inner = inner
        self._orders = orders

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        for order in self._orders:
            if order.times and request.url.path.endswith(PATHS[order.call]):
                order.times -= 1
                send = self._inner.handle_async_request
                return await FAULTS[order.fault](request, send)
        return await self._inner.handle_async_request(request)
