"""What a run returned, made a Result: the one place where it is checked.

A result is written to disk and sent as JSON, so it must be JSON, exactly: RFC 8259
has no NaN, no sets, no bytes, and keys are strings.
"""

import json
import math
from collections.abc import Mapping
from typing import Final

from journeyman.domain import Result

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
