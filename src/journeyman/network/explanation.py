"""The exact request that an action would be, without sending it.

It is made by the client itself, over a transport that takes it and goes nowhere.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

import httpx2 as httpx

from journeyman.domain import tasks
from journeyman.domain.clock import Clock
from journeyman.network.client import NetworkClient
from journeyman.network.negotiation import Negotiation, Writing
from journeyman.network.shapes import ActionShape, WritingDialect
from journeyman.observability.events import Log
from journeyman.observability.redaction import HIDDEN

_KEY = tasks.IdempotencyKey("KEY-OF-THE-REQUEST")
_TASK = tasks.TaskId("TASK-ID")
_RESULT = tasks.Result("RESULT", evidence={"EVIDENCE": "OF THE STRATEGY"})
_NEW = tasks.NewTask(
    title="TITLE",
    description="DESCRIPTION",
    reward=1,
    kind="KIND",
    tags=("TAG",),
    input={"text": "INPUT"},
)
_SECRET_HEADER = re.compile(r"key|token|secret|auth|pass|cred", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExplainedRequest:
    """One request as it would leave, with examples where the values would be."""

    dialect: str
    method: str
    url: str
    headers: Mapping[str, str]
    """The token, and values that may be secret, are `***`."""
    body: str


async def explain_request(
    action: str,
    dialect: WritingDialect,
    *,
    base_url: str,
    agent_id: tasks.AgentId,
    clock: Clock,
    log: Log,
) -> ExplainedRequest:
    """Show an action of `domain.ACTIONS` in a dialect that describes it.

    Raises:
        ConfigurationError: the address cannot be used.
        KeyError: there is no such action, or the dialect does not describe it.
    """
    recorder = _Recorder()
    writing = Writing(dialects=(dialect,), pinned=dialect.name)
    client = NetworkClient(
        base_url=base_url,
        log=log,
        clock=clock,
        transport=recorder,
        negotiation=Negotiation(writing=writing, clock=clock, log=log),
    )
    client.identify(tasks.Identity(agent_id, tasks.AccessToken(HIDDEN), base_url))
    shape = dialect.shapes[action]
    async with client:
        await _act(client, action)
    (request,) = recorder.requests
    return ExplainedRequest(
        dialect=dialect.name,
        method=request.method,
        url=str(request.url),
        headers=_shown(request.headers, shape),
        body=request.content.decode(),
    )


async def _act(client: NetworkClient, action: str) -> None:
    match action:
        case "claim":
            await client.claim(_TASK, _KEY)
        case "submit":
            await client.submit(_TASK, _RESULT, _KEY)
        case "complete":
            await client.complete(_TASK, _KEY)
        case "post_task":
            await client.post_task(_NEW, _KEY)
        case _:
            raise KeyError(action)


class _Recorder(httpx.AsyncBaseTransport):
    """Takes requests, and fails them before any connection is made."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> NoReturn:
        self.requests.append(request)
        raise httpx.ConnectError("only shown")


def _shown(headers: Mapping[str, str], shape: ActionShape) -> dict[str, str]:
    secret = {name.lower() for name in shape.headers if _SECRET_HEADER.search(name)}
    return {
        name.title(): HIDDEN if name.lower() in secret else value
        for name, value in headers.items()
    }
