"""Prints the matrix when all of it has run."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

ROW = "matrix row"
"""The property of a test's report that holds a line of the matrix."""
_WIDTH = 200
"""In characters, also where nobody knows the terminal's, as in CI."""
_COLUMNS = (
    "network",
    "earned",
    "sent",
    "refused",
    "why not",
)


def pytest_terminal_summary(terminalreporter: Any) -> None:  # noqa: ANN401 - pytest does not export its type
    """Show what each row came to, also where several processes ran them."""
    lines = [
        value
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        for name, value in report.user_properties
        if name == ROW
    ]
    if lines:
        _print(sorted(lines))


def _print(lines: Sequence[Sequence[str]]) -> None:
    table = Table(title="The daemon on networks of many manners")
    for column in _COLUMNS:
        table.add_column(column, overflow="fold")
    for _number, *cells in lines:
        table.add_row(*cells)
    earned = sum(line[_COLUMNS.index("why not") + 1] == "" for line in lines)
    table.caption = f"{earned} of {len(lines)} earn; the others say why not."
    Console(width=_WIDTH).print(table)
