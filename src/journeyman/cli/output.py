"""What a command prints: JSON, a table, or a sheet of facts.

On a terminal tables are drawn by rich. Where the output is piped they are plain
columns, complete and without colours.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from journeyman.domain import text as domain_text
from journeyman.domain.errors import StateError


class OutputClosedError(Exception):
    """Whoever read our output has gone; Typer would take a BrokenPipeError itself."""


def neutral(text: object) -> str:
    r"""Give one line without control characters.

    What a terminal would obey, such as escape sequences, and what would reorder a
    line, such as bidirectional overrides, is written out as `\x1b` or `\u202e`.
    """
    return domain_text.neutral(str(text))


def shortened(text: object, length: int) -> str:
    """Give a neutral text of at most `length` characters."""
    line = neutral(text)
    return line if len(line) <= length else f"{line[: length - 1]}…"


def duration(seconds: float) -> str:
    """Give `3 s`, `5 min` or `4 h 51 min`."""
    minutes = int(seconds) // 60
    if minutes < 1:
        return f"{int(seconds)} s"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{minutes} min"


def counted(pairs: Iterable[tuple[str, int]]) -> str:
    """Give `completed 20 · lost 1`."""
    return " · ".join(f"{neutral(name)} {count}" for name, count in pairs) or "none"


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


Tell: TypeAlias = Callable[[float], None]
"""Takes how much is done by now."""


@contextmanager
def progress(title: str, total: int, *, shown: bool) -> Iterator[Tell]:
    """Draw a bar on the standard error until the end of the block.

    Only where that is a terminal, and `shown`: a command that prints JSON draws none.
    """
    if not (shown and sys.stderr.isatty()):
        yield lambda _done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(title, total=total)
        yield lambda done: drawn.update(task, completed=done)


def write_reference(page: Path, text: str) -> None:
    """Write a page of docs/reference, and say so.

    Raises:
        StateError: this is not the top of a checkout, or the disk refused.
    """
    try:
        page.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StateError(
            f"{page} cannot be written: {error.strerror}",
            "Run this at the top of a checkout.",
        ) from error
    say(f"wrote {page}")
