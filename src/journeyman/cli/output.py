"""What a command prints: JSON, a table, or a sheet of facts.

On a terminal tables are drawn by rich. Where the output is piped they are plain
columns, complete and without colours.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence

from journeyman.cli.text import neutral

Cell = str | int
GAP = "  "


def answer(*, as_json: bool, data: object, show: Callable[[], None]) -> None:
    """Print `data` as one JSON document, or what `show` prints."""
    if as_json:
        print(json.dumps(data, indent=2, default=str))
    else:
        show()


def say(text: str = "") -> None:
    """Print a line of our own words; network text in it must be neutral already."""
    print(text)


def facts(rows: Mapping[str, str]) -> None:
    """Print labels and what belongs to them, leaving out what is empty."""
    shown = {label: text for label, text in rows.items() if text}
    width = max(map(len, shown), default=0)
    for label, text in shown.items():
        first, *more = text.splitlines()
        print(f"{label:<{width}}{GAP}{neutral(first)}")
        for line in more:
            print(f"{'':<{width}}{GAP}{neutral(line)}")


def table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Print rows under their headings; columns of numbers stand to the right."""
    if sys.stdout.isatty():
        _draw(columns, rows)
    else:
        print("\n".join(plain_table(columns, rows)))


def plain_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
) -> list[str]:
    """Give the lines of a table in plain text."""
    texts = [[neutral(cell) for cell in row] for row in rows]
    heads = [name.upper() for name in columns]
    widths = [max(map(len, column)) for column in zip(heads, *texts, strict=True)]
    right = _numeric(len(columns), rows)

    def line(cells: Sequence[str]) -> str:
        aligned = (
            f"{cell:>{width}}" if is_number else f"{cell:<{width}}"
            for cell, width, is_number in zip(cells, widths, right, strict=True)
        )
        return GAP.join(aligned).rstrip()

    return [line(cells) for cells in (heads, *texts)]


def _numeric(count: int, rows: Sequence[Sequence[Cell]]) -> list[bool]:
    return [
        bool(rows) and all(isinstance(row[index], int) for row in rows)
        for index in range(count)
    ]


def _draw(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name, is_number in zip(columns, _numeric(len(columns), rows), strict=True):
        drawn.add_column(name, justify="right" if is_number else "left")
    for row in rows:
        # Text, not markup: a task's title may hold square brackets.
        drawn.add_row(*(Text(neutral(cell), overflow="fold") for cell in row))
    Console(highlight=False).print(drawn)
