"""Validation errors in the words of whoever wrote the configuration."""

import json
from collections.abc import Iterator, Mapping

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from journeyman.settings.knobs import Key, Knob

HIDDEN = "***"
LONGEST_VALUE = 80
"""In characters; more of a wrong value would not make it clearer."""

_SECRET_WORDS = ("token", "secret", "password", "api_key", "credential")


def is_secret(name: str) -> bool:
    """Tell by its name whether a value must never be shown."""
    return any(word in name.lower() for word in _SECRET_WORDS)


def explain(
    error: ValidationError,
    origins: Mapping[Key, str],
    known: Mapping[Key, Knob],
) -> Iterator[str]:
    """Say for each error where the value stands, what it is, and what was wanted."""
    seen: set[Key] = set()
    for detail in error.errors():
        key = tuple(str(part) for part in detail["loc"])
        written = _written(key, origins)
        # A union reports an error for each of its members; one is enough.
        if written not in seen:
            seen.add(written)
            yield _explain_one(written, detail, origins, known)


def _written(key: Key, origins: Mapping[Key, str]) -> Key:
    """Find the value that somebody wrote, of which the error names a part."""
    lengths = range(len(key), 1, -1)
    return next((key[:size] for size in lengths if key[:size] in origins), key)


def _explain_one(
    key: Key,
    detail: ErrorDetails,
    origins: Mapping[Key, str],
    known: Mapping[Key, Knob],
) -> str:
    dotted = ".".join(key)
    place = origins.get(key, "settings")
    knob = known.get(key[:2])
    got = HIDDEN if is_secret(dotted) else _as_written(detail["input"])
    if detail["type"] == "value_error":
        reason = detail["ctx"]["error"]
        return f"{place}: {dotted}: {got} {reason}"
    return f"{place}: {dotted}: got {got}, wanted {_wanted(key, knob)}"


def _wanted(key: Key, knob: Knob | None) -> str:
    if knob is None:
        return "something else"
    if knob.kind == "object":
        return f"a table with a value for each parameter: [{'.'.join(key[:3])}]"
    unit = f" ({knob.unit})" if knob.unit else ""
    return knob.wanted + unit


def _as_written(value: object) -> str:
    # JSON writes true and "text" as TOML does; Python writes True and 'text'.
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."
