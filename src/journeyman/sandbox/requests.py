"""Bodies of requests: read strictly, and validated in one of four request formats.

The contract does not show the bodies of the four actions.

| format  | a submission                                                        |
|---------|---------------------------------------------------------------------|
| snake   | `{"task_id", "agent_id"?, "result", "evidence"?}`                   |
| camel   | `{"taskId", "agentId"?, "result", "evidence"?}`                     |
| id-only | `{"id", "result", "evidence"?}`                                     |
| wrapped | `{"task": {"id"}, "agent"?: {"id"}, "submission": {"result", ...}}` |

A strict sandbox accepts its own format and nothing else. Another one accepts a value
under any of these names, and ignores names that it does not know.
"""

import json
from collections.abc import Callable, Coroutine, Mapping
from http import HTTPStatus
from typing import (
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    NoReturn,
    TypeVar,
    get_args,
)

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import (
    AliasChoices,
    AliasGenerator,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    create_model,
)
from pydantic.alias_generators import to_camel

from journeyman.sandbox.errors import Refusal
from journeyman.sandbox.options import RequestFormat

LARGEST_BODY = 1024 * 1024
"""In bytes."""
_DRAINED = 32 * LARGEST_BODY
"""Read this much, so that a client that is still sending reads the refusal."""
_DEEPEST = 64
"""Levels of nesting; far more would exhaust the JSON writer's stack later."""


class StrictRequest(Request):
    """A request whose body is small, UTF-8 and JSON that can be written again."""

    async def body(self) -> bytes:
        """Read the whole body, unless it is too large."""
        if not hasattr(self, "_body"):
            received, size = bytearray(), 0
            async for part in self.stream():
                size += len(part)
                if size <= LARGEST_BODY:
                    received += part
                elif size > _DRAINED:
                    break
            if size > LARGEST_BODY:
                raise _too_large()
            self._body = bytes(received)
        return self._body

    async def json(self) -> Any:  # noqa: ANN401 - a JSON value, as in the base class
        """Read the body as JSON; a byte-order mark before it is ignored."""
        if not hasattr(self, "_json"):
            self._json = _read_json(await self.body())
        return self._json


class StrictRoute(APIRoute):
    """A route that gets a `StrictRequest`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Read the body before FastAPI does, whose checks are less strict."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            strict = StrictRequest(request.scope, request.receive)
            if self.body_field is not None and await strict.body():
                _require_json_type(strict)
                await strict.json()
            return await handle(strict)

        return handle_strictly


def _read_json(body: bytes) -> object:
    try:
        value = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
        _require_shallow(value)
        # What cannot be written again, such as half of a surrogate pair or a number
        # beyond all bounds, would only fail later.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise Refusal(
            HTTPStatus.BAD_REQUEST,
            "malformed_json",
            f"the body must be JSON in UTF-8: {error}",
        ) from error
    return value


def _require_json_type(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if media_type.lower() != "application/json":
        raise Refusal(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "not_json",
            f"send 'Content-Type: application/json', not {media_type[:80]!r}",
        )


def _require_shallow(value: object) -> None:
    level = [value]
    for _depth in range(_DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    raise ValueError(f"it is nested more than {_DEEPEST} levels deep")


def _inside(value: object) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _too_large() -> Refusal:
    return Refusal(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "body_too_large",
        f"the body must not have more than {LARGEST_BODY} bytes",
    )


class Body(BaseModel):
    """A JSON object; values are not converted, and unknown fields are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)


class Registration(Body):
    """Contract endpoint 1: an empty object; no field is required."""


class NewAgent(BaseModel):
    """Contract section 2, agent."""

    agent_id: str
    access_token: str
    credits: int


class CheckoutRequest(Body):
    """Contract section 2, checkout request."""

    plan: str
    agent_id: str
    price_id: str
    requested_credits: int
    amount_cents: int
    product_label: str = ""
    source: str = ""


class CheckoutResponse(BaseModel):
    """Contract section 2, checkout response; every field is optional there."""

    ok: bool = True
    session_id: str = Field(default="", alias="sessionId")
    url: str = ""
    mode: str = ""
    agent_id: str = Field(default="", alias="agentId")
    plan: str = ""


def _as_text(value: object) -> object:
    """Accept a number as a task's id: with `numbers`, listings have it as one."""
    return str(value) if type(value) is int else value


_TaskId = Annotated[str, Field(min_length=1, max_length=200), BeforeValidator(_as_text)]
_Title = Annotated[str, Field(min_length=1, max_length=300)]
_Description = Annotated[str, Field(min_length=1, max_length=50_000)]
_Reward = Annotated[int, Field(ge=1, le=10_000_000)]
_Kind = Annotated[str, Field(max_length=100)]
_Tags = Annotated[list[str], Field(max_length=50)]


class TaskAction(Body):
    """Claim or complete a task."""

    task_id: _TaskId
    agent_id: str | None = None


class Submission(TaskAction):
    """Submit a result."""

    result: Any
    evidence: Any = None


class _TaskFields(Body):
    title: _Title
    description: _Description
    reward: _Reward
    kind: _Kind = ""
    tags: _Tags = Field(default=[])
    input: Any = None

    @property
    def fields(self) -> "_TaskFields":
        """The fields of the new task; in `wrapped` they are not the body itself."""
        return self


class PostTask(_TaskFields):
    """Post a task."""

    agent_id: str | None = None


class IdOnlyAction(Body, extra="forbid"):
    """Claim or complete a task, in id-only."""

    task_id: _TaskId = Field(alias="id")
    agent_id: ClassVar[None] = None


class IdOnlySubmission(IdOnlyAction, extra="forbid"):
    """Submit a result, in id-only."""

    result: Any
    evidence: Any = None


class IdOnlyPostTask(_TaskFields, extra="forbid"):
    """Post a task, in id-only."""

    agent_id: ClassVar[None] = None


class _Id(Body, extra="forbid"):
    id: _TaskId


class WrappedResult(Body, extra="forbid"):
    """The object `submission`."""

    result: Any
    evidence: Any = None


class WrappedTask(_TaskFields, extra="forbid"):
    """The object `task` of a new task."""


class _Wrapped(Body, extra="forbid"):
    agent: _Id | None = None

    @property
    def agent_id(self) -> str | None:
        return self.agent.id if self.agent else None


class WrappedAction(_Wrapped):
    """Claim or complete a task, in wrapped."""

    task: _Id

    @property
    def task_id(self) -> str:
        return self.task.id


class WrappedSubmission(WrappedAction):
    """Submit a result, in wrapped."""

    submission: WrappedResult

    @property
    def result(self) -> Any:  # noqa: ANN401 - any JSON value
        return self.submission.result


class WrappedPostTask(_Wrapped):
    """Post a task, in wrapped."""

    task: WrappedTask

    @property
    def fields(self) -> WrappedTask:
        return self.task


AnyAction = TaskAction | IdOnlyAction | WrappedAction
AnySubmission = Submission | IdOnlySubmission | WrappedSubmission
AnyPostTask = PostTask | IdOnlyPostTask | WrappedPostTask


class Bodies(NamedTuple):
    """The models of the actions' bodies in one sandbox."""

    action: type[AnyAction]
    submission: type[AnySubmission]
    post_task: type[AnyPostTask]


_Model = TypeVar("_Model", bound=Body)


def bodies_for(request_format: RequestFormat, *, strict: bool) -> Bodies:
    """Return the models of one format; the names in them are those on the wire."""
    if not strict:
        names = AliasGenerator(validation_alias=_any_name(request_format))
        return _with_names(names, extra="ignore")
    match request_format:
        case "snake":
            return _with_names(None, extra="forbid")
        case "camel":
            return _with_names(AliasGenerator(alias=to_camel), extra="forbid")
        case "id-only":
            return Bodies(IdOnlyAction, IdOnlySubmission, IdOnlyPostTask)
        case "wrapped":
            return Bodies(WrappedAction, WrappedSubmission, WrappedPostTask)


def _with_names(names: AliasGenerator | None, *, extra: str) -> Bodies:
    def named(model: type[_Model]) -> type[_Model]:
        config = {"alias_generator": names, "extra": extra}
        return create_model(model.__name__, __base__=model, __cls_kwargs__=config)

    return Bodies(named(TaskAction), named(Submission), named(PostTask))


def _any_name(first: RequestFormat) -> Callable[[str], AliasChoices]:
    """Return what finds a value in any format; refusals name the first's place."""
    formats = (first, *(name for name in get_args(RequestFormat) if name != first))

    def places(field: str) -> AliasChoices:
        paths = dict.fromkeys(_path(name, field) for name in formats)
        return AliasChoices(*(AliasPath(*path) for path in paths))

    return places


def _path(request_format: RequestFormat, field: str) -> tuple[str, ...]:
    match request_format:
        case "snake":
            return (field,)
        case "camel":
            return (to_camel(field),)
        case "id-only":
            return ("id",) if field == "task_id" else (field,)
        case "wrapped":
            return _WRAPPED.get(field, ("task", field))


_WRAPPED: Mapping[str, tuple[str, str]] = {
    "task_id": ("task", "id"),
    "agent_id": ("agent", "id"),
    "result": ("submission", "result"),
    "evidence": ("submission", "evidence"),
}
"""All other fields are a new task's, and inside of `task`."""
