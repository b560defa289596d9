"""The identity file: who we are, kept apart from the journal and never replaced."""

import json
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from journeyman.domain.errors import StateError
from journeyman.domain.tasks import AccessToken, AgentId, Identity
from journeyman.journal import files

FORMAT = 1
_HEADER_TEXT = re.compile(r"[\x21-\x7e]+")
"""What an Authorization header can carry (RFC 6750, section 2.1, and more)."""


def load_identity(path: Path) -> Identity | None:
    """Read who we are; None when we have never joined.

    Raises:
        StateError: the file is there and cannot be used. It is never replaced by
            itself: a new agent would cost the old one's credits.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(path, str(error.strerror)) from error
    try:
        return _parse(json.loads(content))
    except (ValueError, KeyError, TypeError) as error:
        raise _unusable(path, f"its content is damaged ({error})") from error


def save_identity(path: Path, identity: Identity) -> None:
    """Write who we are, atomically and durably, readable by the owner alone.

    Raises:
        StateError: the disk refused.
    """
    with files.disk_errors(
        f"the identity could not be saved to {path}",
        "Free some space or fix the permissions, then start again.",
    ):
        files.write_atomically(path, _encoded(identity))


def export_identity(path: Path, identity: Identity) -> None:
    """Write a copy of who we are to a new file, readable by the owner alone.

    Raises:
        StateError: the file exists, or the disk refused; nothing was changed.
    """
    with files.disk_errors(
        f"the identity could not be exported to {path}",
        "Name a file that does not exist yet, in a directory that this user can "
        "write to.",
    ):
        files.write_new(path, _encoded(identity))


def replace_identity(path: Path, identity: Identity, *, old_to: Path) -> None:
    """Write who we are, and keep the identity that was there in another file.

    Raises:
        StateError: the disk refused, or `old_to` exists; the old identity still counts.
    """
    with files.disk_errors(
        f"the old identity could not be kept as {old_to}",
        "Free some space or fix the permissions, then try again.",
    ):
        files.write_new(old_to, path.read_bytes())
    save_identity(path, identity)


def _encoded(identity: Identity) -> bytes:
    content = {
        "format": FORMAT,
        "agent_id": identity.agent_id,
        "access_token": identity.access_token.reveal(),
        "base_url": identity.base_url,
    }
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


@dataclass(eq=False)
class AnswerFile:
    """One file, readable by its owner alone.

    Its first line is the address of the network. The rest are the bytes as they came.
    """

    path: Path

    def keep(self, answer: RegistrationAnswer) -> None:
        """Write an answer durably, in place of an earlier one.

        Raises:
            StateError: the disk refused; an earlier answer is still there.
        """
        with self._disk_errors("written"):
            files.write_atomically(
                self.path, answer.base_url.encode() + b"\n" + answer.body
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
        return RegistrationAnswer(first.decode(errors="replace"), body)

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
