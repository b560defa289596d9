"""Single values as networks write them: amounts, moments, words, ids."""

import math
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from journeyman.domain import JSON
from journeyman.network.json_text import UnreadableJSONError, parse

MAX_CREDITS = 2**53
"""Beyond it, JSON readers disagree and a database integer may overflow."""
LONGEST_WORD = 200
"""In characters; a longer tag or kind is something else."""
MOST_WORDS = 100
"""Tags of one task; a task with more hides something among them."""
MAX_ID_LENGTH = 500
"""In characters; a longer "id" is something else."""

_EARLIEST_EPOCH = 1_000_000_000
"""In seconds, September 2001: a smaller number is a duration, not a moment."""
_UNITS = ((100_000_000_000, 1), (10**14, 10**3), (10**17, 10**6), (10**20, 10**9))
"""Below the first number, how many of them are a second: so each unit has the years
from 1973 to 5138."""
_MOMENT_KEYS = ("$date", "iso", "date", "timestamp", "seconds", "_seconds")
"""Inside a moment that is an object, as document databases have it."""
_IDENTIFIER_KEYS = ("$oid", "$uuid", "$numberLong")
_WORD_KEYS = ("name", "label", "slug", "tag", "value", "title", "code")
"""Inside a word that is an object."""
_TAG_SEPARATORS = re.compile(r"[,;|]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DIGITS = re.compile(r"\d{10,19}(?:\.\d+)?")
_NUMBER_WITH_UNIT = re.compile(
    r"\s*(?P<number>[+-]?(?:\d{1,3}(?:[,_ ]\d{3})+|\d{1,18})(?:\.\d{1,18})?)"
    r"\s*(?P<unit>[A-Za-z]*)\s*",
)


def as_string(value: JSON) -> str | None:
    """Give a string that is not blank, as it is."""
    return value if isinstance(value, str) and value.strip() else None


def as_word(value: JSON) -> str | None:
    """Give a string in lower case without outer spaces, unless blank or too long."""
    word = value.strip().lower() if isinstance(value, str) else ""
    return word if 0 < len(word) <= LONGEST_WORD else None


def as_label(value: JSON) -> str | None:
    """Give a word, also out of an object that has a name."""
    if isinstance(value, dict):
        value = _inside(value, _WORD_KEYS)
    return as_word(value)


def as_identifier(value: JSON) -> str | None:
    """Give an id as a string, also where it is a whole number."""
    if isinstance(value, dict):
        value = _inside(value, _IDENTIFIER_KEYS)
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
    """Give a moment in UTC: from ISO 8601, from an HTTP date, or from an epoch.

    An epoch counts seconds, or thousandths, millionths or billionths of them. A time
    without a zone is taken as UTC.
    """
    if isinstance(value, dict):
        value = _inside(value, _MOMENT_KEYS)
    if isinstance(value, str):
        if not _EPOCH_DIGITS.fullmatch(value.strip()):
            return _from_text(value.strip())
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _from_epoch(value) if value >= _EARLIEST_EPOCH else None


def as_words(value: JSON) -> tuple[str, ...] | None:
    """Give tags, in lower case and each once.

    From a list of words or of objects with a name, from an object with a true value
    for each, or from a text: with commas, as a JSON list, or as PostgreSQL writes one.
    """
    if isinstance(value, str):
        value = _split(value)
    elif isinstance(value, dict):
        value = [name for name, there in value.items() if there is True]
    if not isinstance(value, list):
        return None
    words = (as_label(item) for item in value)
    return tuple(dict.fromkeys(word for word in words if word))[:MOST_WORDS] or None


def as_object(value: JSON) -> dict[str, JSON] | None:
    """Give an object, also one that was sent as a JSON text."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = parse(value)
        except UnreadableJSONError:
            return None
    return value if isinstance(value, dict) else None


def _split(text: str) -> list[JSON]:
    try:
        listed = parse(text) if text.lstrip().startswith("[") else None
    except UnreadableJSONError:
        listed = None
    if isinstance(listed, list):
        return listed
    plain = text.strip().removeprefix("{").removesuffix("}")
    return [word.strip(' "#') for word in _TAG_SEPARATORS.split(plain)]


def _inside(value: dict[str, JSON], names: Iterable[str]) -> JSON:
    return next((value[name] for name in names if name in value), None)


def _from_epoch(value: float) -> datetime | None:
    try:
        scale = next(scale for below, scale in _UNITS if value < below)
        return _EPOCH + timedelta(seconds=value / scale)
    except (StopIteration, OverflowError):
        return None


def _from_text(text: str) -> datetime | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
            zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return zoned.astimezone(UTC)
        except (ValueError, OverflowError):
            continue
    return None
