"""How a run can end, as the daemon sees it: one of six."""

import json
import math
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from journeyman.domain.tasks import Result
from journeyman.domain.text import describe, printable
from journeyman.strategies.api import Decline, Misconfigured, RetryLater
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.watchdog import BlockedError


@dataclass(frozen=True, slots=True)
class Finished:
    """The work is done; the result is known to be JSON of a fair size."""

    result: Result
    seconds: float


@dataclass(frozen=True, slots=True)
class Declined:
    """The strategy gave the task up; not a failure."""

    reason: str
    details: Mapping[str, bool | int | str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Later:
    """The same task is to be run again."""

    reason: str
    after: float
    """Seconds to wait at least."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The strategy cannot work until its file or its settings change."""

    problem: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Crashed:
    """A bug of the strategy."""

    error: str
    """Such as "ValueError: too few columns"."""
    where: str
    """Such as "strategies/x.py:12 in run": the last line of the author's own code."""
    traceback: str
    """The author's own frames only, the deepest last."""


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The strategy was still at it when its time was over."""

    seconds: float
    """The limit."""


Ended: TypeAlias = Finished | Declined | Later | Broken | Crashed | TimedOut


MAX_BYTES: Final = 1_048_576
"""Of the output and the evidence together, as UTF-8 JSON."""
MAX_DEPTH: Final = 100
"""Deeper nesting is a loop, or breaks the reader at the other end."""


class ResultError(ValueError):
    """What `run` returned cannot be handed in."""


def to_result(returned: object) -> Result:
    """Take a Result, or the bare output of one.

    Raises:
        ResultError: nothing was returned, or it is not JSON, or too much.
        UnicodeEncodeError: a text in it has no UTF-8 form.
    """
    if returned is None:
        raise ResultError("run returned None: return the result, or raise Decline")
    if isinstance(returned, Result):
        output, evidence = returned.output, returned.evidence
    else:
        output, evidence = returned, {}  # type: ignore[assignment]  # checked below
    if not isinstance(evidence, Mapping):
        raise ResultError(f"evidence is a {type(evidence).__name__}: give a dict")
    evidence = dict(evidence)
    _check(output, "output", MAX_DEPTH)
    _check(evidence, "evidence", MAX_DEPTH)
    _check_size([output, evidence])
    return Result(output, evidence=evidence)


def _check(value: object, where: str, depth: int) -> None:
    if depth == 0:
        raise ResultError(f"nested too deeply (over {MAX_DEPTH} levels)")
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ResultError(f"{where} has the key {key!r}: keys must be strings")
            _check(item, f"{where}[{key[:40]!r}]", depth - 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check(item, f"{where}[{index}]", depth - 1)
    else:
        _check_scalar(value, where)


def _check_scalar(value: object, where: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ResultError(f"{where} is {value!r}, which JSON cannot say")
    if value is not None and not isinstance(value, bool | int | float | str):
        kind = type(value).__name__
        allowed = "a str, number, bool, list, dict or None"
        raise ResultError(f"{where} is a {kind}: give {allowed}")


def _check_size(value: list[object]) -> None:
    try:
        size = len(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        raise
    except ValueError as error:
        raise ResultError(f"it cannot be written as JSON: {error}") from error
    if size > MAX_BYTES:
        raise ResultError(f"{size} bytes as JSON are too many (limit {MAX_BYTES})")


def of_return(loaded: LoadedStrategy, returned: object, seconds: float) -> Ended:
    """Judge what `run` returned after so many seconds."""
    try:
        return Finished(to_result(returned), seconds)
    except UnicodeEncodeError:
        # What came out broken went in broken: no bug of the strategy.
        return Declined("the result has no UTF-8 form; the task's text has none either")
    except ResultError as error:
        return _crash(loaded, str(error))


def of_exception(
    loaded: LoadedStrategy, error: BaseException, block_limit: float | None = None
) -> Ended:
    """Judge what `run` raised; `block_limit` is told of when it was broken."""
    match error:
        case Decline():
            details = {name: _plain(value) for name, value in error.details.items()}
            return Declined(printable(error.reason), details)
        case RetryLater():
            return Later(printable(error.reason), error.after)
        case Misconfigured():
            return Broken(printable(error.problem), printable(error.fix))
        case BlockedError():
            return _blocked(loaded, error, block_limit)
        case _:
            return _crash(loaded, describe(error), error)


def _crash(
    loaded: LoadedStrategy, text: str, error: BaseException | None = None
) -> Crashed:
    """Point at the author's own last line, and leave our frames out."""
    frames = traceback.extract_tb(error.__traceback__) if error else []
    own = {str(path) for path in (loaded.path, *loaded.sources)}
    mine = [frame for frame in frames if frame.filename in own]
    path = Path(mine[-1].filename) if mine else loaded.path
    place = f"{mine[-1].lineno} in {mine[-1].name}" if mine else f"{loaded.line} in run"
    return Crashed(
        error=text,
        where=f"{_short(path)}:{place}",
        traceback="".join(traceback.format_list(mine)) + text,
    )


def _blocked(
    loaded: LoadedStrategy, error: BlockedError, limit: float | None
) -> Broken:
    """Rest a strategy that stopped everybody: it would do so at its every task."""
    where = _crash(loaded, "", error).where
    return Broken(
        f"blocked the event loop for {limit} s at {where}, and every task with it",
        "use a plain def, which runs in a thread, or await what takes long",
    )


def _plain(value: object) -> bool | int | str | None:
    return value if isinstance(value, bool | int | None) else printable(value)


def _short(path: Path) -> str:
    """Give the folder and the file: enough to find it, the same on every machine."""
    return "/".join(path.parts[-2:])
