"""The contract's ten endpoints, under its paths, as the options have them."""

import hashlib
import inspect
from collections.abc import Awaitable, Callable, Sequence
from functools import partial, wraps
from http import HTTPStatus
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, Header, Query, Request, Response, params
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel

from journeyman.sandbox import (
    agents,
    checkouts,
    contract,
    paging,
    requests,
    task_generator,
    tasks,
)
from journeyman.sandbox.answers import Answer, AnswerWriter, encoded
from journeyman.sandbox.contract import Endpoint
from journeyman.sandbox.errors import ERROR_FORMATS, RefusalError
from journeyman.sandbox.options import SandboxOptions
from journeyman.sandbox.store import State

_Handler = Callable[..., Awaitable[Response]]


def add_contract(
    router: APIRouter, options: SandboxOptions, dependencies: Sequence[params.Depends]
) -> None:
    """Put the endpoints under the contract's paths, without those that are absent.

    A router of their own, included in another, would have each route analysed twice.
    """
    refusals: dict[int | str, dict[str, Any]] = {
        "4XX": ERROR_FORMATS[options.error_format].openapi()
    }

    def serve(
        endpoint: Endpoint,
        handler: _Handler,
        response_model: type[BaseModel] | None = None,
    ) -> None:
        if endpoint.name not in options.absent:
            router.add_api_route(
                endpoint.path,
                handler,
                methods=[endpoint.method],
                name=endpoint.name,
                summary=endpoint.purpose,
                response_model=response_model,
                responses=refusals,
                dependencies=dependencies,
                route_class_override=requests.StrictRoute,
            )

    shown = _Endpoints(AnswerWriter(options))

    def with_body(model: type[requests.Body], handler: _Handler) -> _Handler:
        return _with_body(requests.body_format(model, options), handler)

    serve(contract.REGISTER, register, requests.NewAgent)
    serve(contract.CHECKOUT, create_checkout, requests.CheckoutResponse)
    serve(contract.MARKETPLACE, shown.list_marketplace)
    serve(contract.PUBLIC_DIRECTORY, shown.list_public_agents)
    serve(contract.DIRECTORY, shown.list_agents)
    serve(contract.DISCOVER, shown.discover_tasks)
    serve(contract.CLAIM, with_body(requests.ClaimBody, shown.claim_task))
    serve(contract.SUBMIT, with_body(requests.SubmissionBody, shown.submit_result))
    serve(contract.COMPLETE, with_body(requests.CompletionBody, shown.complete_task))
    serve(contract.POST_TASK, with_body(requests.PostBody, shown.post_task))


def _with_body(body_format: requests.BodyFormat, handler: _Handler) -> _Handler:
    """Return the handler with its first argument read in a format."""
    signature = inspect.signature(handler)
    body, *others = signature.parameters.values()

    @wraps(handler)
    async def handle(**values: Any) -> Response:  # noqa: ANN401 - as the handler has it
        values[body.name] = body_format.read(values[body.name])
        return await handler(**values)

    parameters = [body.replace(annotation=body_format.model), *others]
    handle.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined] # functions may have one (PEP 362)
    return handle


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


async def register(
    _body: requests.RegistrationBody, state: _StateOf, key: _Key = ""
) -> Response:
    """Contract endpoint 1."""
    work = partial(agents.register, state)
    return _once(state, "", contract.REGISTER, key, work)


async def create_checkout(
    body: requests.CheckoutRequest, state: _StateOf, key: _Key = ""
) -> Response:
    """Contract endpoint 2."""
    order = checkouts.Order(**body.model_dump(exclude={"source"}))
    work = partial(checkouts.create, state, order)
    return _once(state, body.agent_id, contract.CHECKOUT, key, work)


class _Endpoints:
    """The endpoints whose answers, and bodies, are as the options have them."""

    def __init__(self, writer: AnswerWriter) -> None:
        self._writer = writer

    async def list_marketplace(self, state: _StateOf) -> Response:
        """Contract endpoint 3."""
        return _answered(
            self._writer.listing(tasks.listing(state, tasks.LARGEST_LIMIT))
        )

    async def list_public_agents(self, state: _StateOf) -> Response:
        """Contract endpoint 4."""
        return _answered(self._writer.agents(agents.directory(state)))

    async def list_agents(self, state: _StateOf, slug: str | None = None) -> Response:
        """Contract endpoint 5, and its rule 1."""
        found = (
            agents.directory(state) if slug is None else agents.manifest(state, slug)
        )
        return _answered(self._writer.agents(found))

    async def discover_tasks(
        self,
        request: Request,
        state: _StateOf,
        caller: _Caller,
        limit: _Limit = tasks.DEFAULT_LIMIT,
    ) -> Response:
        """Contract endpoint 6."""
        page = paging.asked_for(request.query_params, state.options, limit)
        listed = tasks.listing(state, page.size, page.start, caller)
        shown = paging.around(page, state.options, listed)
        answer = _answered(self._writer.listing(listed, shown.fields))
        answer.headers.update(shown.headers)
        return answer

    async def claim_task(
        self, body: requests.ClaimBody, state: _StateOf, caller: _Caller, key: _Key = ""
    ) -> Response:
        """Contract endpoint 7."""

        def work() -> Answer:
            answer = tasks.claim(state, caller, body.task_id)
            task_generator.refill(state)
            return answer

        _require_self(body.agent_id, caller)
        return _once(state, caller, contract.CLAIM, key, work, self._writer.action)

    async def submit_result(
        self,
        body: requests.SubmissionBody,
        state: _StateOf,
        caller: _Caller,
        key: _Key = "",
    ) -> Response:
        """Contract endpoint 8."""
        _require_self(body.agent_id, caller)
        tasks.require_receipt("claim", body.claim_id, body.task_id, caller)
        work = partial(tasks.submit, state, caller, body.task_id, body.result)
        return _once(state, caller, contract.SUBMIT, key, work, self._writer.action)

    async def complete_task(
        self,
        body: requests.CompletionBody,
        state: _StateOf,
        caller: _Caller,
        key: _Key = "",
    ) -> Response:
        """Contract endpoint 9."""
        _require_self(body.agent_id, caller)
        tasks.require_receipt("submission", body.submission_id, body.task_id, caller)
        work = partial(tasks.complete, state, caller, body.task_id)
        return _once(state, caller, contract.COMPLETE, key, work, self._writer.action)

    async def post_task(
        self,
        body: requests.PostBody,
        state: _StateOf,
        caller: _Caller,
        key: _Key = "",
    ) -> Response:
        """Contract endpoint 10."""
        _require_self(body.agent_id, caller)
        fields = dict(body)
        fields.pop("agent_id", None)
        new = tasks.NewTask(task_id=state.new_task_id(), poster=caller, **fields)
        work = partial(tasks.post, state, new)
        return _once(state, caller, contract.POST_TASK, key, work, self._writer.action)


def _once(
    state: State,
    scope: str,
    endpoint: Endpoint,
    key: str,
    work: Callable[[], Answer],
    write: Callable[[Answer], bytes] = encoded,
) -> Response:
    """Do something once, in one transaction: a repeated key gets the same answer.

    `scope` is whose request it is, and `key` its Idempotency-Key, if it has one.
    """
    with state.transaction():
        known = _recall(state, scope, endpoint.path, key) if key else None
        answer = known or _worked(work(), write)
        if key and known is None:
            _remember(state, scope, endpoint.path, key, answer)
    return _answered(answer.body, answer.status)


class _Written(NamedTuple):
    status: int
    body: bytes


def _worked(answer: Answer, write: Callable[[Answer], bytes]) -> _Written:
    is_pending = answer.get("status") == tasks.IN_REVIEW
    status = HTTPStatus.ACCEPTED if is_pending else HTTPStatus.OK
    return _Written(status, write(answer))


def _recall(state: State, scope: str, path: str, key: str) -> _Written | None:
    """Return the answer to the same agent's same request, if there was one."""
    row = state.db.execute(
        "SELECT status, answer FROM answers"
        " WHERE scope = ? AND path = ? AND key_hash = ?",
        (scope, path, _hashed(key)),
    ).fetchone()
    return None if row is None else _Written(row[0], _sealed(row[1], key))


def _remember(state: State, scope: str, path: str, key: str, answer: _Written) -> None:
    """Keep an answer."""
    state.db.execute(
        "INSERT INTO answers (scope, path, key_hash, status, answer)"
        " VALUES (?, ?, ?, ?, ?)",
        (scope, path, _hashed(key), answer.status, _sealed(answer.body, key)),
    )


def _hashed(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _sealed(answer: bytes, key: str) -> bytes:
    """Encrypt with the key, or decrypt: the operation is the same."""
    size = len(answer)
    stream = hashlib.shake_256(b"sandbox answer" + key.encode()).digest(size)
    mixed = int.from_bytes(answer) ^ int.from_bytes(stream)
    return mixed.to_bytes(size)


def _answered(answer: bytes, status: int = HTTPStatus.OK) -> Response:
    return Response(answer, status, media_type="application/json")


def _require_self(agent_id: str | None, caller: str) -> None:
    if agent_id is not None and agent_id != caller:
        raise RefusalError(
            HTTPStatus.FORBIDDEN,
            "wrong_agent",
            "agent_id in the body is not the agent of the token",
        )
