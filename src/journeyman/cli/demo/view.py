"""Showing the work while it is done: a live table, lines, or nothing."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from journeyman.cli.demo.agent import ControlRequests
from journeyman.cli.output import counted, neutral, shortened
from journeyman.cli.strategies import FIGURES, strategy_figures

if TYPE_CHECKING:
    from rich.console import RenderableType

Status = Mapping[str, Any]
"""What `journeyman status --json` gives."""
REASON_LENGTH = 60


class View(AbstractContextManager["View"], Protocol):
    """Where progress goes."""

    def show(self, status: Status, errands: ControlRequests) -> None:
        """Show how it stands."""
        ...


class SilentView:
    """Shows nothing: with `--json`, stdout is the answer's."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    def show(self, status: Status, errands: ControlRequests) -> None:
        """Show nothing."""


class LineView(SilentView):
    """Prints a line whenever something has changed."""

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._last = ""
        self._told = 0

    def show(self, status: Status, errands: ControlRequests) -> None:
        """Print what is new."""
        line = " · ".join(f"{label} {text}" for label, text in _figures(status))
        if line != self._last:
            print(f"ended {status['this_run']['ended']}/{self._wanted} · {line}")
            self._last = line
        for told in errands.lines()[self._told :]:
            print(neutral(told))
            self._told += 1


class LiveView:
    """Draws a table that renews itself, on a terminal."""

    def __init__(self, wanted: int) -> None:
        from rich.live import Live

        self._wanted = wanted
        self._live = Live(auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._live.__exit__(kind, error, traceback)

    def show(self, status: Status, errands: ControlRequests) -> None:
        """Draw it anew."""
        self._live.update(self._draw(status, errands), refresh=True)

    def _draw(self, status: Status, errands: ControlRequests) -> "RenderableType":
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        ended = status["this_run"]["ended"]
        sheet = Table.grid(padding=(0, 2))
        sheet.add_row(
            f"ended {ended}/{self._wanted}",
            ProgressBar(total=self._wanted, completed=ended, width=40),
        )
        for label, text in _figures(status):
            sheet.add_row(label, Text(text))
        for told in errands.lines():
            sheet.add_row("owner", Text(neutral(told)))
        return Group(Text("Journeyman at work", style="bold"), sheet, _by(status))


def _by(status: Status) -> "RenderableType":
    from rich import box
    from rich.table import Table

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    drawn.add_column("strategy")
    for name in FIGURES:
        drawn.add_column(name, justify="right")
    for strategy, states in status["strategies"].items():
        drawn.add_row(neutral(strategy), *map(str, strategy_figures(states)))
    return drawn


def _figures(status: Status) -> list[tuple[str, str]]:
    tasks = status["tasks"]
    reasons = status["skipped_because"].items()
    because = counted((shortened(why, REASON_LENGTH), n) for why, n in reasons)
    return [
        ("balance", str(status["balance"])),
        ("in flight", f"{status['in_flight']} of {status['slots']} slots"),
        ("done", str(tasks.get("completed", 0))),
        ("wanted", f"{status['waiting']} waiting"),
        ("lost", str(tasks.get("lost", 0))),
        ("skipped", f"{tasks.get('skipped', 0)} ({because})"),
    ]
