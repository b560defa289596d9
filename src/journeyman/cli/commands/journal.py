"""`journeyman journal`: check the agent's journal, copy it, make it smaller."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from journeyman.cli.output import print_fields
from journeyman.cli.session import Session, command
from journeyman.domain.text import escape
from journeyman.journal.maintenance import back_up, compact, faults

BROKEN = 1


@command("check", example="journeyman journal check --data-dir /data")
def check_journal(session: Session) -> int:
    """Check the file, the ledger's chain and the totals.

    It reads everything; a daemon may run meanwhile. The exit code is 1 if anything is
    broken.
    """
    with session.journal() as journal:
        found = faults(journal)

    def show() -> None:
        for fault in found:
            print(f"BROKEN: {escape(fault)}")
        if found:
            print("Stop the daemon, keep these files, and restore a backup.")
        else:
            print("The file, the ledger's chain and the totals are intact.")

    data = {"file": str(session.directory().journal), "faults": found}
    session.answer(data, show)
    return BROKEN if found else 0


@command("backup", example="journeyman journal backup ~/journal-backup.db")
def back_up_journal(
    session: Session,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.")],
) -> None:
    """Copy the journal to a new file, even while a daemon runs.

    The token is not in it: see `journeyman identity export`.
    """
    with session.journal() as journal:
        size = back_up(journal, file)
    data = {"file": str(file), "bytes": size}
    fields = {"backup": str(file), "bytes": str(size)}
    session.answer(data, lambda: print_fields(fields))


@command("compact", example="journeyman journal compact --data-dir /data")
def compact_journal(session: Session) -> None:
    """Free unused space in the journal; no daemon may run.

    For a moment it needs room for a second copy.
    """
    with session.writable_journal() as journal:
        sizes = asdict(compact(journal))
    fields = {when: f"{size} bytes" for when, size in sizes.items()}
    session.answer(sizes, lambda: print_fields(fields))
