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
from typing import Literal, NamedTuple, TypeVar, get_args

from pydantic import AliasChoices, AliasGenerator, AliasPath, create_model
from pydantic.alias_generators import to_camel

from journeyman.sandbox.action_bodies import (
    AnonymousAction,
    AnonymousNewTask,
    AnonymousSubmission,
    NewTask,
    Submission,
    TaskAction,
    WrappedAction,
    WrappedNewTask,
    WrappedSubmission,
)
from journeyman.sandbox.bodies import Body

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
