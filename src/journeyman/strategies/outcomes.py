"""How a run can end: a result, what the author raised, an error, or a time-out."""

import inspect
import json
import math
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from journeyman.domain.tasks import Result
from journeyman.domain.text import describe, storable
from journeyman.strategies.api import Decline, Misconfigured, RetryLater
from journeyman.strategies.loading.loaded import (
    LoadedStrategy,
    own_frames,
    place_of,
)
from journeyman.strategies.watchdog import BlockedError


@dataclass(frozen=True, slots=True)
class StrategyError:
    """A bug in the strategy."""

    error: str
    """Such as "ValueError: too few columns"."""
    where: str = ""
    """Such as "strategies/x.py:12 in run": the last line of the author's own code."""
    traceback: str = ""
    """The author's own frames only, the deepest last."""

    def __str__(self) -> str:
        return f"{self.error} ({self.where})" if self.where else self.error


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The run did not finish within its time limit."""

    limit: float
    """In seconds."""

    def __str__(self) -> str:
        return f"not done within {self.limit:g} s"


RunOutcome = Result | Decline | RetryLater | Misconfigured | StrategyError | TimedOut
"""A `Result` here is known to be JSON of an acceptable size."""

RunWord = Literal["result", "declined", "retry_later", "misconfigured", "failed"]


def summarize(outcome: RunOutcome) -> tuple[RunWord, str]:
    """Return the word for an outcome, and why it is not a result."""
    match outcome:
        case Result():
            return "result", ""
        case Decline():
            return "declined", outcome.reason
        case RetryLater():
            return "retry_later", outcome.reason
        case Misconfigured():
            return "misconfigured", outcome.problem
        case StrategyError() | TimedOut():
            return "failed", str(outcome)


MAX_BYTES = 1_048_576
"""Of the output and the evidence together, as UTF-8 JSON."""
MAX_DEPTH = 100
"""Deeper nesting is a reference loop, or too much for the reader."""


class ResultError(ValueError):
    """What `run` returned cannot be submitted."""


def to_result(returned: object) -> Result:
    """Return a valid Result from a Result, or from the bare output of one.

    Raises:
        ResultError: it is None, not JSON, or too large.
        UnicodeEncodeError: a text in it cannot be encoded as UTF-8.
    """
    if returned is None:
        raise ResultError("run returned None: return the result, or raise Decline")
    if isinstance(returned, Result):
        output, evidence = returned.output, returned.evidence
    else:
        output, evidence = returned, {}  # type: ignore[assignment]  # checked below
    if not isinstance(evidence, Mapping):
        raise ResultError(f"evidence is a {type(evidence).__name__}, not a dict")
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
                raise ResultError(f"{where} has the key {key!r}, which is not a string")
            _check(item, f"{where}[{key[:40]!r}]", depth - 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check(item, f"{where}[{index}]", depth - 1)
    else:
        _check_scalar(value, where)


def _check_scalar(value: object, where: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ResultError(f"{where} is {value!r}, which JSON cannot represent")
    if value is not None and not isinstance(value, bool | int | float | str):
        raise ResultError(f"{where} is a {type(value).__name__}: {_instead(value)}")


def _instead(value: object) -> str:
    if inspect.iscoroutine(value):
        value.close()  # or Python warns, at some time, that nobody has awaited it
        return f"`await` is missing before the call of {value.__qualname__}"
    return "give a str, number, bool, list or dict"


def _check_size(value: list[object]) -> None:
    try:
        size = len(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        raise
    except ValueError as error:
        raise ResultError(f"it cannot be written as JSON: {error}") from error
    if size > MAX_BYTES:
        raise ResultError(f"too large: {size} bytes as JSON (limit {MAX_BYTES})")


def outcome_of_return(loaded: LoadedStrategy, returned: object) -> RunOutcome:
    """Return the outcome of a run that returned a value."""
    try:
        return to_result(returned)
    except UnicodeEncodeError:
        # The broken text came in with the task, so this is not the strategy's bug.
        return Decline(
            "the result, like the task, contains text that is not valid UTF-8"
        )
    except ResultError as error:
        return _error(loaded, str(error))
    except MemoryError:
        text = "too large: the result cannot be written as JSON in the memory it has"
        return _error(loaded, text)


def outcome_of_exception(
    loaded: LoadedStrategy, error: BaseException, block_limit: float | None = None
) -> RunOutcome:
    """Return the outcome of a run that raised.

    Args:
        loaded: the strategy.
        error: what it raised.
        block_limit: the limit that a BlockedError exceeded.
    """
    match error:
        case Decline() | RetryLater() | Misconfigured():
            return storable_copy(error)
        case BlockedError():
            # It would do so again with every task.
            where = place_of(loaded, error)
            return Misconfigured(
                f"blocked the event loop for {block_limit} s at {where}, and with it "
                "every other task",
                fix="use a plain def, which runs in a thread, or await what takes long",
            )
        case _:
            return _error(loaded, describe(error), error)


def _error(
    loaded: LoadedStrategy, text: str, error: BaseException | None = None
) -> StrategyError:
    """Point at the author's own last line, and leave our frames out."""
    listing = "".join(traceback.format_list(own_frames(loaded, error)))
    return StrategyError(text, place_of(loaded, error), listing + text)


def storable_copy(
    raised: Decline | RetryLater | Misconfigured,
) -> Decline | RetryLater | Misconfigured:
    """Return a copy whose texts are safe to print, without the author's frames."""
    match raised:
        case Decline():
            copy = Decline(storable(raised.reason))
            copy.details = {
                storable(name): value
                if isinstance(value, bool | int | None)
                else storable(value)
                for name, value in raised.details.items()
            }
            return copy
        case RetryLater():
            return RetryLater(storable(raised.reason), after=raised.after)
        case Misconfigured():
            return Misconfigured(storable(raised.problem), fix=storable(raised.fix))
