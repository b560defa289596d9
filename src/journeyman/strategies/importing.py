"""Running a strategy file: guarded, under a name of its own, all or nothing."""

import hashlib
import sys
import traceback
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final, cast

from journeyman.strategies import watchdog
from journeyman.strategies.api import ParamError
from journeyman.strategies.problems import Problem
from journeyman.strategies.source import Source
from journeyman.strategies.wording import describe

IMPORT_SECONDS: Final = 30.0
"""Enough for a heavy library on a slow disk; a file that waits forever is stopped."""


def import_source(
    source: Source, *, limit: float | None = IMPORT_SECONDS
) -> ModuleType | Problem:
    """Execute a parsed file as a module.

    A file that fails leaves nothing behind, and only Ctrl-C gets through. What is
    executed is the text that was parsed, so no bytecode is written beside the file,
    and a file that is being saved cannot come out half old, half new.
    """
    name = _module_name(source.path)
    spec = cast("ModuleSpec", spec_from_file_location(name, source.path))
    module = module_from_spec(spec)
    former = sys.modules.get(name)
    # Registered first: dataclasses and pickle look their module up by its name.
    sys.modules[name] = module
    try:
        code = compile(source.tree, str(source.path), "exec", dont_inherit=True)
        watchdog.call(limit, exec, code, vars(module))
    except KeyboardInterrupt:
        _forget(name, former)
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        _forget(name, former)
        return _explain(source, error)
    return module


def _module_name(path: Path) -> str:
    """Name it so that two files of one name in two folders do not meet."""
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    return f"journeyman_strategy_{path.stem}_{digest}"


def _forget(name: str, former: ModuleType | None) -> None:
    if former is None:
        sys.modules.pop(name, None)
    else:
        sys.modules[name] = former


def _explain(source: Source, error: BaseException) -> Problem:
    line = _line_in(source, error)
    if isinstance(error, watchdog.BlockedError):
        return source.problem(
            "E103",
            f"importing it took longer than {IMPORT_SECONDS:g} s",
            "move the work from the top of the file into run",
            line,
        )
    if isinstance(error, ParamError):
        fix = "give the param a default that fits its own limits"
        return source.problem("E108", str(error), fix, line)
    if isinstance(error, ImportError):
        return _missing(source, error, line)
    return source.problem(
        "E103",
        f"it raised {describe(error)}",
        "correct the line shown; a strategy file should only define things",
        line,
    )


def _missing(source: Source, error: ImportError, line: int | None) -> Problem:
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        return source.problem(
            "E102",
            f"no module {error.name!r}",
            f"install the package that has {package!r} where journeyman is installed, "
            "or take the file away",
            line,
        )
    fix = "correct the name, or install a version that has it"
    return source.problem("E102", str(error), fix, line)


def _line_in(source: Source, error: BaseException) -> int | None:
    frames = traceback.extract_tb(error.__traceback__)
    mine = [frame.lineno for frame in frames if frame.filename == str(source.path)]
    return mine[-1] if mine else None
