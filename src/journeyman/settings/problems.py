"""Validation errors in the words of whoever wrote the configuration."""

import json
from collections.abc import Iterator, Mapping

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from journeyman.settings.knobs import Key, Knob
from journeyman.settings.layers import DEFAULT

HIDDEN = "***"
LONGEST_VALUE = 80
"""In characters; more of a wrong value would not make it clearer."""

_SECRET_WORDS = (
    "token",
    "secret",
    "password",
    "api_key",
    "api-key",
    "apikey",
    "credential",
)


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
        key = tuple(str(part) for part in detail["loc"] if part != "[key]")
        written = _written(key, origins)
        # A union reports an error for each of its members; one is enough.
        if written not in seen:
            seen.add(written)
            yield _explain_one(written, detail, origins, known)


def _written(key: Key, origins: Mapping[Key, str]) -> Key:
    """Find the value that somebody wrote, of which the error names a part."""
    lengths = range(len(key), 1, -1)
    written = (key[:size] for size in lengths if _is_written(key[:size], origins))
    return next(written, key)


def _is_written(key: Key, origins: Mapping[Key, str]) -> bool:
    return origins.get(key, DEFAULT) != DEFAULT


def _explain_one(
    key: Key,
    detail: ErrorDetails,
    origins: Mapping[Key, str],
    known: Mapping[Key, Knob],
) -> str:
    dotted = ".".join(key)
    place = _place(key, origins)
    knob = known.get(key[:2])
    got = HIDDEN if is_secret(dotted) else _as_written(detail["input"])
    if detail["type"] == "value_error":
        reason = detail["ctx"]["error"]
        if isinstance(detail["input"], dict):
            # A whole table is no help, and one of its values may be a secret.
            return f"{place}: {dotted}: {reason}"
        return f"{place}: {dotted}: {got} {reason}"
    return f"{place}: {dotted}: got {got}, wanted {_wanted(key, knob)}"


def _place(key: Key, origins: Mapping[Key, str]) -> str:
    """Find where a value stands; a table stands where the first of its values does."""
    within = (name for name in origins if name[: len(key)] == key)
    return next((origins[n] for n in within if _is_written(n, origins)), "settings")


def _wanted(key: Key, knob: Knob | None) -> str:
    if knob is None:
        return "something else"
    if knob.wanted == "tables" and key[0] != "strategies":
        return f"a table: [{'.'.join(key)}]"
    if knob.wanted == "tables":
        return f"a table with a value for each parameter: [{'.'.join(key[:3])}]"
    unit = f" ({knob.unit})" if knob.unit else ""
    return knob.wanted + unit


def _as_written(value: object) -> str:
    # JSON writes true and "text" as TOML does; Python writes True and 'text'.
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."
