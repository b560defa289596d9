"""Dates between time zones, and between ways of counting days.

The sources of the rules are the IANA time zone database, ISO 8601 for weeks, and
the Julian day number of astronomy (day 0 began at noon of 1 January 4713 BC).
"""

from datetime import UTC, date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

from journeyman.sandbox.kinds import kind
from journeyman.sandbox.material import Material

_ZONES = (
    "Africa/Cairo",
    "Africa/Johannesburg",
    "America/Argentina/Buenos_Aires",
    "America/Chicago",
    "America/Los_Angeles",
    "America/New_York",
    "America/St_Johns",
    "Asia/Dubai",
    "Asia/Kathmandu",
    "Asia/Kolkata",
    "Asia/Tokyo",
    "Australia/Adelaide",
    "Australia/Sydney",
    "Europe/Berlin",
    "Europe/London",
    "Pacific/Auckland",
)
_FIRST_INSTANT = datetime(1975, 1, 1, tzinfo=UTC)
_MINUTES_OF_60_YEARS = 60 * 365 * 24 * 60
_FIRST_GREGORIAN = date(1582, 10, 15)
_JULIAN_DAY_OF_ORDINAL_0 = 1_721_425
"""The day before 1 January of the year 1, where `date.toordinal()` begins."""
_JULIAN_DAY_OF_JULIAN_YEAR_1 = 1_721_424
"""1 January of the year 1 in the Julian calendar."""
_DAYS_OF_4_JULIAN_YEARS = 1461


def _make_zone(rng: Random, _material: Material) -> kind.Draft:
    source, target = rng.sample(_ZONES, 2)
    instant = _plain_instant(rng, ZoneInfo(source))
    local = instant.astimezone(ZoneInfo(source)).replace(tzinfo=None)
    return kind.Draft(
        title=f"The time in {target}",
        description=(
            f"Give the instant that is `datetime` in the zone {source}, in the zone "
            f"{target}, as ISO 8601 with its offset, such as "
            "1995-07-04T19:30:00+09:00. Answer with a string."
        ),
        input={"datetime": local.isoformat(), "from": source, "to": target},
        reward=3,
        answer=instant.astimezone(ZoneInfo(target)).isoformat(),
    )


def _plain_instant(rng: Random, zone: ZoneInfo) -> datetime:
    """Draw an instant whose local time names it alone, not also an hour later."""
    while True:
        minutes = rng.randint(0, _MINUTES_OF_60_YEARS)
        local = (_FIRST_INSTANT + timedelta(minutes=minutes)).astimezone(zone)
        if local.replace(fold=0).utcoffset() == local.replace(fold=1).utcoffset():
            return local.astimezone(UTC)


def _check_zone(task_input: kind.Fields, answer: kind.Answer, result: object) -> None:
    text = kind.read_string(result)
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise kind.WrongAnswerError(f"{text[:40]!r} is not an ISO 8601 time") from None
    if given.tzinfo is None:
        raise kind.WrongAnswerError("the offset is missing")
    right = datetime.fromisoformat(answer)
    if given != right:
        raise kind.WrongAnswerError(f"{text[:40]!r} is another instant")
    if given.utcoffset() != right.utcoffset():
        raise kind.WrongAnswerError(f"the offset is not that of {task_input['to']}")


def _make_calendar(rng: Random, _material: Material) -> kind.Draft:
    first, last = _FIRST_GREGORIAN.toordinal(), date(2199, 12, 31).toordinal()
    day = date.fromordinal(rng.randint(first, last))
    target = rng.choice(sorted(_CALENDARS))
    wanted, convert = _CALENDARS[target]
    return kind.Draft(
        title=f"A date as {target.replace('_', ' ')}",
        description=(
            f"Give the Gregorian date `date` as {wanted}. Answer with a string."
        ),
        input={"date": day.isoformat(), "to": target},
        reward=3,
        answer=convert(day),
    )


def _julian_day(day: date) -> int:
    return day.toordinal() + _JULIAN_DAY_OF_ORDINAL_0


def _as_julian_day(day: date) -> str:
    return str(_julian_day(day))


def _as_julian(day: date) -> str:
    since = _julian_day(day) - _JULIAN_DAY_OF_JULIAN_YEAR_1
    cycles, rest = divmod(since, _DAYS_OF_4_JULIAN_YEARS)
    # The fourth year of each cycle is the leap year, so its last day is day 1460.
    years = min(rest // 365, 3)
    leap = years == 3  # noqa: PLR2004 - the fourth, counted from zero
    month, left = 1, rest - years * 365
    for length in (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31):
        if left < length:
            break
        month, left = month + 1, left - length
    return f"{cycles * 4 + years + 1:04d}-{month:02d}-{left + 1:02d}"


def _as_iso_week(day: date) -> str:
    # A week belongs to the year of its Thursday (ISO 8601).
    thursday = day + timedelta(days=3 - day.weekday())
    week = (thursday.timetuple().tm_yday - 1) // 7 + 1
    return f"{thursday.year:04d}-W{week:02d}-{day.weekday() + 1}"


_CALENDARS = {
    "iso_week": ("its ISO week date, in the form YYYY-Www-D", _as_iso_week),
    "julian": ("a date of the Julian calendar, as YYYY-MM-DD", _as_julian),
    "julian_day": ("the Julian day number at noon of that day", _as_julian_day),
}


def _check_calendar(
    task_input: kind.Fields, answer: kind.Answer, result: object
) -> None:
    value = kind.read_string(result)
    if value != answer:
        raise kind.WrongAnswerError(
            f"{value[:40]!r} is not the {task_input['to']} date"
        )


KINDS = (
    kind.Kind("date_zone", ("dates", "zones"), _make_zone, _check_zone),
    kind.Kind("date_calendar", ("dates", "calendars"), _make_calendar, _check_calendar),
)
