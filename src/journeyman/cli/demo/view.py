"""Show the progress of a demo: as a live table, as lines, or not at all."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Self

from rich import box
from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from journeyman.cli.output import TASK_COUNTS, counted, task_counts
from journeyman.domain.text import escape

Status = Mapping[str, Any]
"""What `journeyman status --json` prints."""
REASON_LENGTH = 60


class SilentView(AbstractContextManager["SilentView"]):
    """Shows nothing: with `--json`, stdout is for the answer."""

    def __exit__(self, *_error: object) -> None:
        pass

    def show(self, status: Status, requests: list[str]) -> None:
        """Show the daemon's status, and the results of the owner's requests."""


class LineView(SilentView):
    """Prints a line whenever something has changed."""

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._last = ""
        self._shown = 0

    def show(self, status: Status, requests: list[str]) -> None:
        """Print what is new."""
        line = " · ".join(f"{label} {text}" for label, text in _figures(status))
        if line != self._last:
            print(f"ended {status['this_run']['ended']}/{self._wanted} · {line}")
            self._last = line
        for request in requests[self._shown :]:
            print(escape(request))
        self._shown = len(requests)


class LiveView(SilentView):
    """Redraws a table on a terminal."""

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._live = Live(auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._live.stop()

    def show(self, status: Status, requests: list[str]) -> None:
        """Redraw the table."""
        ended = status["this_run"]["ended"]
        grid = Table.grid(padding=(0, 2))
        grid.add_row(
            f"ended {ended}/{self._wanted}",
            ProgressBar(total=self._wanted, completed=ended, width=40),
        )
        for label, text in _figures(status):
            grid.add_row(label, Text(text))
        for request in requests:
            grid.add_row("owner", Text(escape(request)))
        title = Text("Journeyman at work", style="bold")
        strategies = _by_strategy(status["strategies"])
        self._live.update(Group(title, grid, strategies), refresh=True)


def _by_strategy(strategies: Mapping[str, Mapping[str, int]]) -> Table:
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    drawn.add_column("strategy")
    for name in TASK_COUNTS:
        drawn.add_column(name, justify="right")
    for strategy, states in strategies.items():
        drawn.add_row(escape(strategy), *map(str, task_counts(states)))
    return drawn


def _figures(status: Status) -> list[tuple[str, str]]:
    tasks = status["tasks"]
    reasons = counted(
        (escape(reason, longest=REASON_LENGTH), count)
        for reason, count in status["skipped_because"].items()
    )
    return [
        ("balance", str(status["balance"])),
        ("in flight", f"{status['in_flight']} of {status['slots']} slots"),
        ("done", str(tasks.get("completed", 0))),
        ("wanted", f"{status['waiting']} waiting"),
        ("lost", str(tasks.get("lost", 0))),
        ("skipped", f"{tasks.get('skipped', 0)} ({reasons})"),
    ]
