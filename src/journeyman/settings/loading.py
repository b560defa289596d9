"""Loading the settings from all sources, or refusing them with every problem."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import PydanticBaseSettingsSource

from journeyman.domain.errors import ConfigurationError
from journeyman.observability.redaction import HIDDEN
from journeyman.settings.schema import Key, setting_of, settings_by_key
from journeyman.settings.sections import Settings
from journeyman.settings.sources import (
    CommandLineSource,
    EnvironmentSource,
    TomlFileSource,
    default_files,
)

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
    chosen = default_files(cwd) if files is None else files
    weakest_first = (
        *(TomlFileSource(path, cwd) for path in chosen),
        EnvironmentSource(environ, cwd),
        CommandLineSource(overrides or {}),
    )
    problems = [problem for source in weakest_first for problem in source.problems]
    origins = dict.fromkeys(settings_by_key(), DEFAULT)
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
    return LoadedSettings(settings=settings, origin=named)


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
    if detail["type"] != "value_error":
        return f"{place}: {dotted}: got {got}, wanted {_wanted(key)}"
    reason = detail["ctx"]["error"]
    if isinstance(detail["input"], dict):
        # A whole table does not help, and one of its values may be a secret.
        return f"{place}: {dotted}: {reason}"
    return f"{place}: {dotted}: {got} {reason}"


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


_SECRET = re.compile("token|secret|password|api[_-]?key|credential", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Return whether the value of a setting of this name must never be shown."""
    return _SECRET.search(name) is not None
