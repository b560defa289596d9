"""What commands print for people: tables, labelled fields, counts, progress bars.

On a terminal everything fits its width, and an id, a path or an address is never
broken. Where the output is piped it is complete.
"""

import csv
import re
import shutil
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import zip_longest
from pathlib import Path

from journeyman.domain.errors import StateError
from journeyman.domain.text import escape


class OutputClosedError(Exception):
    """The reader of our output has gone; Typer would catch a BrokenPipeError."""


def moment(at: str) -> str:
    """Return a time in UTC as people read it: `2026-11-22 20:07:37`."""
    return at[:19].replace("T", " ")


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
NARROWEST = 12
"""In columns: a text that would have to be shorter is dropped instead."""
_WORD = re.compile(r"\s*\S+")
_NUMBER = re.compile(r"[-+]?\d*(\.\d+)?")


def terminal_width() -> int | None:
    """Return the columns of the terminal; None where the output is piped."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_fields(rows: Mapping[str, str]) -> None:
    """Print each label with its text; leave out empty texts."""
    shown = {label: text for label, text in rows.items() if text}
    width = max(map(len, shown), default=0)
    for label, text in shown.items():
        indent = width + len(GAP)
        lines = [part for line in text.splitlines() for part in wrapped(line, indent)]
        for number, line in enumerate(lines):
            print(f"{'' if number else label:<{width}}{GAP}{line}")


def print_text(text: str) -> None:
    """Print sentences; on a terminal, lines break between words."""
    for line in text.splitlines():
        print("\n".join(wrapped(line)))


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    texts: Sequence[str] = (),
    titles: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> None:
    """Print rows under their headings, with numbers aligned to the right.

    On a terminal that is too narrow for them, columns are left out, and named below the
    table. What is piped is complete.

    Args:
        columns: The headings.
        rows: The cells, in the order of the headings.
        texts: Columns of words, which may go on in further lines.
        titles: Columns of words, which may be cut short. All others hold what is
            copied, such as an id, and are neither broken nor cut.
        drop: The columns that can be left out, the first of them first.
    """
    width = terminal_width()
    lines = table_lines(
        columns, rows, texts=texts, titles=titles, drop=drop, width=width
    )
    print("\n".join(lines))


def table_lines(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    texts: Sequence[str] = (),
    titles: Sequence[str] = (),
    drop: Sequence[str] = (),
    width: int | None = None,
) -> list[str]:
    """Return the lines of a table that fits into a width; None means any."""
    cells = [[escape(row[index]) for row in rows] for index in range(len(columns))]
    by_name = dict(zip(columns, cells, strict=True))
    flexible = {*texts, *titles}
    kept = _keep(by_name, flexible, drop, width)
    widths = _widths({name: by_name[name] for name in kept}, flexible, width)
    right = {name for name in kept if _is_numeric(by_name[name])}

    def line(cells: Sequence[str]) -> Iterator[str]:
        parts = [
            [cut(cell, widths[name])] if name in titles else _wrap(cell, widths[name])
            for name, cell in zip(kept, cells, strict=True)
        ]
        for part in zip_longest(*parts, fillvalue=""):
            aligned = (
                _pad(cell, widths[name], is_left=name in right)
                for name, cell in zip(kept, part, strict=True)
            )
            yield GAP.join(aligned).rstrip()

    lines = [*line([name.upper() for name in kept])]
    for row in zip(*(by_name[name] for name in kept), strict=True):
        lines += line(row)
    gone = [name for name in columns if name not in kept and any(by_name[name])]
    if gone:
        lines += ["", *_wrap(f"(no room for: {', '.join(gone)})", width)]
    return lines


def _keep(
    by_name: Mapping[str, Sequence[str]],
    flexible: Container[str],
    drop: Sequence[str],
    width: int | None,
) -> list[str]:
    """Return the names of the columns for which there is room, empty ones aside."""
    if width is None:
        return list(by_name)
    kept = [name for name, cells in by_name.items() if name not in drop or any(cells)]
    droppable = [name for name in drop if name in kept]
    while droppable:
        least = [
            min(NARROWEST, natural) if name in flexible else natural
            for name in kept
            if (natural := _natural(name, by_name[name]))
        ]
        if sum(least) + len(GAP) * (len(kept) - 1) <= width:
            break
        kept.remove(droppable.pop(0))
    return kept


def _widths(
    columns: Mapping[str, Sequence[str]], flexible: Container[str], width: int | None
) -> dict[str, int]:
    """Return the width of each column; flexible ones share what the others leave."""
    natural = {name: _natural(name, cells) for name, cells in columns.items()}
    if width is None:
        return natural
    words = sorted(
        (name for name in columns if name in flexible), key=natural.__getitem__
    )
    room = width - len(GAP) * (len(columns) - 1)
    room -= sum(natural[name] for name in columns if name not in flexible)
    for number, name in enumerate(words):
        share = max(NARROWEST, room // (len(words) - number))
        natural[name] = min(natural[name], share)
        room -= natural[name]
    return natural


def _natural(name: str, cells: Sequence[str]) -> int:
    return max(map(_columns_of, (name, *cells)))


def _is_numeric(cells: Sequence[str]) -> bool:
    """Return whether a column holds numbers, and dashes where one is not known."""
    is_any = any(any(map(str.isdigit, cell)) for cell in cells)
    return is_any and all(cell == "-" or _NUMBER.fullmatch(cell) for cell in cells)


def _pad(text: str, width: int, *, is_left: bool) -> str:
    padding = " " * (width - _columns_of(text))
    return f"{padding}{text}" if is_left else f"{text}{padding}"


def cut(text: str, width: int) -> str:
    """Return a text of at most so many columns; a cut one ends in an ellipsis."""
    if _columns_of(text) <= width:
        return text
    from rich.cells import set_cell_size

    return f"{set_cell_size(text, width - 1).rstrip()}…"


def wrapped(text: str, indent: int = 0) -> list[str]:
    """Return a text in lines that fit a terminal beside an indent; piped, as it is."""
    terminal = terminal_width()
    return _wrap(text, terminal - indent if terminal else None)


def _wrap(text: str, width: int | None) -> list[str]:
    """Return a text in lines that break between words, never inside one."""
    shown = escape(text)
    if width is None or _columns_of(shown) <= width:
        return [shown]
    lines, line = [], ""
    for word in _WORD.findall(shown):
        if line and _columns_of(line + word) > width:
            lines.append(line)
            line = word.lstrip()
        else:
            line += word
    return [*lines, line]


def _columns_of(text: str) -> int:
    """Return how many columns of a terminal a text takes: letters may take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows as CSV under their headings; what is not known (None) is empty.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_csv_cell(cell) for cell in row] for row in rows)


_FORMULA = ("=", "+", "-", "@")
"""A spreadsheet takes a cell that begins with one of these for a formula."""


def _csv_cell(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    text = escape(cell)
    return f"'{text}" if text.startswith(_FORMULA) else text


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
