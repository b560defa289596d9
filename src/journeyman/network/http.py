"""The only HTTP client: bounded in time and size, and raising nothing.

A call ends in a `Reply`, also when its body is useless; or it was `NotSent`; or its end
is `Unknown`, where anything can have reached the other side.
"""

import os
import ssl
from collections.abc import AsyncIterable, Callable, Mapping
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import blake2b
from typing import cast

import anyio
import httpx2 as httpx

from journeyman.domain import __version__
from journeyman.domain.outcomes import NotSent, Unknown
from journeyman.domain.tasks import JSON
from journeyman.network.advice import UNTRUSTED
from journeyman.network.call import Arrival, Keep, LaterReply, Reply
from journeyman.network.json_text import (
    UnreadableJSONError,
    decoded,
    is_cut,
    parse,
    parse_lines,
)
from journeyman.network.portions import SHORTEST_CUT, Cutting, Portion
from journeyman.network.service_model.pages import PAGING_HEADERS
from journeyman.network.transport import PooledTransport, TotalTimeout

Transport = httpx.AsyncBaseTransport
"""The seam for tests and simulation."""


USER_AGENT = f"journeyman/{__version__} (+python)"
ALWAYS = {
    "user-agent": USER_AGENT,
    "accept": "*/*",
    # A compressed body could unpack to any size.
    "accept-encoding": "identity",
}
"""Headers of every request, in lower case, unless it has its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpLimits:
    """Bounds on one client; all times in seconds."""

    connect_timeout: float = 5.0
    read_timeout: float = 15.0
    """Without a single byte from the other side."""
    pool_timeout: float = 10.0
    """Waiting for a free connection of our own."""
    total_timeout: float = 30.0
    """For a whole call: a byte now and then does not keep it alive."""
    max_connections: int = 40
    keepalive_seconds: float = 5.0
    """Short: a server that closes an idle connection first makes a call unknown."""
    max_body_bytes: int = 1024 * 1024


#: Raised before a connection exists: nothing can have been done.
NEVER_SENT: tuple[type[Exception], ...] = (
    httpx.ConnectError,  # refused, unreachable, no such host, TLS handshake
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
)

#: Raised when the request, or a part of it, may have been read.
MAYBE_SENT: tuple[type[Exception], ...] = (
    # Time-outs, resets, broken protocols, and whatever the library may add.
    httpx.RequestError,
    # Leaks of the layer below: a socket or a TLS error that was not translated.
    OSError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
)

PLAIN = frozenset({"", "identity"})
"""Content codings that change nothing."""
_BODY_SETTING = "network.max_body_bytes"

_HASHED_AT_ONCE = 1_000_000
"""Bytes: a millisecond."""
_LONGEST_CHAIN = 20
"""Of causes that are followed; a chain may even be a circle."""


class HttpClient:
    """A pool of connections and the rules for using them."""

    def __init__(
        self,
        limits: HttpLimits,
        transport: Transport | None,
        *,
        uses_tls: bool = True,
    ) -> None:
        """Make the pool; `uses_tls` False saves loading the root certificates."""
        self._limits = limits
        # A context without roots trusts nobody: should it be used by mistake, it fails
        # closed. Proxies and netrc from the environment could see the token.
        context = (
            httpx.create_ssl_context(trust_env=False)
            if uses_tls and transport is None
            else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        )
        self._transport = transport or PooledTransport(
            max_connections=limits.max_connections,
            keepalive_seconds=limits.keepalive_seconds,
            context=context,
        )
        self._timeouts = {
            "connect": limits.connect_timeout,
            "read": limits.read_timeout,
            "pool": limits.pool_timeout,
            "total": limits.total_timeout,
        }
        # Our own transport keeps the last of them; one that was given may not.
        is_own = isinstance(self._transport, PooledTransport)
        self._limited: Callable[[], AbstractContextManager[object]] = (
            nullcontext
            if is_own
            else partial(anyio.move_on_after, limits.total_timeout)
        )

    async def open(self) -> None:
        await self._transport.__aenter__()

    async def close(self) -> None:
        await self._transport.aclose()

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        query: Mapping[str, str] | None = None,
        content: bytes | None = None,
        wants_json: bool = True,
        keep: Keep | None = None,
        known: bytes | None = None,
    ) -> Reply | NotSent | Unknown:
        """Make one call.

        `wants_json` False leaves the body as text. `known` is the digest of what came
        before, empty for none: a success of just these bytes is not read again, and a
        long one comes in portions. `keep` gets a 2xx as it arrives;
        an OSError of its own would be taken for the connection's.
        """
        try:
            with self._limited():
                request = self._request(method, url, headers, query, content)
                # No client of the library between: cookies, redirects and what the
                # environment says are just what must not happen here.
                response = await self._transport.handle_async_request(request)
                async with aclosing(cast("httpx.AsyncByteStream", response.stream)):
                    return await self._reply(
                        response, keep, known, wants_json=wants_json
                    )
        except TotalTimeout:
            pass
        except NEVER_SENT as error:
            return NotSent(_told(error), timed_out=_timed_out(error))
        except MAYBE_SENT as error:
            return Unknown(_told(error), timed_out=_timed_out(error))
        limit = f"{self._limits.total_timeout:g} s"
        return Unknown(f"no complete answer within {limit}", timed_out=True)

    def _request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        query: Mapping[str, str] | None,
        content: bytes | None,
    ) -> httpx.Request:
        """Return a request with all of its headers.

        Left to the library, they would be put in, sorted and decoded again and again,
        which takes more time than all the rest of a request.
        """
        address = _address(url, tuple(query.items()) if query else ())
        sent = {"host": address.netloc.decode("ascii")} | ALWAYS
        sent |= {name.lower(): value for name, value in headers.items()}
        if content or method == "POST":
            sent["content-length"] = str(len(content or b""))
        request = httpx.Request(
            method,
            address,
            headers=sent,
            stream=httpx.ByteStream(content or b""),
            extensions={"timeout": self._timeouts},
        )
        request.read()
        return request

    async def _reply(
        self,
        response: httpx.Response,
        keep: Keep | None,
        known: bytes | None,
        *,
        wants_json: bool,
    ) -> Reply:
        status = int(response.status_code)  # in memory it may be an enum
        headers = _headers(response)
        coding = headers.get("content-encoding", "").strip().lower()
        is_success = 200 <= status < 300  # noqa: PLR2004 - the class of a status
        is_plain, keep = coding in PLAIN, keep if is_success else None
        raw = await self._capped(response, headers, keep) if is_plain or keep else None
        if not is_plain:
            problem = f"a compressed body ({coding[:40]}), which we did not ask for"
            return Reply(status, headers, None, "", problem)
        if raw is None:
            longest = f"{self._limits.max_body_bytes} bytes"
            problem = f"a body of more than {longest} (the setting {_BODY_SETTING})"
            return Reply(status, headers, None, "", problem)
        digest, is_listing = b"", known is not None and is_success
        if is_listing:
            digest = await _digest(raw, headers)
            if digest == known:
                return Reply(status, headers, None, "", digest=digest, is_known=True)
        text = decoded(raw)
        del raw  # It may be long, and is not needed twice.
        if is_listing and (portions := await _in_portions(text)):
            return _first_of(portions, Reply(status, headers, None, "", digest=digest))
        body, problem = _parsed(text) if wants_json else (None, "")
        return Reply(status, headers, body, text, problem, digest)

    async def _capped(
        self,
        response: httpx.Response,
        headers: Mapping[str, str],
        keep: Keep | None,
    ) -> bytearray | None:
        """Return the body; None as soon as it is longer than allowed."""
        raw = bytearray()
        # As they came: nothing is unpacked, and the library counts and copies nothing.
        async for chunk in cast("AsyncIterable[bytes]", response.stream):
            raw += chunk
            if keep:
                # Now: the end of the body is one await away, and may not come.
                keep(Arrival(headers, bytes(raw), is_whole=False))
            if len(raw) > self._limits.max_body_bytes:
                break
        if keep:
            is_whole = not is_cut(decoded(bytes(raw)))
            keep(Arrival(headers, bytes(raw), is_whole))
        return raw if len(raw) <= self._limits.max_body_bytes else None


@lru_cache(maxsize=64)
def _address(url: str, query: tuple[tuple[str, str], ...]) -> httpx.URL:
    """Parse an address once: polling has the same one each time."""
    return httpx.URL(url, params=dict(query)) if query else httpx.URL(url)


def _headers(response: httpx.Response) -> dict[str, str]:
    """Return the headers, their names in lower case; repeated ones are joined."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in response.headers.raw:
        name, value = raw_name.decode("latin-1").lower(), _text(raw_value)
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


async def _digest(raw: bytearray, headers: Mapping[str, str]) -> bytes:
    """Return what stands for a body, and for headers that say where it goes on."""
    ahead = [headers.get(one, "") for one in PAGING_HEADERS]
    digest = blake2b(digest_size=16, salt=_short("\n".join(ahead)))
    for start in range(0, len(raw), _HASHED_AT_ONCE):
        if start:
            await anyio.lowlevel.checkpoint()
        digest.update(memoryview(raw)[start : start + _HASHED_AT_ONCE])
    return digest.digest()


def _short(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=blake2b.SALT_SIZE).digest()


async def _in_portions(text: str) -> list[Portion]:
    """Cut a long text, while other work goes on; empty where it is read at once."""
    if len(text) < SHORTEST_CUT:
        return []
    cutting = Cutting(text)
    for _ in cutting.steps():
        await anyio.lowlevel.checkpoint()
    return cutting.portions


def _first_of(portions: list[Portion], reply: Reply) -> Reply:
    """Return a reply with the first portion, which has the others read when needed."""

    def read(portion: Portion) -> Reply:
        body, problem = _parsed(portion.text)
        return replace(reply, body=body, text=portion.text, problem=problem)

    first, *others = portions
    rest = [LaterReply(one.digest, one.count, partial(read, one)) for one in others]
    return replace(read(first), rest=tuple(rest))


def _parsed(text: str) -> tuple[JSON, str]:
    if not text.strip():
        return None, "an empty body"
    try:
        return parse(text), ""
    except UnreadableJSONError as error:
        lines = parse_lines(text)
        return (lines, "") if lines else (None, str(error))


def _timed_out(error: Exception) -> bool:
    """Return whether the other side was too slow; our own pool does not count."""
    is_ours = isinstance(error, httpx.PoolTimeout)
    return isinstance(error, httpx.TimeoutException | TimeoutError) and not is_ours


def _told(error: Exception) -> str:
    """Return what went wrong below, in one line.

    The library's own words hide the system's ("connection refused"), which stand at
    the end of the chain of causes; some exceptions carry no words at all.
    """
    name, deepest = type(error).__name__, _deepest(error)
    if isinstance(deepest, ssl.SSLCertVerificationError):
        return f"{UNTRUSTED}: {deepest.verify_message.rstrip('.')}"
    if isinstance(deepest, ConnectionError) and deepest.errno:
        return f"{name}: {os.strerror(deepest.errno)}"
    if isinstance(deepest, OSError) and deepest.strerror:
        return f"{name}: {deepest.strerror}"
    words = " ".join(str(error).split())
    return f"{name}: {words}" if words else name


def _deepest(error: BaseException) -> BaseException:
    """Follow the causes; of several attempts, the first is taken."""
    for _ in range(_LONGEST_CHAIN):
        inner = error.__cause__ or error.__context__
        if isinstance(error, BaseExceptionGroup):
            inner = error.exceptions[0]
        if inner is None:
            break
        error = inner
    return error
