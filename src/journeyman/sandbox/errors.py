"""The two ways in which the sandbox says no.

SandboxError   to whoever starts the sandbox, before it runs
Refusal        to a client, as an HTTP answer
"""

from http import HTTPStatus


class SandboxError(Exception):
    """The sandbox cannot start; told in two sentences, without a traceback."""

    def __init__(self, problem: str, fix: str = "") -> None:
        """Say what is wrong and where (`problem`), and what to do next (`fix`)."""
        super().__init__(f"{problem}\n{fix}" if fix else problem)
        self.problem = problem
        self.fix = fix


class Refusal(Exception):  # noqa: N818 - an answer to a client, not a fault of ours
    """A request that is not granted, and changes nothing."""

    def __init__(self, status: HTTPStatus, error: str, message: str) -> None:
        """Give the status, a short code for programs and a sentence for people."""
        super().__init__(message)
        self.status = status
        self.error = error
        self.message = message
