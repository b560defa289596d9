"""The contract's ten endpoints, under its paths, as the options have them."""

import hashlib
import inspect
from collections.abc import Awaitable, Callable
from functools import wraps
from http import HTTPStatus
from typing import Annotated, Any, NamedTuple, TypeAlias

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel

from journeyman.sandbox import agents, checkouts, surface, tasks, workshop
from journeyman.sandbox.answers import Answer, Write, Writer, encoded, writer_for
from journeyman.sandbox.error_bodies import VOCABULARIES
from journeyman.sandbox.errors import Refusal
from journeyman.sandbox.options import SandboxOptions
from journeyman.sandbox.requests import (
    Action,
    CheckoutRequest,
    CheckoutResponse,
    NewAgent,
    Posting,
    Registration,
    ResultOf,
    bodies_for,
)
from journeyman.sandbox.store import State
from journeyman.sandbox.surface import Endpoint
from journeyman.sandbox.wire import StrictRoute


def recall(state: State, scope: str, path: str, key: str) -> bytes | None:
    """Give the answer to the same agent's same request, if there was one."""
    row = state.db.execute(
        "SELECT answer FROM answers WHERE scope = ? AND path = ? AND key_hash = ?",
        (scope, path, _hashed(key)),
    ).fetchone()
    return None if row is None else _sealed(row["answer"], key)


def remember(state: State, scope: str, path: str, key: str, answer: bytes) -> None:
    """Keep an answer."""
    state.db.execute(
        "INSERT INTO answers (scope, path, key_hash, answer) VALUES (?, ?, ?, ?)",
        (scope, path, _hashed(key), _sealed(answer, key)),
    )


def _hashed(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _sealed(answer: bytes, key: str) -> bytes:
    """Seal or unseal: the same step either way."""
    size = len(answer)
    stream = hashlib.shake_256(b"sandbox answer" + key.encode()).digest(size)
    mixed = int.from_bytes(answer) ^ int.from_bytes(stream)
    return mixed.to_bytes(size)


_bearer = HTTPBearer(scheme_name="bearer_token", auto_error=False)


async def _state(request: Request) -> State:
    state: State = request.app.state.sandbox
    return state


_StateOf = Annotated[State, Depends(_state)]


async def _caller(
    state: _StateOf,
    sent: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> str:
    return agents.authenticate(state, sent.credentials if sent else None)


_Caller = Annotated[str, Depends(_caller)]
_Key = Annotated[str, Header(alias="Idempotency-Key", max_length=255)]
_Limit = Annotated[int, Query(ge=1, le=tasks.LARGEST_LIMIT)]


async def join(_body: Registration, state: _StateOf, key: _Key = "") -> Response:
    """Contract endpoint 1."""
    repeat = _Repeat("", surface.JOIN, key)
    return _act(state, repeat, lambda: agents.join(state), encoded)


async def create_checkout(
    body: CheckoutRequest, state: _StateOf, key: _Key = ""
) -> Response:
    """Contract endpoint 2."""
    order = checkouts.Order(**body.model_dump(exclude={"source"}))
    repeat = _Repeat(body.agent_id, surface.CHECKOUT, key)
    return _act(state, repeat, lambda: checkouts.create(state, order), encoded)


class Reads:
    """The endpoints that change nothing."""

    def __init__(self, write: Writer) -> None:
        self._write = write

    async def list_marketplace(self, state: _StateOf) -> Response:
        """Contract endpoint 3."""
        listed = tasks.listing(state, tasks.LARGEST_LIMIT)
        return _answered(self._write.listing(listed))

    async def list_public_agents(self, state: _StateOf) -> Response:
        """Contract endpoint 4."""
        return _answered(self._write.view(agents.directory(state)))

    async def list_agents(self, state: _StateOf, slug: str | None = None) -> Response:
        """Contract endpoint 5, and its rule 1."""
        found = (
            agents.directory(state) if slug is None else agents.manifest(state, slug)
        )
        return _answered(self._write.view(found))

    async def discover_tasks(
        self, state: _StateOf, _caller: _Caller, limit: _Limit = tasks.DEFAULT_LIMIT
    ) -> Response:
        """Contract endpoint 6."""
        return _answered(self._write.listing(tasks.listing(state, limit)))


class Actions:
    """The runtime actions; `body` is what the dialect makes of it."""

    def __init__(self, write: Write) -> None:
        self._write = write

    async def claim_task(
        self, body: Action, state: _StateOf, caller: _Caller, key: _Key = ""
    ) -> Response:
        """Contract endpoint 7."""

        def work() -> Answer:
            answer = tasks.claim(state, caller, body.task_id)
            workshop.refill(state)
            return answer

        _require_self(body.agent_id, caller)
        return _act(state, _Repeat(caller, surface.CLAIM, key), work, self._write)

    async def submit_result(
        self, body: ResultOf, state: _StateOf, caller: _Caller, key: _Key = ""
    ) -> Response:
        """Contract endpoint 8."""
        _require_self(body.agent_id, caller)
        return _act(
            state,
            _Repeat(caller, surface.SUBMIT, key),
            lambda: tasks.submit(state, caller, body.task_id, body.result),
            self._write,
        )

    async def complete_task(
        self, body: Action, state: _StateOf, caller: _Caller, key: _Key = ""
    ) -> Response:
        """Contract endpoint 9."""
        _require_self(body.agent_id, caller)
        return _act(
            state,
            _Repeat(caller, surface.COMPLETE, key),
            lambda: tasks.complete(state, caller, body.task_id),
            self._write,
        )

    async def post_task(
        self, body: Posting, state: _StateOf, caller: _Caller, key: _Key = ""
    ) -> Response:
        """Contract endpoint 10."""
        _require_self(body.agent_id, caller)
        work = body.work
        new = tasks.Post(
            task_id=state.new_task_id(),
            kind=work.kind,
            title=work.title,
            description=work.description,
            tags=work.tags,
            input=work.input,
            reward=work.reward,
            poster=caller,
        )
        return _act(
            state,
            _Repeat(caller, surface.POST_TASK, key),
            lambda: tasks.post(state, new),
            self._write,
        )


class _Repeat(NamedTuple):
    """What tells a repeated request."""

    scope: str
    """Whose request it is."""
    endpoint: Endpoint
    key: str
    """The Idempotency-Key; empty where there is none."""


def _act(
    state: State, repeat: _Repeat, work: Callable[[], Answer], write: Write
) -> Response:
    """Do something once, in one transaction: a repeated key gets the same answer."""
    scope, endpoint, key = repeat
    with state.transaction():
        known = recall(state, scope, endpoint.path, key) if key else None
        answer = known or write(work())
        if key and known is None:
            remember(state, scope, endpoint.path, key, answer)
    return _answered(answer)


def _answered(answer: bytes) -> Response:
    return Response(answer, media_type="application/json")


def _require_self(agent_id: str | None, caller: str) -> None:
    if agent_id is not None and agent_id != caller:
        raise Refusal(
            HTTPStatus.FORBIDDEN,
            "wrong_agent",
            "agent_id in the body is not the agent of the token",
        )


_Handler: TypeAlias = Callable[..., Awaitable[Response]]


class _Served(NamedTuple):
    """One endpoint as it is served."""

    endpoint: Endpoint
    handler: _Handler
    response_model: type[BaseModel] | None = None
    """Where the contract shows the answer."""


def contract_router(options: SandboxOptions) -> APIRouter:
    """Put the endpoints that there are under the contract's paths."""
    router = APIRouter(
        route_class=StrictRoute,
        responses={"4XX": VOCABULARIES[options.errors].described()},
    )
    for endpoint, handler, response_model in _served(options):
        if endpoint.name not in options.absent:
            router.add_api_route(
                endpoint.path,
                handler,
                methods=[endpoint.method],
                name=endpoint.name,
                summary=endpoint.purpose,
                response_model=response_model,
            )
    return router


def _served(options: SandboxOptions) -> list[_Served]:
    reads = Reads(writer_for(options))
    actions = Actions(writer_for(options).receipt)
    bodies = bodies_for(options.dialect, strict=options.strict)
    return [
        _Served(surface.JOIN, join, NewAgent),
        _Served(surface.CHECKOUT, create_checkout, CheckoutResponse),
        _Served(surface.MARKETPLACE, reads.list_marketplace),
        _Served(surface.PUBLIC_DIRECTORY, reads.list_public_agents),
        _Served(surface.DIRECTORY, reads.list_agents),
        _Served(surface.DISCOVER, reads.discover_tasks),
        _Served(surface.CLAIM, _taking(bodies.action, actions.claim_task)),
        _Served(surface.SUBMIT, _taking(bodies.submission, actions.submit_result)),
        _Served(surface.COMPLETE, _taking(bodies.action, actions.complete_task)),
        _Served(surface.POST_TASK, _taking(bodies.new_task, actions.post_task)),
    ]


def _taking(model: type[BaseModel], handler: _Handler) -> _Handler:
    """Give the handler with its first argument read as `model`."""
    signature = inspect.signature(handler)
    body, *others = signature.parameters.values()

    @wraps(handler)
    async def handle(**values: Any) -> Response:  # noqa: ANN401 - as the handler has it
        return await handler(**values)

    parameters = [body.replace(annotation=model), *others]
    handle.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined] # functions may have one (PEP 362)
    return handle
