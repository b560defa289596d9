"""What `pause`, `resume`, `strategies disable` and `enable` share."""

import getpass
import os
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from journeyman.cli.session import Session
from journeyman.cli.spans import span_of
from journeyman.control.verbs import Asked, Verb
from journeyman.domain.errors import NotRunningError
from journeyman.domain.tasks import JSON
from journeyman.journal.journal import Journal

if TYPE_CHECKING:
    from journeyman.daemon.environment import Environment

ReasonOption = Annotated[
    str, typer.Option(metavar="TEXT", help="Why; it is shown wherever this shows.")
]
ForOption = Annotated[
    str | None,
    typer.Option("--for", metavar="SPAN", help="It ends by itself: 30m, 2h, 7d."),
]


def hours_of(span: str | None) -> float | None:
    """Return a span as hours; None lasts until it is taken back.

    Raises:
        UsageError: it is no span.
    """
    return None if span is None else span_of(span, "--for") / timedelta(hours=1)


def ask(
    session: Session,
    verb: Verb[Asked],
    request: Asked,
    write: Callable[[Journal, "Environment", Asked], dict[str, JSON]],
) -> dict[str, JSON]:
    """Ask the daemon, or write it down for the next one where none runs.

    Raises:
        JourneymanError: it is refused, or nothing can be written.
    """
    try:
        return session.daemon().call(verb, request)
    except NotRunningError:
        with session.writable_journal() as journal:
            # Only here, since it imports the HTTP client.
            from journeyman.daemon.environment import build_environment

            return write(journal, build_environment(), request)


def who() -> str:
    """Return the name of the user who gives a command."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # A container may run as a number without a name.
        return f"user {os.getuid()}"
