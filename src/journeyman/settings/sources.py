"""Where settings come from, in which order, and every problem with them at once."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from platformdirs import user_config_path
from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import PydanticBaseSettingsSource

from journeyman.domain.errors import ConfigurationError
from journeyman.domain.text import HIDDEN
from journeyman.settings import schema
from journeyman.settings.schema import Key, setting_of
from journeyman.settings.sections import Settings


class SettingsSource(PydanticBaseSettingsSource):
    """One source: values by key, where each stands, and what is wrong."""

    def __init__(self) -> None:
        super().__init__(Settings)
        self.values: dict[schema.Key, object] = {}
        self.origins: dict[schema.Key, str] = {}
        """Such as `config/journeyman.toml:12` or `environment JOURNEYMAN_...`."""
        self.problems: list[str] = []

    def add(self, key: schema.Key, value: object, origin: str) -> None:
        """Take in a value, or each value of a table."""
        if problem := schema.refusal(key):
            self.problems.append(f"{origin}: {problem}")
            return
        for leaf, inner in leaves(value, key):
            self.values[leaf] = inner
            self.origins[leaf] = origin

    def get_field_value(
        self, field: FieldInfo, field_name: str
    ) -> tuple[Any, str, bool]:
        """Return the values of one section."""
        del field
        return self().get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the values nested, as the settings model takes them."""
        root: dict[str, Any] = {}
        for key, value in self.values.items():
            _put(root, key, value)
        return root


def leaves(value: object, key: schema.Key = ()) -> Iterator[tuple[schema.Key, object]]:
    """Walk nested tables; an empty one is a leaf, so that it is validated too."""
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from leaves(inner, (*key, name))
    else:
        yield key, value


def _put(table: dict[str, Any], key: schema.Key, value: object) -> None:
    for part in key[:-1]:
        inner = table.setdefault(part, {})
        if not isinstance(inner, dict):
            # A plain value stands where a table must be: the model will refuse it.
            return
        table = inner
    table[key[-1]] = value


# -- the command line and the environment: all values are text ----------------


class CommandLineSource(SettingsSource):
    """The options that were given, by dotted key; one that is None was not."""

    def __init__(self, options: Mapping[str, object]) -> None:
        super().__init__()
        for dotted, value in options.items():
            key = tuple(dotted.split("."))
            setting = schema.setting_of(key)
            option = setting.option if setting else ""
            read = _read_text(value, key) if isinstance(value, str) else value
            if value is not None:
                self.add(key, read, f"command line {option}".rstrip())


class EnvironmentSource(SettingsSource):
    """The `JOURNEYMAN_SECTION__KEY` variables; an empty one counts as not set."""

    FROM_FILE = "_FILE"
    """`JOURNEYMAN_SECTION__KEY_FILE` names a file that holds the value."""

    def __init__(self, environ: Mapping[str, str], directory: Path) -> None:
        """Read them; a relative name of a file starts from `directory`."""
        super().__init__()
        self._environ = environ
        self._directory = directory
        for variable in sorted(environ):
            if variable.startswith(schema.PREFIX) and environ[variable]:
                self._take(variable)

    def _take(self, variable: str) -> None:
        origin, key = f"environment {variable}", _key_of(variable)
        plain = variable.removesuffix(self.FROM_FILE)
        if len(key) == 1:
            # JOURNEYMAN_NETWORK_BASE_URL is a mistake; other names may be anybody's.
            for setting in schema.settings_by_key().values():
                if variable == setting.variable.replace("__", "_"):
                    meant = f"no such setting; did you mean {setting.variable}?"
                    self.problems.append(f"{origin}: {meant}")
        elif plain == variable or key in schema.setting_keys():
            self.add(key, _read_text(self._environ[variable], key), origin)
        elif self._environ.get(plain):
            self.problems.append(f"{origin}: {plain} is set as well; keep one of them")
        else:
            self._take_file(_key_of(plain), self._environ[variable], origin)

    def _take_file(self, key: schema.Key, name: str, origin: str) -> None:
        path = self._directory / name
        try:
            text = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            self.problems.append(f"{origin}: {path} {_unreadable(error)}")
        else:
            self.add(key, _read_text(text, key), origin)


def _key_of(variable: str) -> schema.Key:
    return tuple(variable.removeprefix(schema.PREFIX).lower().split("__"))


def _unreadable(error: Exception) -> str:
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"


_BOOLEANS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


def _read_text(text: str, key: schema.Key) -> object:
    """Return the value that a text stands for; the text itself where it is none."""
    setting = schema.setting_of(key)
    is_inner = setting is not None and len(key) > len(setting.key)
    kind = setting.kind if setting else "string"
    match setting.inner if setting and is_inner and setting.inner else kind:
        case "string":
            return text
        case "boolean":
            return _BOOLEANS.get(text.strip().lower(), text)
        case "array" if not text.lstrip().startswith("["):
            return [name.strip() for name in text.split(",") if name.strip()]
        case kind:
            value = _read_json(text)
            is_number = isinstance(value, int | float)
            return value if is_number or kind in {"array", "object"} else text


def _read_json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


# -- files --------------------------------------------------------------------

FILE_NAME = "journeyman.toml"


def default_files(cwd: Path) -> Sequence[Path]:
    """Return the files that exist where one is looked for, the strongest first.

    Of these only the first is read when none is named.
    """
    home = user_config_path("journeyman", appauthor=False)
    folders = (cwd, cwd / "config", home)
    return [folder / FILE_NAME for folder in folders if (folder / FILE_NAME).is_file()]


def files_nearby(cwd: Path) -> Sequence[Path]:
    """Return the files in the folders above, which somebody may think are read."""
    above = [place for up in cwd.parents for place in (up, up / "config")]
    return [folder / FILE_NAME for folder in above if (folder / FILE_NAME).is_file()]


class TomlFileSource(SettingsSource):
    """A TOML file that must exist.

    The library's own source skips a file that is missing, and keeps no line numbers.
    """

    def __init__(self, path: Path, cwd: Path) -> None:
        super().__init__()
        place = cwd / path
        shown = str(place.relative_to(cwd) if place.is_relative_to(cwd) else place)
        try:
            # -sig, because editors on Windows begin a file with a byte-order mark.
            text = (cwd / path.expanduser()).read_text(encoding="utf-8-sig")
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            self.problems.append(_syntax_problem(shown, str(error)))
        except UnicodeDecodeError as error:
            self.problems.append(f"{shown}: is not UTF-8 at byte {error.start}")
        except (OSError, RuntimeError) as error:  # RuntimeError: an unknown ~somebody
            self.problems.append(f"{shown}: {_unreadable(error)}")
        else:
            lines = _lines_of_keys(text)
            for key, value in leaves(table):
                if value != {} or not schema.is_section(key):
                    self.add(key, value, shown + _line_of(key, lines))


def _syntax_problem(shown: str, message: str) -> str:
    found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message)
    if found is None:
        return f"{shown}: is not valid TOML: {message}"
    what, line, column = found.groups()
    return f"{shown}:{line}:{column}: is not valid TOML: {what}"


_NAME = r"""(?:[A-Za-z0-9_-]+|"[^"\\]*"|'[^']*')"""
_NAMES = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_HEADER = re.compile(rf"^\s*\[\s*({_NAMES})\s*\]\s*(?:#.*)?$")
_ENTRY = re.compile(rf"^\s*({_NAMES})\s*=")


def _lines_of_keys(text: str) -> dict[schema.Key, int]:
    """Find keys line by line; tomllib itself does not tell where they stand."""
    lines: dict[schema.Key, int] = {}
    header: schema.Key = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _HEADER.match(line):
            key = header = _parts(found[1])
        elif found := _ENTRY.match(line):
            key = (*header, *_parts(found[1]))
        else:
            continue
        # Seen twice, once inside a long text: better no line than a wrong one.
        lines[key] = 0 if key in lines else number
    return lines


def _parts(dotted: str) -> schema.Key:
    return tuple(part.strip("\"'") for part in re.findall(_NAME, dotted))


def _line_of(key: schema.Key, lines: Mapping[schema.Key, int]) -> str:
    """Return `:12`: the line of the key, else of the nearest table around it."""
    around = (lines.get(key[:length]) for length in range(len(key), 0, -1))
    line = next(filter(None, around), None)
    return f":{line}" if line else ""


DEFAULT = "default"
"""The origin of a value that no source has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedSettings:
    """The settings, and where each value came from."""

    settings: Settings
    origin: Mapping[str, str]
    """By dotted key: `default`, `config/journeyman.toml:12`,
    `environment JOURNEYMAN_...` or `command line --base-url`. A table of strategy
    parameters has a key for each parameter that is set."""
    files: Sequence[Path] = ()
    """The files that were read, the weakest first."""
    ignored_files: Sequence[Path] = ()
    """Files of the default name that lie nearby, and were not read."""


def load_settings(
    *,
    files: Sequence[Path] | None = None,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str],
    cwd: Path,
) -> LoadedSettings:
    """Load the settings: command line, then environment, then files, then defaults.

    Args:
        files: TOML files, later ones stronger, each of which must exist. None
            reads the default file, if there is one; an empty sequence reads none.
        overrides: Values from the command line by dotted key; None is unsaid.
        environ: The environment, such as `os.environ`.
        cwd: What relative names of files start from.

    Raises:
        ConfigurationError: With every problem of every source, a line for each.
    """
    present = default_files(cwd)
    chosen = present[:1] if files is None else files
    weakest_first = (
        *(TomlFileSource(path, cwd) for path in chosen),
        EnvironmentSource(environ, cwd),
        CommandLineSource(overrides or {}),
    )
    problems = [problem for source in weakest_first for problem in source.problems]
    origins = dict.fromkeys(schema.setting_keys(), DEFAULT)
    for source in weakest_first:
        origins |= source.origins

    class Sourced(Settings):
        sources: ClassVar[Sequence[PydanticBaseSettingsSource]] = weakest_first[::-1]

    try:
        settings = Sourced()
    except ValidationError as error:
        problems += _explain(error, origins)
        raise _refuse(problems) from None
    if problems:
        raise _refuse(problems)
    named = {".".join(key): origin for key, origin in origins.items()}
    read = [cwd / path.expanduser() for path in chosen]
    nearby = (*present, *files_nearby(cwd))
    return LoadedSettings(
        settings=settings,
        origin=named,
        files=read,
        ignored_files=[path for path in nearby if path not in read],
    )


def _refuse(problems: Sequence[str]) -> ConfigurationError:
    count = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
    return ConfigurationError(
        "\n  ".join([f"The settings have {count}:", *problems]),
        "Correct what is named above. `journeyman config show` lists every setting "
        "with its value, and docs/reference/configuration.md explains each.",
    )


def _explain(error: ValidationError, origins: Mapping[Key, str]) -> Iterator[str]:
    """Yield for each error where the value stands, what it is, and what was wanted."""
    seen: set[Key] = set()
    for detail in error.errors():
        key = tuple(str(part) for part in detail["loc"] if part != "[key]")
        written = _written(key, origins)
        # A union reports an error for each of its members; one is enough.
        if written not in seen:
            seen.add(written)
            yield _explain_one(written, detail, origins)


def _written(key: Key, origins: Mapping[Key, str]) -> Key:
    """Find the value that somebody wrote, of which the error names a part."""
    around = (key[:length] for length in range(len(key), 1, -1))
    return next((one for one in around if origins.get(one, DEFAULT) != DEFAULT), key)


def _explain_one(key: Key, detail: ErrorDetails, origins: Mapping[Key, str]) -> str:
    dotted = ".".join(key)
    # A table stands where the first of its values does.
    within = (origins[name] for name in origins if name[: len(key)] == key)
    place = next((origin for origin in within if origin != DEFAULT), "settings")
    got = HIDDEN if is_secret(dotted) else _as_written(detail["input"])
    if detail["type"] == "extra_forbidden" and len(key) > IN_A_TABLE:
        return f"{place}: {dotted}: no such field"
    if detail["type"] != "value_error" and len(key) > IN_A_TABLE:
        return f"{place}: {dotted}: got {got}; {detail['msg']}"
    if detail["type"] != "value_error":
        return f"{place}: {dotted}: got {got}, wanted {_wanted(key)}"
    reason = detail["ctx"]["error"]
    if isinstance(detail["input"], dict):
        # A whole table does not help, and one of its values may be a secret.
        return f"{place}: {dotted}: {reason}"
    return f"{place}: {dotted}: {got} {reason}"


IN_A_TABLE = 3
"""A longer key is that of a field in a named table, of which no setting tells more."""


def _wanted(key: Key) -> str:
    setting = setting_of(key)
    if setting is None:
        return "something else"
    if setting.wanted != "tables":
        return setting.wanted
    if key[0] == "strategies":
        return f"a table with a value for each parameter: [{'.'.join(key[:3])}]"
    return f"a table: [{'.'.join(key)}]"


MAX_SHOWN = 80
"""In characters; more of a wrong value would not make it clearer."""


def _as_written(value: object) -> str:
    # JSON writes true and "text" as TOML does; Python writes True and 'text'.
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


_SECRET = re.compile(
    r"token|secret|password|api[_-]?key|credential|\bheaders\b"
    r"|\bnotify\.(?:webhook|targets)\b",
    re.IGNORECASE,
)


def is_secret(name: str) -> bool:
    """Return whether the value of a setting of this name must never be shown."""
    return _SECRET.search(name) is not None
