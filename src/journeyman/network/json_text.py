"""JSON as a network may send it: bounded, finite, and never half a character."""

import json
import re

from journeyman.domain.tasks import JSON

MAX_DEPTH = 64
"""Levels of nesting; real answers have about five, and the parser recurses."""

_FEWEST_LINES = 2
"""One line is JSON already."""
_STRINGS = re.compile(r'"(?:[^"\\]++|\\[\s\S])*+"?')
_MARKS = re.compile(r"[\[\]{}]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class UnreadableJSONError(ValueError):
    """The text is not JSON that we accept; the message says why."""


def decoded(raw: bytes | bytearray) -> str:
    """Return a body as text: UTF-8 (RFC 8259, section 8.1), with or without a mark."""
    return raw.decode("utf-8-sig", errors="replace")


def parse(text: str) -> JSON:
    """Parse a JSON text.

    Raises:
        UnreadableJSONError: the text is not JSON (RFC 8259), is nested deeper than
            `MAX_DEPTH`, or has a number that is not finite or has more digits
            than Python converts (4300).
    """
    try:
        value: JSON = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UnreadableJSONError(f"not JSON ({error.msg} at {place})") from None
    except RecursionError:
        raise _too_deep() from None
    except UnreadableJSONError:
        raise
    except ValueError:
        # int() refuses to convert more digits than sys.get_int_max_str_digits().
        raise UnreadableJSONError("JSON with a number of too many digits") from None
    if text.count("{") + text.count("[") > MAX_DEPTH and is_deeper(value, MAX_DEPTH):
        raise _too_deep()
    # Half a surrogate pair cannot be written to a file or a database as UTF-8.
    return _mend(value) if _SURROGATE_ESCAPE.search(text) else value


def parse_lines(text: str) -> list[JSON]:
    """Parse JSON lines: an object on each line; empty where a text is no such thing."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(lines) < _FEWEST_LINES or not all(one.startswith("{") for one in lines):
        return []
    try:
        return [parse(line) for line in lines]
    except UnreadableJSONError:
        return []


def _too_deep() -> UnreadableJSONError:
    return UnreadableJSONError(f"JSON nested deeper than {MAX_DEPTH} levels")


def is_deeper(value: JSON, limit: int) -> bool:
    """Return whether arrays and objects nest deeper than `limit`, level by level."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limit + 1):
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def is_cut(text: str) -> bool:
    """Return whether a JSON text ends before its brackets are closed."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    marks = _MARKS.findall(_STRINGS.sub("", text))
    return sum(1 if mark in "[{" else -1 for mark in marks) > 0


def _refuse_constant(name: str) -> JSON:
    raise UnreadableJSONError(f"JSON with {name}, which is not a JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise UnreadableJSONError("JSON with a number beyond all bounds")
    return value


def _mend(value: JSON) -> JSON:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_mend(item) for item in value]
    if isinstance(value, dict):
        return {_SURROGATE.sub("\ufffd", k): _mend(v) for k, v in value.items()}
    return value


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
SPACE = re.compile(r"[ \t\n\r]*").match
"""Finds the white space between the signs of a JSON text."""
parse_one = _DECODER.raw_decode
"""Parses one value at a place of a text, as `parse` does but for its depth and for half
characters; returns it with where it ends."""
