"""A network between an agent and the sandbox that repeats the agent's token.

It hands on what it is asked, and now and then answers by itself, with the token of the
request in every place that an answer has.
"""

from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import count
from urllib.parse import quote

import anyio
import httpx2 as httpx
from anyio.abc import SocketStream
from tests.raw_http import Request, listening, read_request

ANSWERS_ITSELF_ONE_IN = 3
JSON_TYPE = "Content-Type: application/json"
Hostile = Callable[[str], bytes]


def _answer(status: str, body: str, *headers: str) -> bytes:
    raw = body.encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(raw)}", *headers]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + raw


def _task(token: str) -> str:
    fields = ("id", "title", "description", "text", "poster", "status")
    texts = ", ".join(f'"{name}": "{name} {token}"' for name in fields)
    return f'{{"tasks": [{{{texts}, "kind": "word_count", "tags": ["{token}"]}}]}}'


HOSTILE: tuple[Hostile, ...] = (
    lambda t: _answer("500 Error", f'{{"error": "no such token: {t}"}}', JSON_TYPE),
    lambda t: _answer("400 Bad", f'{{"message": "Bearer {t} is bad"}}', JSON_TYPE),
    lambda t: _answer("422 Bad", f'{{"detail": [{{"msg": "{t}"}}]}}', JSON_TYPE),
    lambda t: _answer("409 Taken", f'{{"code": "{t}"}}', JSON_TYPE),
    lambda t: _answer("200 OK", _task(t), JSON_TYPE),
    lambda t: _answer("200 OK", _task(f"{t[:9]}\\n{t[9:]}"), JSON_TYPE),
    lambda t: _answer("200 OK", _task(f"\\u00{ord(t[0]):02x}{t[1:]}"), JSON_TYPE),
    lambda t: _answer("200 OK", f'{{"{t}": {{"{t}": "{t}"}}, "tasks": []}}', JSON_TYPE),
    lambda t: _answer("302 Found", "", f"Location: https://elsewhere.invalid/?t={t}"),
    lambda t: _answer("307 Found", "", f"Location: /{t}"),
    lambda t: _answer("401 No", t, f"WWW-Authenticate: Bearer {t}"),
    lambda t: _answer("403 No", f"<html><title>{t}</title></html>", f"X-Echo: {t}"),
    lambda t: _answer("429 Slow", "", f"Retry-After: {t}"),
    lambda t: _answer("503 Away", f"{t[:30]}\r\n {t[30:]}", f"Set-Cookie: t={t}"),
    lambda t: _answer("200 OK", f'{{"broken": "{t}', JSON_TYPE),
    lambda t: _answer("200 OK", quote(b64encode(t.encode()).decode()), JSON_TYPE),
    lambda t: _answer(f"500 {t}", ""),
    lambda t: f"HTTP/1.1 {t}\r\n\r\n".encode(),
    lambda t: f"HTTP/1.1 200 OK\r\n{t}\r\n\r\n".encode(),
    lambda t: t.encode(),
)
"""Each makes all bytes of an answer around a token."""


class EchoingNetwork:
    """The address of the one, and what it has done."""

    base_url = ""

    def __init__(self, sandbox: str) -> None:
        self.told_all = anyio.Event()
        """Set when each of the hostile answers was given."""
        self._sandbox = sandbox
        self._numbers = count(1)
        self._kinds: Iterator[int] = count()

    async def serve(self, stream: SocketStream) -> None:
        """Answer one request of a connection."""
        request = await read_request(stream)
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token and next(self._numbers) % ANSWERS_ITSELF_ONE_IN == 0:
            kind = next(self._kinds)
            if kind == len(HOSTILE):
                self.told_all.set()
            await stream.send(HOSTILE[kind % len(HOSTILE)](token))
        else:
            await stream.send(await self._ask_sandbox(request))

    async def _ask_sandbox(self, request: Request) -> bytes:
        hop_by_hop = ("host", "connection")
        kept = {k: v for k, v in request.headers.items() if k not in hop_by_hop}
        async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
            answer = await client.request(
                request.method,
                self._sandbox + request.target,
                headers=kept,
                content=request.body,
            )
        status = f"{answer.status_code} {answer.reason_phrase}"
        return _answer(status, answer.text, JSON_TYPE)


@asynccontextmanager
async def echoing_network(sandbox: str) -> AsyncIterator[EchoingNetwork]:
    """Listen on a port of this machine, for as long as this lasts."""
    network = EchoingNetwork(sandbox)
    async with listening(network.serve) as port:
        network.base_url = f"http://127.0.0.1:{port}"
        yield network
