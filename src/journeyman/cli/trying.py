"""What `journeyman try` does with a strategy and a task, and how it tells of it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from journeyman.daemon.isolation import isolation_of
from journeyman.daemon.system import SystemClock
from journeyman.domain import Task
from journeyman.domain.errors import ConfigurationError, UsageError
from journeyman.journal import DataDirectory
from journeyman.strategies.api import ParamError
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.loader import load_class
from journeyman.strategies.rehearsal import Rehearsal, Stage, rehearse
from journeyman.strategies.runners import (
    Broken,
    Crashed,
    Declined,
    Ended,
    Finished,
    Later,
    Runner,
    TimedOut,
)
from journeyman.strategies.validation import params_of

if TYPE_CHECKING:
    from journeyman.cli.strategy_shelf import Shelf


def configured(loaded: Loaded, shelf: "Shelf", assignments: list[str]) -> Loaded:
    """Give the strategy with some of its parameters set from the command line.

    Raises:
        UsageError: one is not NAME=VALUE, is no parameter of it, or is not allowed.
    """
    from journeyman.cli.strategy_shelf import refusal

    if not assignments:
        return loaded
    said = dict(_assignment(loaded, text) for text in assignments)
    cls = type(loaded.instance)
    loading = load_class(cls, {**shelf.params_of(loaded.name), **said})
    if loading.problems:
        raise refusal(loading.problems)
    return loading.strategies[0]


def _assignment(loaded: Loaded, text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    declared = params_of(type(loaded.instance))
    if not equals or name not in declared:
        raise UsageError(
            f"--param {text!r} sets no parameter of {loaded.name}",
            f"Write NAME=VALUE; its parameters: {', '.join(declared) or 'none'}.",
        )
    try:
        return name, declared[name].parse(value)
    except ParamError as error:
        raise UsageError(f"--param {error}", f"Try another value for {name}.") from None


async def run_once(
    loaded: Loaded,
    task: Task,
    shelf: "Shelf",
    directory: DataDirectory,
    *,
    anyway: bool,
) -> tuple[Rehearsal, float]:
    """Run it where and as limited as the daemon would; also give the seconds it took.

    A process has its folder in the system's temporary one: a trial leaves nothing in
    the data directory, which it may not read either.
    """
    clock = SystemClock()
    limits = isolation_of(shelf.settings.settings.isolation, directory)
    runner = Runner(clock, isolation=replace(limits, homes=None))
    began = clock.monotonic()
    stage = Stage(now=clock.now)
    rehearsal = await rehearse(loaded, task, stage, anyway=anyway, runner=runner)
    return rehearsal, clock.monotonic() - began


def report(
    loaded: Loaded, task: Task, rehearsal: Rehearsal, seconds: float
) -> dict[str, Any]:
    """Give all that is to be told, as JSON."""
    word, result, evidence, reason = _told(rehearsal.ended)
    return {
        "strategy": loaded.name,
        "task_id": task.id,
        "wanted": rehearsal.verdict.wanted,
        "verdict": rehearsal.verdict.reason,
        "run": word,
        "runner": loaded.runner,
        "seconds": seconds,
        "reason": reason,
        "traceback": rehearsal.ended.traceback
        if isinstance(rehearsal.ended, Crashed)
        else "",
        "result": result,
        "evidence": evidence,
        "log": [
            {"level": line.level, "event": line.event, **line.fields}
            for line in rehearsal.log
        ],
        "cost": rehearsal.cost,
        "would": _would(task, rehearsal),
    }


def _told(ended: Ended | None) -> tuple[str, Any, dict[str, Any], str]:
    """Give the word for an end, its output, its evidence, and its reason."""
    told: tuple[str, Any, dict[str, Any], str] = ("not run", None, {}, "")
    match ended:
        case Finished(result):
            told = ("ok", result.output, dict(result.evidence), "")
        case Declined(reason):
            told = ("declined", None, {}, reason)
        case Later(reason, after):
            told = ("later", None, {}, f"{reason or 'not ready'}; in {after:g} s")
        case Broken(problem, fix):
            words = f"{problem}; {fix}" if fix else problem
            told = ("misconfigured", None, {}, words)
        case Crashed(error, where):
            told = ("FAILED", None, {}, f"{error}  ({where})")
        case TimedOut(limit):
            told = ("FAILED", None, {}, f"not done within {limit:g} s")
        case None:
            pass
    return told


def _would(task: Task, rehearsal: Rehearsal) -> str:
    if not rehearsal.verdict.wanted:
        return "leave the task to others"
    match rehearsal.ended:
        case Finished():
            unit = "credit" if task.reward == 1 else "credits"
            would = f"submit, complete, +{task.reward} {unit}"
        case Declined():
            would = "give the claim up; not a failure"
        case Later():
            would = "run the same task again, then"
        case Broken():
            would = "rest until its file or its settings change"
        case _:
            would = "fail the task; its errors are counted"
    return would


def exit_code(rehearsal: Rehearsal) -> int:
    """Give 1 for a failure, 4 for a strategy that its owner must set up, else 0."""
    match rehearsal.ended:
        case Crashed() | TimedOut():
            return 1
        case Broken():
            return ConfigurationError.exit_code
        case _:
            return 0
