"""The base class of strategies: what a plugin declares, and which tasks it wants."""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeGuard, TypeVar, cast

from journeyman.domain.tasks import JSON, Task, TaskId
from journeyman.strategies.api.outcomes import Decline

HOST = re.compile(r"(\*|(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[0-9]{1,5})?", re.ASCII)
PARAMETER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}", re.ASCII)
"""In `Needs`: what the owner writes into a parameter of this name."""


class NeedsError(ValueError):
    """A need is declared with a value that makes no sense."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Needs:
    """What one run needs; what is not named here is not needed.

    In `hosts` and `files`, `{name}` stands for the words in the parameter of that name,
    for what only the owner knows.

    The owner reads it in `journeyman strategies show`. The process runner enforces
    what the system can enforce; the other runners enforce `seconds` only.
    """

    hosts: Collection[str] = ()
    """The hosts that it contacts: `api.example.com`, `api.example.com:8443`,
    `*.example.com`; `*` is any host. Empty: it needs no network."""
    files: Collection[str] = ()
    """Paths outside its workspace that it reads."""
    seconds: float | None = None
    """How long one run may take; None: the owner's setting."""
    memory_mb: int | None = None
    """In MiB; None: the owner's setting."""
    credits: float = 0
    """The most that one run may cost, in credits."""
    gpus: float = 0
    """How many GPUs, or which part of one; given by a cluster only."""
    labels: Collection[str] = ()
    """What else a machine must offer, in words of the owner, such as `eu`; asked of a
    cluster only."""

    def __post_init__(self) -> None:
        """Check the values where they are declared, so that the message names the line.

        Raises:
            NeedsError: a field has a value that makes no sense.
        """
        for name in ("hosts", "files", "labels"):
            object.__setattr__(self, name, _words(name, getattr(self, name)))
        for host in self.hosts:
            if not (HOST.fullmatch(host) or PARAMETER.fullmatch(host)):
                raise NeedsError(f"needs: hosts has {host!r}; {_host_fix(host)}")
        if "" in self.files:
            raise NeedsError("needs: files has an empty path")
        _check("seconds", self.seconds, "a number of seconds above 0")
        _check("memory_mb", self.memory_mb, "a number of MiB above 0")
        for name, value in (("credits", self.credits), ("gpus", self.gpus)):
            if not _is_number(value) or value < 0:
                raise NeedsError(f"needs: {name} = {value!r}; give 0 or more")

    def filled(self, params: Mapping[str, object]) -> "Needs":
        """Return the same needs, with what the owner wrote into the parameters named.

        Raises:
            NeedsError: there is no such parameter, or it has a word that is no host.
        """
        return replace(
            self,
            hosts=_filled("hosts", self.hosts, params),
            files=_filled("files", self.files, params),
        )


def _host_fix(host: object) -> str:
    if isinstance(host, str) and host.endswith(":*"):
        return (
            "a port cannot be a pattern: write its number, such as "
            f"'{host.removesuffix('*')}8443', or leave it out"
        )
    return (
        "write a host without scheme or path, such as 'api.example.com' or "
        "'api.example.com:8443'"
    )


def _filled(
    need: str, words: Collection[str], params: Mapping[str, object]
) -> tuple[str, ...]:
    found: list[str] = []
    for word in words:
        named = PARAMETER.fullmatch(word)
        if named is None:
            found.append(word)
        elif named[1] in params:
            found += str(params[named[1]]).split()
        else:
            raise NeedsError(f"needs: {need} has {word!r}, which is not a parameter")
    return tuple(found)


def _words(name: str, value: object) -> tuple[str, ...]:
    # A plain string is a collection of strings too: the most common mistake.
    if not isinstance(value, set | frozenset | list | tuple):
        raise NeedsError(f'needs: {name} = {value!r}; write {name}={{"..."}}')
    strangers = [item for item in value if not isinstance(item, str)]
    if strangers:
        raise NeedsError(f"needs: {name} has {strangers[0]!r}, which is not a string")
    return tuple(sorted(value))


def _check(name: str, value: object, allowed: str) -> None:
    if value is not None and not (_is_number(value) and value > 0):
        raise NeedsError(f"needs: {name} = {value!r}; give {allowed}")


def _is_number(value: object) -> TypeGuard[int | float]:
    is_flag = isinstance(value, bool)
    return isinstance(value, int | float) and not is_flag and math.isfinite(value)


@dataclass(frozen=True, slots=True)
class Skip:
    """A "no" that says why."""

    reason: str
    specific: bool = True
    """False for "not my kind of task at all", which tells an owner little."""
    for_now: bool = False
    """Nothing is decided: the task is offered again at the next look at the market."""

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


def skip(reason: str, *, specific: bool = True, for_now: bool = False) -> Skip:
    """Refuse a task, and say why; the owner reads the reason in `journeyman why`.

    `specific=False` means that the task is not of its kind at all: such a reason is
    shown only where no other strategy gave a better one. `for_now=True` is for what
    passes, such as a day's budget that is spent: unless another strategy wants the
    task, it is offered again at the next look at the market.
    """
    return Skip(reason, specific, for_now)


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
        if _goes_by_kind(self, task.kind):
            if task.kind not in self.kinds:
                return other_kind(task.kind)
        elif missing := sorted(set(self.tags) - set(task.tags)):
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


def _goes_by_kind(strategy: Strategy, kind: str) -> bool:
    """Return whether a task's kind decides; a task without one goes by its tags."""
    return bool(strategy.kinds and (kind or not strategy.tags))


def decides_itself(cls: type[Strategy]) -> bool:
    """Return whether a class says by code of its own which tasks it wants."""
    methods = {cls.wants, cls.input_problem}
    return methods != {Strategy.wants, Strategy.input_problem}


@lru_cache(maxsize=1024)
def other_kind(kind: str) -> Skip:
    """Return the "no" to a kind of task that a strategy does not declare."""
    return Skip(f"kind {kind!r} is not wanted", specific=False)


def declines_kind(strategy: Strategy, kind: str) -> bool:
    """Return whether `wants` would say `other_kind` to all tasks of a kind.

    In a market of many kinds that is most answers of most strategies.
    """
    is_ours = getattr(strategy.wants, "__func__", None) is Strategy.wants
    by_kind = is_ours and _goes_by_kind(strategy, kind)
    return by_kind and kind not in strategy.kinds


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


Value = bool | int | float | str
V = TypeVar("V", bool, int, float, str)

TYPES = (bool, int, float, str)


class ParamError(ValueError):
    """A parameter is declared wrongly, or set to a value that it does not allow."""


class Param:
    """A setting with a default, a type (the default's) and a range.

    Reading it from an instance gives its value; setting it checks the value.
    """

    def __init__(
        self,
        default: Value,
        *,
        bounds: dict[str, float | None],
        choices: Collection[Value] | None,
        help_text: str,
    ) -> None:
        """Declare the parameter; `bounds` has the keys ge, le, gt and lt."""
        if type(default) not in TYPES:
            raise ParamError(
                f"param({default!r}): the default must be a bool, int, float or str"
            )
        self.name = "param"
        self.default = default
        self.type = type(default)
        self.bounds = {sign: b for sign, b in bounds.items() if b is not None}
        self.choices = None if choices is None else tuple(choices)
        self.help = help_text
        self.check(default)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object | None, owner: type | None = None) -> Value:
        if instance is None:
            return self.default
        return cast("Value", vars(instance).get(self.name, self.default))

    def __set__(self, instance: object, value: object) -> None:
        vars(instance)[self.name] = self.check(value)

    def check(self, value: object) -> Value:
        """Return the value in the parameter's own type.

        Raises:
            ParamError: another type, out of range, or not one of the choices.
        """
        typed = self._typed(value)
        if self.choices is not None and typed not in self.choices:
            allowed = ", ".join(map(repr, self.choices))
            raise ParamError(f"{self.name} = {value!r}: choose one of {allowed}")
        if isinstance(typed, (int, float)):
            self._check_bounds(typed)
        return typed

    def parse(self, text: str) -> Value:
        """Read the value from a command line.

        Raises:
            ParamError: it is not of the parameter's type, or not allowed.
        """
        flags = {"true": True, "false": False}
        try:
            if self.type is bool:
                return self.check(flags[text.strip().lower()])
            return self.check(self.type(text))
        except (KeyError, ValueError) as error:
            if isinstance(error, ParamError):
                raise
            wanted = "true or false" if self.type is bool else self.type.__name__
            raise ParamError(f"{self.name} = {text!r}: expected {wanted}") from None

    def _typed(self, value: object) -> Value:
        """Return the value if its type is right; an int may stand for a float."""
        if self.type is float and type(value) is int:
            value = float(value)
        if type(value) is not self.type:
            raise ParamError(
                f"{self.name} = {value!r}: expected {self.type.__name__}, "
                f"not {type(value).__name__}"
            )
        return value

    def _check_bounds(self, value: float) -> None:
        if not math.isfinite(value):
            raise ParamError(f"{self.name} = {value!r}: give a finite number")
        for sign, bound in self.bounds.items():
            words, is_within = {
                "ge": (f"{bound} or more", value >= bound),
                "le": (f"{bound} or less", value <= bound),
                "gt": (f"more than {bound}", value > bound),
                "lt": (f"less than {bound}", value < bound),
            }[sign]
            if not is_within:
                raise ParamError(f"{self.name} = {value!r}: must be {words}")


def param(
    default: V,
    *,
    ge: float | None = None,
    le: float | None = None,
    gt: float | None = None,
    lt: float | None = None,
    choices: Collection[V] | None = None,
    help: str = "",  # noqa: A002 - the word that authors know from argparse and click
) -> V:
    """Declare a setting that the owner can change in the configuration.

    The default gives the type (bool, int, float or str); `ge`, `le`, `gt`, `lt` and
    `choices` limit the value; `help` is shown to the owner.

    Raises:
        ParamError: the default has another type, or breaks its own limits.
    """
    bounds = {"ge": ge, "le": le, "gt": gt, "lt": lt}
    declared = Param(default, bounds=bounds, choices=choices, help_text=help)
    # The class attribute is a descriptor; what authors read from it is the value.
    return cast("V", declared)
