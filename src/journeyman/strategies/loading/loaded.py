"""A strategy that was loaded and validated."""

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from journeyman.domain.tasks import Task
from journeyman.strategies.api import Context, Needs, RunnerName, Strategy
from journeyman.strategies.watchdog import Stack

HOOKS: Mapping[str, tuple[str, ...]] = {
    "on_start": ("ctx",),
    "on_stop": ("ctx",),
    "on_claim": ("task", "ctx"),
    "on_outcome": ("task", "outcome", "ctx"),
    "post": ("ctx",),
    "on_result": ("post", "result", "ctx"),
    "status": (),
}
"""Each hook, and the arguments that it may take."""

NEVER_CALLED: Mapping[str, str] = {
    "review": "the contract has no way to accept or refuse the result of a posted "
    "task; on_result is given what the network shows of it",
}
"""Names that look like hooks, and why they are not."""

SYNC_ONLY = frozenset({"status"})
"""Hooks that must not be `async`."""

PROCESSES = ("process", "cluster")
"""Runners whose strategies have processes here: on a cluster only `run` is called."""


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook of one strategy."""

    name: str
    arguments: tuple[str, ...]
    """Those that it takes."""
    is_async: bool
    """True: calling it returns an awaitable; False: it is plain, and may block."""
    method: Callable[..., Any] = field(repr=False)
    """Bound to its strategy."""

    def bind(self, **given: object) -> Callable[[], Any]:
        """Return a call of it with those of the arguments that it takes."""
        return partial(self.method, **{name: given[name] for name in self.arguments})


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, weakref_slot=True)
class LoadedStrategy:
    """One strategy of one generation: the same file loaded again is another object."""

    name: str
    class_name: str
    """The name of its class or function in the file."""
    version: str
    description: str
    """The first line of its docstring."""
    path: Path
    """The file that defines it."""
    line: int
    runner: RunnerName | Literal["cluster"]
    """A strategy may choose among the first; only its owner chooses the cluster."""
    timeout: float | None
    """Seconds that one run may take; None: the owner's setting."""
    needs: Needs = field(default_factory=Needs)
    instance: Strategy
    run: Any = field(repr=False)
    """Its bound run method, to be called with `run_arguments`."""
    run_arguments: tuple[str, ...] = ("task", "ctx")
    params: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    """Its settings, each with its current value."""
    file: Path | None = None
    """The file that was loaded, where it is not `path`: a folder's `__init__.py`."""
    module: str = ""
    """The name of its module in this process."""
    sources: tuple[Path, ...] = ()
    """All of its local files: its own, and those beside it that it imported."""
    fingerprint: str = ""
    """A hash of the text of `sources` as it was executed."""
    hooks: Mapping[str, Hook] = field(default_factory=dict, repr=False)
    """The hooks that it has, by name: `loaded.hooks.get("on_start")`."""
    distribution: str = ""
    """The installed package that it comes from, such as "journeyman-seo 2.1.0"."""
    import_seconds: float = 0.0
    """How long the import of its file took; 0 where that was done by a child."""
    is_confined: bool = False
    """None of its code runs in the daemon; `instance` only stands for it."""

    def arguments(self, task: Task, context: Context) -> dict[str, Any]:
        """Return the arguments that `run` takes, by name."""
        fields = task.input if isinstance(task.input, dict) else {}
        given = {**fields, "task": task, "ctx": context}
        return {name: given[name] for name in self.run_arguments}

    @property
    def place_of_run(self) -> str:
        """Such as "strategies/x.py:12 in run"."""
        return f"{short_path(self.path)}:{self.line} in run"


ToldBlock = Callable[[LoadedStrategy, float, Stack], None]
"""Is told how many seconds a strategy has blocked the loop, and where it was."""


def own_frames(
    loaded: LoadedStrategy, error: BaseException | None
) -> list[traceback.FrameSummary]:
    """Return the author's own frames of an error, the deepest last."""
    return _own(loaded, traceback.extract_tb(error.__traceback__) if error else [])


def _own(loaded: LoadedStrategy, frames: Stack) -> list[traceback.FrameSummary]:
    own = {str(path) for path in (loaded.path, *loaded.sources)}
    return [frame for frame in frames if frame.filename in own]


def place_of(loaded: LoadedStrategy, error: BaseException | None) -> str:
    """Return the author's own last line, such as "strategies/x.py:12 in run"."""
    return place_in(loaded, own_frames(loaded, error))


def place_in(loaded: LoadedStrategy, frames: Stack) -> str:
    """Return the author's own last line in a stack, the deepest frame last."""
    mine = _own(loaded, frames)
    if not mine:
        return loaded.place_of_run
    return f"{short_path(Path(mine[-1].filename))}:{mine[-1].lineno} in {mine[-1].name}"


def short_path(path: Path) -> str:
    """Return the folder and the file: enough to find it, and equal on any machine."""
    return "/".join(path.parts[-2:])
