"""Dates between calendars: choices by `match`, and a formula with its source."""

import datetime as dt

from journeyman import Decline, Example, strategy

NOON_OF_DAY_ZERO = 1_721_425  # the Julian day number before 0001-01-01 (Gregorian)


def julian(day_number: int) -> str:
    """Return the date in the Julian calendar (Richards' algorithm).

    Source: Explanatory Supplement to the Astronomical Almanac, 3rd edition, 15.11.
    """
    e = 4 * (day_number + 1401) + 3
    h = 5 * (e % 1461 // 4) + 2
    day, month = h % 153 // 5 + 1, (h // 153 + 2) % 12 + 1
    year = e // 1461 - 4716 + (14 - month) // 12
    return f"{year:04}-{month:02}-{day:02}"


@strategy(
    version="1.0.0",
    kinds={"date_calendar"},
    tags={"dates", "calendars"},
    inputs={"date": str, "to": str},
    examples=[
        Example(
            {"kind": "date_calendar", "input": {"date": given, "to": calendar}},
            expect=expected,
        )
        for given, calendar, expected in [
            ("1917-11-07", "julian", "1917-10-25"),
            ("2021-01-03", "iso_week", "2020-W53-7"),
            ("2000-01-01", "julian_day", "2451545"),
            ("2023-02-29", "julian", Decline),
            ("2023-02-28", "mayan", Decline),
        ]
    ],
)
def date_calendar(date: str, to: str) -> str:
    """Convert a Gregorian date to another calendar."""
    try:
        day = dt.date.fromisoformat(date)
    except ValueError as error:
        raise Decline("not an ISO 8601 date", date=date[:50]) from error
    match to:
        case "julian":
            return julian(day.toordinal() + NOON_OF_DAY_ZERO)
        case "julian_day":
            return str(day.toordinal() + NOON_OF_DAY_ZERO)
        case "iso_week":
            year, week, weekday = day.isocalendar()
            return f"{year:04}-W{week:02}-{weekday}"
    raise Decline("unknown calendar", to=to[:50])
