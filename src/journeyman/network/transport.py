"""What carries the bytes: aiohttp, behind the transport interface of HTTPX.

The rest of Journeyman, its tests and its simulation speak HTTPX's requests, responses
and errors. This costs about a third of the CPU of HTTPX's own (decision 0061).
"""

import asyncio
import ssl
from functools import lru_cache
from types import TracebackType
from typing import Self

import aiohttp
import httpx2 as httpx
from yarl import URL

LONGEST_LINE = 64 * 1024
"""In bytes, of a status line or a header."""


class AiohttpTransport(httpx.AsyncBaseTransport):
    """Connections to servers, kept for the next request. Use it as a context manager.

    It honours the time-outs that HTTPX puts into a request's extensions, but for the
    one of writing: our bodies are small, and a whole call has a time-out of its own.
    """

    def __init__(
        self,
        *,
        max_connections: int,
        keepalive_seconds: float,
        context: ssl.SSLContext,
    ) -> None:
        self._free = asyncio.Semaphore(max_connections)
        self._keepalive_seconds = keepalive_seconds
        self._context = context

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,
                ssl=self._context,
                keepalive_timeout=self._keepalive_seconds,
            ),
            # All that HTTPX does, or that we do not want done.
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type"),
            max_line_size=LONGEST_LINE,
            max_field_size=LONGEST_LINE,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and return its answer as soon as its head has come.

        Raises:
            httpx.TransportError: as HTTPX's own transport does.
        """
        seconds = request.extensions.get("timeout", {})
        await self._take_connection(seconds.get("pool"))
        try:
            answer = await self._session.request(
                request.method,
                _address(str(request.url)),
                headers=[
                    # HTTPX has made ASCII of them.
                    (name.decode("ascii"), value.decode("ascii"))
                    for name, value in request.headers.raw
                ],
                data=request.content,
                allow_redirects=False,
                timeout=_timeouts(seconds.get("connect"), seconds.get("read")),
            )
        except BaseException as error:
            self._free.release()
            _translate(error)
            raise
        return httpx.Response(
            answer.status,
            headers=answer.raw_headers,
            stream=_Body(answer, self._free),
            request=request,
        )

    async def _take_connection(self, seconds: float | None) -> None:
        if not self._free.locked():  # Without a timer, as it is nearly always.
            await self._free.acquire()
            return
        try:
            async with asyncio.timeout(seconds):
                await self._free.acquire()
        except TimeoutError as error:
            raise httpx.PoolTimeout("no connection became free") from error


@lru_cache(maxsize=64)
def _address(url: str) -> URL:
    return URL(url, encoded=True)


@lru_cache(maxsize=4)
def _timeouts(connect: float | None, read: float | None) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(sock_connect=connect, sock_read=read)


class _Body(httpx.AsyncByteStream):
    """The body of an answer, as it arrives; no generator, since each has a price."""

    def __init__(
        self, answer: aiohttp.ClientResponse, connection: asyncio.Semaphore
    ) -> None:
        self._answer = answer
        self._connection = connection

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk = await self._answer.content.readany()
        except Exception as error:
            _translate(error)
            raise
        if not chunk:
            raise StopAsyncIteration
        return chunk

    async def aclose(self) -> None:
        # One that was read to its end has given its connection back already.
        self._answer.close()
        self._connection.release()


_MEANINGS: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
    (aiohttp.SocketTimeoutError, httpx.ReadTimeout),
    (aiohttp.ServerTimeoutError, httpx.ConnectTimeout),
    (aiohttp.ClientConnectorError, httpx.ConnectError),
    (aiohttp.InvalidURL, httpx.UnsupportedProtocol),
    (aiohttp.NonHttpUrlClientError, httpx.UnsupportedProtocol),
    (aiohttp.ClientOSError, httpx.ReadError),
    (aiohttp.ClientError, httpx.RemoteProtocolError),
    (aiohttp.http_exceptions.HttpProcessingError, httpx.RemoteProtocolError),
    (ValueError, httpx.LocalProtocolError),
)
"""Errors of the other library, and what HTTPX would raise: the first that fits."""


def _translate(error: BaseException) -> None:
    """Raise what HTTPX would raise in place of an error, if it would."""
    for theirs, ours in _MEANINGS:
        if isinstance(error, theirs):
            raise ours(str(error)) from error
