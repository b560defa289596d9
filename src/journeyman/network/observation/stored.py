"""Reading back what this package wrote to the journal, which anything may have hurt."""

from journeyman.domain import JSON


class MalformedRecordError(Exception):
    """What the journal holds is no record of ours; the message says why."""


def object_in(told: JSON) -> dict[str, JSON]:
    """Give an object; an absent one is empty.

    Raises:
        MalformedRecordError: it is something else.
    """
    if told is None:
        return {}
    if not isinstance(told, dict):
        raise MalformedRecordError("an object was stored here")
    return told


def count_in(told: JSON) -> int:
    """Give a count.

    Raises:
        MalformedRecordError: it is none.
    """
    if isinstance(told, bool) or not isinstance(told, int) or told < 0:
        raise MalformedRecordError("a count was stored here")
    return told


def counts_in(told: JSON) -> dict[str, int]:
    """Give counts by name.

    Raises:
        MalformedRecordError: they are none.
    """
    return {name: count_in(count) for name, count in object_in(told).items()}


def text_in(told: JSON) -> str:
    """Give a text; an absent one is empty.

    Raises:
        MalformedRecordError: it is something else.
    """
    if not isinstance(told, str | None):
        raise MalformedRecordError("a text was stored here")
    return told or ""


def number_in(told: JSON) -> float | None:
    """Give a number, or nothing.

    Raises:
        MalformedRecordError: it is something else.
    """
    if told is None:
        return None
    if isinstance(told, bool) or not isinstance(told, int | float):
        raise MalformedRecordError("a number was stored here")
    return float(told)
