"""One request under way: what a fault may do with it."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from random import Random

import anyio
import httpx2 as httpx

from journeyman.simulation.exchange import Answer, Asked

Chunk = tuple[float, bytes]
"""Seconds that a piece of a body is waited for, and the piece."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wire:
    """A request between the daemon and the network."""

    request: httpx.Request
    asked: Asked
    random: Random
    handle: Callable[[Asked], Answer]
    """Lets the network process it, now."""
    call_later: Callable[[float, Callable[[], object]], None]
    """Lets something happen in so many seconds, whether the daemon lives or not."""
    on_bytes: Callable[[int], None]
    """Is told of each piece of the body that the daemon has read, by its length."""
    on_close: Callable[[], None]
    """Is told that the daemon is done with the answer."""

    def serve(self) -> Answer:
        """Let the network process the request, now."""
        return self.handle(self.asked)

    def serve_late(self) -> Answer:
        """Let the network process it when nobody waits for its answer any more."""
        return self.handle(replace(self.asked, is_late=True))

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
        answer: Answer,
        chunks: list[Chunk] | None = None,
        *,
        breaks: bool = False,
    ) -> httpx.Response:
        """Make the client's side of an answer.

        Its body may come in pieces; it `breaks` if the connection ends after them.
        """
        pieces = [(0.0, answer.body)] if chunks is None else chunks
        return httpx.Response(
            answer.status,
            headers=list(answer.headers),
            stream=_Body(pieces, self, breaks=breaks),
        )


class _Body(httpx.AsyncByteStream):
    """A body that arrives over time, under the client's read time-out."""

    def __init__(self, chunks: list[Chunk], wire: Wire, *, breaks: bool) -> None:
        self._chunks = chunks
        self._wire = wire
        self._breaks = breaks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        patience = self._wire.request.extensions.get("timeout", {}).get("read")
        for seconds, piece in self._chunks:
            if patience is not None and seconds > patience:
                await anyio.sleep(patience)
                raise httpx.ReadTimeout("no byte in time", request=self._wire.request)
            if seconds:
                await anyio.sleep(seconds)
            self._wire.on_bytes(len(piece))
            yield piece
        if self._breaks:
            message = "peer closed connection without sending complete message body"
            raise httpx.RemoteProtocolError(message, request=self._wire.request)

    async def aclose(self) -> None:
        self._wire.on_close()
