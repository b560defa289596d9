"""The balance over time: as bars in a terminal, or as an image by matplotlib."""

import shutil
from collections.abc import Sequence
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

from journeyman.cli.output import Cell, moment, print_table
from journeyman.domain.errors import ConfigurationError, StateError, UsageError

Point = tuple[datetime, int]
ROWS = 20
"""Of a plot in a terminal."""
OTHER_COLUMNS = 34
"""What stands beside a bar."""
LONGEST_BAR = 60
BAR = "\N{FULL BLOCK}"
IMAGES = (".png", ".svg")
INCHES = (9.0, 4.0)


def print_bars(points: Sequence[Point]) -> None:
    """Print the balance at equal distances in time, as bars from 0."""
    shown = sampled(points, ROWS)
    most = max(1, *(credits_ for _, credits_ in shown))
    room = shutil.get_terminal_size().columns - OTHER_COLUMNS
    width = max(10, min(LONGEST_BAR, room))
    rows: list[list[Cell]] = [
        [
            moment(at.isoformat()),
            credits_,
            BAR * round(max(0, credits_) / most * width),
        ]
        for at, credits_ in shown
    ]
    print_table(["at (utc)", "credits", ""], rows)


def sampled(points: Sequence[Point], most: int) -> list[Point]:
    """Return the balance at so many moments, from the first point to the last."""
    begin, end = points[0][0], points[-1][0]
    step = (end - begin) / (most - 1)
    if step <= timedelta():
        return [points[-1]]
    found, number = [], 0
    for count in range(most):
        at = end if count == most - 1 else begin + count * step
        while number + 1 < len(points) and points[number + 1][0] <= at:
            number += 1
        found.append((at, points[number][1]))
    return found


def require_image(out: Path) -> None:
    """Refuse a file that is no image, and an image without the library.

    Raises:
        UsageError: it is neither a PNG nor an SVG.
        ConfigurationError: the extra `plot` is not installed.
    """
    if out.suffix.lower() not in IMAGES:
        raise UsageError(
            f"cannot plot into {out}", "Name a file that ends in .png or .svg."
        )
    if find_spec("matplotlib") is None:
        raise ConfigurationError(
            "an image needs the extra `plot`: matplotlib is not installed",
            "pip install 'journeyman[plot]', or leave --out away for a plot in the "
            "terminal.",
        )


def write_image(points: Sequence[Point], out: Path) -> None:
    """Draw the balance over time as a line with steps.

    Raises:
        StateError: the file cannot be written.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=INCHES, layout="constrained")
    axes = figure.add_subplot()
    times = [at for at, _ in points]
    balances = [credits_ for _, credits_ in points]
    axes.plot(times, balances, drawstyle="steps-post")  # type: ignore[arg-type] # its types leave dates out
    axes.set_ylabel("credits")
    axes.set_xlabel("time (UTC)")
    axes.set_ylim(bottom=min(0, *balances))
    axes.grid(alpha=0.3)
    figure.autofmt_xdate()
    try:
        figure.savefig(out)
    except OSError as error:
        raise StateError(
            f"{out} cannot be written: {error.strerror}",
            "Name a file in a directory that this user can write to.",
        ) from error
