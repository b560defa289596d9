"""One request to the contract's endpoints, and all that a trouble may do to it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from http import HTTPStatus
from random import Random
from typing import TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from journeyman.sandbox.error_bodies import VOCABULARIES
from journeyman.sandbox.errors import Refusal
from journeyman.sandbox.store import State
from journeyman.sandbox.surface import ENDPOINTS

Headers: TypeAlias = tuple[tuple[bytes, bytes], ...]

CUT = "sandbox.cut"
"""In a request's state: closes the connection. `server` puts it there."""
_PRIVATE = frozenset(endpoint.path for endpoint in ENDPOINTS if endpoint.private)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What the sandbox answered, held back."""

    status: int
    headers: Headers
    body: bytes

    def but(self, body: bytes) -> "Answer":
        """Give the same answer with another body."""
        kept = tuple(pair for pair in self.headers if pair[0] != b"content-length")
        length = (b"content-length", str(len(body)).encode())
        return replace(self, headers=(*kept, length), body=body)


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One request, and all that a trouble may touch."""

    app: ASGIApp
    scope: Scope = field(repr=False)
    receive: Receive
    send: Send
    state: State
    random: Random
    expired: dict[bytes, datetime] = field(repr=False)
    """Until when which `Authorization` is refused."""

    @property
    def authorization(self) -> bytes:
        """The header on a private endpoint; empty where there is none."""
        private = self.scope["path"] in _PRIVATE
        headers: Mapping[bytes, bytes] = dict(self.scope["headers"]) if private else {}
        return headers.get(b"authorization", b"")

    def is_expired(self) -> bool:
        """Tell whether this request's token is refused for a while."""
        until = self.expired.get(self.authorization)
        return until is not None and self.state.ambient.now() < until

    async def pass_on(self) -> None:
        """Let nothing go wrong."""
        await self.app(self.scope, self.receive, self.send)

    async def served(self) -> Answer:
        """Do all that was asked, and hold the answer back."""
        sent: list[Message] = []

        async def keep(message: Message) -> None:
            sent.append(message)

        await self.app(self.scope, self.receive, keep)
        start, *parts = sent
        body = b"".join(part.get("body", b"") for part in parts)
        headers = tuple(start["headers"])
        return Answer(status=start["status"], headers=headers, body=body)

    async def answer(self, answer: Answer, *, whole: bool = True) -> None:
        """Send an answer; without its end unless it is `whole`."""
        start = {"status": answer.status, "headers": [*answer.headers]}
        await self.send({"type": "http.response.start", **start})
        body = {"body": answer.body, "more_body": not whole}
        await self.send({"type": "http.response.body", **body})

    async def refuse(
        self, status: HTTPStatus, error: str, message: str, headers: Headers = ()
    ) -> None:
        """Answer with an error, in the sandbox's vocabulary."""
        vocabulary = VOCABULARIES[self.state.options.errors]
        body = vocabulary.write(Refusal(status, error, message)).encode()
        kind = (b"content-type", vocabulary.media_type.encode())
        empty = Answer(status=status, headers=(kind, *headers), body=b"")
        await self.answer(empty.but(body))

    async def cut(self) -> None:
        """Close the connection.

        Raises:
            ConnectionResetError: there is none, since no server is used.
        """
        close: Callable[[], None] | None
        close = self.scope.get("state", {}).get(CUT)
        if close is None:
            raise ConnectionResetError("the sandbox has dropped the connection")
        close()
        while (await self.receive())["type"] != "http.disconnect":
            pass  # what is left of the request
