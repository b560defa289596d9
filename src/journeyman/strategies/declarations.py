"""Do a strategy's class attributes make sense?"""

import math
import re
from collections.abc import Iterator
from typing import get_args

from journeyman.strategies.api import API_VERSION, Example, Needs, RunnerName
from journeyman.strategies.candidates import Candidate
from journeyman.strategies.problems import Problem


def check_declarations(candidate: Candidate) -> Iterator[Problem]:
    """Check `api`, `name`, `version` and the other class attributes."""
    cls = candidate.strategy
    if type(cls.api) is not int or cls.api != API_VERSION:
        fix = f"set `api = {API_VERSION}`, or install a journeyman that fits"
        message = f"api = {cls.api!r}, but this journeyman speaks api {API_VERSION}"
        yield candidate.problem("E107", message, fix)
    for attribute, is_fine, fix in _rules(candidate):
        if not is_fine:
            message = f"{attribute} = {getattr(cls, attribute)!r} makes no sense"
            yield candidate.problem("E110", message, fix)


def _rules(candidate: Candidate) -> Iterator[tuple[str, bool, str]]:
    """Give each declaration's name, whether it is fine, and what to write instead."""
    cls = candidate.strategy
    is_name = bool(re.fullmatch(r"[a-z][a-z0-9_]{0,63}", candidate.name))
    yield "name", is_name, "use lower-case letters, digits and `_`, such as word_count"
    yield "version", isinstance(cls.version, str), 'write a string, such as "1.0.0"'
    fix = 'write "loop", "thread" or "process", or leave it out'
    yield "runner", cls.runner in (None, *get_args(RunnerName)), fix
    yield "timeout", _is_seconds(cls.timeout), "write a number of seconds above 0"
    yield "needs", isinstance(cls.needs, Needs), 'write Needs(hosts={"..."}, ...)'
    yield "examples", _are_examples(cls.examples), "write a list of Example(...)"
    for attribute in ("kinds", "tags"):
        value = getattr(cls, attribute)
        fix = f'write a set of strings, such as {attribute} = {{"echo"}}'
        yield attribute, _are_words(value), fix
    fix = 'write names and types, such as inputs = {"text": str}'
    yield "inputs", _are_inputs(cls.inputs), fix
    is_reward = isinstance(cls.min_reward, int)
    yield "min_reward", is_reward, "write a whole number of credits"


def _is_seconds(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and 0 < value < math.inf


def _are_examples(value: object) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(item, Example) for item in value
    )


def _are_inputs(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str) and isinstance(kind, type) for name, kind in value.items()
    )


def _are_words(value: object) -> bool:
    # A plain string is a collection of letters: the commonest slip of all.
    return isinstance(value, set | frozenset | list | tuple) and all(
        isinstance(item, str) for item in value
    )
