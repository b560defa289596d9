"""The modules of one strategy: its own file, and the files beside it that it imports.

Each strategy file lives in a synthetic package of its own, made anew at each loading.
Its relative imports (`from . import _tables`, `from ._tables import ROWS`) find the
files and folders beside it, and load them into that package too. So one strategy
never sees another's modules, a new generation never shares one with the old, and
forgetting the package forgets everything that came with it.

No bytecode is read or written: a cache is chosen by time stamp and size, and two quick
edits may agree in both.
"""

import hashlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final, cast

from journeyman.strategies.problems import Problem
from journeyman.strategies.source import Source, parse

PREFIX: Final = "journeyman_strategy_"
INIT: Final = "__init__.py"


class LocalImportError(ImportError):
    """A file beside the strategy cannot even be parsed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _SourceLoader(Loader):
    """Executes a file that was parsed already."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def exec_module(self, module: ModuleType) -> None:
        path = str(self.source.path)
        code: CodeType = compile(self.source.tree, path, "exec", dont_inherit=True)
        exec(code, vars(module))  # noqa: S102 - running plugins is what it is for

    def get_source(self, _name: str) -> str:
        """Give the text that runs, for tracebacks and `inspect`."""
        return self.source.text


class _BesideFinder:
    """Finds the files beside a strategy, for the packages of this module only."""

    @classmethod
    def find_spec(
        cls,
        fullname: str,
        path: Sequence[str] | None,
        _target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Look through a synthetic package's folders; others are not our business.

        Raises:
            LocalImportError: the file is there and is no Python.
        """
        if path is None or not fullname.startswith(PREFIX):
            return None
        for folder in path:
            place = Path(folder, fullname.rpartition(".")[2])
            for file in (place / INIT, place.with_suffix(".py")):
                if file.is_file():
                    return _spec(fullname, _parsed(file))
        return None


def _parsed(file: Path) -> Source:
    source = parse(file)
    if isinstance(source, Problem):
        raise LocalImportError(source)
    return source


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
    """Make the module of a strategy file, in a package of its own; not yet executed."""
    if _BesideFinder not in sys.meta_path:
        sys.meta_path.insert(0, _BesideFinder)
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
    """Name it so that two files of one name, and two generations, do not meet."""
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name, generation = f"{PREFIX}{stem}_{digest}", 1
    while name in sys.modules:
        generation += 1
        name = f"{PREFIX}{stem}_{digest}_{generation}"
    return name


def execute(module: ModuleType) -> None:
    """Run a module that `new_module` made."""
    spec = cast("ModuleSpec", module.__spec__)
    cast("Loader", spec.loader).exec_module(module)


def package_of(module_name: str) -> str:
    """Give the synthetic package that a module belongs to."""
    return module_name.partition(".")[0]


def source_of(module_name: str) -> Source | None:
    """Give the file that a local module was made of; None for any other module."""
    spec = getattr(sys.modules.get(module_name), "__spec__", None)
    loader = getattr(spec, "loader", None)
    return loader.source if isinstance(loader, _SourceLoader) else None


def closure(module_name: str) -> tuple[Source, ...]:
    """Give the strategy's own file and each local file that it has imported so far."""
    inside = f"{package_of(module_name)}."
    names = sorted(name for name in list(sys.modules) if name.startswith(inside))
    found = [source for name in names if (source := source_of(name))]
    return tuple(sorted(found, key=lambda source: str(source.path)))


def forget(module_name: str) -> None:
    """Drop a strategy's package: the strategy itself, and what it imported locally."""
    package = package_of(module_name)
    if not package.startswith(PREFIX):
        return
    for name in list(sys.modules):
        if name == package or name.startswith(f"{package}."):
            sys.modules.pop(name, None)
