"""Words that come from author code, made fit for a log, a terminal and a database."""

from typing import Final

LONGEST: Final = 500
"""Characters; a message that quotes a whole task helps nobody."""


def printable(text: object) -> str:
    """Give a text of fair length that has a UTF-8 form.

    A task may hold half of a surrogate pair (JSON's escapes can say it), and messages
    quote tasks; SQLite and most terminals refuse it.
    """
    try:
        words = str(text)[:LONGEST]
    except Exception:  # noqa: BLE001 - an author's object may be broken itself
        return "(cannot be shown)"
    return words.encode(errors="backslashreplace").decode()


def describe(error: BaseException) -> str:
    """Give `ValueError: the message`, whatever the exception's own `__str__` does."""
    message = printable(error)
    kind = type(error).__name__
    return f"{kind}: {message}" if message else kind
