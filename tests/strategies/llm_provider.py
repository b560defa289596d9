"""A provider of language models on loopback: OpenAI's two interfaces, to order."""

import json
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import SocketStream
from tests import prose
from tests.raw_http import listening, read_request

READ, WRITTEN = 100, 20
"""Tokens of each answer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the provider answers.

    A status of 0 never answers, -1 breaks the line, -2 sends a byte now and then.
    """

    status: int
    body: object
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: float = 0.0
    """Seconds between two parts of a streamed answer."""
    stalls: bool = False
    """A streamed answer stops in its middle, and the line stays open."""
    breaks: bool = False
    """The same, and the line is closed."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came."""

    authorization: str
    """The key, in whichever header it came."""
    body: dict[str, Any]
    target: str
    """The path, and what follows it."""

    def said(self, role: str) -> str:
        """Return all that was said in a role."""
        return "\n".join(
            str(message["content"])
            for message in self.body.get("messages") or self.body["input"]
            if message["role"] == role
        )

    def tools(self) -> set[str]:
        """Return the names of the tools that the model may call."""
        return {tool["function"]["name"] for tool in self.body.get("tools", ())}


def calls(name: str, arguments: object) -> Reply:
    """Make the model call a tool; `arguments` that are a text are sent as they are."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": text}
    call = {"id": f"call_{name}", "type": "function", "function": function}
    return _message({"content": None, "tool_calls": [call]}, "tool_calls")


def answers(answer: str, confidence: float = 0.9, declined: str = "") -> Reply:
    """Make the model hand in an answer."""
    content = {"answer": answer, "confidence": confidence, "declined": declined}
    return calls("final_result", content)


def says(text: str) -> Reply:
    """Make the model say something without any form."""
    return _message({"content": text}, "stop")


def responds(text: str) -> Reply:
    """Make the model say something as OpenAI's newer interface, `responses`, has it."""
    content = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "id": "msg_1", "role": "assistant"}
    usage = {
        "input_tokens": READ,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": WRITTEN,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": READ + WRITTEN,
    }
    body = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "small",
        "status": "completed",
        "output": [message | {"status": "completed", "content": [content]}],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
    }
    return Reply(200, body)


def objects(why: str) -> Reply:
    """Make the model refuse to answer."""
    return _message({"content": None, "refusal": why}, "stop")


def finds(problems: str) -> Reply:
    """Make the model find this in an answer that it checks."""
    return calls("final_result", {"problems": problems})


def refuses(status: int, code: str = "", **headers: str) -> Reply:
    """Make the provider refuse the request."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, {"error": {"message": "no", "code": code or None}}, named)


class Provider:
    """Answers in the order of `replies`; the last one is repeated.

    Without any, it answers the prose of the sandbox by rules.
    """

    port = 0

    def __init__(self) -> None:
        self.replies: deque[Reply] = deque()
        self.asked: list[Asked] = []

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"

    async def serve(self, stream: SocketStream) -> None:
        while await self._answer(stream):
            pass

    async def _answer(self, stream: SocketStream) -> bool:
        request = await read_request(stream)
        headers = request.headers
        asked = Asked(
            headers.get("authorization") or headers.get("x-api-key", ""),
            json.loads(request.body or b"{}"),
            request.target,
        )
        self.asked.append(asked)
        reply = self._next_reply(asked)
        if reply.status == 0:
            await anyio.sleep_forever()
        if reply.status == -2:
            await _drip(stream)
        if reply.status < 0:
            return False
        if asked.body.get("stream") and (events := _events(reply.body)):
            await _stream(stream, reply, events)
            return False
        await stream.send(_bytes(reply))
        return True

    def _next_reply(self, asked: Asked) -> Reply:
        if not self.replies:
            return _by_rules(asked)
        return self.replies.popleft() if len(self.replies) > 1 else self.replies[0]


def _by_rules(asked: Asked) -> Reply:
    """Answer a task of the sandbox's prose; find no fault with any answer."""
    told = json.loads("\n".join(asked.said("user").splitlines()[1:-1]))
    if "answer" in told:
        return finds("")
    solve = prose.SOLVERS.get(told.get("kind", ""))
    if solve is None:
        return answers("", declined="there is no rule for it")
    result = solve(told["input"])
    text = result if isinstance(result, str) else json.dumps(result)
    if asked.target.endswith("/responses"):
        return responds(text)
    return answers(text) if asked.body.get("tools") else says(text)


async def _stream(stream: SocketStream, reply: Reply, events: list[bytes]) -> None:
    head = b"HTTP/1.1 200 Answer\r\nContent-Type: text/event-stream\r\n"
    await stream.send(head + b"Connection: close\r\n\r\n")
    is_cut = reply.stalls or reply.breaks
    for event in events[: len(events) // 2] if is_cut else events:
        await stream.send(event)
        await anyio.sleep(reply.pause)
    if reply.stalls:
        await anyio.sleep_forever()


def _events(body: object) -> list[bytes]:
    """Return an answer in parts, as server-sent events; none for what is no answer."""
    if not isinstance(body, dict):
        return []
    if "choices" in body:
        parts = [json.dumps(one) for one in _chunks(body)]
        return [f"data: {part}\n\n".encode() for part in [*parts, "[DONE]"]]
    if body.get("type") == "message":
        return [
            f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode()
            for one in _message_events(body)
        ]
    return []


def _chunks(body: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    (choice,) = body["choices"]
    message = choice["message"]
    said = {"role": "assistant", **message}
    said.pop("tool_calls", None)
    deltas: list[dict[str, object]] = [said]
    for number, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        first = {**call, "index": number, "function": {**function, "arguments": ""}}
        deltas.append({"tool_calls": [first]})
        deltas += [
            {"tool_calls": [{"index": number, "function": {"arguments": part}}]}
            for part in _pieces(function["arguments"])
        ]
    named = {name: body[name] for name in ("id", "created", "model")}
    named["object"] = "chat.completion.chunk"
    for delta in deltas:
        yield {**named, "choices": [{"index": 0, "delta": delta}]}
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    yield {**named, "choices": [end]}
    yield {**named, "choices": [], "usage": body["usage"]}


def _message_events(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    (content,), usage = body["content"], body["usage"]
    begun = {**body, "content": [], "stop_reason": None}
    begun["usage"] = {"input_tokens": usage["input_tokens"], "output_tokens": 1}
    yield {"type": "message_start", "message": begun}
    block = {**content, "input": {}}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    for part in _pieces(json.dumps(content["input"])):
        delta = {"type": "input_json_delta", "partial_json": part}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    counted = {"output_tokens": usage["output_tokens"]}
    yield {"type": "message_delta", "delta": end, "usage": counted}
    yield {"type": "message_stop"}


def _pieces(text: str, size: int = 12) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


async def _drip(stream: SocketStream) -> None:
    await stream.send(b"HTTP/1.1 200 Answer\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        await stream.send(b" ")
        await anyio.sleep(0.02)


@asynccontextmanager
async def provider() -> AsyncIterator[Provider]:
    """Serve on a free port of loopback until the block ends."""
    made = Provider()
    async with listening(made.serve) as made.port:
        yield made


def _message(message: dict[str, object], finish: str) -> Reply:
    choice = {
        "index": 0,
        "message": {"role": "assistant", **message},
        "finish_reason": finish,
    }
    usage = {"prompt_tokens": READ, "completion_tokens": WRITTEN}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "small",
        "choices": [choice],
        "usage": usage | {"total_tokens": READ + WRITTEN},
    }
    return Reply(200, body)


def messages_answer(answer: str) -> Reply:
    """Return an answer in the form of Anthropic's messages."""
    content = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "final_result",
        "input": {"answer": answer, "confidence": 0.9},
    }
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": [content],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": READ, "output_tokens": WRITTEN},
    }
    return Reply(200, body)


def _bytes(reply: Reply) -> bytes:
    body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body)
    content = body if isinstance(body, bytes) else body.encode()
    head = [
        f"HTTP/1.1 {reply.status} Answer",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
        *(f"{name}: {value}" for name, value in reply.headers.items()),
    ]
    return "\r\n".join([*head, "", ""]).encode() + content
