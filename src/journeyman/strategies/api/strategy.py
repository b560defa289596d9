"""The base class of strategies: what a plugin declares, and which tasks it wants."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeVar

from journeyman.domain.tasks import JSON, Task, TaskId
from journeyman.strategies.api.needs import Needs
from journeyman.strategies.api.outcomes import Decline


@dataclass(frozen=True, slots=True)
class Skip:
    """A "no" that says why."""

    reason: str
    specific: bool = True
    """False for "not my kind of task at all", which tells an owner little."""

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Score:
    """A "yes" with an estimate. The best `value * reward - cost` gets the task."""

    value: float = 1.0
    """How likely the work is to be accepted, 0 to 1."""
    cost: float = 0.0
    """What the work costs, in credits."""

    def offer(self, reward: int) -> float:
        """Return what the task is expected to earn, in credits."""
        return self.value * reward - self.cost


Decision = bool | Skip | Score


def skip(reason: str, *, specific: bool = True) -> Skip:
    """Refuse a task, and say why; the owner reads the reason in `journeyman why`.

    `specific=False` means that the task is not of its kind at all: such a reason is
    shown only where no other strategy gave a better one.
    """
    return Skip(reason, specific)


def score(value: float, *, cost: float = 0.0) -> Score:
    """Want a task, with a likelihood of success (0 to 1) and a cost in credits.

    Raises:
        ValueError: the value is outside 0 to 1, or the cost is negative.
    """
    if not 0 <= value <= 1:
        raise ValueError(f"score({value!r}): give a likelihood between 0 and 1")
    if not (math.isfinite(cost) and cost >= 0):
        raise ValueError(f"score(cost={cost!r}): give a cost in credits, 0 or more")
    return Score(value, cost)


FIELDS = frozenset(field.name for field in fields(Task))


class Example:
    """A task and its expected output; `expect=Decline`: the strategy declines it."""

    def __init__(
        self, task: Task | Mapping[str, Any], *, expect: "JSON | type[Decline]"
    ) -> None:
        """Accept a whole task, or just the fields that matter.

        Raises:
            ValueError: a field that tasks do not have.
        """
        self.task = task if isinstance(task, Task) else _task(task)
        self.expect = expect

    def __repr__(self) -> str:
        return f"Example({self.task!r}, expect={self.expect!r})"


def _task(given: Mapping[str, Any]) -> Task:
    if unknown := sorted(set(given) - FIELDS):
        raise ValueError(
            f"Example: a task has no field {unknown[0]!r}; "
            f"its fields are {', '.join(sorted(FIELDS))}"
        )
    content: dict[str, Any] = {"id": TaskId("example"), "reward": 1, **given}
    content["tags"] = tuple(content.get("tags", ()))
    # The network client too takes the text from the input, or else the description.
    fields_of_input = content.get("input")
    text = fields_of_input.get("text") if isinstance(fields_of_input, Mapping) else None
    if not isinstance(text, str):
        text = str(content.get("description", ""))
    return Task(**{"text": text, **content})


API_VERSION = 1

RunnerName = Literal["loop", "thread", "process"]


class Strategy:
    """A plugin: it declares which tasks it wants, and does them.

    A subclass writes `run(self, task, ctx)`, as `async def` for work that waits on
    input and output, or as plain `def` (run in a thread) for everything else. It says
    what it wants by `wants`, or by the class attributes `kinds`, `tags`, `inputs` and
    `min_reward`. `run` is not declared here, because both forms are welcome, and
    because it takes only the arguments that it names: `task`, `ctx`, and the fields
    of `inputs`.
    """

    api: ClassVar[int] = API_VERSION
    """The major version of this API that the file was written for."""
    version: ClassVar[str] = "0"
    name: ClassVar[str] = ""
    """The class's name in snake_case when empty."""
    runner: ClassVar[RunnerName | None] = None
    """Where `run` runs; None: the loop for `async def`, a thread for `def`."""
    timeout: ClassVar[float | None] = None
    """Seconds that one run may take; None: the owner's setting."""
    needs: ClassVar[Needs] = Needs()
    """What a run needs from the machine and the owner; shown, and enforced where it
    runs in a process of its own."""
    examples: ClassVar[Sequence[Example]] = ()

    kinds: ClassVar[Collection[str]] = ()
    """The kinds of task that it can do; empty: its tags alone decide."""
    tags: ClassVar[Collection[str]] = ()
    """What a task that names no kind must be tagged with, all of them."""
    inputs: ClassVar[Mapping[str, type]] = {}
    """The fields that the task's input must have, and their types."""
    min_reward: ClassVar[int] = 0
    """In credits."""

    def wants(self, task: Task) -> Decision:
        """Return whether to claim a task, by what the class declares."""
        missing = sorted(set(self.tags) - set(task.tags))
        if self.kinds and (task.kind or not self.tags):
            if task.kind not in self.kinds:
                return Skip(f"kind {task.kind!r} is not wanted", specific=False)
        elif missing:
            return Skip(f"tag {missing[0]!r} missing", specific=False)
        if input_problem := self.input_problem(task):
            return Skip(input_problem)
        if task.reward < self.min_reward:
            return Skip(f"reward {task.reward} is below {self.min_reward}")
        return True

    def input_problem(self, task: Task) -> str:
        """Return what is wrong with a task's input, by `inputs`; empty: nothing."""
        given = task.input if isinstance(task.input, dict) else {}
        for name, kind in self.inputs.items():
            if name not in given:
                return f"the input has no {name!r}"
            value = given[name]
            # In Python True is an int; in JSON it is not.
            is_flag = isinstance(value, bool) and kind in (int, float)
            if is_flag or not isinstance(value, kind):
                return f"the input's {name!r} is not of type {kind.__name__}"
        return ""


F = TypeVar("F", bound=Callable[..., Any])

STRATEGY_OF = "__journeyman_strategy__"
"""The attribute of a decorated function that holds the class made from it."""


def strategy(  # noqa: PLR0913 - the class attributes of Strategy, each by name
    *,
    kinds: Collection[str] = (),
    tags: Collection[str] = (),
    inputs: Mapping[str, type] | None = None,
    min_reward: int = 0,
    name: str = "",
    version: str = "0",
    api: int = API_VERSION,
    runner: RunnerName | None = None,
    timeout: float | None = None,
    needs: Needs | None = None,
    examples: Sequence[Example] = (),
) -> Callable[[F], F]:
    """Make a strategy of a function that takes `task`, `ctx`, or fields of `inputs`.

    The keywords are the class attributes of `Strategy`. The function itself is
    unchanged, so that a test can call it.
    """
    declared = {
        "kinds": kinds,
        "tags": tags,
        "inputs": inputs or {},
        "min_reward": min_reward,
        "name": name,
        "version": version,
        "api": api,
        "runner": runner,
        "timeout": timeout,
        "needs": needs or Needs(),
        "examples": examples,
    }

    def decorate(function: F) -> F:
        content = declared | {
            "__doc__": function.__doc__,
            "__module__": function.__module__,
            "run": staticmethod(function),
        }
        setattr(function, STRATEGY_OF, type(function.__name__, (Strategy,), content))
        return function

    return decorate
