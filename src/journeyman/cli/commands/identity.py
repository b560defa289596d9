"""`journeyman identity`: who we are; a copy of it for safe keeping, and back."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.output import answer, facts, say
from journeyman.cli.session import Session, command
from journeyman.domain.errors import NotRunningError, SafetyError, StateError

if TYPE_CHECKING:
    from journeyman.domain.tasks import Identity
    from journeyman.journal.directory import DataDirectory

_FILE = Annotated[Path, typer.Argument(metavar="FILE", help="The file of the copy.")]


@command("show", example="journeyman identity show --data-dir /data")
def show_identity(session: Session) -> None:
    """Show which agent this is; never its token."""
    file = session.directory().identity
    data = _told(_ours(session), file)
    answer(as_json=session.as_json, data=data, show=lambda: _show(data))


@command("export", example="journeyman identity export ~/agent-identity.json")
def export_identity(session: Session, file: _FILE) -> None:
    """Write a copy of the identity, with its token, to a new file.

    Only you can read the file. Whoever has it is the agent: keep it as you keep a key.
    """
    from journeyman.journal.identity import export_identity as export

    identity = _ours(session)
    export(file, identity)
    data = _told(identity, file)

    def show() -> None:
        _show(data)
        say(
            "The file holds the agent's id, its network and its access token in plain "
            "text. Whoever has it is the agent. The books are not in it: see "
            "`journeyman journal backup`.",
        )

    answer(as_json=session.as_json, data=data, show=show)


@command("import", example="journeyman identity import ~/agent-identity.json")
def import_identity(
    session: Session,
    file: _FILE,
    *,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Take the place of the identity here, which is kept beside it.",
        ),
    ] = False,
) -> None:
    """Become the agent of an exported identity.

    No daemon may run meanwhile. The file is checked first, and left where it is.
    """
    from journeyman.journal.directory import DirectoryLock

    identity = _read(file)
    directory = session.directory()
    directory.prepare()
    with DirectoryLock(directory):
        kept_as = _put(session, directory, identity, replace=replace)
    data = {**_told(identity, directory.identity), "old_kept_as": kept_as}
    answer(as_json=session.as_json, data=data, show=lambda: _show(data))


def _ours(session: Session) -> "Identity":
    identity = session.identity()
    if identity is None:
        raise NotRunningError(
            f"no agent lives in the data directory {session.directory().path}",
            "Join with `journeyman join`, or name another --data-dir.",
        )
    return identity


def _read(file: Path) -> "Identity":
    from journeyman.journal.identity import load_identity

    identity = load_identity(file)
    if identity is None:
        raise StateError(
            f"there is no file {file}",
            "Name a file that `journeyman identity export` wrote.",
        )
    return identity


def _put(
    session: Session,
    directory: "DataDirectory",
    identity: "Identity",
    *,
    replace: bool,
) -> str | None:
    """Make an identity ours; say where the old one went."""
    from journeyman.daemon.environment import SystemClock
    from journeyman.journal.identity import replace_identity, save_identity

    _require_its_books(session, directory, identity)
    if not directory.identity.exists():
        save_identity(directory.identity, identity)
        return None
    if not replace:
        raise SafetyError(
            f"{directory.identity} exists: an agent lives in this data directory",
            "Use another --data-dir for another agent. To put the file in its place "
            "all the same, add --replace; the old one is kept.",
        )
    now = SystemClock().now()
    old = directory.identity.with_name(f"identity.json.{now:%Y%m%dT%H%M%S.%fZ}")
    replace_identity(directory.identity, identity, old_to=old)
    return str(old)


def _require_its_books(
    session: Session,
    directory: "DataDirectory",
    identity: "Identity",
) -> None:
    """Refuse an agent whose books are not those of the journal here."""
    from journeyman.worker.join import AGENT

    if not directory.journal.exists():
        return
    with session.journal() as journal:
        owner = journal.facts.get(AGENT)
    if owner not in (None, identity.agent_id):
        raise SafetyError(
            f"the journal in {directory.path} is that of the agent {owner}, and the "
            f"file is the identity of {identity.agent_id}",
            "Use an empty --data-dir: one agent's books must not go on as another's.",
        )


def _told(identity: "Identity", file: Path) -> dict[str, Any]:
    return {
        "agent_id": identity.agent_id,
        "base_url": identity.base_url,
        "file": str(file),
        "mode": f"{file.stat().st_mode & 0o777:04o}",
    }


def _show(data: dict[str, Any]) -> None:
    facts(
        {
            "agent": data["agent_id"],
            "network": data["base_url"],
            "file": data["file"],
            "mode": data["mode"],
            "old one": data.get("old_kept_as") or "",
        },
    )
