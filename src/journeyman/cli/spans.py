"""Spans of time as they are typed: `30m`, `12h`, `7d` or `2w`."""

import re
from datetime import datetime, timedelta

from journeyman.domain.errors import UsageError

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def span_of(text: str, option: str) -> timedelta:
    """Return a span of time; `option` is where it was typed.

    Raises:
        UsageError: it is none.
    """
    found = re.fullmatch(r"(\d{1,4})([mhdw])", text.strip())
    if found is None:
        raise UsageError(
            f"{option} {text!r} is not a span of time",
            "Write for example 30m, 12h, 7d or 2w.",
        )
    return timedelta(**{UNITS[found[2]]: int(found[1])})


def earliest_moment(age: str | None, now: datetime) -> datetime | None:
    """Return the moment that is `--since` ago.

    Raises:
        UsageError: it is not such an age.
    """
    return None if age is None else now - span_of(age, "--since")
