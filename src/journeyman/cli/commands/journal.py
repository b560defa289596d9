"""`journeyman journal`: check the agent's memory, copy it, make it smaller."""

from pathlib import Path
from typing import Annotated

import typer

from journeyman.cli.output import answer, facts, neutral, say
from journeyman.cli.session import Session, command
from journeyman.domain.errors import NotRunningError

BROKEN = 1


@command("check", example="journeyman journal check --data-dir /data")
def check_journal(session: Session) -> int:
    """Check the file, the ledger's chain, and the totals; exit 1 if one is broken.

    It reads everything, also while a daemon runs.
    """
    from journeyman.journal.upkeep import faults

    with session.journal() as journal:
        found = faults(journal)
    data = {"file": str(session.directory().journal), "faults": found}

    def show() -> None:
        for fault in found:
            say(f"BROKEN: {neutral(fault)}")
        if found:
            say("Stop the daemon, keep these files, and restore a backup.")
        else:
            say("The file, the ledger's chain and the totals are whole.")

    answer(as_json=session.as_json, data=data, show=show)
    return BROKEN if found else 0


@command("backup", example="journeyman journal backup ~/journal-backup.db")
def back_up_journal(
    session: Session,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.")],
) -> None:
    """Copy the journal to a new file, also while a daemon runs.

    The token is not in it: see `journeyman identity export`.
    """
    from journeyman.journal.upkeep import back_up

    with session.journal() as journal:
        size = back_up(journal, file)
    answer(
        as_json=session.as_json,
        data={"file": str(file), "bytes": size},
        show=lambda: facts({"backup": str(file), "bytes": str(size)}),
    )


@command("compact", example="journeyman journal compact --data-dir /data")
def compact_journal(session: Session) -> None:
    """Give back the room that the journal no longer needs; no daemon may run.

    For a moment it needs room for a second copy.
    """
    from journeyman.daemon.environment import SystemClock
    from journeyman.journal.directory import DirectoryLock
    from journeyman.journal.journal import Journal
    from journeyman.journal.upkeep import compact

    directory = session.directory()
    if not directory.journal.exists():
        raise NotRunningError(
            f"there is no journal in the data directory {directory.path}",
            "Name another --data-dir.",
        )
    with (
        DirectoryLock(directory),
        Journal(directory.journal, SystemClock().now) as journal,
    ):
        sizes = compact(journal)
    answer(
        as_json=session.as_json,
        data={"before": sizes.before, "after": sizes.after},
        show=lambda: facts(
            {"before": f"{sizes.before} bytes", "after": f"{sizes.after} bytes"},
        ),
    )
