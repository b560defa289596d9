"""Strategies for a test: from a file, a class, or a decorated function."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from journeyman.strategies import Strategy
from journeyman.strategies.candidates import strategy_in
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.loader import Loading, load_class, load_file

Subject: TypeAlias = "str | Path | type[Strategy] | Callable[..., Any]"
"""A strategy under test: its file, its class, or the function under `@strategy`."""


class NotLoadedError(AssertionError):
    """The strategy under test cannot be loaded; the text lists every problem."""


def load(
    subject: Subject, params: Mapping[str, object], root: Path | None = None
) -> Loaded:
    """Load and create one strategy.

    Args:
        subject: what to load; a relative path starts here, or else at `root`.
        params: values for its parameters.
        root: another folder to look in, such as pytest's.

    Raises:
        NotLoadedError: it has problems, or there is not exactly one.
    """
    loading = _load(subject, root, params)
    if loading.problems:
        listing = "\n".join(map(str, loading.problems))
        raise NotLoadedError(f"the strategy did not load:\n{listing}")
    if len(loading.strategies) != 1:
        names = ", ".join(loaded.name for loaded in loading.strategies)
        raise NotLoadedError(
            f"{subject} has several strategies ({names}): give a class"
        )
    return loading.strategies[0]


def load_strategy(subject: Subject) -> type[Strategy]:
    """Give the class of a strategy file, to inherit from it in a test.

    Raises:
        NotLoadedError: as `load`.
    """
    return type(load(subject, {}).instance)


def _load(subject: Subject, root: Path | None, params: Mapping[str, object]) -> Loading:
    if isinstance(subject, str | Path):
        return _load_path(_find(Path(subject), root), params)
    cls = strategy_in(subject)
    if cls is None:
        raise NotLoadedError(f"{subject!r} is no strategy: give a file or a class")
    return load_class(cls, params)


def _load_path(path: Path, params: Mapping[str, object]) -> Loading:
    loading = load_file(path)
    if loading.problems or not params or len(loading.strategies) != 1:
        return loading
    (loaded,) = loading.strategies
    return load_file(path, {loaded.name: params})


def _find(path: Path, root: Path | None) -> Path:
    for place in (path, *([] if root is None else [root / path])):
        if place.is_file():
            return place
    here = "" if root is None else f" nor in {root}"
    raise NotLoadedError(f"there is no file {path} in {Path.cwd()}{here}")
