"""What commands print for people: tables, labelled fields, counts, progress bars.

On a terminal tables are drawn by rich. Where the output is piped they are plain
columns, complete and without colours.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

from journeyman.domain.errors import StateError
from journeyman.domain.text import escape


class OutputClosedError(Exception):
    """The reader of our output has gone; Typer would catch a BrokenPipeError."""


def duration(seconds: float) -> str:
    """Return `3 s`, `5 min` or `4 h 51 min`."""
    minutes = int(seconds) // 60
    if minutes < 1:
        return f"{int(seconds)} s"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{minutes} min"


def counted(pairs: Iterable[tuple[str, int]]) -> str:
    """Return `completed 20 · lost 1`."""
    return " · ".join(f"{escape(name)} {count}" for name, count in pairs) or "none"


def plural(count: int, noun: str) -> str:
    """Return `1 task` or `2 tasks`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def did_you_mean(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return `Did you mean NAME? ` for the known name most like a word, or nothing."""
    near = get_close_matches(word, known, n=1, cutoff=cutoff)
    return f"Did you mean {near[0]}? " if near else ""


TASK_COUNTS = ("completed", "at work", "waiting", "unpaid")
_UNPAID = ("lost", "declined", "failed", "rejected")


def task_counts(states: Mapping[str, int]) -> tuple[int, int, int, int]:
    """Sum up a strategy's tasks by state into `TASK_COUNTS`, without skipped ones."""
    completed, waiting = states.get("completed", 0), states.get("wanted", 0)
    unpaid = sum(states.get(name, 0) for name in _UNPAID)
    skipped = states.get("skipped", 0)
    at_work = sum(states.values()) - completed - waiting - unpaid - skipped
    return completed, at_work, waiting, unpaid


Cell = str | int
GAP = "  "


def print_fields(rows: Mapping[str, str]) -> None:
    """Print each label with its text; leave out empty texts."""
    shown = {label: text for label, text in rows.items() if text}
    width = max(map(len, shown), default=0)
    for label, text in shown.items():
        first, *more = text.splitlines()
        print(f"{label:<{width}}{GAP}{escape(first)}")
        for line in more:
            print(f"{'':<{width}}{GAP}{escape(line)}")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Print rows under their headings, with numbers aligned to the right."""
    if sys.stdout.isatty():
        _draw(columns, rows)
    else:
        print("\n".join(plain_table(columns, rows)))


def plain_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
) -> list[str]:
    """Return the lines of a table in plain text."""
    texts = [[escape(cell) for cell in row] for row in rows]
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
        # Text, not markup: a task's title may contain square brackets.
        drawn.add_row(*(Text(escape(cell), overflow="fold") for cell in row))
    Console(highlight=False).print(drawn)


ReportProgress = Callable[[float], None]
"""Takes how much is done by now."""


@contextmanager
def progress(title: str, total: int, *, shown: bool) -> Iterator[ReportProgress]:
    """Draw a progress bar on stderr until the end of the block.

    Draw none unless stderr is a terminal and `shown` is true, which it is not for a
    command that prints JSON.
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
    """Write a page of docs/reference, and print its name.

    Raises:
        StateError: this is not the top of a checkout, or the file cannot be written.
    """
    try:
        page.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StateError(
            f"{page} cannot be written: {error.strerror}",
            "Run this command at the top of a checkout.",
        ) from error
    print(f"wrote {page}")
