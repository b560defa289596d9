"""How a run can end, as the daemon sees it: one of six."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from journeyman.domain import Result


@dataclass(frozen=True, slots=True)
class Finished:
    """The work is done; the result is known to be JSON of a fair size."""

    result: Result
    seconds: float


@dataclass(frozen=True, slots=True)
class Declined:
    """The strategy gave the task up; not a failure."""

    reason: str
    details: Mapping[str, bool | int | str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Later:
    """The same task is to be run again."""

    reason: str
    after: float
    """Seconds to wait at least."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The strategy cannot work until its file or its settings change."""

    problem: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Crashed:
    """A bug of the strategy."""

    error: str
    """Such as "ValueError: too few columns"."""
    where: str
    """Such as "strategies/x.py:12 in run": the last line of the author's own code."""
    traceback: str
    """The author's own frames only, the deepest last."""


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The strategy was still at it when its time was over."""

    seconds: float
    """The limit."""


Ended: TypeAlias = Finished | Declined | Later | Broken | Crashed | TimedOut
