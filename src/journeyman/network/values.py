"""Single values as networks write them: amounts, moments, words, ids."""

import math
import re
from datetime import UTC, datetime, timedelta

from journeyman.domain import JSON

MAX_CREDITS = 2**53
"""Beyond it, JSON readers disagree and a database integer may overflow."""
MAX_ID_LENGTH = 500
"""In characters; a longer "id" is something else."""

_EARLIEST_EPOCH = 1_000_000_000
"""In seconds, September 2001: a smaller number is a duration, not a moment."""
_MILLISECONDS_FROM = 100_000_000_000
"""As seconds, the year 5138: from here on a number counts milliseconds."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DIGITS = re.compile(r"\d{10,13}(?:\.\d+)?")
_NUMBER_WITH_UNIT = re.compile(
    r"\s*(?P<number>[+-]?(?:\d{1,3}(?:[,_ ]\d{3})+|\d{1,18})(?:\.\d{1,18})?)"
    r"\s*(?P<unit>[A-Za-z]*)\s*",
)


def as_string(value: JSON) -> str | None:
    """Give a string that is not blank, as it is."""
    return value if isinstance(value, str) and value.strip() else None


def as_word(value: JSON) -> str | None:
    """Give a string in lower case without outer spaces, unless blank."""
    return value.strip().lower() if isinstance(value, str) and value.strip() else None


def as_identifier(value: JSON) -> str | None:
    """Give an id as a string, also where it is a whole number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, float):
        if not value.is_integer():
            return None
        value = int(value)
    name = str(value).strip()
    usable = 0 < len(name) <= MAX_ID_LENGTH and name.isprintable()
    return name if usable else None


def as_amount(value: JSON, units: frozenset[str]) -> int | None:
    """Give credits as a whole number, rounded down, from a number or a string.

    `units` are the words that may follow the number in a string.
    """
    if isinstance(value, str):
        match = _NUMBER_WITH_UNIT.fullmatch(value)
        if not match or match["unit"].lower() not in units:
            return None
        value = float(re.sub(r"[,_ ]", "", match["number"]))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    amount = math.floor(value)
    return amount if abs(amount) <= MAX_CREDITS else None


def as_moment(value: JSON) -> datetime | None:
    """Give a moment in UTC from ISO 8601, or from epoch seconds or milliseconds.

    A time without a zone is taken as UTC.
    """
    if isinstance(value, str):
        if not _EPOCH_DIGITS.fullmatch(value.strip()):
            return _from_iso(value.strip())
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value < _EARLIEST_EPOCH:
        return None
    try:
        seconds = value / 1000 if value >= _MILLISECONDS_FROM else value
        return _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return None


def as_words(value: JSON) -> tuple[str, ...] | None:
    """Give tags, in lower case and each once, from a list or a comma string."""
    if isinstance(value, str):
        value = [*value.split(",")]
    if not isinstance(value, list):
        return None
    named = (item.get("name") if isinstance(item, dict) else item for item in value)
    words = (as_word(item) for item in named)
    return tuple(dict.fromkeys(word for word in words if word)) or None


def _from_iso(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return zoned.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
