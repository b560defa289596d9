"""The two ways in which the sandbox says no.

SandboxError   to whoever starts the sandbox, before it runs
Refusal        to a client, as an HTTP answer
"""

from enum import Enum, auto
from http import HTTPStatus
from typing import NamedTuple


class SandboxError(Exception):
    """The sandbox cannot start; told in two sentences, without a traceback."""

    def __init__(self, problem: str, fix: str = "") -> None:
        """Say what is wrong and where (`problem`), and what to do next (`fix`)."""
        super().__init__(f"{problem}\n{fix}" if fix else problem)
        self.problem = problem
        self.fix = fix


class Flaw(Enum):
    """What can be wrong with one field of a body."""

    MISSING = auto()
    UNKNOWN = auto()
    WRONG = auto()
    """It is there, and is not what it should be."""


class Complaint(NamedTuple):
    """One field of a request that is not as it should be."""

    place: tuple[str | int, ...]
    """Names and indexes from the outside to the field; empty is the whole body."""
    flaw: Flaw
    message: str
    where: str = "body"
    """Or `query`, `header`, `path`."""

    @property
    def name(self) -> str:
        """The place as a text, such as `task.id`."""
        return ".".join(map(str, self.place)) or f"the {self.where}"


class Refusal(Exception):  # noqa: N818 - an answer to a client, not a fault of ours
    """A request that is not granted, and changes nothing."""

    def __init__(
        self,
        status: HTTPStatus,
        error: str,
        message: str,
        complaints: tuple[Complaint, ...] = (),
    ) -> None:
        """Give the status, a short code for programs and a sentence for people.

        `complaints` are about the fields of a body that did not validate.
        """
        super().__init__(message)
        self.status = status
        self.error = error
        self.message = message
        self.complaints = complaints
