"""`journeyman journal`: check the journal, copy, restore, compact it; its archives."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.output import print_fields, print_table
from journeyman.cli.owner_pauses import ask
from journeyman.cli.session import Session, command
from journeyman.control.verbs import ACKNOWLEDGE_JOURNAL
from journeyman.daemon.owner_tasks import find_task
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import JSON, TaskId
from journeyman.domain.text import escape
from journeyman.economy.mark import acknowledge_older
from journeyman.journal.archives import archived, archives_in
from journeyman.journal.journal import Journal
from journeyman.journal.ledger_archives import archives_of
from journeyman.journal.maintenance import back_up, compact, faults

if TYPE_CHECKING:
    from journeyman.daemon.environment import Environment

BROKEN = 1


@command("check", example="journeyman journal check --data-dir /data")
def check_journal(session: Session) -> int:
    """Check the file, the ledger's chain and the totals.

    It reads everything; a daemon may run meanwhile. The exit code is 1 if anything is
    broken.
    """
    with session.journal() as journal:
        found = faults(journal, session.directory().archives)

    def show() -> None:
        for fault in found:
            print(f"BROKEN: {escape(fault)}")
        if found:
            print("Stop the daemon, then: journeyman journal restore")
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

    The token is not in it: see `journeyman identity export`. Nor are archives: those of
    the ledger are named, to be copied too.
    """
    with session.journal() as journal:
        size = back_up(journal, file)
        folder = session.directory().archives
        beside = [str(folder / one.name) for one in archives_of(journal)]
    data = {"file": str(file), "bytes": size, "not_in_it": beside}
    fields = {
        "backup": str(file),
        "bytes": str(size),
        "not in it": "\n".join(beside),
    }
    session.answer(data, lambda: print_fields(fields))


@command("restore", example="journeyman journal restore --data-dir /data")
def restore(
    session: Session,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A backup; by default the newest of ours."),
    ] = None,
) -> None:
    """Replace the journal by a backup; no daemon may run.

    The newest backup that is whole is taken, of those that the daemon makes. The
    journal that was there is kept beside it. What was spent since the backup still
    counts against the limits. The ledger's archives are no part of a backup: the folder
    `archives` of the same data directory belongs beside the restored file.
    """
    # Imported here, since others read no settings.
    from journeyman.daemon.missing_journal import restore_journal

    done = restore_journal(session.directory(), file, SystemClock().now)
    data = {**asdict(done.installed), "damaged": list(done.damaged)}

    def show() -> None:
        print_fields(
            {
                "restored": str(done.installed.source),
                "old one": str(done.installed.kept_as or "was gone"),
                "not usable": "\n".join(done.damaged),
            }
        )
        print("The next start says what the backup does not know, and counts it.")

    session.answer(data, show)


@command("acknowledge", example="journeyman journal acknowledge")
def acknowledge(session: Session) -> None:
    """Say that you know of a restored backup.

    For after you have compared the ledger with what the network shows: `status` and
    `doctor` tell of the older journal no more. What was spent
    since the backup still counts against the limits.
    """

    def write(
        journal: Journal, environment: "Environment", _request: None
    ) -> dict[str, JSON]:
        acknowledge_older(journal, environment.log)
        return {"older_journal_found_at": None}

    answer = ask(session, ACKNOWLEDGE_JOURNAL, None, write)
    session.answer(answer, lambda: print("Noted: status and doctor tell it no more."))


@command("begin", example="journeyman journal begin --balance 120")
def begin(
    session: Session,
    *,
    balance: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="The credits that the network shows."),
    ] = 0,
) -> None:
    """Begin a new journal for an agent that has lost its own.

    Only where there is no backup: tasks in flight are forgotten. No daemon may run.
    What is known to be spent today and this month counts against the limits;
    where nothing is known, they count as used up.
    """
    # As above.
    from journeyman.daemon.missing_journal import begin_journal

    settings = session.load().settings
    done = begin_journal(session.directory(), settings, balance, SystemClock().now)
    journal = session.directory().journal
    data = {"journal": journal, "balance": balance, "kept_as": done.kept_as}
    fields = {
        "journal": f"{journal}, new",
        "credits": str(balance),
        "old one": str(done.kept_as or "was gone"),
    }
    session.answer(data, lambda: print_fields(fields))


@command("archives", example="journeyman journal archives task_7c1e0a52")
def archives(
    session: Session,
    task_id: Annotated[
        str | None,
        typer.Argument(metavar="TASK", help="Show what they have of this task."),
    ] = None,
) -> None:
    """List the archives, or show what they have of a task.

    They hold what was taken out of the journal: old entries of the ledger and, where
    `work.archive` is set, texts, results and moves of tasks that ended long ago.
    """
    folder = session.directory().archives
    with session.journal() as journal:
        if task_id is None:
            _list_archives(session, journal, folder)
            return
        past = journal.tasks.past(TaskId(task_id))
        ended = (
            past.month
            if past
            else find_task(journal, TaskId(task_id)).updated_at.isoformat()
        )
    found = [*archived(folder, ended, task_id)]
    if not found:
        raise UsageError(
            f"no archive has anything of {escape(task_id)}, which ended in "
            f"{ended[: len('2026-11')]}",
            "Archives are kept with work.archive = true. What is still in the journal "
            f"shows: journeyman tasks show {escape(task_id)}.",
        )
    session.answer(found, lambda: _print_lines(found))


def _list_archives(session: Session, journal: Journal, folder: Path) -> None:
    data = archives_as_json(journal, folder)
    rows = [["missing" if x is None else x for x in one.values()] for one in data]

    def show() -> None:
        if not rows:
            print(f"There are no archives in {folder} (work.archive).")
            return
        print_table(["holds", "bytes", "file"], rows)

    session.answer(data, show)


def archives_as_json(journal: Journal, folder: Path) -> list[dict[str, Any]]:
    """Return all archives, the ledger's first; one that is missing has no size."""
    found: list[dict[str, Any]] = [
        {
            "holds": f"entries {one.first_entry} to {one.last_entry}",
            "bytes": path.stat().st_size if path.exists() else None,
            "file": str(path),
        }
        for one in archives_of(journal)
        for path in [folder / one.name]
    ]
    found += [
        {
            "holds": f"tasks that ended in {one.month}",
            "bytes": one.bytes,
            "file": str(one.path),
        }
        for one in archives_in(folder)
    ]
    return found


def _print_lines(found: list[dict[str, Any]]) -> None:
    """Print each as it stands in the file, for `jq`."""
    for one in found:
        print(json.dumps(one))


@command("compact", example="journeyman journal compact --data-dir /data")
def compact_journal(session: Session) -> None:
    """Free unused space in the journal; no daemon may run.

    For a moment it needs room for a second copy.
    """
    with session.writable_journal() as journal:
        sizes = asdict(compact(journal))
    fields = {when: f"{size} bytes" for when, size in sizes.items()}
    session.answer(sizes, lambda: print_fields(fields))
