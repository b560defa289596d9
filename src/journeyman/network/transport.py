"""What carries the bytes: asyncio's connections, and httptools to parse what comes.

The rest of Journeyman, its tests and its simulation speak HTTPX's requests, responses
and errors. Why this is our own: decision 0110.
"""

import asyncio
import math
import ssl
from types import TracebackType
from typing import Self, TypeAlias, cast

import anyio.lowlevel
import httptools
import httpx2 as httpx

LONGEST_HEAD = 64 * 1024
"""In bytes, of what comes between two pieces of a body, or before the first."""
MOST_HEADERS = 256
MOST_UNREAD = 256 * 1024
"""In bytes, of a body that has come; then the other side has to wait."""
HAPPY_EYEBALLS_SECONDS = 0.25
"""Until the next address of a host is tried as well (RFC 8305, section 8)."""
_FIRST_FINAL_STATUS = 200

Origin: TypeAlias = tuple[str, str, int]
"""Scheme, host and port."""


class TotalTimeout(httpx.ReadTimeout):
    """A whole call took too long, from its first step to the last byte."""


def _sooner(seconds: float | None, until: float) -> float:
    """Return how long to wait at most for what has to be there by a loop's time."""
    left = until - asyncio.get_running_loop().time()
    return left if seconds is None else min(seconds, left)


class PooledTransport(httpx.AsyncBaseTransport):
    """Connections to servers, kept for the next request. Use it as a context manager.

    It is for GET and POST: to a HEAD it would wait for a body.
    It honours the time-outs that HTTPX puts into a request's extensions, but for the
    one of writing, since our bodies are small; and one more, `total`, of a whole call.
    It keeps that by the timer that it has for reading: a scope that would cancel each
    call takes 3 % of the CPU of a task.
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
        self._idle: dict[Origin, list[_Connection]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections that no answer is read from."""
        for connection in (one for idle in self._idle.values() for one in idle):
            connection.close()
        self._idle.clear()
        # The loop closes their sockets in its next round.
        await anyio.lowlevel.checkpoint()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and return its answer as soon as its head has come.

        Raises:
            httpx.TransportError: as HTTPX's own transport does.
        """
        seconds = request.extensions.get("timeout", {})
        total = seconds.get("total") or math.inf
        until = asyncio.get_running_loop().time() + total
        await self._take_place(_sooner(seconds.get("pool"), until))
        try:
            connection = await self._answered(request, seconds, until)
        except BaseException:
            self._free.release()
            raise
        return httpx.Response(
            connection.status,
            headers=connection.headers,
            stream=_Body(connection, self),
            request=request,
        )

    def take_back(self, connection: "_Connection") -> None:
        """Keep a connection for the next request, or close it."""
        self._free.release()
        if connection.is_reusable:
            connection.rest(self._keepalive_seconds)
            self._idle.setdefault(connection.origin, []).append(connection)
        else:
            connection.close()

    async def _take_place(self, seconds: float | None) -> None:
        if not self._free.locked():  # Without a timer, as it is nearly always.
            await self._free.acquire()
            return
        try:
            async with asyncio.timeout(seconds):
                await self._free.acquire()
        except TimeoutError as error:
            raise httpx.PoolTimeout("no connection became free") from error

    async def _answered(
        self,
        request: httpx.Request,
        seconds: dict[str, float | None],
        until: float,
        *,
        is_again: bool = False,
    ) -> "_Connection":
        """Return a connection on which the head of the answer has come."""
        origin, target = _parted(request.url)
        written = _written(request, target)
        kept = None if is_again else self._kept(origin)
        connection = kept or await self._connected(
            origin, _sooner(seconds.get("connect"), until)
        )
        try:
            await connection.ask(written, seconds.get("read"), until)
        except BaseException as error:
            connection.close()
            # A server may close what was kept just when it is used again. Only a
            # request that changes nothing can be sent again then.
            is_safe = kept is not None and request.method == "GET"
            is_broken = isinstance(error, httpx.ReadError | httpx.RemoteProtocolError)
            if is_safe and is_broken and not connection.is_heard:
                return await self._answered(request, seconds, until, is_again=True)
            raise
        return connection

    def _kept(self, origin: Origin) -> "_Connection | None":
        idle = self._idle.get(origin, [])
        while idle:
            connection = idle.pop()
            if connection.is_usable:
                return connection
            connection.close()
        return None

    async def _connected(self, origin: Origin, seconds: float | None) -> "_Connection":
        scheme, host, port = origin
        if scheme not in {"http", "https"}:
            raise httpx.UnsupportedProtocol(f"{scheme!r} is neither http nor https")
        try:
            async with asyncio.timeout(seconds):
                _, made = await asyncio.get_running_loop().create_connection(
                    lambda: _Connection(origin),
                    host,
                    port,
                    ssl=self._context if scheme == "https" else None,
                    happy_eyeballs_delay=HAPPY_EYEBALLS_SECONDS,
                )
        except TimeoutError as error:
            raise httpx.ConnectTimeout(str(error)) from error
        # A name that has no address may be no name at all, which is a ValueError.
        except (OSError, ValueError) as error:
            raise httpx.ConnectError(str(error)) from error
        return made


def _parted(url: httpx.URL) -> tuple[Origin, bytes]:
    """Return where a request goes, and what it asks for there.

    Not from a cache: to look an address up there, HTTPX would write it out twice.
    """
    port = url.port or (443 if url.scheme == "https" else 80)
    return (url.scheme, url.raw_host.decode("ascii"), port), url.raw_path


def _written(request: httpx.Request, target: bytes) -> bytes:
    """Return the bytes of a request.

    Raises:
        httpx.LocalProtocolError: a header would be several.
    """
    headers = request.headers.raw
    lines = [b"%b %b HTTP/1.1" % (request.method.encode("ascii"), target)]
    lines += [b"%b: %b" % one for one in headers]
    head = b"\r\n".join(lines)
    if head.count(b"\n") > len(headers) or head.count(b"\r") > len(headers):
        raise httpx.LocalProtocolError("a line break in a header")
    return b"%b\r\n\r\n%b" % (head, request.content)


class _Connection(asyncio.Protocol):
    """One connection, on which one request at a time is answered."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        # What many servers get wrong, and that cannot be misunderstood.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )
        self._unread = bytearray()
        self._is_paused = False
        self._error: Exception | None = None
        """Why there will be no more; also where the answer is whole."""
        self._waiter: asyncio.Future[None] | None = None
        self._overhead = 0
        self._has_head = self._is_whole = self._is_framed = False
        self._is_kept = self._is_resting = False
        self._due = 0.0
        """When somebody has waited for too long, in seconds of the loop."""
        self._patience: float | None = None
        """Seconds without a byte."""
        self._until = math.inf
        """When the whole answer has to be there, in seconds of the loop."""
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_usable(self) -> bool:
        """Whether a request can be sent on it."""
        return self._error is None and self._due > self._loop.time()

    @property
    def is_reusable(self) -> bool:
        """Whether it can be kept: the answer is whole, and nothing came after it."""
        return self._is_whole and self._is_kept and self._error is None

    @property
    def is_heard(self) -> bool:
        """Whether a byte of the answer has come."""
        return self._has_head or self._overhead > 0

    async def ask(
        self, written: bytes, patience: float | None, until: float = math.inf
    ) -> None:
        """Send a request, and wait for the head of its answer.

        Raises:
            httpx.TransportError: it did not come.
        """
        self.status, self.headers = 0, []
        self._overhead = 0
        self._has_head = self._is_whole = self._is_framed = False
        self._is_kept = self._is_resting = False
        self._patience, self._until = patience, until
        self._expect(patience)
        self._transport.write(written)
        while not self._has_head:
            await self._more()

    async def read(self) -> bytes:
        """Return what has come of the body, or comes next; empty at its end.

        Raises:
            httpx.TransportError: it broke off.
        """
        while not self._unread and not self._is_whole:
            await self._more()
        chunk = bytes(self._unread)
        self._unread.clear()
        if self._is_paused:
            self._is_paused = False
            self._expect(self._patience)
            self._transport.resume_reading()
        return chunk

    def rest(self, seconds: float) -> None:
        """Wait for the next request, for so long."""
        self._is_resting, self._until = True, math.inf
        self._expect(seconds)

    def close(self) -> None:
        """Close it at once."""
        self._fail(httpx.ReadError("we closed the connection"))
        self._transport.abort()

    async def _more(self) -> None:
        if self._error is not None:
            raise self._error
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, error: Exception) -> None:
        """There will be no more, for this reason unless there was one before."""
        self._error = self._error or error
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._wake()

    def _expect(self, seconds: float | None) -> None:
        """Have something to come within so many seconds; None waits for ever."""
        due = self._loop.time() + (math.inf if seconds is None else seconds)
        self._due = min(due, self._until)
        if self._timer is not None and self._timer.when() > self._due:
            self._timer.cancel()
            self._timer = None
        self._watch()

    def _watch(self) -> None:
        """See that somebody looks when it is due; one timer serves many requests."""
        if self._timer is None and self._due < math.inf:
            self._timer = self._loop.call_at(self._due, self._look_at_clock)

    def _look_at_clock(self) -> None:
        self._timer = None
        if self._loop.time() < self._due:
            self._watch()  # Something came meanwhile.
        elif self._is_resting:
            self.close()
        elif not self._is_whole and self._loop.time() >= self._until:
            self._fail(TotalTimeout("no complete answer"))
        elif not self._is_whole and not self._is_paused:
            self._fail(httpx.ReadTimeout("nothing came"))

    # What asyncio tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        # A body without a length ends where the connection does (RFC 9112, 6.3).
        self._is_whole |= exc is None and self._has_head and not self._is_framed
        if exc is None:
            self._refuse("the server closed the connection")
        else:
            error = httpx.ReadError(str(exc))
            error.__cause__ = exc
            self._fail(error)

    def data_received(self, data: bytes) -> None:
        if self._is_resting:
            self.close()  # Nobody asked.
            return
        self._overhead += len(data)
        if self._patience is not None:
            self._due = min(self._loop.time() + self._patience, self._until)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._refuse(f"no answer in HTTP: {error}", error)
        if self._overhead > LONGEST_HEAD or len(self.headers) > MOST_HEADERS:
            self._refuse("more headers than any answer needs")
        if len(self._unread) > MOST_UNREAD and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def _refuse(self, reason: str, cause: Exception | None = None) -> None:
        error = httpx.RemoteProtocolError(reason)
        error.__cause__ = cause
        self._fail(error)

    # What the parser tells.

    def on_message_begin(self) -> None:
        if self._is_whole:
            raise ValueError("an answer that nobody asked for")  # ends the parsing

    def on_header(self, name: bytes, value: bytes) -> None:
        lower = name.lower()
        is_chunked = lower == b"transfer-encoding" and b"chunked" in value.lower()
        self._is_framed |= is_chunked or lower == b"content-length"
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if self.status < _FIRST_FINAL_STATUS:
            self.headers, self._is_framed = [], False  # The real one follows.
        else:
            self._has_head, self._overhead = True, 0

    def on_body(self, body: bytes) -> None:
        self._unread += body
        self._overhead = 0

    def on_message_complete(self) -> None:
        self._is_whole = self._has_head
        self._is_kept = self._parser.should_keep_alive()


class _Body(httpx.AsyncByteStream):
    """The body of an answer, as it arrives; no generator, since each has a price."""

    def __init__(self, connection: _Connection, pool: PooledTransport) -> None:
        self._connection = connection
        self._pool: PooledTransport | None = pool

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        chunk = await self._connection.read()
        if not chunk:
            raise StopAsyncIteration
        return chunk

    async def aclose(self) -> None:
        if self._pool is not None:
            self._pool.take_back(self._connection)
            self._pool = None
