"""Who may open the page: names of this machine, a password, and no other web site.

Three dangers are met here, each by one rule. A name of somebody else's that leads to
this machine (DNS rebinding): only known names are answered. A form on somebody else's
site (cross-site requests): a command names our own origin, and a token that only our
pages hold. A stranger who reaches the port: a password.
"""

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

import anyio
from pydantic import SecretStr
from starlette.exceptions import HTTPException
from starlette.requests import Request

from journeyman.domain.clock import Clock, Randomness
from journeyman.observability.events import Log
from journeyman.web import events

MOST_WAITING: Final = 20
"""Passwords that wait to be looked at; who comes then is told to come again."""
MOST_SESSIONS: Final = 100
"""The oldest is forgotten when one more person comes."""
SECONDS_AFTER_A_WRONG_PASSWORD: Final = 1.0


class CrowdedError(HTTPException):
    """More passwords wait to be looked at than are kept."""

    def __init__(self) -> None:
        """Say when to come again."""
        super().__init__(
            429,
            "Too many passwords wait to be looked at. Come again in a minute.",
            {"Retry-After": "60"},
        )


@dataclass(kw_only=True, eq=False)
class Access:
    """Decides about each request; sessions end with the process."""

    password: SecretStr | None
    names: Collection[str]
    """Under which the page is opened, beside `localhost` and addresses in digits."""
    clock: Clock
    randomness: Randomness
    log: Log
    _sessions: dict[str, None] = field(init=False, default_factory=dict)
    _one_at_a_time: anyio.Lock = field(init=False, default_factory=anyio.Lock)
    _key: bytes = field(init=False)

    def __post_init__(self) -> None:
        self._key = self.randomness.new_id("key").encode()

    def knows_host(self, request: Request) -> bool:
        """Return whether the request was meant for us; a rebound name is not."""
        try:
            name = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
        except ValueError:
            return False
        return name in {"localhost", *self.names} or _is_in_digits(name)

    def is_from_our_page(self, request: Request, form: Mapping[str, str]) -> bool:
        """Return whether one of our pages, and no other web site, sent a form."""
        origin = urlsplit(request.headers.get("origin", ""))
        is_ours = origin.netloc == request.headers.get("host")
        given = form.get("token", "").encode()
        return is_ours and hmac.compare_digest(given, self.form_token(request).encode())

    def form_token(self, request: Request) -> str:
        """Return what a form of this session must hold."""
        session = request.cookies.get(_cookie(request), "")
        return hmac.new(self._key, session.encode(), sha256).hexdigest()

    async def is_open_to(self, request: Request) -> bool:
        """Return whether this person, or program, may see anything.

        Raises:
            CrowdedError: too many passwords wait to be looked at.
        """
        if self.password is None or request.cookies.get(_cookie(request)) in (
            self._sessions
        ):
            return True
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and await self._is_right(request, given)

    async def log_in(self, request: Request, given: str) -> str | None:
        """Return the name and value of a new cookie; None: a wrong password.

        Raises:
            CrowdedError: too many passwords wait to be looked at.
        """
        if not await self._is_right(request, given):
            return None
        session = self.randomness.new_id("session")
        self._sessions[session] = None
        if len(self._sessions) > MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        return f"{_cookie(request)}={session}; Path=/; HttpOnly; SameSite=Strict"

    def log_out(self, request: Request) -> None:
        """End a session."""
        self._sessions.pop(request.cookies.get(_cookie(request), ""), None)

    async def _is_right(self, request: Request, given: str) -> bool:
        """Look at a password, typed in or sent by a program.

        They are looked at one after the other, with a pause after a wrong one: who
        guesses is as slow over many connections as over one. A right one queues too,
        since one that is answered sooner would tell itself from the wrong ones.

        Raises:
            CrowdedError: the queue is full.
        """
        if self.password is None:
            return True
        if self._one_at_a_time.statistics().tasks_waiting >= MOST_WAITING:
            raise CrowdedError
        right = self.password.get_secret_value().encode()
        async with self._one_at_a_time:
            if hmac.compare_digest(given.encode(), right):
                return True
            client = request.client.host if request.client else ""
            self.log.emit(events.LOGIN_REFUSED, client=client)
            await self.clock.sleep(SECONDS_AFTER_A_WRONG_PASSWORD)
            return False


def _is_in_digits(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _cookie(request: Request) -> str:
    """Return a name of this port's own: browsers share cookies between ports."""
    return f"journeyman_{request.url.port or 'page'}"
