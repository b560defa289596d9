"""Loading: the sources in their order, and all problems in one error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from pydantic_settings import InitSettingsSource

from journeyman.domain.errors import ConfigurationError
from journeyman.settings.environment import read_environment, read_overrides
from journeyman.settings.knobs import Key, Knob, knobs
from journeyman.settings.layers import DEFAULT, Layer
from journeyman.settings.model import Settings
from journeyman.settings.problems import explain
from journeyman.settings.toml_files import default_files, read_files

FIX = (
    "Correct what is named above. `journeyman config show` lists every setting "
    "with its value, and docs/reference/configuration.md explains each."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
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
) -> Loaded:
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


def _combine(layers: Sequence[Layer], known: Mapping[Key, Knob]) -> Loaded:
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
    return Loaded(settings=settings, origin=named)


def _origins(layers: Sequence[Layer], known: Mapping[Key, Knob]) -> dict[Key, str]:
    origins = dict.fromkeys(known, DEFAULT)
    for layer in layers:
        origins.update(layer.origins)
    return origins


def _refuse(problems: Sequence[str]) -> ConfigurationError:
    count = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
    lines = [f"The settings have {count}:", *(f"  {line}" for line in problems)]
    return ConfigurationError("\n".join(lines), FIX)
