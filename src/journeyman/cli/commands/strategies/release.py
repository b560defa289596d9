"""`journeyman strategies release`: out of quarantine, on the owner's word."""

from typing import Annotated, Any

import typer

from journeyman.cli.output import answer, neutral, say
from journeyman.cli.session import Session, command
from journeyman.domain.errors import NotRunningError


@command("release", example="journeyman strategies release count_words")
def release_strategy(
    session: Session,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A strategy in quarantine.")
    ],
) -> None:
    """Give a strategy work again that made errors, or that could not work.

    For when the cause lay outside of its file and its settings: a change of either
    releases it by itself.
    """
    with session.daemon() as daemon:
        try:
            done: Any = daemon.release(name)
        except NotRunningError:
            done = _release_in_journal(session, name)
    answer(
        as_json=session.as_json,
        data=done,
        show=lambda: say(f"{neutral(name)} is given work again."),
    )


def _release_in_journal(session: Session, name: str) -> dict[str, Any]:
    from journeyman.daemon.commands import release_in_journal
    from journeyman.daemon.environment import SystemClock
    from journeyman.journal.directory import DirectoryLock
    from journeyman.journal.journal import Journal

    directory = session.directory()
    if not directory.journal.exists():
        raise NotRunningError(
            f"no agent has ever run in the data directory {directory.path}",
            "Start one with `journeyman run`, or name another --data-dir.",
        )
    with (
        DirectoryLock(directory),
        Journal(directory.journal, SystemClock().now) as journal,
    ):
        return release_in_journal(journal, name)
