"""Configuration files: which are read, what they say, and on which line."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from platformdirs import user_config_path

from journeyman.settings.knobs import Key, Knob
from journeyman.settings.layers import Layer, is_section, leaves, refusal

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
        _fill(layer, table, _origins(shown, text), known)
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


def _origins(file: str, text: str) -> _Origins:
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
