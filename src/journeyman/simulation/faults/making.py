"""What all faults are made with."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import httpx2 as httpx

from journeyman.simulation.exchange import JSON_TYPE, Answer
from journeyman.simulation.wire import Wire

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
