"""Faults, injected by seeded chance into requests to the contract's endpoints.

The same seed and the same order of requests give the same faults. What is beside the
contract (pages, ledger, documents) is spared.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from http import HTTPStatus
from random import Random

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from journeyman.sandbox import tasks
from journeyman.sandbox.contract import ENDPOINTS
from journeyman.sandbox.errors import ERROR_FORMATS, RefusalError
from journeyman.sandbox.options import FAULTS, ChaosLevel, Fault
from journeyman.sandbox.store import State, seeded

CLOSE_CONNECTION = "sandbox.close_connection"
"""In a request's state: closes its connection. The server puts it there."""

_FAULT_RATES: Mapping[ChaosLevel, float] = {"off": 0.0, "mild": 0.05, "hard": 0.3}
_LASTING: frozenset[Fault] = frozenset({"expired_token", "lost_lease"})
"""Their effect outlives their request, so they come a quarter as often as others."""
_LATENCY_SECONDS = (0.2, 3.0)
_RETRY_SECONDS = (1, 5)
_EXPIRY = timedelta(seconds=10)
"""How long an expired token is refused."""
_PAGE = b"<!DOCTYPE html><html><head><title>One moment</title></head></html>\n"
_PATHS = frozenset(endpoint.path for endpoint in ENDPOINTS)
_PRIVATE_PATHS = frozenset(one.path for one in ENDPOINTS if one.private)

_Headers = tuple[tuple[bytes, bytes], ...]


class ChaosMiddleware:
    """Passes requests on, or injects a fault."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        options = state.options
        self._app = app
        self._state = state
        self._rate = _FAULT_RATES[options.chaos_level]
        self._faults = [name for name in FAULTS if name in (options.faults or FAULTS)]
        self._weights = [1 if name in _LASTING else 4 for name in self._faults]
        self._random = seeded(options.seed, "chaos")
        self._expired: dict[bytes, datetime] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] not in _PATHS:
            await self._app(scope, receive, send)
            return
        request = _Request(
            app=self._app,
            scope=scope,
            receive=receive,
            send=send,
            state=self._state,
            random=self._random,
            expired=self._expired,
        )
        if request.has_expired_token():
            await request.refuse_token()
        elif self._random.random() < self._rate:
            (fault,) = self._random.choices(self._faults, self._weights)
            await request.inject(fault)
        else:
            await request.pass_on()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    status: int
    headers: _Headers
    body: bytes

    def with_body(self, body: bytes) -> "_Answer":
        kept = tuple(pair for pair in self.headers if pair[0] != b"content-length")
        length = (b"content-length", str(len(body)).encode())
        return replace(self, headers=(*kept, length), body=body)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Request:
    """One request, and all that a fault may do to it."""

    app: ASGIApp
    scope: Scope = field(repr=False)
    receive: Receive
    send: Send
    state: State
    random: Random
    expired: dict[bytes, datetime] = field(repr=False)
    """Until when which `Authorization` is refused."""

    async def inject(self, fault: Fault) -> None:
        """Inject a fault."""
        match fault:
            case "latency":
                seconds = self.random.uniform(*_LATENCY_SECONDS)
                await self.state.environment.sleep(seconds)
                await self.pass_on()
            case "lost_lease":
                with self.state.transaction():
                    tasks.lose_a_claim(self.state, self.random)
                await self.pass_on()
            case "expired_token":
                await self._expire_token()
            case "throttled" | "throttled_silently" | "unavailable" | "error_before":
                await self._refuse_by(fault)
            case "page" | "dropped_before":
                await self._answer_by(fault)
            case _:
                await self._spoil(fault, await self._processed())

    async def _refuse_by(self, fault: Fault) -> None:
        match fault:
            case "throttled":
                seconds = str(self.random.randint(*_RETRY_SECONDS)).encode()
                await self._throttle(((b"retry-after", seconds),))
            case "throttled_silently":
                await self._throttle(())
            case "unavailable":
                status = HTTPStatus.SERVICE_UNAVAILABLE
                headers = ((b"retry-after", b"2"),)
                await self._refuse(status, "unavailable", "back in a moment", headers)
            case _:
                await self._fail()

    async def _answer_by(self, fault: Fault) -> None:
        if fault == "page":
            headers = ((b"content-type", b"text/html"),)
            empty = _Answer(status=200, headers=headers, body=b"")
            await self._answer(empty.with_body(_PAGE))
        else:
            await self._drop()

    async def _spoil(self, fault: Fault, answer: _Answer) -> None:
        """Process the request, and then let something go wrong with the answer."""
        match fault:
            case "error_after":
                await self._fail()
            case "dropped_after":
                await self._drop()
            case "truncated":
                half = answer.body[: len(answer.body) // 2]
                await self._answer(replace(answer, body=half), complete=False)
                await self._drop()
            case "malformed":
                await self._answer(answer.with_body(answer.body[:-1] + b",]"))
            case _:
                await self._answer(answer.with_body(b"\xef\xbb\xbf" + answer.body))

    @property
    def _authorization(self) -> bytes:
        """The header on a private endpoint; empty where there is none."""
        private = self.scope["path"] in _PRIVATE_PATHS
        headers: Mapping[bytes, bytes] = dict(self.scope["headers"]) if private else {}
        return headers.get(b"authorization", b"")

    def has_expired_token(self) -> bool:
        """Return whether this request's token is refused for a while."""
        until = self.expired.get(self._authorization)
        return until is not None and self.state.environment.now() < until

    async def _expire_token(self) -> None:
        if not self._authorization:
            await self.pass_on()
            return
        self.expired[self._authorization] = self.state.environment.now() + _EXPIRY
        await self.refuse_token()

    async def refuse_token(self) -> None:
        """Answer that the token has expired."""
        status = HTTPStatus.UNAUTHORIZED
        await self._refuse(status, "token_expired", "the token has expired")

    async def _throttle(self, headers: _Headers) -> None:
        status = HTTPStatus.TOO_MANY_REQUESTS
        await self._refuse(status, "rate_limited", "slow down", headers)

    async def _fail(self) -> None:
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        await self._refuse(status, "internal_error", "something went wrong on purpose")

    async def pass_on(self) -> None:
        """Serve the request without a fault."""
        await self.app(self.scope, self.receive, self.send)

    async def _processed(self) -> _Answer:
        """Process the request, and keep the answer from the client."""
        sent: list[Message] = []

        async def keep(message: Message) -> None:
            sent.append(message)

        await self.app(self.scope, self.receive, keep)
        start, *parts = sent
        body = b"".join(part.get("body", b"") for part in parts)
        headers = tuple(start["headers"])
        return _Answer(status=start["status"], headers=headers, body=body)

    async def _answer(self, answer: _Answer, *, complete: bool = True) -> None:
        start = {"status": answer.status, "headers": [*answer.headers]}
        await self.send({"type": "http.response.start", **start})
        body = {"body": answer.body, "more_body": not complete}
        await self.send({"type": "http.response.body", **body})

    async def _refuse(
        self, status: HTTPStatus, error: str, message: str, headers: _Headers = ()
    ) -> None:
        error_format = ERROR_FORMATS[self.state.options.error_format]
        body = error_format.write(RefusalError(status, error, message)).encode()
        media_type = (b"content-type", error_format.media_type.encode())
        empty = _Answer(status=status, headers=(media_type, *headers), body=b"")
        await self._answer(empty.with_body(body))

    async def _drop(self) -> None:
        """Close the connection.

        Raises:
            ConnectionResetError: there is none, since no server is used.
        """
        close: Callable[[], None] | None
        close = self.scope.get("state", {}).get(CLOSE_CONNECTION)
        if close is None:
            raise ConnectionResetError("the sandbox has dropped the connection")
        close()
        while (await self.receive())["type"] != "http.disconnect":
            pass  # what is left of the request
