"""Bodies of requests: read strictly, and validated in one of four request formats.

The contract does not show the bodies of the four actions.

| format  | a submission                                                        |
|---------|---------------------------------------------------------------------|
| snake   | `{"task_id", "agent_id"?, "result", "evidence"?}`                   |
| camel   | `{"taskId", "agentId"?, "result", "evidence"?}`                     |
| id-only | `{"id", "result", "evidence"?}`                                     |
| wrapped | `{"task": {"id"}, "agent"?: {"id"}, "submission": {"result", ...}}` |

All of it may be inside of one more object, the task's id may have a name of its own,
and an action may want what the answer to the action before it gave.

A strict sandbox accepts its own format and nothing else. Another one accepts a value
under any of these names, and ignores names that it does not know.
"""

import json
from collections.abc import Callable, Coroutine, Mapping
from copy import copy
from http import HTTPStatus
from typing import Annotated, Any, NamedTuple, NoReturn, TypeVar, get_args

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

from journeyman.sandbox.errors import RefusalError
from journeyman.sandbox.options import IdName, RequestFormat, SandboxOptions

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
        raise RefusalError(
            HTTPStatus.BAD_REQUEST,
            "malformed_json",
            f"the body must be JSON in UTF-8: {error}",
        ) from error
    return value


def _require_json_type(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if media_type.lower() != "application/json":
        raise RefusalError(
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


def _too_large() -> RefusalError:
    return RefusalError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "body_too_large",
        f"the body must not have more than {LARGEST_BODY} bytes",
    )


class Body(BaseModel):
    """A JSON object; values are not converted, and unknown fields are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)


class RegistrationBody(Body):
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
    """Accept a number as a task's id: where ids are integers, listings have them so."""
    return str(value) if type(value) is int else value


_TaskId = Annotated[str, Field(min_length=1, max_length=200), BeforeValidator(_as_text)]
_Title = Annotated[str, Field(min_length=1, max_length=300)]
_Description = Annotated[str, Field(min_length=1, max_length=50_000)]
_Reward = Annotated[int, Field(ge=1, le=10_000_000)]
_Kind = Annotated[str, Field(max_length=100)]
_Tags = Annotated[list[str], Field(max_length=50)]


class ClaimBody(Body):
    """Claim a task."""

    task_id: _TaskId
    agent_id: str | None = None


class SubmissionBody(ClaimBody):
    """Submit a result."""

    claim_id: str | None = None
    """What the answer to the claim gave, where receipts are asked for."""
    result: Any
    evidence: Any = None


class CompletionBody(ClaimBody):
    """Complete a task."""

    submission_id: str | None = None
    """What the answer to the submission gave, where receipts are asked for."""


class PostBody(Body):
    """Post a task."""

    title: _Title
    description: _Description
    reward: _Reward
    kind: _Kind = ""
    tags: _Tags = Field(default=[])
    input: Any = None
    agent_id: str | None = None


_RECEIPTS = ("claim_id", "submission_id")
_Path = tuple[str, ...]
_Fields = dict[str, Any]
"""From a field's name to its annotation and `FieldInfo`, as `create_model` takes it."""
_Model = TypeVar("_Model", bound=Body)


class BodyFormat(NamedTuple):
    """How the body of one action is written."""

    model: type[Body]
    """Of the body as it is sent."""
    read: Callable[[Any], Body]
    """Returns what such a body says, wherever it stands there."""


def body_format(model: type[_Model], options: SandboxOptions) -> BodyFormat:
    """Return how the options want the body written that `model` has the fields of."""
    fields: _Fields = {
        name: (field.annotation, copy(field))
        for name, field in model.model_fields.items()
        if name not in _RECEIPTS or options.receipts
    }
    # Wanted where they are given.
    fields.update((name, (str, ...)) for name in _RECEIPTS if name in fields)
    write = _strict if options.strict else _lenient
    return write(model, fields, options)


def _lenient(
    model: type[_Model], fields: _Fields, options: SandboxOptions
) -> BodyFormat:
    """Find a value at its place in any format; refusals name the first's place."""
    formats = dict.fromkeys((options.request_format, *get_args(RequestFormat)))
    wrappers = dict.fromkeys((_wrapper(model, options), ()))

    def places(field: str) -> AliasChoices:
        paths = dict.fromkeys(
            wrapper + _path(name, field, id_name)
            for wrapper in wrappers
            for name in formats
            for id_name in dict.fromkeys((options.id_name, "id"))
        )
        return AliasChoices(*(AliasPath(*path) for path in paths))

    made = create_model(
        model.__name__,
        __base__=model,
        __cls_kwargs__={"alias_generator": AliasGenerator(validation_alias=places)},
        **{name: fields[name] for name in _RECEIPTS if name in fields},
    )
    return BodyFormat(made, lambda body: body)


def _strict(
    model: type[_Model], fields: _Fields, options: SandboxOptions
) -> BodyFormat:
    """Accept each value at one place only, and nothing else."""
    if options.id_format == "integer" and "task_id" in fields:
        fields["task_id"] = int, ...
    if options.request_format == "id-only":
        fields.pop("agent_id")
    wrapper = _wrapper(model, options)
    paths = {
        name: wrapper + _path(options.request_format, name, options.id_name)
        for name in fields
    }
    tree: _Fields = {}
    for name, path in paths.items():
        _plant(tree, path, fields[name])

    def read(body: object) -> Body:
        # Validated already: only the places differ.
        sent: _Fields = {name: _value_at(body, path) for name, path in paths.items()}
        if "task_id" in sent:
            sent["task_id"] = str(sent["task_id"])
        return model.model_construct(**sent)

    return BodyFormat(_grown(model.__name__, tree), read)


def _plant(tree: _Fields, path: _Path, field: object) -> None:
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
    tree[path[-1]] = field


def _grown(name: str, tree: _Fields) -> type[Body]:
    """Make a model of each object in a tree of fields."""
    fields: _Fields = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            inner = _grown(f"{name}{key.capitalize()}", value)
            is_optional = not any(
                one.is_required() for one in inner.model_fields.values()
            )
            fields[key] = (inner | None, None) if is_optional else (inner, ...)
        else:
            fields[key] = value
    return create_model(
        name, __base__=Body, __cls_kwargs__={"extra": "forbid"}, **fields
    )


def _value_at(body: object, path: _Path) -> object:
    for name in path:
        body = getattr(body, name, None)
    return body


_ACTION_NAMES: Mapping[str, str] = {
    "ClaimBody": "claim",
    "SubmissionBody": "submission",
    "CompletionBody": "completion",
    "PostBody": "posting",
}


def _wrapper(model: type[Body], options: SandboxOptions) -> _Path:
    match options.wrapper:
        case "none":
            return ()
        case "action":
            return (_ACTION_NAMES[model.__name__],)
        case name:
            return (name,)


def _path(request_format: RequestFormat, field: str, id_name: IdName) -> _Path:
    own_id = id_name if field == "task_id" and id_name in ("job_id", "pk") else ""
    match request_format:
        case "snake":
            return (own_id or field,)
        case "camel":
            return (to_camel(own_id or field),)
        case "id-only":
            return (own_id or ("id" if field == "task_id" else field),)
        case "wrapped" if own_id:
            return ("task", own_id)
        case "wrapped":
            return _WRAPPED.get(field, ("task", field))


_WRAPPED: Mapping[str, tuple[str, str]] = {
    "task_id": ("task", "id"),
    "agent_id": ("agent", "id"),
    "claim_id": ("claim", "id"),
    "submission_id": ("submission", "id"),
    "result": ("submission", "result"),
    "evidence": ("submission", "evidence"),
}
"""All other fields are a new task's, and inside of `task`."""
