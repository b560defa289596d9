"""The sandbox's own ASGI application, run for one request in one step."""

from collections.abc import Coroutine, MutableMapping
from functools import cache
from typing import Any, TypeAlias

from fastapi import FastAPI

from journeyman.sandbox import SandboxOptions, create_app
from journeyman.sandbox.state import State
from journeyman.simulation.errors import NotInstantError
from journeyman.simulation.exchange import Answer, Asked

Message: TypeAlias = MutableMapping[str, Any]


@cache
def _application() -> FastAPI:
    """Build the routes, which is slow, once; the data is put under them each time."""
    return create_app(SandboxOptions(tasks=0))


def drive(state: State, asked: Asked) -> Answer:
    """Run the application for one request, from its beginning to its end.

    Raises:
        NotInstantError: it waited for something.
    """
    app = _application()
    app.state.sandbox = state
    sent: list[Message] = []
    call: Coroutine[Any, Any, None] = _call(app, asked, sent)
    try:
        call.send(None)
    except StopIteration:
        pass
    else:
        call.close()
        raise NotInstantError(f"the sandbox waited while it answered {asked.path}")
    start, *parts = sent
    return Answer(
        status=int(start["status"]),
        headers=tuple(start["headers"]),
        body=b"".join(part.get("body", b"") for part in parts),
    )


async def _call(app: FastAPI, asked: Asked, sent: list[Message]) -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": asked.body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(_scope(asked), receive, send)


def _scope(asked: Asked) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": asked.method,
        "headers": list(asked.headers),
        "scheme": "http",
        "path": asked.path,
        "raw_path": asked.path.encode(),
        "query_string": asked.query,
        "server": ("network.invalid", 80),
        "client": ("192.0.2.1", 1),
        "root_path": "",
    }
