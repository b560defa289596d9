"""`journeyman identity`: which agent this is; a copy for safe keeping, and back."""

from pathlib import Path
from typing import Annotated, Any

import typer

from journeyman.cli.output import print_fields
from journeyman.cli.session import Session, command
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import NotRunningError, SafetyError, StateError
from journeyman.domain.tasks import Identity
from journeyman.journal import identity as files
from journeyman.journal.directory import DataDirectory, DirectoryLock
from journeyman.worker.join import AGENT

_FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="The file of the copy.")
]


@command("show", example="journeyman identity show --data-dir /data")
def show_identity(session: Session) -> None:
    """Show which agent this is; never its token."""
    data = _as_json(_require_identity(session), session.directory().identity)
    session.answer(data, lambda: _show(data))


@command("export", example="journeyman identity export ~/agent-identity.json")
def export_identity(session: Session, file: _FileArgument) -> None:
    """Write the identity, with its token, to a new file.

    Only you can read the file. Whoever has it is the agent: keep it as you keep a key.
    """
    identity = _require_identity(session)
    mark = files.load_mark(session.directory().identity)
    files.export_identity(file, identity, mark)
    data = _as_json(identity, file)

    def show() -> None:
        _show(data)
        print(
            "The file holds the agent's id, its network and its access token in plain "
            "text. Whoever has it is the agent. The ledger is not in it: see "
            "`journeyman journal backup`.",
        )

    session.answer(data, show)


@command("import", example="journeyman identity import ~/agent-identity.json")
def import_identity(
    session: Session,
    file: _FileArgument,
    *,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Replace the identity in the data directory, which is kept beside it.",
        ),
    ] = False,
) -> None:
    """Become the agent of an exported identity.

    No daemon may run meanwhile. The file is checked first, and stays where it is.
    """
    identity = files.load_identity(file)
    if identity is None:
        raise StateError(
            f"there is no file {file}",
            "Name a file that `journeyman identity export` wrote.",
        )
    directory = session.directory()
    directory.prepare()
    with DirectoryLock(directory):
        _require_own_journal(session, directory, identity)
        old = _save(directory, identity, files.load_mark(file), replace=replace)
    data = {**_as_json(identity, directory.identity), "old_kept_as": old}

    def show() -> None:
        _show(data)
        if not directory.journal.exists():
            print(
                "Its journal is not here: restore a backup of it with `journeyman "
                "journal restore FILE`, or begin a new one with `journeyman journal "
                "begin`."
            )

    session.answer(data, show)


def _require_identity(session: Session) -> Identity:
    identity = session.identity()
    if identity is None:
        raise NotRunningError(
            f"there is no agent in the data directory {session.directory().path}",
            "Join with `journeyman join`, or name another --data-dir.",
        )
    return identity


def _require_own_journal(
    session: Session, directory: DataDirectory, identity: Identity
) -> None:
    """Refuse an agent other than the one whose ledger is in the journal here."""
    if not directory.journal.exists():
        return
    with session.journal() as journal:
        owner = journal.facts.get(AGENT)
    if owner not in (None, identity.agent_id):
        raise SafetyError(
            f"the journal in {directory.path} belongs to the agent {owner}, and the "
            f"file is the identity of {identity.agent_id}",
            "Use an empty --data-dir: one agent must not continue another's ledger.",
        )


def _save(
    directory: DataDirectory,
    identity: Identity,
    mark: files.JournalMark | None,
    *,
    replace: bool,
) -> str | None:
    """Save an identity as the agent's; return where the old one is kept."""
    if not directory.identity.exists():
        files.save_identity(directory.identity, identity, mark)
        return None
    if not replace:
        raise SafetyError(
            f"{directory.identity} exists: there is an agent in this data directory",
            "Use another --data-dir for another agent. To replace this one all the "
            "same, add --replace; the old identity is kept.",
        )
    now = SystemClock().now()
    old = directory.identity.with_name(f"identity.json.{now:%Y%m%dT%H%M%S.%fZ}")
    files.replace_identity(directory.identity, identity, mark, old_to=old)
    return str(old)


def _as_json(identity: Identity, file: Path) -> dict[str, Any]:
    return {
        "agent_id": identity.agent_id,
        "base_url": identity.base_url,
        "file": str(file),
        "mode": f"{file.stat().st_mode & 0o777:04o}",
    }


def _show(data: dict[str, Any]) -> None:
    print_fields(
        {
            "agent": data["agent_id"],
            "network": data["base_url"],
            "file": data["file"],
            "mode": data["mode"],
            "old one": data.get("old_kept_as") or "",
        },
    )
