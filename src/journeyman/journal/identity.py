"""The identity file: who we are, kept for ever, apart from the journal."""

import json
from pathlib import Path

from journeyman.domain import AccessToken, AgentId, Identity
from journeyman.domain.errors import StateError
from journeyman.journal.files import write_atomically

FORMAT = 1


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
    content = {
        "format": FORMAT,
        "agent_id": identity.agent_id,
        "access_token": identity.access_token.reveal(),
        "base_url": identity.base_url,
    }
    try:
        write_atomically(path, json.dumps(content, indent=2).encode())
    except OSError as error:
        raise StateError(
            f"the identity could not be saved to {path}: {error.strerror}",
            "Free some space or fix the permissions, then start again.",
        ) from error


def _parse(content: dict[str, object]) -> Identity:
    if content["format"] != FORMAT:
        raise ValueError(f"format {content['format']!r} is not {FORMAT}")
    agent_id, token, base_url = (
        content[name] for name in ("agent_id", "access_token", "base_url")
    )
    if not (isinstance(agent_id, str) and isinstance(token, str) and token):
        raise TypeError("agent_id and access_token must be texts")
    return Identity(AgentId(agent_id), AccessToken(token), str(base_url))


def _unusable(path: Path, problem: str) -> StateError:
    return StateError(
        f"the identity file {path} cannot be used: {problem}",
        "Restore it from a backup. Only if the agent and its credits may be given "
        "up, move the whole data directory away and join anew.",
    )
