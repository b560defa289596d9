"""Importing a strategy file: guarded, in a package of its own, all or nothing."""

import hashlib
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import cast

from journeyman.domain.text import describe
from journeyman.strategies import watchdog
from journeyman.strategies.api import NeedsError, ParamError
from journeyman.strategies.loading.libraries import SYNC, named_in
from journeyman.strategies.loading.problems import Problem
from journeyman.strategies.loading.source import Source, parse, strategy_stem
from journeyman.strategies.speaker import Speaking

PREFIX = "journeyman_strategy_"
INIT = "__init__.py"


class LocalImportError(ImportError):
    """A file beside the strategy cannot be parsed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _SourceLoader(Loader):
    """Executes a file that was parsed before."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def exec_module(self, module: ModuleType) -> None:
        if self.source.code is not None:
            exec(self.source.code, vars(module))  # noqa: S102 - running plugins is its purpose

    def get_source(self, _name: str) -> str:
        """Return the text that runs, for tracebacks and `inspect`."""
        return self.source.text


class _SiblingFinder:
    """Finds the files beside a strategy, for the synthetic packages only."""

    @classmethod
    def find_spec(
        cls,
        fullname: str,
        path: Sequence[str] | None,
        _target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Look through a synthetic package's folders; pass over any other package.

        Raises:
            LocalImportError: the file exists and is not valid Python.
        """
        if path is None or not fullname.startswith(PREFIX):
            return None
        for folder in path:
            place = Path(folder, fullname.rpartition(".")[2])
            for file in (place / INIT, place.with_suffix(".py")):
                if file.is_file():
                    source = parse(file)
                    if isinstance(source, Problem):
                        raise LocalImportError(source)
                    return _spec(fullname, source)
        return None


def _spec(name: str, source: Source) -> ModuleSpec:
    is_package = source.path.name == INIT
    loader = _SourceLoader(source)
    origin = str(source.path)
    made = spec_from_loader(name, loader, origin=origin, is_package=is_package)
    spec = cast("ModuleSpec", made)
    spec.has_location = True
    if is_package:
        spec.submodule_search_locations = [str(source.path.parent)]
    return spec


def new_module(source: Source) -> ModuleType:
    """Return a strategy file's module, in a package of its own; not yet executed."""
    if _SiblingFinder not in sys.meta_path:
        sys.meta_path.insert(0, _SiblingFinder)
    path = source.path
    is_package = path.name == INIT
    stem = path.parent.name if is_package else path.stem
    home = path.parent.parent if is_package else path.parent
    package = ModuleType(_free_name(stem, path))
    package.__path__ = [str(home)]
    module = module_from_spec(_spec(f"{package.__name__}.{stem}", source))
    # Registered first: dataclasses and pickle look their module up by its name.
    sys.modules[package.__name__] = package
    sys.modules[module.__name__] = module
    return module


def _free_name(stem: str, path: Path) -> str:
    """Return a name that no other file and no other generation of it has."""
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name, generation = f"{PREFIX}{stem}_{digest}", 1
    while name in sys.modules:
        generation += 1
        name = f"{PREFIX}{stem}_{digest}_{generation}"
    return name


def package_of(module_name: str) -> str:
    """Return the synthetic package that a module belongs to."""
    return module_name.partition(".")[0]


def source_of(module_name: str) -> Source | None:
    """Return the file that a local module was made of; None for any other module."""
    spec = getattr(sys.modules.get(module_name), "__spec__", None)
    loader = getattr(spec, "loader", None)
    return loader.source if isinstance(loader, _SourceLoader) else None


def local_sources(module_name: str) -> tuple[Source, ...]:
    """Return the strategy's own file and each local file that it has imported."""
    inside = f"{package_of(module_name)}."
    names = sorted(name for name in list(sys.modules) if name.startswith(inside))
    found = [source for name in names if (source := source_of(name))]
    return tuple(sorted(found, key=lambda source: str(source.path)))


def forget(module_name: str) -> None:
    """Unload a strategy's package: the strategy, and what it imported locally."""
    package = package_of(module_name)
    if not package.startswith(PREFIX):
        return
    for name in list(sys.modules):
        if name == package or name.startswith(f"{package}."):
            sys.modules.pop(name, None)


IMPORT_SECONDS = 30.0
"""Enough for a heavy library on a slow disk."""


def import_source(
    source: Source, *, limit: float | None = IMPORT_SECONDS
) -> ModuleType | Problem:
    """Execute a parsed file as a module.

    A file that fails leaves nothing behind, and only Ctrl-C is raised. What is
    executed is the text that was parsed, so no bytecode is written beside the file,
    and a file that is being saved cannot come out half old, half new.
    """
    module = new_module(source)
    try:
        with Speaking(strategy_stem(source.path)):
            watchdog.call(limit, _SourceLoader(source).exec_module, module)
    except KeyboardInterrupt:
        forget(module.__name__)
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        forget(module.__name__)
        return explain_import(source, error, package_of(module.__name__))
    return module


def explain_import(source: Source, error: BaseException, package: str = "") -> Problem:
    """Return what stopped an import, at the author's own last line.

    Args:
        source: the strategy's file.
        error: what was raised.
        package: the synthetic name, which the author must not see.
    """
    if isinstance(error, LocalImportError):
        return replace(error.problem, strategy_file=source.path)
    raised_in, line = _last_line(source, error)
    if isinstance(error, ImportError):
        problem = _missing(raised_in, error, line, package)
    else:
        problem = raised_in.problem(*_describe(error), line)
    return (
        problem if raised_in is source else replace(problem, strategy_file=source.path)
    )


def _describe(error: BaseException) -> tuple[str, str, str]:
    """Return the code, the message and the fix."""
    match error:
        case watchdog.BlockedError():
            message = f"importing it took longer than {IMPORT_SECONDS:g} s"
            fix = "move the work from the top of the file into run"
            return "E103", message, fix
        case ParamError():
            fix = "give the param a default within its own limits"
            return "E108", str(error), fix
        case NeedsError():
            fix = "correct the needs; docs/reference/strategy-api.md lists its fields"
            return "E110", str(error), fix
        case _:
            fix = "correct the line shown; a strategy file should only define things"
            return "E103", f"the file raised {describe(error)}", fix


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
        fix = f"write `from . import {top}`: the dot stands for the folder of this file"
    else:
        fix = _how_to_install(source, top)
    return source.problem("E102", f"no module {name!r}", fix, line)


_OF_EXTRAS = {"openai": "llm", "anthropic": "llm", "pydantic_ai": "llm"}
"""Modules that extras of ours bring: templates and ready strategies import them."""


def _how_to_install(source: Source, top: str) -> str:
    if named_in(source.path, source.text) is not None:
        return f"`{SYNC}` installs the libraries that the file names"
    if top in _OF_EXTRAS:
        return f"run `pip install 'journeyman[{_OF_EXTRAS[top]}]'`"
    return (
        f"name the package that provides {top!r} in the file (PEP 723) and run "
        f"`{SYNC}`, or install it where journeyman is installed"
    )


def _missing_beside(
    source: Source, error: ImportError, line: int | None, package: str
) -> Problem:
    """Describe a relative import without the synthetic name of its package."""
    if isinstance(error, ModuleNotFoundError):
        wanted = (error.name or "").removeprefix(package).lstrip(".")
        message = f"there is no {wanted.replace('.', '/')}.py beside this file"
    else:
        message = str(error).replace(f"{package}.", "").replace(package, "this folder")
        message = message.partition(" (")[0]
    fix = "correct the name, or add the file; a helper's name begins with `_`"
    return source.problem("E102", message, fix, line)


def _last_line(source: Source, error: BaseException) -> tuple[Source, int | None]:
    """Return the author's last line: in the file itself, or in one beside it."""
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
