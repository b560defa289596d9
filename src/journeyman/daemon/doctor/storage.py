"""Checks of the data directory and of what lies in it."""

import os
import tempfile
from datetime import timedelta
from pathlib import Path

from journeyman.daemon.causes import Causes, Surroundings
from journeyman.daemon.disk import MEBIBYTE, FreeBytes, is_ephemeral
from journeyman.daemon.doctor.finding import Finding, fail, ok, skip, warn
from journeyman.daemon.earning import (
    Standing,
    can_earn,
    known_of,
    network_record,
    summary,
)
from journeyman.domain.clock import Clock
from journeyman.domain.errors import AlreadyRunningError
from journeyman.economy.mark import found_older, is_behind
from journeyman.journal.directory import DataDirectory, DirectoryLock
from journeyman.journal.identity import load_identity, load_mark
from journeyman.journal.journal import Journal
from journeyman.journal.ledger_archives import missing_archives
from journeyman.journal.maintenance import quick_faults
from journeyman.journal.strategy_health import Condition
from journeyman.worker.join import foreign_journal

PRIVATE_DIRECTORY = 0o700
PRIVATE_FILE = 0o600
_OTHERS = 0o077
"""The permission bits of everybody but the owner."""
PLENTY = 4
"""So many times the least free space is plenty."""


def check_directory(directory: DataDirectory) -> Finding:
    """Check that the folder exists, is ours, and is closed to others."""
    path = directory.path
    if not path.exists():
        return _future(path)
    if not path.is_dir():
        return fail(f"{path} is not a directory", "Choose another one with --data-dir.")
    owner = path.stat().st_uid
    if owner != os.geteuid():
        return fail(
            f"{path} belongs to user {owner}, and this is user {os.geteuid()}",
            f"Run as its owner, or: chown -R {os.geteuid()} {path}",
        )
    return _privacy(path)


def check_writing(directory: DataDirectory) -> Finding:
    """Write a file without a name and sync it: nothing of it is ever seen."""
    if not directory.path.is_dir():
        return skip("there is no data directory yet")
    try:
        with tempfile.TemporaryFile(dir=directory.path) as file:
            file.write(b"probe")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return fail(
            f"{directory.path} cannot be written: {error.strerror}",
            "Give this user write access to it, or free some space.",
        )
    return ok("can be written and synced")


def check_space(directory: DataDirectory, free: FreeBytes, least_mb: int) -> Finding:
    """Compare what is free with what claims need; both in MiB."""
    there = _nearest(directory.path)
    free_mb = free(there) // MEBIBYTE
    message = f"{free_mb} MiB are free"
    if free_mb < least_mb:
        return fail(
            f"{message}, less than data.min_free_mb ({least_mb}): nothing is claimed",
            f"Free some space under {there}.",
        )
    if free_mb < PLENTY * least_mb:
        return warn(f"{message}; below {least_mb} nothing is claimed")
    return ok(message)


def check_tokens(directory: DataDirectory) -> Finding:
    """Check that only we can read the files with the token."""
    files = _token_files(directory)
    if not files:
        return skip("not joined yet: there is no token")
    open_ones = [file for file in files if file.stat().st_mode & _OTHERS]
    if open_ones:
        names = ", ".join(f"{file.name} (mode {_mode(file)})" for file in open_ones)
        return fail(
            f"others can read the access token: {names}",
            f"chmod 600 {' '.join(map(str, open_ones))}, or: journeyman doctor --fix",
            lambda: "; ".join(_close(file, PRIVATE_FILE) for file in open_ones),
        )
    return ok(f"{files[0].name} can be read by its owner alone")


def check_identity(directory: DataDirectory, address: str | None) -> Finding:
    """Check that we know who we are, and on which network."""
    identity = load_identity(directory.identity)
    if identity is None:
        return skip("not joined yet: the first `journeyman run` joins")
    if address is not None and identity.base_url.rstrip("/") != address.rstrip("/"):
        return fail(
            f"the agent {identity.agent_id} belongs to {identity.base_url}, and the "
            f"settings name {address}",
            "Use another --data-dir for another network, or correct the address.",
        )
    return ok(f"{identity.agent_id} on {identity.base_url}")


def check_daemon(directory: DataDirectory) -> Finding:
    """Check who holds the data directory, and whether a dead daemon left its socket."""
    holder = directory.held_by()
    if holder is not None:
        return ok(f"process {holder} holds the data directory")
    if directory.control_socket.exists():
        return warn(
            f"no daemon runs, and {directory.control_socket.name} was left behind",
            "The next start replaces it; or: journeyman doctor --fix",
            lambda: _remove_socket(directory),
        )
    return ok("none runs, and none has left a socket")


TOLD_FOR = timedelta(days=30)
"""How long an older journal is a finding: by then the limits of its month are over."""


def _unusable(journal: Journal, directory: DataDirectory) -> Finding | None:
    if faults := quick_faults(journal):
        return fail(
            f"{directory.journal} is damaged: {faults[0]}",
            "Stop the daemon, then: journeyman journal restore. The old file is "
            "kept; `journeyman journal check` shows more.",
        )
    if stranger := foreign_journal(journal, load_identity(directory.identity)):
        return fail(stranger.problem, stranger.fix)
    return None


def check_journal(directory: DataDirectory, clock: Clock) -> Finding:
    """Read every page of the journal, without changing it."""
    if not directory.journal.exists():
        if directory.identity.exists():
            return fail(
                f"{directory.journal} is missing: the agent does not start without it",
                "journeyman journal restore, or: journeyman journal begin",
            )
        return skip("there is none yet")
    # Before the journal, which only grows: else a daemon could write it meanwhile.
    mark = load_mark(directory.identity)
    with Journal(directory.journal, clock.now, read_only=True) as journal:
        if unusable := _unusable(journal, directory):
            return unusable
        missing = missing_archives(journal, directory.archives)
        seen = journal.totals.get("tasks.seen")
        older = mark is not None and is_behind(journal, mark)
        found_at = found_older(journal) or ""
    is_recent = found_at > (clock.now() - TOLD_FOR).isoformat()
    if older or is_recent:
        when = f", as was found at {found_at[:16]} UTC" if found_at else ""
        return warn(
            f"intact, and older than the journal that was here before{when}: what was "
            "spent since counts against the limits, and the tasks since are not known",
            "Compare `journeyman ledger` with what the network shows, then: journeyman "
            "journal acknowledge",
        )
    return _intact(seen, missing)


def _intact(seen: int, missing: list[Path]) -> Finding:
    if missing:
        return warn(
            f"intact, but {missing[0]}, with old entries of the ledger, is missing",
            "Put it back from a copy of the data directory; nothing else has them.",
        )
    return ok(f"intact; it has seen {seen} tasks")


CHECKED_ELSEWHERE = frozenset({"quarantine", "nothing_listed"})
"""Causes that have a check of their own."""


def check_earning(directory: DataDirectory, clock: Clock) -> Finding:
    """Check whether the agent can earn, as far as its journal shows."""
    if not directory.journal.exists():
        return skip("nothing was tried yet")
    identity = load_identity(directory.identity)
    with Journal(directory.journal, clock.now, read_only=True) as journal:
        # What was observed is written once a minute only, and who we are at once.
        seen = next(iter(journal.observations.networks()), "")
        record = network_record(journal, identity.base_url if identity else seen)
        steps = can_earn(known_of(journal, record))
        around = Surroundings(is_running=True)  # That has a check of its own.
        causes = Causes(
            journal=journal, record=record, now=clock.now(), around=around
        ).find()
    message = summary(steps)
    if any(one.standing is Standing.REFUSED for one in steps):
        return fail(message, "`journeyman contract` shows each step.")
    found = [one for one in causes if one.name not in CHECKED_ELSEWHERE]
    if found:
        return warn(
            "\n".join([message, *(one.message for one in found)]),
            "\n".join(one.fix for one in found),
        )
    return ok(message)


def check_quarantine(directory: DataDirectory, clock: Clock) -> Finding:
    """Name the strategies, and the kinds of their work, that are given none now."""
    if not directory.journal.exists():
        return skip("nothing was tried yet")
    with Journal(directory.journal, clock.now, read_only=True) as journal:
        known = journal.strategy_health.all().values()
    found = [one for one in known if one.condition is not Condition.SOUND]
    if not found:
        return ok("no strategy is in it")
    message = "; ".join(f"{one.label}: {one.problem}" for one in found)
    return warn(message, "Correct the strategy, or: journeyman strategies release NAME")


def _privacy(path: Path) -> Finding:
    if path.stat().st_mode & _OTHERS:
        return warn(
            f"{path} is open to others (mode {_mode(path)})",
            f"chmod 700 {path}, or: journeyman doctor --fix",
            lambda: _close(path, PRIVATE_DIRECTORY),
        )
    if is_ephemeral(path):
        return warn(
            f"{path} is not on a mounted volume: it is lost with this container",
            "Start the container with `-v journeyman:/data`.",
        )
    return ok(f"{path}, private to its owner")


def _future(path: Path) -> Finding:
    there = _nearest(path)
    if not os.access(there, os.W_OK | os.X_OK):
        return fail(
            f"{path} does not exist, and this user cannot create it in {there}",
            "Choose another one with --data-dir.",
        )
    return ok(f"{path} does not exist yet; the first `journeyman run` creates it")


def _nearest(path: Path) -> Path:
    """Return the nearest folder at or above a path that exists."""
    return next(place for place in (path, *path.absolute().parents) if place.exists())


def _token_files(directory: DataDirectory) -> list[Path]:
    """Return the identity, those that it replaced, and an answer not yet read."""
    patterns = ("identity.json", "identity[-.]*", "registration.answer")
    found = (sorted(directory.path.glob(pattern)) for pattern in patterns)
    files = (file for files in found for file in files if file.is_file())
    return list(dict.fromkeys(files))


def _mode(path: Path) -> str:
    return f"{path.stat().st_mode & 0o777:04o}"


def _close(path: Path, mode: int) -> str:
    before = _mode(path)
    path.chmod(mode)
    return f"{path.name} was {before}, is {_mode(path)}"


def _remove_socket(directory: DataDirectory) -> str:
    try:
        # A daemon that starts now must not lose the socket that it makes.
        with DirectoryLock(directory):
            directory.control_socket.unlink(missing_ok=True)
    except AlreadyRunningError as error:
        return f"left alone: {error.problem}"
    return f"{directory.control_socket.name} was removed"
