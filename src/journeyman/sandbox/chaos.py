"""Trouble to order: around the contract's endpoints, by a seeded chance.

The same seed and the same order of requests make the same trouble. What is beside
the contract (pages, books, documents) is spared.
"""

from datetime import datetime

from starlette.types import ASGIApp, Receive, Scope, Send

from journeyman.sandbox.ambient import seeded
from journeyman.sandbox.call import Call
from journeyman.sandbox.happenings import HAPPENINGS, refuse_token
from journeyman.sandbox.state import State
from journeyman.sandbox.surface import ENDPOINTS
from journeyman.sandbox.troubles import LASTING, SHARES, TROUBLES

_PATHS = frozenset(endpoint.path for endpoint in ENDPOINTS)


class Chaos:
    """Passes requests on, or lets something go wrong with them."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        options = state.options
        self._app = app
        self._state = state
        self._share = SHARES[options.chaos_level]
        self._names = [n for n in TROUBLES if n in (options.chaos_only or TROUBLES)]
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
