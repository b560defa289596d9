"""Pages of the reference that commands write, for developers of Journeyman."""

from pathlib import Path

from journeyman.cli.output import say
from journeyman.domain.errors import StateError


def write_reference(page: Path, text: str) -> None:
    """Write a page of docs/reference, and say so.

    Raises:
        StateError: this is not the top of a checkout, or the disk refused.
    """
    try:
        page.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StateError(
            f"{page} cannot be written: {error.strerror}",
            "Run this at the top of a checkout.",
        ) from error
    say(f"wrote {page}")
