"""The identity file: who we are, kept apart from the journal and never replaced.

Beside who we are it has a mark of how far the journal had come. So an agent that has
once spent knows that it has, also where its journal is lost, or older than it was.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field

from journeyman.domain.errors import StateError
from journeyman.domain.tasks import AccessToken, AgentId, Identity
from journeyman.journal import files
from journeyman.journal.codec import Moment, dump, load

T = TypeVar("T")
FORMAT = 1
MARK = "journal"
"""The field of the mark; versions that know of none ignore it."""
_HEADER_TEXT = re.compile(r"[\x21-\x7e]+")
"""What an Authorization header can carry (RFC 6750, section 2.1, and more)."""
Count = Annotated[int, Field(ge=0, le=1 << 53)]
"""A number that SQLite can hold, wherever it was read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JournalMark:
    """How far the journal had come, and what had been spent by then."""

    entries: Count
    """In the ledger."""
    head: str
    """The hash of the last of them, to which all before it lead."""
    spends: Count
    """Posts and top-ups that were ever recorded."""
    at: Moment
    posts: Count
    """On the day (UTC) of `at`."""
    credits: Count
    """Posted for on that day."""
    posted: Count
    """Credits posted for since the beginning."""
    cents: Count
    """Of US dollars: asked for on that day."""
    cents_of_month: Count
    """The same in the month of that day."""


def load_identity(path: Path) -> Identity | None:
    """Read who we are; None when we have never joined.

    Raises:
        StateError: the file is there and cannot be used. It is never replaced by
            itself: a new agent would cost the old one's credits.
    """
    return _read(path, _parse)


def load_mark(path: Path) -> JournalMark | None:
    """Read how far the journal of this identity had come; None where that is not noted.

    Raises:
        StateError: as of `load_identity`.
    """
    return _read(path, _parse_mark)


def _read(path: Path, parse: Callable[[dict[str, object]], T]) -> T | None:
    try:
        content = files.read_small(path)
    except FileNotFoundError:
        return None
    except PermissionError as error:
        files.check_owner(path)
        raise StateError(
            f"the identity file {path} cannot be read: {error.strerror}",
            "Give this user read access to it.",
        ) from error
    except OSError as error:
        raise _unusable(path, str(error.strerror)) from error
    try:
        return parse(json.loads(content))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _unusable(path, f"its content is damaged ({error})") from error


def save_identity(
    path: Path, identity: Identity, mark: JournalMark | None = None
) -> None:
    """Write who we are, atomically and durably, readable by the owner alone.

    Raises:
        StateError: the disk refused.
    """
    with files.disk_errors(
        f"the identity could not be saved to {path}",
        "Free some space or fix the permissions, then start again.",
    ):
        files.write_atomically(path, _encoded(identity, mark))


def export_identity(
    path: Path, identity: Identity, mark: JournalMark | None = None
) -> None:
    """Write a copy of who we are to a new file, readable by the owner alone.

    Raises:
        StateError: the file exists, or the disk refused; nothing was changed.
    """
    with files.disk_errors(
        f"the identity could not be exported to {path}",
        "Name a file that does not exist yet, in a directory that this user can "
        "write to.",
    ):
        files.write_new(path, _encoded(identity, mark))


def save_mark(path: Path, mark: JournalMark) -> None:
    """Note in an identity file how far the journal has come, atomically and durably.

    Raises:
        StateError: the disk refused, or there is no identity; nothing was changed.
    """
    identity = load_identity(path)
    if identity is None:
        raise _unusable(path, "it is gone")
    save_identity(path, identity, mark)


def replace_identity(
    path: Path, identity: Identity, mark: JournalMark | None = None, *, old_to: Path
) -> None:
    """Write who we are, and keep the identity that was there in another file.

    If that was the same agent its mark stays: the journal is the same.

    Raises:
        StateError: the disk refused, or `old_to` exists; the old identity still counts.
    """
    with files.disk_errors(
        f"the old identity could not be kept as {old_to}",
        "Free some space or fix the permissions, then try again.",
    ):
        files.write_new(old_to, path.read_bytes())
    save_identity(path, identity, _mark_of(path, identity.agent_id) or mark)


def _mark_of(path: Path, agent_id: AgentId) -> JournalMark | None:
    """Return the mark of this agent in a file that may be damaged."""
    try:
        known = load_identity(path)
        return load_mark(path) if known and known.agent_id == agent_id else None
    except StateError:
        return None


def _encoded(identity: Identity, mark: JournalMark | None) -> bytes:
    content: dict[str, object] = {
        "format": FORMAT,
        "agent_id": identity.agent_id,
        "access_token": identity.access_token.reveal(),
        "base_url": identity.base_url,
    }
    if mark is not None:
        content[MARK] = dump(mark)
    return json.dumps(content, indent=2).encode()


def _parse(content: dict[str, object]) -> Identity:
    if content["format"] != FORMAT:
        raise ValueError(f"format {content['format']!r} is not {FORMAT}")
    agent_id, token, base_url = (
        content[name] for name in ("agent_id", "access_token", "base_url")
    )
    if not (isinstance(agent_id, str) and isinstance(token, str) and agent_id):
        raise TypeError("agent_id and access_token must be strings")
    if not _HEADER_TEXT.fullmatch(token):
        raise ValueError("access_token has characters that no header can carry")
    if not str(base_url).startswith(("http://", "https://")):
        raise ValueError("base_url is not an http or https address")
    return Identity(AgentId(agent_id), AccessToken(token), str(base_url))


def _parse_mark(content: dict[str, object]) -> JournalMark | None:
    return load(JournalMark, content[MARK]) if MARK in content else None


def _unusable(path: Path, problem: str) -> StateError:
    return StateError(
        f"the identity file {path} cannot be used: {problem}",
        "Restore it from a backup. Only if the agent and its credits may be given "
        "up, move the whole data directory away and join again.",
    )


@dataclass(frozen=True, slots=True)
class RegistrationAnswer:
    """What a network said to a registration."""

    base_url: str
    """The network that said it; a token in it is for that network alone."""
    body: bytes = field(repr=False)
    """As it came; perhaps only the beginning of it."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Names in lower case."""
    is_whole: bool = False
    """All of it has arrived: the network has done what it was asked for."""


@dataclass(eq=False)
class AnswerFile:
    """One file, readable by its owner alone.

    Its first line is a JSON object: the address of the network, the headers, and
    whether all has arrived; earlier versions wrote the address alone. The rest are the
    bytes as they came.
    """

    path: Path

    def keep(self, answer: RegistrationAnswer) -> None:
        """Write an answer durably, in place of an earlier one.

        Raises:
            StateError: the disk refused; an earlier answer is still there.
        """
        about = {
            "base_url": answer.base_url,
            "headers": dict(answer.headers),
            "is_whole": answer.is_whole,
        }
        with self._disk_errors("written"):
            files.write_atomically(
                self.path, json.dumps(about).encode() + b"\n" + answer.body
            )

    def load(self) -> RegistrationAnswer | None:
        """Return the answer that was kept; None when there is none.

        Raises:
            StateError: the file is there and cannot be read.
        """
        with self._disk_errors("read"):
            try:
                first, _, body = self.path.read_bytes().partition(b"\n")
            except FileNotFoundError:
                return None
        return _answer(first.decode(errors="replace"), body)

    def forget(self) -> None:
        """Remove it durably: the token in it is now in the identity file.

        Raises:
            StateError: the disk refused.
        """
        with self._disk_errors("removed"):
            self.path.unlink(missing_ok=True)
            files.sync_directory(self.path.parent)

    def _disk_errors(self, what: str) -> AbstractContextManager[None]:
        return files.disk_errors(
            f"the answer to our registration, {self.path}, cannot be {what}",
            "Free some space or fix the permissions, then start again. Do not delete "
            "the file: it may hold the only copy of the token.",
        )


def _answer(first: str, body: bytes) -> RegistrationAnswer:
    try:
        about = json.loads(first)
        headers, is_whole = dict(about["headers"]), about["is_whole"] is True
        return RegistrationAnswer(str(about["base_url"]), body, headers, is_whole)
    except (ValueError, KeyError, TypeError):
        return RegistrationAnswer(first, body)
