"""Loading: the sources in their order, and all problems in one error."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

from platformdirs import user_config_path
from pydantic import ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import InitSettingsSource

from journeyman.domain.errors import ConfigurationError
from journeyman.settings.sections import Settings, json_schema

Key: TypeAlias = tuple[str, ...]
"""Where a value stands: `("network", "base_url")`, or deeper inside a table."""

Schema: TypeAlias = Mapping[str, Any]

PREFIX = "JOURNEYMAN_"


@dataclass(frozen=True, kw_only=True, slots=True)
class Knob:
    """One setting."""

    key: Key
    kind: str
    """The JSON type: boolean, integer, number, string, array or object."""
    wanted: str
    """What a value must be, in words: `a whole number from 1 to 256`."""
    default: object
    """As in a file; None where no value in a file could say it."""
    default_is: str
    """The default in words, where `default` is None; else empty."""
    example: object
    """A value as in a file, where the default would not show what one looks like."""
    unit: str
    option: str
    """The command line's own name for it, such as `--base-url`; may be empty."""
    description: str

    @property
    def dotted(self) -> str:
        """The key as people write it: `network.base_url`."""
        return ".".join(self.key)

    @property
    def variable(self) -> str:
        """The key as the environment has it: `JOURNEYMAN_NETWORK__BASE_URL`."""
        return PREFIX + "__".join(self.key).upper()


@dataclass(frozen=True, slots=True)
class KnobSection:
    """One section of the settings, such as `[network]`."""

    name: str
    description: str
    knobs: tuple[Knob, ...]


def sections() -> tuple[KnobSection, ...]:
    """Describe all settings, in the order in which people should read them."""
    return tuple(_sections(json_schema()))


def knobs() -> dict[Key, Knob]:
    """Find a setting's description by its key."""
    return {knob.key: knob for section in sections() for knob in section.knobs}


def _sections(schema: Schema) -> Iterator[KnobSection]:
    for name, reference in schema["properties"].items():
        section = schema["$defs"][reference["$ref"].rpartition("/")[2]]
        fields = section["properties"].items()
        made = tuple(_knob((name, field), found) for field, found in fields)
        yield KnobSection(name, section["description"], made)


def _knob(key: Key, field: Schema) -> Knob:
    value = _value_schema(field)
    default = field.get("default")
    return Knob(
        key=key,
        kind=value["type"],
        wanted=_wanted(value),
        default=default,
        default_is=field.get("default_is", "" if default is not None else "empty"),
        example=next(iter(field.get("examples", ())), None),
        unit=value.get("unit", field.get("unit", "")),
        option=field.get("option", ""),
        description=field["description"],
    )


def _value_schema(field: Schema) -> Schema:
    """Leave the `null` of an optional setting aside: a file cannot say it."""
    found: Schema = next(
        (choice for choice in field.get("anyOf", ()) if choice["type"] != "null"),
        field,
    )
    return found


def _wanted(value: Schema) -> str:
    if "enum" in value:
        return "one of " + ", ".join(value["enum"])
    if value["type"] in {"integer", "number"}:
        return _wanted_number(value)
    if value["type"] == "string":
        formats = {"path": "a path", "uri": "an http or https address"}
        return formats.get(value.get("format", ""), "text")
    if value["type"] == "object":
        return _wanted_table(value["additionalProperties"])
    return {"boolean": "true or false", "array": "a list of names"}[value["type"]]


def _wanted_table(inner: Schema) -> str:
    if "enum" in inner:
        return f"a table of names with one of {', '.join(inner['enum'])} for each"
    if inner.get("type") == "integer":
        return "a table of names with a whole number, 0 or more, for each"
    return "tables"


def _wanted_number(value: Schema) -> str:
    noun = "a whole number" if value["type"] == "integer" else "a number"
    low, high = value.get("minimum"), value.get("maximum")
    if "exclusiveMinimum" in value:
        return f"{noun} above {value['exclusiveMinimum']}, at most {high}"
    if low is not None and high is not None:
        return f"{noun} from {low} to {high}"
    return f"{noun}, {low} or more" if low is not None else noun


DEFAULT = "default"
"""The origin of what nobody wrote."""


@dataclass(slots=True)
class Layer:
    """What one source says: a file, the environment, or the command line."""

    values: dict[Key, object] = field(default_factory=dict)
    origins: dict[Key, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, key: Key, value: object, origin: str) -> None:
        """Take a value in, and remember where it stood."""
        self.values[key] = value
        self.origins[key] = origin

    def tree(self) -> dict[str, Any]:
        """Give the values nested, as the settings model wants them."""
        root: dict[str, Any] = {}
        for key, value in self.values.items():
            _put(root, key, value)
        return root


def _put(table: dict[str, Any], key: Key, value: object) -> None:
    for part in key[:-1]:
        inner = table.setdefault(part, {})
        if not isinstance(inner, dict):
            # A plain value stands where a table must be: the model will say so.
            return
        table = inner
    table[key[-1]] = value


def leaves(
    table: Mapping[str, object], above: Key = ()
) -> Iterator[tuple[Key, object]]:
    """Walk nested tables; an empty one is a leaf, so that it can be judged too."""
    for name, value in table.items():
        key = (*above, name)
        if isinstance(value, Mapping) and value:
            yield from leaves(value, key)
        else:
            yield key, value


def is_section(key: Key, known: Mapping[Key, Knob]) -> bool:
    """Tell whether settings stand below this key."""
    return any(len(name) > len(key) and name[: len(key)] == key for name in known)


def refusal(key: Key, known: Mapping[Key, Knob]) -> str:
    """Say why no setting has this key; empty when one has it."""
    if _knob_of(key, known) is not None:
        return ""
    dotted = ".".join(key)
    if is_section(key, known):
        return f"{dotted}: is a section, wanted a table of settings below [{dotted}]"
    near = _suggestion(key, known)
    return f"{dotted}: no such setting" + (f"; did you mean {near}?" if near else "")


def _knob_of(key: Key, known: Mapping[Key, Knob]) -> Knob | None:
    """Find the setting that a value belongs to, also one deep inside its tables."""
    knob = known.get(key[:2])
    if knob is None or (len(key) > len(knob.key) and knob.kind != "object"):
        return None
    return knob


def _suggestion(key: Key, known: Mapping[Key, Knob]) -> str:
    if len(key) == 1:
        found = get_close_matches(key[0], {name[0] for name in known}, n=1)
        if found:
            return f"[{found[0]}]"
    names = {".".join(name): name for name in known}
    same = [dotted for dotted, name in names.items() if name[-1] == key[-1]]
    if len(same) == 1:
        return same[0]
    close = get_close_matches(".".join(key), names, n=1, cutoff=0.6)
    return close[0] if close else ""


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


HOME_FILE = "journeyman.toml"
LOCAL_FILE = Path("config", HOME_FILE)

_SYNTAX_PLACE = re.compile(
    r"^(?P<what>.*) \(at line (?P<line>\d+), column (?P<col>\d+)\)$"
)
_NAME = r"""(?:[A-Za-z0-9_-]+|"[^"\\]*"|'[^']*')"""
_NAMES = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_HEADER = re.compile(rf"^\s*\[\s*({_NAMES})\s*\]\s*(?:#.*)?$")
_ENTRY = re.compile(rf"^\s*({_NAMES})\s*=")


def default_files(cwd: Path) -> tuple[Path, ...]:
    """Name the file that is read when none is given: the nearest one that exists."""
    home = user_config_path("journeyman", appauthor=False) / HOME_FILE
    found = (path for path in (cwd / LOCAL_FILE, home) if path.is_file())
    return tuple(found)[:1]


def read_files(
    files: Sequence[Path],
    cwd: Path,
    known: Mapping[Key, Knob],
) -> list[Layer]:
    """Read each file into a layer, in the order given; later ones are stronger."""
    return [_read_file(path, cwd, known) for path in files]


def _read_file(path: Path, cwd: Path, known: Mapping[Key, Knob]) -> Layer:
    layer = Layer()
    shown = _shown(cwd / path, cwd)
    try:
        # -sig, because editors on Windows begin a file with a byte-order mark.
        text = (cwd / path.expanduser()).read_text(encoding="utf-8-sig")
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        layer.problems.append(_syntax_problem(shown, str(error)))
    except UnicodeDecodeError as error:
        layer.problems.append(f"{shown}: is not UTF-8 at byte {error.start}")
    except (OSError, RuntimeError) as error:  # RuntimeError: an unknown ~somebody
        reason = getattr(error, "strerror", None) or error
        layer.problems.append(f"{shown}: cannot be read: {reason}")
    else:
        _fill(layer, table, _toml_origins(shown, text), known)
    return layer


def _shown(path: Path, cwd: Path) -> str:
    return str(path.relative_to(cwd) if path.is_relative_to(cwd) else path)


def _syntax_problem(shown: str, message: str) -> str:
    found = _SYNTAX_PLACE.match(message)
    if found is None:
        return f"{shown}: is not TOML: {message}"
    place = f"{shown}:{found['line']}:{found['col']}"
    return f"{place}: is not TOML: {found['what']}"


class _Origins:
    """Says on which line a key stands."""

    def __init__(self, file: str, lines: Mapping[Key, int]) -> None:
        self._file = file
        self._lines = lines

    def __call__(self, key: Key) -> str:
        for length in range(len(key), 0, -1):
            if line := self._lines.get(key[:length]):
                return f"{self._file}:{line}"
        return self._file


def _fill(
    layer: Layer,
    table: Mapping[str, object],
    origin: _Origins,
    known: Mapping[Key, Knob],
) -> None:
    for key, value in leaves(table):
        if value == {} and is_section(key, known):
            continue
        if problem := refusal(key, known):
            layer.problems.append(f"{origin(key)}: {problem}")
        else:
            layer.add(key, value, origin(key))


def _toml_origins(file: str, text: str) -> _Origins:
    lines: dict[Key, int] = {}
    doubtful: set[Key] = set()
    for key, line in _scan(text):
        if key in lines:
            doubtful.add(key)
        lines[key] = line
    # Seen twice, one of them inside a long text: better no line than a wrong one.
    sure = {key: line for key, line in lines.items() if key not in doubtful}
    return _Origins(file, sure)


def _scan(text: str) -> Iterator[tuple[Key, int]]:
    """Find keys line by line; tomllib itself does not tell where they stand."""
    header: Key = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _HEADER.match(line):
            header = _parts(found[1])
            yield header, number
        elif found := _ENTRY.match(line):
            yield (*header, *_parts(found[1])), number


def _parts(dotted: str) -> Key:
    return tuple(part.strip("\"'") for part in re.findall(_NAME, dotted))


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
    return f"{place}: {dotted}: got {got}, wanted {_wanted_value(key, knob)}"


def _place(key: Key, origins: Mapping[Key, str]) -> str:
    """Find where a value stands; a table stands where the first of its values does."""
    within = (name for name in origins if name[: len(key)] == key)
    return next((origins[n] for n in within if _is_written(n, origins)), "settings")


def _wanted_value(key: Key, knob: Knob | None) -> str:
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


FIX = (
    "Correct what is named above. `journeyman config show` lists every setting "
    "with its value, and docs/reference/configuration.md explains each."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedSettings:
    """The settings, and where each value came from."""

    settings: Settings
    origin: Mapping[str, str]
    """By dotted key: `default`, `config/journeyman.toml:12`,
    `environment JOURNEYMAN_...` or `command line --base-url`. A table of strategy
    parameters has a key for each parameter that is set."""


def load_settings(
    *,
    files: Sequence[Path] | None = None,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str],
    cwd: Path,
) -> LoadedSettings:
    """Put the settings together (design 9): command line, environment, files, defaults.

    Args:
        files: TOML files, later ones stronger, each of which must exist. None
            reads the default file, if there is one; an empty sequence reads none.
        overrides: Values from the command line by dotted key; None is unsaid.
        environ: The environment, such as `os.environ`.
        cwd: What relative names of files start from.

    Raises:
        ConfigurationError: With every problem of every source, a line for each.
    """
    known = knobs()
    chosen = default_files(cwd) if files is None else files
    layers = [
        *read_files(chosen, cwd, known),
        read_environment(environ, cwd, known),
        read_overrides(overrides or {}, known),
    ]
    return _combine(layers, known)


def _combine(layers: Sequence[Layer], known: Mapping[Key, Knob]) -> LoadedSettings:
    """Merge the layers, weakest first."""
    problems = [problem for layer in layers for problem in layer.problems]
    origins = _origins(layers, known)
    sources = tuple(InitSettingsSource(Settings, layer.tree()) for layer in layers)
    try:
        # The library takes the strongest source first.
        settings = Settings(_build_sources=(sources[::-1], {}))
    except ValidationError as error:
        raise _refuse([*problems, *explain(error, origins, known)]) from None
    if problems:
        raise _refuse(problems)
    named = {".".join(key): origin for key, origin in origins.items()}
    return LoadedSettings(settings=settings, origin=named)


def _origins(layers: Sequence[Layer], known: Mapping[Key, Knob]) -> dict[Key, str]:
    origins = dict.fromkeys(known, DEFAULT)
    for layer in layers:
        origins.update(layer.origins)
    return origins


def _refuse(problems: Sequence[str]) -> ConfigurationError:
    count = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
    lines = [f"The settings have {count}:", *(f"  {line}" for line in problems)]
    return ConfigurationError("\n".join(lines), FIX)
