"""The bodies of the four actions, which the contract does not show, as models.

`TaskAction`, `Submission` and `NewTask` serve every dialect that is flat; `dialects`
spells their fields. The others have a shape of their own, and are always strict.
"""

from typing import Annotated, Any, Protocol

from pydantic import BeforeValidator, Field

from journeyman.sandbox.bodies import Body


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
