"""What a task states that can be checked by counting, without asking a model."""

import json
import re
from collections.abc import Iterator

from journeyman import Task

_NUMBER = r"(\d{1,6})"
_AT_MOST = re.compile(
    rf"\b(?:at most|no more than|not more than|up to|maximum(?: of)?|max\.?|within)\s+"
    rf"{_NUMBER}\s+(word|character)s?\b"
    rf"|\b{_NUMBER}\s+(word|character)s?\s+(?:at most|or (?:less|fewer)|maximum)\b",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(
    rf"\b(?:at least|no fewer than|not less than|minimum(?: of)?)\s+"
    rf"{_NUMBER}\s+(word|character)s?\b",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"\b{_NUMBER}\s*(?:to|and|-|\u2013)\s*{_NUMBER}\s+(word|character)s?\b",
    re.IGNORECASE,
)
_JSON = re.compile(
    r"\b(?:answer|reply|respond|return|output)\b[^.]{0,40}\bjson (object|list|array)\b",
    re.IGNORECASE,
)


def broken_requirements(task: Task, answer: str) -> list[str]:
    """Return what an answer breaks of what its task states in so many words."""
    stated = task.description
    return [*_lengths(stated, answer), *_form(stated, answer)]


def _lengths(stated: str, answer: str) -> Iterator[str]:
    size = {"word": len(answer.split()), "character": len(answer)}
    for found in _AT_MOST.finditer(stated):
        most, unit = (found[1] or found[3]), (found[2] or found[4]).lower()
        if size[unit] > int(most):
            yield f"it has {size[unit]} {unit}s, and {most} are allowed"
    for found in _AT_LEAST.finditer(stated):
        least, unit = found[1], found[2].lower()
        if size[unit] < int(least):
            yield f"it has {size[unit]} {unit}s, and {least} are asked for"
    for found in _BETWEEN.finditer(stated):
        least, most, unit = found[1], found[2], found[3].lower()
        if not int(least) <= size[unit] <= int(most):
            yield f"it has {size[unit]} {unit}s, and {least} to {most} are asked for"


def _form(stated: str, answer: str) -> Iterator[str]:
    found = _JSON.search(stated)
    if not found:
        return
    try:
        value = json.loads(answer)
    except ValueError:
        yield "it is not JSON, which is asked for"
        return
    wanted = dict if found[1].lower() == "object" else list
    if not isinstance(value, wanted):
        yield f"it is not a JSON {found[1].lower()}, which is asked for"
