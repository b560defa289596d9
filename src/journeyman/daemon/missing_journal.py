"""What an owner does about a lost or damaged journal: restore it, or begin anew.

In both cases the owner's limits count what was spent before: see `economy.mark`.
"""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from journeyman.daemon.spending import limits_of
from journeyman.domain.errors import SafetyError, StateError
from journeyman.domain.tasks import Identity
from journeyman.economy.bookkeeping import book_first_balance
from journeyman.economy.mark import carry_limits, mark_of, used_up
from journeyman.journal.backups import (
    Installed,
    backups,
    discard,
    install,
    prepare,
)
from journeyman.journal.database import Now
from journeyman.journal.directory import DataDirectory, DirectoryLock
from journeyman.journal.identity import load_identity, load_mark, save_mark
from journeyman.journal.journal import Journal
from journeyman.settings.sections import Settings
from journeyman.worker.join import AGENT


@dataclass(frozen=True, kw_only=True, slots=True)
class Restored:
    """A backup is the journal now."""

    installed: Installed
    damaged: tuple[str, ...]
    """Newer backups that could not be used, and why."""


def restore_journal(directory: DataDirectory, file: Path | None, now: Now) -> Restored:
    """Put a backup in the journal's place: this file, or the newest that is whole.

    Raises:
        AlreadyRunningError: a daemon runs here.
        SafetyError: it is the journal of another agent.
        StateError: there is none, none can be used, or the disk refused.
    """
    with DirectoryLock(directory):
        candidates = [file] if file else [one.path for one in backups(directory)]
        damaged: list[str] = []
        for source in candidates:
            try:
                prepared = prepare(directory, source, now)
            except StateError as error:
                damaged.append(error.problem)
                continue
            _require_same_agent(directory, prepared, source, now)
            installed = install(directory, prepared, source)
            return Restored(installed=installed, damaged=tuple(damaged))
    raise StateError(
        "; ".join(damaged) or f"there is no backup in {directory.backups}",
        "Name another file, such as one that `journeyman journal backup` wrote. If "
        "there is none, `journeyman journal begin` begins a new journal.",
    )


def begin_journal(
    directory: DataDirectory, settings: Settings, balance: int, now: Now
) -> Installed:
    """Begin a new journal for an agent whose own is lost.

    `balance` is what the network shows, in credits. What the mark knows to be spent
    counts against the limits; where there is no mark, they count as used up.

    Raises:
        AlreadyRunningError: a daemon runs here.
        SafetyError: the journal is not lost.
        StateError: there is no agent, or the disk refused.
    """
    with DirectoryLock(directory):
        identity = _require_lost(directory, now)
        mark, limits = load_mark(directory.identity), limits_of(settings)
        prepared = directory.path / "journal.prepared"
        discard(prepared)
        with closing(Journal(prepared, now)) as journal:
            with journal.tx("journal begun"):
                journal.facts.put(AGENT, identity.agent_id)
                book_first_balance(journal.ledger, balance)
                known = mark or used_up(limits, now())
                carry_limits(journal, known, now(), limits.zone)
            begun = mark_of(journal, now(), limits.zone)
            journal.database.compact()
        installed = install(directory, prepared, prepared)
        save_mark(directory.identity, begun)
        return installed


def _require_lost(directory: DataDirectory, now: Now) -> Identity:
    identity = load_identity(directory.identity)
    if identity is None:
        raise StateError(
            f"there is no agent in the data directory {directory.path}",
            "Join with `journeyman run`: that begins a journal.",
        )
    if directory.journal.exists() and _owner(directory.journal, now) is not None:
        raise SafetyError(
            f"the journal {directory.journal} is there, and has an owner",
            "It is not replaced by an empty one. If it is damaged: `journeyman journal "
            "restore`; where there is no backup, move it away first.",
        )
    return identity


def _require_same_agent(
    directory: DataDirectory, prepared: Path, source: Path, now: Now
) -> None:
    identity, owner = load_identity(directory.identity), _owner(prepared, now)
    if identity is not None and owner != identity.agent_id:
        discard(prepared)
        raise SafetyError(
            f"{source} is the journal of {owner or 'nobody'}, and the agent here is "
            f"{identity.agent_id}",
            "Name a backup of this agent's own journal.",
        )


def _owner(journal_file: Path, now: Now) -> str | None:
    with closing(Journal(journal_file, now)) as journal:
        owner = journal.facts.get(AGENT)
    return owner if isinstance(owner, str) else None
