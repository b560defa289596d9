"""The contract's ten endpoints."""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from journeyman.sandbox import agents, checkouts, repeats, surface, tasks, workshop
from journeyman.sandbox.bodies import (
    CheckoutRequest,
    CheckoutResponse,
    ErrorAnswer,
    NewAgent,
    NewTask,
    Registration,
    Submission,
    TaskAction,
)
from journeyman.sandbox.errors import Refusal
from journeyman.sandbox.state import State
from journeyman.sandbox.surface import Endpoint
from journeyman.sandbox.wire import StrictRoute

_Answer: TypeAlias = dict[str, Any]
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


def contract_router() -> APIRouter:
    """Put the endpoints under the contract's paths."""
    router = APIRouter(
        route_class=StrictRoute,
        responses={"4XX": {"model": ErrorAnswer, "description": "Not granted"}},
    )
    _add(router, surface.JOIN, join, NewAgent)
    _add(router, surface.CHECKOUT, create_checkout, CheckoutResponse)
    _add(router, surface.MARKETPLACE, list_marketplace)
    _add(router, surface.PUBLIC_DIRECTORY, list_public_agents)
    _add(router, surface.DIRECTORY, list_agents)
    _add(router, surface.DISCOVER, discover_tasks)
    _add(router, surface.CLAIM, claim_task)
    _add(router, surface.SUBMIT, submit_result)
    _add(router, surface.COMPLETE, complete_task)
    _add(router, surface.POST_TASK, post_task)
    return router


def _add(
    router: APIRouter,
    endpoint: Endpoint,
    handler: Callable[..., Any],
    response_model: type | None = None,
) -> None:
    router.add_api_route(
        endpoint.path,
        handler,
        methods=[endpoint.method],
        name=endpoint.name,
        summary=endpoint.purpose,
        response_model=response_model,
    )


async def join(_body: Registration, state: _StateOf, key: _Key = "") -> Response:
    """Contract endpoint 1."""
    return _act(state, "", (surface.JOIN, key), lambda: agents.join(state))


async def create_checkout(
    body: CheckoutRequest, state: _StateOf, key: _Key = ""
) -> Response:
    """Contract endpoint 2."""
    order = checkouts.Order(**body.model_dump(exclude={"source"}))
    return _act(
        state,
        body.agent_id,
        (surface.CHECKOUT, key),
        lambda: checkouts.create(state, order),
    )


async def list_marketplace(state: _StateOf) -> Response:
    """Contract endpoint 3."""
    return _written(tasks.listing(state, tasks.LARGEST_LIMIT))


async def list_public_agents(state: _StateOf) -> Response:
    """Contract endpoint 4."""
    return _written(agents.directory(state))


async def list_agents(state: _StateOf, slug: str | None = None) -> Response:
    """Contract endpoint 5, and its rule 1."""
    if slug is None:
        return _written(agents.directory(state))
    return _written(agents.manifest(state, slug))


async def discover_tasks(
    state: _StateOf, _caller: _Caller, limit: _Limit = tasks.DEFAULT_LIMIT
) -> Response:
    """Contract endpoint 6."""
    return _written(tasks.listing(state, limit))


async def claim_task(
    body: TaskAction, state: _StateOf, caller: _Caller, key: _Key = ""
) -> Response:
    """Contract endpoint 7."""

    def work() -> _Answer:
        answer = tasks.claim(state, caller, body.task_id)
        workshop.refill(state)
        return answer

    _require_self(body.agent_id, caller)
    return _act(state, caller, (surface.CLAIM, key), work)


async def submit_result(
    body: Submission, state: _StateOf, caller: _Caller, key: _Key = ""
) -> Response:
    """Contract endpoint 8."""
    _require_self(body.agent_id, caller)
    return _act(
        state,
        caller,
        (surface.SUBMIT, key),
        lambda: tasks.submit(state, caller, body.task_id, body.result),
    )


async def complete_task(
    body: TaskAction, state: _StateOf, caller: _Caller, key: _Key = ""
) -> Response:
    """Contract endpoint 9."""
    _require_self(body.agent_id, caller)
    return _act(
        state,
        caller,
        (surface.COMPLETE, key),
        lambda: tasks.complete(state, caller, body.task_id),
    )


async def post_task(
    body: NewTask, state: _StateOf, caller: _Caller, key: _Key = ""
) -> Response:
    """Contract endpoint 10."""
    _require_self(body.agent_id, caller)
    new = tasks.Post(
        task_id=state.new_id("task"),
        poster=caller,
        **body.model_dump(exclude={"agent_id"}),
    )
    return _act(
        state,
        caller,
        (surface.POST_TASK, key),
        lambda: tasks.post(state, new),
    )


def _act(
    state: State,
    scope: str,
    repeat: tuple[Endpoint, str],
    work: Callable[[], _Answer],
) -> Response:
    """Do something once, in one transaction: a repeated key gets the same answer."""
    endpoint, key = repeat
    with state.transaction():
        known = repeats.recall(state, scope, endpoint.path, key) if key else None
        answer = known or _encoded(work())
        if key and known is None:
            repeats.remember(state, scope, endpoint.path, key, answer)
    return Response(answer, media_type="application/json")


def _require_self(agent_id: str | None, caller: str) -> None:
    if agent_id is not None and agent_id != caller:
        raise Refusal(
            HTTPStatus.FORBIDDEN,
            "wrong_agent",
            "agent_id in the body is not the agent of the token",
        )


def _written(answer: _Answer) -> Response:
    return Response(_encoded(answer), media_type="application/json")


def _encoded(answer: _Answer) -> bytes:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
