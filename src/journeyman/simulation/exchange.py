"""A request as it arrives at the simulated network, and the answer that goes back."""

import json
from dataclasses import dataclass
from typing import Any

BOM = b"\xef\xbb\xbf"
OK, CONFLICT, UNPROCESSABLE = 200, 409, 422
FIRST_ERROR = 400
FUNCTIONS = "/functions/v1/"
REGISTER = f"{FUNCTIONS}create-free-agent-public"
CHECKOUT = f"{FUNCTIONS}create-checkout"
LISTING = f"{FUNCTIONS}get-marketplace-tasks"
CLAIM = f"{FUNCTIONS}claim-task-public"
SUBMIT = f"{FUNCTIONS}submit-task-result-public"
COMPLETE = f"{FUNCTIONS}complete-task-public"
POST = f"{FUNCTIONS}write-post-task-public"
TASK_PLACES = ("task_id", "taskId", "task.id", "id", "task")
AGENT_PLACES = ("agent_id", "agentId", "agent.id")
RESULT_PLACES = ("result", "submission.result", "output", "answer")
"""Where the daemon may put a value, since the contract does not show the bodies."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request as it arrives."""

    method: str
    path: str
    query: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    """Names in lower case."""
    body: bytes = b""
    is_late: bool = False
    """It arrives long after whoever sent it has given up."""

    def header(self, name: str) -> str:
        """Give a header; empty where it is not there."""
        wanted = name.encode()
        return next((v.decode() for n, v in self.headers if n == wanted), "")

    @property
    def fields(self) -> dict[str, Any]:
        """The JSON object in the body; empty where there is none."""
        value = json.loads(self.body) if self.body else {}
        return value if isinstance(value, dict) else {}

    @property
    def task_id(self) -> str:
        """The task that it is about; empty where it is about none."""
        return str(_first_at(self.fields, TASK_PLACES) or "")

    @property
    def subject(self) -> str:
        """What a repeat of it has in common with it; empty for a look at the market."""
        return self.task_id or self.header("idempotency-key")

    @property
    def agent_id(self) -> str:
        """Whom it says it is from; empty where it does not say."""
        return str(_first_at(self.fields, AGENT_PLACES) or "")

    @property
    def result(self) -> Any:  # noqa: ANN401 - a JSON value
        """The result that it hands in."""
        return _first_at(self.fields, RESULT_PLACES)


def _first_at(fields: dict[str, Any], places: tuple[str, ...]) -> Any:  # noqa: ANN401 - a JSON value
    for place in places:
        value: Any = fields
        for name in place.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None and not (isinstance(value, dict) and place == "task"):
            return value
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What goes back."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes = b""


@dataclass(frozen=True, kw_only=True, slots=True)
class Handled:
    """A request that the network has processed."""

    at: float
    """In simulated seconds."""
    asked: Asked
    answer: Answer
    was_repeat: bool
    """Its effect was there before."""


JSON_TYPE = ((b"content-type", b"application/json"),)


def refusal(status: int, error: str) -> Answer:
    """Refuse in the manner of the sandbox."""
    content = {"ok": False, "error": error, "message": error.replace("_", " ")}
    return Answer(status=status, headers=JSON_TYPE, body=json.dumps(content).encode())
