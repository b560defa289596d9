"""A network between an agent and the sandbox that repeats the agent's token.

It hands on what it is asked, and now and then answers by itself, with the token of the
request in every place that an answer has.
"""

from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from urllib.parse import quote

import anyio
import httpx2 as httpx
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

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

    def __init__(self, base_url: str, sandbox: str) -> None:
        self.base_url = base_url
        self.told_all = anyio.Event()
        """Set when each of the hostile answers was given."""
        self._sandbox = sandbox
        self._numbers = count(1)
        self._kinds: Iterator[int] = count()

    async def serve(self, stream: SocketStream) -> None:
        """Answer one request of a connection."""
        async with stream:
            # Who asks may have been killed meanwhile.
            with suppress(anyio.BrokenResourceError, anyio.EndOfStream):
                await self._serve(stream)

    async def _serve(self, stream: SocketStream) -> None:
        head, body = await _read(stream)
        token = _header(head, "authorization").removeprefix("Bearer ")
        if token and next(self._numbers) % ANSWERS_ITSELF_ONE_IN == 0:
            kind = next(self._kinds)
            if kind == len(HOSTILE):
                self.told_all.set()
            await stream.send(HOSTILE[kind % len(HOSTILE)](token))
        else:
            await stream.send(await self._ask_sandbox(head, body))

    async def _ask_sandbox(self, head: list[str], body: bytes) -> bytes:
        method, target, _ = head[0].split(" ")
        pairs = (line.split(": ", 1) for line in head[1:])
        kept = {k: v for k, v in pairs if k.lower() not in ("host", "connection")}
        async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
            answer = await client.request(
                method, self._sandbox + target, headers=kept, content=body
            )
        status = f"{answer.status_code} {answer.reason_phrase}"
        return _answer(status, answer.text, JSON_TYPE)


async def _read(stream: SocketStream) -> tuple[list[str], bytes]:
    reader = BufferedByteReceiveStream(stream)
    head = (await reader.receive_until(b"\r\n\r\n", 1 << 16)).decode().split("\r\n")
    length = int(_header(head, "content-length") or 0)
    return head, await reader.receive_exactly(length) if length else b""


def _header(head: list[str], name: str) -> str:
    pairs = (line.split(": ", 1) for line in head[1:])
    return next((value for key, value in pairs if key.lower() == name), "")


@asynccontextmanager
async def echoing_network(sandbox: str) -> AsyncIterator[EchoingNetwork]:
    """Listen on a port of this machine, for as long as this lasts."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as group:
        port = listener.extra(SocketAttribute.local_port)  # noqa: S610 - no Django
        network = EchoingNetwork(f"http://127.0.0.1:{port}", sandbox)
        group.start_soon(listener.serve, network.serve)
        yield network
        group.cancel_scope.cancel()
