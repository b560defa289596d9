"""Edge functions, each checked by hand, behind an API gateway with a public key.

The gateway wants its `apikey` header on every request, registration and reads included,
and says so in its own words before any function runs. The functions refuse in prose, one
fault at a time, and keep to {"data": ..., "error": null}. A result is an object with a
text, and submitting it already completes and pays: there is no function to complete.
"""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from secrets import token_bytes, token_hex
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]
Function = Callable[["EdgeFunctions", Request], Response]
Check = tuple[str, Callable[[object], bool], str]

API_KEY = "anon-public-key"
TEXTS = {
    "the ferry leaves at dawn on weekdays": 4,
    "two lanterns hang above the old gate": 2,
    "please water the ferns before noon": 7,
    "a fox crossed the frozen canal": 1,
    "nobody answered the second telegram": 9,
    "the baker counts his loaves twice": 3,
    "rain is expected in the northern valleys": 5,
    "keep the blue folder in the drawer": 6,
    "seven sparrows sat on the wire": 2,
    "the museum closes early on mondays": 8,
    "her violin was tuned a little low": 4,
    "turn left after the stone bridge": 5,
}


class RefusedError(Exception):
    """A function returns early with a status and {"error": message}."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def kong(status: int, message: str, **headers: str) -> Response:
    """Return an answer of the gateway itself."""
    return Response(status, {"message": message}, headers)


def gateway(function: Function) -> Function:
    """Check the key before the function runs, and write what it refuses."""

    @wraps(function)
    def through(self: "EdgeFunctions", request: Request) -> Response:
        realm = {"WWW-Authenticate": 'Key realm="kong"'}
        key = request.headers.get("apikey") or request.query.get("apikey")
        if not key:
            return kong(401, "No API key found in request", **realm)
        if key != API_KEY:
            return kong(401, "Invalid authentication credentials")
        try:
            return function(self, request)
        except RefusedError as refused:
            return Response(refused.status, {"error": str(refused)})

    return through


def is_uuid(value: object) -> bool:
    """Return whether the value is a UUID as text."""
    try:
        return isinstance(value, str) and str(uuid.UUID(value)) == value.lower()
    except ValueError:
        return False


def is_text(value: object) -> bool:
    return isinstance(value, str)


def is_object(value: object) -> bool:
    return isinstance(value, dict)


TASK_ID: Check = ("task_id", is_uuid, "task_id must be a valid UUID")
CLAIM: tuple[Check, ...] = (
    TASK_ID,
    ("agent_id", is_uuid, "agent_id must be a valid UUID"),
)
SUBMIT: tuple[Check, ...] = (
    TASK_ID,
    ("result", is_object, "result must be an object"),
    ("result.text", is_text, "result.text must be a string"),
)


def checked(request: Request, checks: tuple[Check, ...]) -> Json:
    """Return the body once every check holds; the first that fails is told."""
    try:
        body = request.json()
    except ValueError:
        raise RefusedError(400, "Request body must be valid JSON") from None
    for path, holds, complaint in checks:
        value: Any = body
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value is None or value in ("", 0):
            raise RefusedError(400, f"{path} is required")
        if not holds(value):
            raise RefusedError(400, complaint)
    return dict(body)


def new_id() -> str:
    return str(uuid.UUID(bytes=token_bytes(16), version=4))


def now() -> str:
    return datetime.now(UTC).isoformat()


class EdgeFunctions(Backend):
    settings = {"network": {"headers": {"apikey": API_KEY}}}

    def __init__(self) -> None:
        super().__init__()
        self.rows = {key: self._row(key, text) for text in TEXTS for key in [new_id()]}
        self.members: dict[str, Json] = {}  # token -> agent

    @staticmethod
    def _row(key: str, text: str) -> Json:
        return {
            "id": key,
            "title": "Set this line in capital letters",
            "description": text,
            "category": "text",
            "reward_credits": TEXTS[text],
            "status": "open",
            "claimed_by": None,
            "created_at": now(),
        }

    def texts(self) -> dict[str, str]:
        return {key: row["description"] for key, row in self.rows.items()}

    @gateway
    def missing(self, request: Request) -> Response:
        if not request.path.startswith("/functions/v1/"):
            return kong(404, "no Route matched with those values")
        message = "Requested function was not found"
        return Response(404, {"code": "NOT_FOUND", "message": message})

    @gateway
    def register(self, request: Request) -> Response:
        agent: Json = {
            "agent_id": new_id(),
            "access_token": token_hex(24),
            "credits": 100,
        }
        self.members[agent["access_token"]] = agent
        self.book.registrations += 1
        return Response(200, dict(agent))

    @gateway
    def tasks(self, request: Request) -> Response:
        rows = [row for row in self.rows.values() if row["status"] == "open"]
        limit = request.query.get("limit", "")
        data = rows[: int(limit)] if limit.isdecimal() else rows
        return Response(200, {"data": data, "error": None, "count": len(data)})

    marketplace = tasks

    def _agent(self, request: Request) -> Json:
        if not request.token:
            raise RefusedError(401, "Missing Authorization header")
        if request.token not in self.members:
            raise RefusedError(401, "Invalid or expired access token")
        return self.members[request.token]

    def _find(self, task_id: str) -> Json:
        if task_id.lower() not in self.rows:
            raise RefusedError(404, "Task not found")
        return self.rows[task_id.lower()]

    @gateway
    def claim(self, request: Request) -> Response:
        agent = self._agent(request)
        body = checked(request, CLAIM)
        if body["agent_id"] != agent["agent_id"]:
            raise RefusedError(403, "agent_id does not match the access token")
        row = self._find(body["task_id"])
        if row["claimed_by"] == agent["agent_id"]:
            raise RefusedError(409, "You have already claimed this task")
        if row["status"] != "open":
            raise RefusedError(409, f"Task is not open (status: {row['status']})")
        row.update(status="claimed", claimed_by=agent["agent_id"], claimed_at=now())
        self.book.claimed(row["id"])
        return Response(200, {"data": row, "error": None})

    @gateway
    def submit(self, request: Request) -> Response:
        agent = self._agent(request)
        body = checked(request, SUBMIT)
        row = self._find(body["task_id"])
        if row["claimed_by"] != agent["agent_id"]:
            raise RefusedError(403, "You have not claimed this task")
        if row["status"] == "completed":
            raise RefusedError(409, "A result for this task was already accepted")
        if body["result"]["text"] != row["description"].upper():
            raise RefusedError(422, "Result rejected: this is not the expected text")
        row.update(status="completed", completed_at=now())
        agent["credits"] += row["reward_credits"]
        self.book.pay(row["id"], row["reward_credits"])
        paid = {
            "credits_earned": row["reward_credits"],
            "new_balance": agent["credits"],
        }
        data = {"task_id": row["id"], "status": "completed", **paid}
        return Response(200, {"data": data, "error": None})
