"""The base class of strategies: what a plugin declares, and which tasks it wants."""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Final, Literal, TypeAlias

from journeyman.domain import Task
from journeyman.strategies.api.decisions import Decision, Skip
from journeyman.strategies.api.example import Example
from journeyman.strategies.api.needs import Needs

API_VERSION: Final = 1

RunnerName: TypeAlias = Literal["loop", "thread", "process"]


class Strategy:
    """A plugin: it says which tasks it wants, and does them.

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
    """What a run needs of the machine and the owner; shown, and enforced where it
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
        """Say whether to claim a task, by what the class declares."""
        missing = sorted(set(self.tags) - set(task.tags))
        if self.kinds and (task.kind or not self.tags):
            if task.kind not in self.kinds:
                return Skip(f"kind {task.kind!r} is not for it", specific=False)
        elif missing:
            return Skip(f"tag {missing[0]!r} missing", specific=False)
        if lack := self.lack(task):
            return Skip(lack)
        if task.reward < self.min_reward:
            return Skip(f"reward {task.reward} is below {self.min_reward}")
        return True

    def lack(self, task: Task) -> str:
        """Say which of `inputs` a task does not have, or nothing."""
        given = task.input if isinstance(task.input, dict) else {}
        for name, kind in self.inputs.items():
            if name not in given:
                return f"the input has no {name!r}"
            value = given[name]
            # In Python True is an int; in JSON it is not.
            is_odd = isinstance(value, bool) and kind in (int, float)
            if is_odd or not isinstance(value, kind):
                return f"the input's {name!r} is no {kind.__name__}"
        return ""
