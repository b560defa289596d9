"""The environment and the command line as sources: both begin as text."""

import json
from collections.abc import Mapping
from pathlib import Path

from journeyman.settings.knobs import PREFIX, Key, Knob
from journeyman.settings.layers import Layer, leaves, refusal

FROM_FILE = "_FILE"
"""`JOURNEYMAN_SECTION__KEY_FILE` names a file that holds the value."""

_TRUTH = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


def read_environment(
    environ: Mapping[str, str],
    cwd: Path,
    known: Mapping[Key, Knob],
) -> Layer:
    """Read the `JOURNEYMAN_SECTION__KEY` variables; an empty one counts as not set."""
    layer = Layer()
    for variable in sorted(environ):
        if variable.startswith(PREFIX) and environ[variable]:
            _take_variable(layer, variable, environ, cwd, known)
    return layer


def read_overrides(
    overrides: Mapping[str, object],
    known: Mapping[Key, Knob],
) -> Layer:
    """Read what the command line said, keyed `network.base_url`; None is unsaid."""
    layer = Layer()
    for dotted, value in overrides.items():
        key = tuple(dotted.split("."))
        knob = known.get(key[:2])
        origin = f"command line {knob.option if knob else ''}".rstrip()
        if value is not None:
            _take(layer, key, value, origin, known)
    return layer


def _take_variable(
    layer: Layer,
    variable: str,
    environ: Mapping[str, str],
    cwd: Path,
    known: Mapping[Key, Knob],
) -> None:
    key = _key_of(variable)
    origin = f"environment {variable}"
    if len(key) == 1:
        layer.problems.extend(_single_underscore(variable, known))
    elif not variable.endswith(FROM_FILE) or key in known:
        _take(layer, key, environ[variable], origin, known)
    elif environ.get(other := variable.removesuffix(FROM_FILE)):
        layer.problems.append(f"{origin}: {other} is set as well; keep one of them")
    else:
        _take_file(layer, variable, cwd / environ[variable], known)


def _take_file(
    layer: Layer,
    variable: str,
    path: Path,
    known: Mapping[Key, Knob],
) -> None:
    origin = f"environment {variable}"
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        layer.problems.append(f"{origin}: {path} cannot be read: {reason}")
    else:
        _take(layer, _key_of(variable.removesuffix(FROM_FILE)), text, origin, known)


def _key_of(variable: str) -> Key:
    return tuple(variable.removeprefix(PREFIX).lower().split("__"))


def _single_underscore(variable: str, known: Mapping[Key, Knob]) -> list[str]:
    """Catch `JOURNEYMAN_NETWORK_BASE_URL`; other names may be anybody's."""
    right = {knob.variable.replace("__", "_"): knob.variable for knob in known.values()}
    if variable not in right:
        return []
    return [f"environment {variable}: no such setting; did you mean {right[variable]}?"]


def _take(
    layer: Layer,
    key: Key,
    value: object,
    origin: str,
    known: Mapping[Key, Knob],
) -> None:
    if problem := refusal(key, known):
        layer.problems.append(f"{origin}: {problem}")
        return
    kind = known[key[:2]].kind
    read = read_text(value, kind) if isinstance(value, str) else value
    for leaf, inner in leaves(read, key) if isinstance(read, dict) else [(key, read)]:
        layer.add(leaf, inner, origin)


def read_text(text: str, kind: str) -> object:
    """Read a value of a JSON type out of text; give the text back where it is none."""
    if kind == "boolean":
        return _TRUTH.get(text.strip().lower(), text)
    if kind == "array":
        return _read_list(text)
    if kind == "string":
        return text
    number = _read_json(text)
    if kind in {"integer", "number"} and not isinstance(number, int | float):
        return text
    return number


def _read_list(text: str) -> object:
    if text.lstrip().startswith("["):
        return _read_json(text)
    return [name.strip() for name in text.split(",") if name.strip()]


def _read_json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text
