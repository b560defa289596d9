"""What is done at the contract's ten endpoints."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, NamedTuple

from fastapi import Depends, Header, Query, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from journeyman.sandbox import agents, checkouts, repeats, surface, tasks, workshop
from journeyman.sandbox.action_bodies import Action, Posting, ResultOf
from journeyman.sandbox.answers import Answer, Write, Writer, encoded
from journeyman.sandbox.bodies import CheckoutRequest, Registration
from journeyman.sandbox.errors import Refusal
from journeyman.sandbox.state import State
from journeyman.sandbox.surface import Endpoint

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
        known = repeats.recall(state, scope, endpoint.path, key) if key else None
        answer = known or write(work())
        if key and known is None:
            repeats.remember(state, scope, endpoint.path, key, answer)
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
