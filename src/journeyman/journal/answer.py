"""The raw answer to our registration, kept until the identity in it is safe.

A token is shown once. Between its arrival and `identity.json` a crash would lose it for
ever, so the bytes are on disk before anybody tries to understand them.
"""

from dataclasses import dataclass, field
from pathlib import Path

from journeyman.domain.errors import StateError
from journeyman.journal.files import sync_directory, write_atomically


@dataclass(frozen=True, slots=True)
class Answer:
    """What a network said to a registration."""

    base_url: str
    """The network that said it; a token in it is for that network alone."""
    body: bytes = field(repr=False)
    """As it came; perhaps only the beginning of it."""


class AnswerFile:
    """One file, readable by its owner alone.

    Its first line is the address of the network. The rest are the bytes as they came.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def keep(self, answer: Answer) -> None:
        """Write an answer durably, in place of an earlier one.

        Raises:
            StateError: the disk refused; an earlier answer is still there.
        """
        try:
            write_atomically(self.path, answer.base_url.encode() + b"\n" + answer.body)
        except OSError as error:
            raise self._unusable("written", error) from error

    def load(self) -> Answer | None:
        """Give the answer that was kept; None when there is none.

        Raises:
            StateError: the file is there and cannot be read.
        """
        try:
            first, _, body = self.path.read_bytes().partition(b"\n")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable("read", error) from error
        return Answer(first.decode(errors="replace"), body)

    def forget(self) -> None:
        """Remove it durably: the token in it now lies in the identity file.

        Raises:
            StateError: the disk refused.
        """
        try:
            self.path.unlink(missing_ok=True)
            sync_directory(self.path.parent)
        except OSError as error:
            raise self._unusable("removed", error) from error

    def _unusable(self, what: str, error: OSError) -> StateError:
        return StateError(
            f"the answer to our registration, {self.path}, cannot be {what}: "
            f"{error.strerror}",
            "Free some space or fix the permissions, then start again. Do not delete "
            "the file: it may hold the only copy of the token.",
        )
