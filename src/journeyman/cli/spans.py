"""Times as they are typed: `7d` ago, or `2026-11-20`, or `2026-11-20T18:30`."""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated

import typer

from journeyman.domain.errors import UsageError

SinceOption = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Only since: 12h or 7d ago, or a date."),
]
UntilOption = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Only before: 12h or 7d ago, or a date."),
]
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"(\d{1,4})([mhdw])")
_EXAMPLES = "Write for example 30m, 12h, 7d or 2w"


def span_of(text: str, option: str) -> timedelta:
    """Return a span of time; `option` is where it was typed.

    Raises:
        UsageError: it is none.
    """
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{option} {text!r} is not a span of time", f"{_EXAMPLES}.")
    return timedelta(**{UNITS[found[2]]: int(found[1])})


def time_of(
    text: str | None, now: datetime, zone: tzinfo, option: str = "--since"
) -> datetime | None:
    """Return the time, in UTC, that an option names: so long ago, or a date.

    A date is its first moment in the owner's zone, of which a time without an offset
    is one, too.

    Raises:
        UsageError: it is neither.
    """
    if text is None:
        return None
    if _SPAN.fullmatch(text.strip()):
        return now - span_of(text, option)
    try:
        at = datetime.fromisoformat(text.strip())
        return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{option} {text!r} is neither a span of time nor a date",
            f"{_EXAMPLES}, a date such as 2026-11-20, or 2026-11-20T18:30 "
            "(in budget.time_zone).",
        ) from None


def period_of(
    since: str | None, until: str | None, now: datetime, zone: tzinfo
) -> tuple[datetime | None, datetime | None]:
    """Return the times that `--since` and `--until` name.

    Raises:
        UsageError: one of them is no time, or there is nothing between them.
    """
    begin, end = time_of(since, now, zone), time_of(until, now, zone, "--until")
    if begin and end and begin >= end:
        raise UsageError(
            f"--since {since!r} is not before --until {until!r}",
            "Nothing can have happened between them.",
        )
    return begin, end


def period_as_json(
    since: datetime | None, until: datetime | None
) -> dict[str, str | None]:
    """Return a period for `--json`; None is the beginning, or now."""
    ends = {"since": since, "until": until}
    return {
        name: at.isoformat(timespec="seconds") if at else None
        for name, at in ends.items()
    }
