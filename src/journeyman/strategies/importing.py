"""Running a strategy file: guarded, in a package of its own, all or nothing."""

import traceback
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Final

from journeyman.strategies import watchdog
from journeyman.strategies.api import NeedsError, ParamError
from journeyman.strategies.local_modules import (
    INIT,
    LocalImportError,
    execute,
    forget,
    new_module,
    package_of,
)
from journeyman.strategies.problems import Problem
from journeyman.strategies.source import Source, parse
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
    module = new_module(source)
    try:
        watchdog.call(limit, execute, module)
    except KeyboardInterrupt:
        forget(module.__name__)
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        forget(module.__name__)
        return explain_import(source, error, package_of(module.__name__))
    return module


def explain_import(source: Source, error: BaseException, package: str = "") -> Problem:
    """Say what stopped an import, at the author's own last line.

    Args:
        source: the strategy's file.
        error: what was raised.
        package: the synthetic name that the author must not be bothered with.
    """
    if isinstance(error, LocalImportError):
        return replace(error.problem, strategy_file=source.path)
    blamed, line = _blame(source, error)
    if isinstance(error, ImportError):
        problem = _missing(blamed, error, line, package)
    else:
        problem = blamed.problem(*_words(error), line)
    return problem if blamed is source else replace(problem, strategy_file=source.path)


def _words(error: BaseException) -> tuple[str, str, str]:
    """Give the code, the message and the fix."""
    match error:
        case watchdog.BlockedError():
            message = f"importing it took longer than {IMPORT_SECONDS:g} s"
            fix = "move the work from the top of the file into run"
            return "E103", message, fix
        case ParamError():
            fix = "give the param a default that fits its own limits"
            return "E108", str(error), fix
        case NeedsError():
            fix = "correct the needs; docs/reference/strategy-api.md lists its fields"
            return "E110", str(error), fix
        case _:
            fix = "correct the line shown; a strategy file should only define things"
            return "E103", f"it raised {describe(error)}", fix


def _missing(
    source: Source, error: ImportError, line: int | None, package: str
) -> Problem:
    name = error.name or ""
    if package and name.startswith(package):
        return _missing_beside(source, error, line, package)
    if not isinstance(error, ModuleNotFoundError) or not name:
        fix = "correct the name, or install a version that has it"
        return source.problem("E102", str(error), fix, line)
    top = name.partition(".")[0]
    beside = source.path.parent / top
    if beside.with_suffix(".py").is_file() or beside.is_dir():
        fix = f"write `from . import {top}`: a dot reaches the files beside this one"
    else:
        fix = (
            f"install the package that has {top!r} where journeyman is installed, "
            "or take the file away"
        )
    return source.problem("E102", f"no module {name!r}", fix, line)


def _missing_beside(
    source: Source, error: ImportError, line: int | None, package: str
) -> Problem:
    """Tell of a relative import in the author's words, not by our synthetic name."""
    if isinstance(error, ModuleNotFoundError):
        wanted = (error.name or "").removeprefix(package).lstrip(".")
        message = f"there is no {wanted.replace('.', '/')}.py beside it"
    else:
        message = str(error).replace(f"{package}.", "").replace(package, "this folder")
        message = message.partition(" (")[0]
    fix = "correct the name, or add the file; a helper's name begins with `_`"
    return source.problem("E102", message, fix, line)


def _blame(source: Source, error: BaseException) -> tuple[Source, int | None]:
    """Find the author's last line: in the file itself, or in one beside it."""
    path = source.path
    home = path.parent.parent if path.name == INIT else path.parent
    frames = traceback.extract_tb(error.__traceback__)
    mine = [frame for frame in frames if Path(frame.filename).is_relative_to(home)]
    if not mine:
        return source, None
    last = mine[-1]
    if last.filename == str(path):
        return source, last.lineno
    beside = parse(Path(last.filename))
    return (source, None) if isinstance(beside, Problem) else (beside, last.lineno)
