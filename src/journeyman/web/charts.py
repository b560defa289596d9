"""Charts as SVG: where each line and bar stands. The templates draw them.

A chart is stretched to the width that there is, so its words stand beside it, as HTML.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Final

from journeyman.journal.ledger import DayEarnings

WIDTH: Final = 1000
HEIGHT: Final = 200
"""In units of the drawing."""
STEPS: Final = (1, 2, 5)
"""An axis has a line at each multiple of one of these, or of ten times as much ..."""
MOST_LINES: Final = 5
MOST_SERIES: Final = 5
"""Strategies with a colour of their own; the others share one."""
OTHERS: Final = "others"
BAR: Final = 0.72
"""Of the width of a day."""


def axis(low: int, high: int) -> list[int]:
    """Return round numbers at equal distances, from below `low` to above `high`."""
    scale = 1
    while True:
        for step in (scale * one for one in STEPS):
            first, last = low // step * step, -(-high // step) * step
            last = max(last, first + step)
            if (last - first) // step < MOST_LINES:
                return list(range(first, last + step, step))
        scale *= 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """A value over time, as a line with steps."""

    line: str
    """The `d` of a path."""
    area: str
    """The same, closed along the lower edge."""
    marks: list[int]
    """The numbers beside it, from below."""
    times: list[datetime]
    """Of its left edge, middle and right edge."""


def curve(points: Sequence[tuple[datetime, int]], now: datetime) -> Curve | None:
    """Return a line through the points, on to now; None where nothing moved yet."""
    if len(points) < 2:  # noqa: PLR2004 - a line needs two
        return None
    begin, end = points[0][0], max(now, points[-1][0])
    span = max((end - begin).total_seconds(), 1.0)
    values = [value for _, value in points]
    marks = axis(min(values), max(values))

    def x(at: datetime) -> str:
        return f"{max(0.0, (at - begin).total_seconds()) / span * WIDTH:.1f}"

    def y(value: int) -> str:
        return f"{HEIGHT - (value - marks[0]) / (marks[-1] - marks[0]) * HEIGHT:.1f}"

    steps = [f"M{x(begin)} {y(values[0])}"]
    for (_, before), (at, value) in pairwise(points):
        steps.append(f"H{x(at)}V{y(value)}" if value != before else f"H{x(at)}")
    line = "".join([*steps, f"H{WIDTH}"])
    return Curve(
        line=line,
        area=f"{line}V{HEIGHT}H0Z",
        marks=marks,
        times=[begin, begin + (end - begin) / 2, end],
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """What one strategy earned on one day."""

    x: float
    y: float
    width: float
    height: float
    series: int
    """Which colour, from 1."""
    label: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """Credits a day, a column for each day, by strategy."""

    blocks: list[Block]
    days: list[date]
    marks: list[int]
    totals: list[tuple[str, int, int]]
    """Each strategy, its credits in all of the time, and its colour; most first."""


def columns(earned: Sequence[DayEarnings], today: date, days: int) -> Columns:
    """Return a column for each of the last days, also for those without a credit."""
    shown = [today - timedelta(days=back) for back in reversed(range(days))]
    by_strategy: Counter[str] = Counter()
    for one in earned:
        by_strategy[one.strategy or OTHERS] += one.earned
    ranked = by_strategy.most_common()
    colours = {
        name: min(place, MOST_SERIES + 1) for place, (name, _) in enumerate(ranked, 1)
    }
    by_day: dict[str, Counter[str]] = {f"{day:%Y-%m-%d}": Counter() for day in shown}
    for one in earned:
        if one.day in by_day:
            by_day[one.day][one.strategy or OTHERS] += one.earned
    marks = axis(0, max([1, *(part.total() for part in by_day.values())]))
    blocks = [
        block
        for place, (day, parts) in enumerate(by_day.items())
        for block in _column(place, day, parts, colours, marks[-1], WIDTH / days)
    ]
    totals = [(name, credits_, colours[name]) for name, credits_ in ranked]
    return Columns(blocks=blocks, days=shown, marks=marks, totals=totals)


def _column(
    place: int,
    day: str,
    parts: Counter[str],
    colours: dict[str, int],
    highest: int,
    width: float,
) -> list[Block]:
    blocks: list[Block] = []
    top = float(HEIGHT)
    for name in sorted(parts, key=lambda one: colours[one]):
        height = parts[name] / highest * HEIGHT
        top -= height
        blocks.append(
            Block(
                x=round((place + (1 - BAR) / 2) * width, 1),
                y=round(top, 1),
                width=round(BAR * width, 1),
                height=round(height, 1),
                series=colours[name],
                label=f"{day}: {name} earned {parts[name]}",
            )
        )
    return blocks
