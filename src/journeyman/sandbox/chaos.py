"""Trouble to order: around the contract's endpoints, by a seeded chance.

The same seed and the same order of requests make the same trouble. What is beside
the contract (pages, books, documents) is spared.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from http import HTTPStatus
from types import MappingProxyType

from starlette.types import ASGIApp, Receive, Scope, Send

from journeyman.sandbox import tasks
from journeyman.sandbox.call import Answer, Call, Headers
from journeyman.sandbox.options import FAULTS, LASTING, SHARES, Trouble
from journeyman.sandbox.store import State, seeded
from journeyman.sandbox.surface import ENDPOINTS

_LATENCY_SECONDS = (0.2, 3.0)
_RETRY_SECONDS = (1, 5)
_EXPIRY = timedelta(seconds=10)
"""How long a token is refused."""
_PAGE = b"<!DOCTYPE html><html><head><title>One moment</title></head></html>\n"


async def _latency(call: Call) -> None:
    await call.state.ambient.sleep(call.random.uniform(*_LATENCY_SECONDS))
    await call.pass_on()


async def _throttled(call: Call) -> None:
    seconds = str(call.random.randint(*_RETRY_SECONDS)).encode()
    await _too_many(call, ((b"retry-after", seconds),))


async def _throttled_silently(call: Call) -> None:
    await _too_many(call, ())


async def _too_many(call: Call, headers: Headers) -> None:
    status = HTTPStatus.TOO_MANY_REQUESTS
    await call.refuse(status, "rate_limited", "slow down", headers)


async def _unavailable(call: Call) -> None:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    headers = ((b"retry-after", b"2"),)
    await call.refuse(status, "unavailable", "back in a moment", headers)


async def _error_before(call: Call) -> None:
    await _internal_error(call)


async def _error_after(call: Call) -> None:
    await call.served()
    await _internal_error(call)


async def _internal_error(call: Call) -> None:
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    await call.refuse(status, "internal_error", "something went wrong on purpose")


async def _dropped_before(call: Call) -> None:
    await call.cut()


async def _dropped_after(call: Call) -> None:
    await call.served()
    await call.cut()


async def _truncated(call: Call) -> None:
    answer = await call.served()
    half = answer.body[: len(answer.body) // 2]
    await call.answer(replace(answer, body=half), whole=False)
    await call.cut()


async def _malformed(call: Call) -> None:
    answer = await call.served()
    await call.answer(answer.but(answer.body[:-1] + b",]"))


async def _page(call: Call) -> None:
    headers = ((b"content-type", b"text/html"),)
    await call.answer(Answer(status=200, headers=headers, body=b"").but(_PAGE))


async def _byte_order_mark(call: Call) -> None:
    answer = await call.served()
    await call.answer(answer.but(b"\xef\xbb\xbf" + answer.body))


async def _expired_token(call: Call) -> None:
    if not call.authorization:
        await call.pass_on()
        return
    call.expired[call.authorization] = call.state.ambient.now() + _EXPIRY
    await refuse_token(call)


async def refuse_token(call: Call) -> None:
    """Say that the token has expired."""
    await call.refuse(HTTPStatus.UNAUTHORIZED, "token_expired", "the token has expired")


async def _lost_lease(call: Call) -> None:
    with call.state.transaction():
        tasks.lose_a_claim(call.state, call.random)
    await call.pass_on()


HAPPENINGS: Mapping[Trouble, Callable[[Call], Awaitable[None]]] = MappingProxyType(
    {
        "latency": _latency,
        "throttled": _throttled,
        "throttled_silently": _throttled_silently,
        "unavailable": _unavailable,
        "error_before": _error_before,
        "error_after": _error_after,
        "dropped_before": _dropped_before,
        "dropped_after": _dropped_after,
        "truncated": _truncated,
        "malformed": _malformed,
        "page": _page,
        "byte_order_mark": _byte_order_mark,
        "expired_token": _expired_token,
        "lost_lease": _lost_lease,
    },
)


_PATHS = frozenset(endpoint.path for endpoint in ENDPOINTS)


class Chaos:
    """Passes requests on, or lets something go wrong with them."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        options = state.options
        self._app = app
        self._state = state
        self._share = SHARES[options.chaos_level]
        self._names = [n for n in FAULTS if n in (options.chaos_only or FAULTS)]
        self._weights = [1 if name in LASTING else 4 for name in self._names]
        self._random = seeded(options.seed, "chaos")
        self._expired: dict[bytes, datetime] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] not in _PATHS:
            await self._app(scope, receive, send)
            return
        call = Call(
            app=self._app,
            scope=scope,
            receive=receive,
            send=send,
            state=self._state,
            random=self._random,
            expired=self._expired,
        )
        await self._met(call)

    async def _met(self, call: Call) -> None:
        """Choose what the request meets, and let it happen."""
        if call.is_expired():
            await refuse_token(call)
        elif self._random.random() < self._share:
            (name,) = self._random.choices(self._names, self._weights)
            await HAPPENINGS[name](call)
        else:
            await call.pass_on()
