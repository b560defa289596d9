"""The bodies of the four actions, which the contract does not show, in dialects.

| dialect | a submission                                                           |
|---------|------------------------------------------------------------------------|
| snake   | `{"task_id", "agent_id"?, "result", "evidence"?}`                      |
| camel   | `{"taskId", "agentId"?, "result", "evidence"?}`                        |
| id-only | `{"id", "result", "evidence"?}`                                        |
| wrapped | `{"task": {"id"}, "agent"?: {"id"}, "submission": {"result", ...}}`    |

A strict sandbox takes its own dialect and nothing else. Another one takes a value
under any of these names, and passes over names that it does not know.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, Protocol, TypeVar, get_args

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


class Body(BaseModel):
    """A JSON object; fields are what they say, and unknown ones are passed over."""

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
    """Take a task's id as a number too: some sandboxes list it as one."""
    return str(value) if type(value) is int else value


_TaskId = Annotated[str, Field(min_length=1, max_length=200), BeforeValidator(_as_text)]
_Title = Annotated[str, Field(min_length=1, max_length=300)]
_Description = Annotated[str, Field(min_length=1, max_length=50_000)]
_Reward = Annotated[int, Field(ge=1, le=10_000_000)]
_Kind = Annotated[str, Field(max_length=100)]
_Tags = Annotated[list[str], Field(max_length=50)]


class Action(Protocol):
    """A body that names a task: a claim or a completion."""

    @property
    def task_id(self) -> str: ...
    @property
    def agent_id(self) -> str | None: ...


class ResultOf(Action, Protocol):
    """A body that hands in a result: a JSON value, or a string that holds one."""

    @property
    def result(self) -> Any: ...  # noqa: ANN401 - any JSON value


class Work(Protocol):
    """What a new task says; see `tasks.Post`."""

    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def reward(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def tags(self) -> list[str]: ...
    @property
    def input(self) -> Any: ...  # noqa: ANN401 - any JSON value


class Posting(Protocol):
    """A body that posts a task."""

    @property
    def work(self) -> Work: ...
    @property
    def agent_id(self) -> str | None: ...


class TaskAction(Body):
    """Claim or complete a task."""

    task_id: _TaskId
    agent_id: str | None = None


class Submission(TaskAction):
    """Hand in a result."""

    result: Any
    evidence: Any = None


class _Work(Body):
    title: _Title
    description: _Description
    reward: _Reward
    kind: _Kind = ""
    tags: _Tags = Field(default=[])
    input: Any = None


class NewTask(_Work):
    """Post a task."""

    agent_id: str | None = None

    @property
    def work(self) -> Work:
        """Give what is to be done: this body itself."""
        return self


class _Id(Body, extra="forbid"):
    id: _TaskId


class AnonymousAction(Body, extra="forbid"):
    """Claim or complete a task, in id-only."""

    task_id: _TaskId = Field(alias="id")

    @property
    def agent_id(self) -> None:
        """Name nobody: the token does."""


class AnonymousSubmission(AnonymousAction, extra="forbid"):
    """Hand in a result, in id-only."""

    result: Any
    evidence: Any = None


class AnonymousNewTask(_Work, extra="forbid"):
    """Post a task, in id-only."""

    @property
    def agent_id(self) -> None:
        """Name nobody: the token does."""

    @property
    def work(self) -> Work:
        return self


class WrappedResult(Body, extra="forbid"):
    """Inside of `submission`."""

    result: Any
    evidence: Any = None


class WrappedWork(_Work, extra="forbid"):
    """Inside of `task`, where it is new."""


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
    """Hand in a result, in wrapped."""

    submission: WrappedResult

    @property
    def result(self) -> Any:  # noqa: ANN401 - any JSON value
        return self.submission.result


class WrappedNewTask(_Wrapped):
    """Post a task, in wrapped."""

    task: WrappedWork

    @property
    def work(self) -> Work:
        return self.task


DialectName = Literal["snake", "camel", "id-only", "wrapped"]

_Model = TypeVar("_Model", bound=Body)


class Bodies(NamedTuple):
    """What one sandbox reads the bodies of its actions as."""

    action: type[Body]
    """An `Action`."""
    submission: type[Body]
    """A `ResultOf`."""
    new_task: type[Body]
    """A `Posting`."""


def bodies_for(dialect: DialectName, *, strict: bool) -> Bodies:
    """Give the models of one dialect; the names in them are those on the wire."""
    if not strict:
        names = AliasGenerator(validation_alias=_any_name(dialect))
        return _spelled(names, extra="ignore")
    match dialect:
        case "snake":
            return _spelled(None, extra="forbid")
        case "camel":
            return _spelled(AliasGenerator(alias=to_camel), extra="forbid")
        case "id-only":
            return Bodies(AnonymousAction, AnonymousSubmission, AnonymousNewTask)
        case "wrapped":
            return Bodies(WrappedAction, WrappedSubmission, WrappedNewTask)


def _spelled(names: AliasGenerator | None, *, extra: str) -> Bodies:
    def spelled(model: type[_Model]) -> type[_Model]:
        config = {"alias_generator": names, "extra": extra}
        return create_model(model.__name__, __base__=model, __cls_kwargs__=config)

    return Bodies(spelled(TaskAction), spelled(Submission), spelled(NewTask))


def _any_name(first: DialectName) -> Callable[[str], AliasChoices]:
    """Look where any dialect has a value; refusals name the place of the first."""
    dialects = (first, *(name for name in get_args(DialectName) if name != first))

    def places(field: str) -> AliasChoices:
        paths = dict.fromkeys(_place(dialect, field) for dialect in dialects)
        return AliasChoices(*(AliasPath(*path) for path in paths))

    return places


def _place(dialect: DialectName, field: str) -> tuple[str, ...]:
    match dialect:
        case "snake":
            return (field,)
        case "camel":
            return (to_camel(field),)
        case "id-only":
            return ("id",) if field == "task_id" else (field,)
        case "wrapped":
            return _WRAPPED.get(field, ("task", field))


_WRAPPED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "task_id": ("task", "id"),
        "agent_id": ("agent", "id"),
        "result": ("submission", "result"),
        "evidence": ("submission", "evidence"),
    },
)
"""All other fields are a new task's, and inside of `task`."""
