"""A strategy as its own process describes it: all that the daemon knows of its code.

A child imports and validates the file, and sends this description. The strategy ran
before it was written, so that nothing in it is believed: each field is checked.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from journeyman.domain.tasks import JSON, Task
from journeyman.domain.text import describe, storable
from journeyman.strategies import watchdog
from journeyman.strategies.api import (
    Decision,
    Decline,
    Example,
    Needs,
    Param,
    Score,
    Skip,
)
from journeyman.strategies.api.strategy import decides_itself
from journeyman.strategies.child.messages import task_from, task_message
from journeyman.strategies.loading.confined import (
    AnswerError,
    AskedStrategy,
    ConfinedStrategy,
    Declarations,
)
from journeyman.strategies.loading.definitions import StrategyDefinition
from journeyman.strategies.loading.importing import INIT
from journeyman.strategies.loading.loaded import HOOKS, LoadedStrategy, place_of
from journeyman.strategies.loading.problems import CODES, Problem
from journeyman.strategies.loading.source import Source, parse

Message = Mapping[str, Any]

INPUT_TYPES: Mapping[str, type] = {
    one.__name__: one for one in (str, int, float, bool, list, dict)
}
MOST_EXAMPLES = 1_000
LONGEST_REASON = 2_000
"""Characters of an answer's reason."""


class DescriptionError(ValueError):
    """A description is not as ours would have written it."""


# -- in the child -------------------------------------------------------------------


def description_of(loaded: LoadedStrategy) -> dict[str, JSON]:
    """Return all that the daemon needs to know of a strategy, as JSON."""
    cls = type(loaded.instance)
    return {
        "name": loaded.name,
        "class_name": loaded.class_name,
        "version": loaded.version,
        "doc": loaded.description,
        "path": str(loaded.path),
        "line": loaded.line,
        "import_seconds": loaded.import_seconds,
        "timeout": loaded.timeout,
        # As declared: the owner's parameters are known to the daemon alone.
        "needs": {**asdict(cls.needs)},
        "params": {
            name: {
                "default": one.default,
                "bounds": {**one.bounds},
                "choices": None if one.choices is None else list(one.choices),
                "help": one.help,
            }
            for base in reversed(cls.__mro__)
            for name, one in vars(base).items()
            if isinstance(one, Param)
        },
        "run_arguments": list(loaded.run_arguments),
        "sources": [str(path) for path in loaded.sources],
        "fingerprint": loaded.fingerprint,
        "hooks": {hook.name: hook.is_async for hook in loaded.hooks.values()},
        "kinds": list(cls.kinds),
        "tags": list(cls.tags),
        "inputs": {name: kind.__name__ for name, kind in cls.inputs.items()},
        "min_reward": cls.min_reward,
        "decides": decides_itself(cls),
        "examples": [_example_message(one) for one in cls.examples],
    }


def _example_message(example: Example) -> dict[str, JSON]:
    declines = example.expect is Decline
    expect: Any = None if declines else example.expect
    return {"task": task_message(example.task), "expect": expect, "declines": declines}


def problem_message(problem: Problem) -> dict[str, JSON]:
    """Return a problem as JSON."""
    return {
        one.name: str(value) if isinstance(value, Path) else value
        for one in fields(Problem)
        if (value := getattr(problem, one.name)) is not None
    }


def answer_about(loaded: LoadedStrategy, task: Task, limit: float) -> dict[str, JSON]:
    """Return what a strategy's `wants` says about a task, as JSON.

    Raises:
        BlockedError: it took longer than `limit` seconds.
    """
    try:
        # An author may return anything, whatever the type says.
        answer: object = watchdog.call(limit, loaded.instance.wants, task)
    except watchdog.BlockedError:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        where = place_of(loaded, error)
        return {"failed": f"wants raised {describe(error)}", "where": where}
    if isinstance(answer, bool):
        return {"wanted": answer}
    if isinstance(answer, Skip):
        return {
            "skip": str(answer.reason),
            "specific": bool(answer.specific),
            "for_now": bool(answer.for_now),
        }
    if isinstance(answer, Score):
        return {"score": float(answer.value), "cost": float(answer.cost)}
    allowed = "return True, False, skip(...) or score(...)"
    return {"failed": storable(f"wants returned {answer!r}: {allowed}"), "where": ""}


# -- in the daemon --------------------------------------------------------------------


def answer_from(message: object) -> Decision | AnswerError:
    """Read an answer; what a child sends is checked here."""
    match message:
        case {"wanted": bool(wanted)}:
            return wanted
        case {
            "skip": str(reason),
            "specific": bool(specific),
            "for_now": bool(for_now),
        }:
            return Skip(storable(reason[:LONGEST_REASON]), specific, for_now)
        case {"score": float(value), "cost": float(cost)} if math.isfinite(
            value
        ) and math.isfinite(cost):
            return Score(value, cost)
        case {"failed": str(reason), "where": str(where)}:
            reason, where = storable(reason[:LONGEST_REASON]), storable(where)
            return AnswerError(reason, where=where)
        case _:
            return AnswerError("its process gave no valid answer")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a description comes from."""

    source: Source
    """The file that was loaded, as the daemon names it."""
    file: Path
    """The same file, as the child has loaded it."""
    distribution: str = ""
    """The installed package that it comes from."""

    def place(self, text: str) -> Path:
        """Return a path that a child named, as the daemon names it.

        Raises:
            DescriptionError: it is not in the folder of the file.
        """
        path, home = Path(text), folder_of(self.file)
        if path == self.file or self.distribution:
            return self.source.path
        if not path.is_relative_to(home) or ".." in path.parts:
            raise DescriptionError(f"{text} is not below {home}")
        return path

    def source_of(self, path: Path) -> Source:
        """Return the text of a file that defines a strategy."""
        parsed = self.source if path == self.source.path else parse(path)
        return parsed if isinstance(parsed, Source) else self.source


def folder_of(file: Path) -> Path:
    """Return the folder that a strategy's file and its helpers are in."""
    return file.parent.parent if file.name == INIT else file.parent


def definition_from(message: object, origin: Origin) -> StrategyDefinition:
    """Return the definition of what stands for a strategy in the daemon.

    Raises:
        DescriptionError: it is not as `description_of` writes it.
    """
    if not isinstance(message, dict):
        raise DescriptionError("a description is not an object")
    try:
        made_of = _attributes(message, origin)
        base = AskedStrategy if message["decides"] else ConfinedStrategy
        return StrategyDefinition(
            source=origin.source_of(origin.place(_text(message, "path"))),
            strategy=type(_text(message, "class_name"), (base,), made_of),
            name=_text(message, "name"),
            line=_number(message, "line"),
            file=origin.source.path,
            distribution=origin.distribution,
            import_seconds=_seconds(message["import_seconds"]),
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        # Also NeedsError and ParamError: its own process should have refused them.
        raise DescriptionError(describe(error)) from error


def _seconds(value: Any) -> float:  # noqa: ANN401 - whatever the child has sent
    if not 0 <= (seconds := float(value)) < math.inf:
        raise DescriptionError(f"import_seconds = {value!r}")
    return seconds


def _attributes(message: Message, origin: Origin) -> dict[str, Any]:
    timeout = message["timeout"]
    if timeout is not None and not 0 < float(timeout) < math.inf:
        raise DescriptionError(f"timeout = {timeout!r}")
    hooks = {str(name): bool(flag) for name, flag in message["hooks"].items()}
    if unknown := sorted(hooks.keys() - HOOKS.keys()):
        raise DescriptionError(f"there is no hook {unknown[0]!r}")
    params = {name: _param(name, one) for name, one in message["params"].items()}
    return params | {
        "__doc__": _text(message, "doc"),
        "version": _text(message, "version"),
        "timeout": timeout,
        "needs": Needs(**message["needs"]),
        "kinds": frozenset(_texts(message, "kinds")),
        "tags": frozenset(_texts(message, "tags")),
        "inputs": {
            str(name): INPUT_TYPES.get(kind, object)
            for name, kind in message["inputs"].items()
        },
        "min_reward": _number(message, "min_reward"),
        "examples": [_example(one) for one in message["examples"][:MOST_EXAMPLES]],
        "description": Declarations(
            run_arguments=_texts(message, "run_arguments"),
            sources=tuple(map(origin.place, _texts(message, "sources"))),
            fingerprint=_text(message, "fingerprint"),
            hooks=tuple(hooks.items()),
        ),
    }


def _param(name: str, message: Message) -> Param:
    # A parameter is an attribute of the class: it must not hide one of ours, nor change
    # what Python does with its instances.
    is_public = name.isidentifier() and not name.startswith("_")
    if not is_public or hasattr(ConfinedStrategy, name):
        raise DescriptionError(f"a parameter cannot be named {name!r}")
    return Param(
        message["default"],
        bounds={
            str(sign): one
            for sign, one in message["bounds"].items()
            if isinstance(one, int | float)
        },
        choices=message["choices"],
        help_text=_text(message, "help"),
    )


def _example(message: Message) -> Example:
    expect = Decline if message["declines"] else message["expect"]
    return Example(task_from(message["task"]), expect=expect)


def _text(message: Message, name: str) -> str:
    value = message[name]
    if not isinstance(value, str):
        raise DescriptionError(f"{name} is not a text")
    return storable(value)


def _texts(message: Message, name: str) -> tuple[str, ...]:
    return tuple(storable(one) for one in message[name] if isinstance(one, str))


def _number(message: Message, name: str) -> int:
    value = message[name]
    if type(value) is not int:
        raise DescriptionError(f"{name} is not a whole number")
    return value


def problem_from(message: object, origin: Origin) -> Problem:
    """Read a problem.

    Raises:
        DescriptionError: it is not one.
    """
    match message:
        case {"code": str(code), "path": str(path), "message": str(text), **rest} if (
            code in CODES
        ):
            line = rest.get("line")
            beside = rest.get("strategy_file")
            return Problem(
                code=code,
                path=origin.place(path),
                message=storable(text),
                fix=storable(str(rest.get("fix", ""))),
                line=line if type(line) is int else None,
                source_line=storable(str(rest.get("source_line", ""))),
                column=column if type(column := rest.get("column")) is int else None,
                strategy_file=origin.place(beside) if isinstance(beside, str) else None,
            )
        case _:
            raise DescriptionError("it sent a problem that is none")
