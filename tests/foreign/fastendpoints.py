"""FastEndpoints on .NET: FluentValidation's messages by field, and pay on submission.

A refusal is {"statusCode", "message", "errors": {"taskId": ["'Task Id' must not be
empty."]}}; what System.Text.Json cannot bind stands under `serializerErrors`. Whoever
claims names the agent. There is nothing to complete: a right answer is paid at once.
"""

import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PHRASES = (
    "the tram bell rings twice at corners",
    "chestnut sellers return in october",
    "a violin case full of letters",
    "pigeons hold court on the cathedral",
    "the museum lends umbrellas for free",
    "cobblestones shine after the rain",
    "a postcard arrived ten years late",
    "the baker whistles the same tune",
    "shutters open one after another",
    "somebody chalked a map on the wall",
    "the fountain is drained for winter",
    "a grey cat owns the whole square",
)
EMPTY = str(uuid.UUID(int=0))


def spaced(name: str) -> str:
    """Return a property's name as FluentValidation displays it."""
    words = "".join(f" {one}" if one.isupper() else one for one in name)
    return words[0].upper() + words[1:]


def refuse(errors: dict[str, list[str]], status: int = 400) -> Response:
    words = "One or more errors occurred!"
    return Response(status, {"statusCode": status, "message": words, "errors": errors})


def general(status: int, words: str) -> Response:
    return refuse({"generalErrors": [words]}, status)


def unbound(body: Any, shape: dict[str, Any], path: str = "$") -> str | None:
    """Return where System.Text.Json gave up."""
    tail = "| LineNumber: 0 | BytePositionInLine: 14."
    for name, kind in shape.items():
        value = body.get(name)
        here = f"{path}.{name}"
        if value is None:
            continue
        if isinstance(kind, dict):
            if not isinstance(value, dict):
                words = "The JSON value could not be converted to Tasks.Work."
                return f"{words} Path: {here} {tail}"
            if inner := unbound(value, kind, here):
                return inner
        elif not isinstance(value, str) or (kind is uuid.UUID and not is_guid(value)):
            of_type = "Guid" if kind is uuid.UUID else "String"
            words = f"The JSON value could not be converted to System.{of_type}."
            return f"{words} Path: {here} {tail}"
    return None


def is_guid(value: str) -> bool:
    try:
        uuid.UUID(value)
    except ValueError:
        return False
    return True


def faults(body: Any, shape: dict[str, Any], at: str = "") -> dict[str, list[str]]:
    """Return what FluentValidation finds empty."""
    found: dict[str, list[str]] = {}
    for name, kind in shape.items():
        value = body.get(name)
        if not value or value == EMPTY:
            words = f"'{spaced(name)}' must not be empty."
            found[at + name] = [words]
        elif isinstance(kind, dict):
            found |= faults(value, kind, f"{at}{name}.")
    return found


class FastEndpoints(Backend):
    """Twelve phrases, their assignments."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        for n, phrase in enumerate(PHRASES):
            key = str(uuid.uuid4())
            self.rows[key] = {
                "taskId": key,
                "name": f"Phrase {n + 1}",
                "details": phrase,
                "rewardCredits": n % 3 + 2,
                "status": "Open",
                "createdOn": "2026-10-20T12:00:00Z",
            }
        self.assignments: dict[str, dict[str, Any]] = {}
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {key: row["details"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, b"")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_urlsafe(48)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["status"] == "Open"]
        size = min(int(request.query.get("limit", "20") or 20), 20)
        return Response(200, {"items": found[:size], "totalCount": len(found)})

    def bound(
        self, request: Request, shape: dict[str, Any]
    ) -> tuple[Response | None, dict[str, Any]]:
        """Return a refusal, or the body."""
        if request.token not in self.agents:
            return Response(401, b""), {}
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            words = "The JSON value could not be converted to Tasks.Request. Path: $"
            return refuse({"serializerErrors": [words]}), {}
        if words := unbound(body, shape) or "":
            return refuse({"serializerErrors": [words]}), {}
        if found := faults(body, shape):
            return refuse(found), {}
        return None, body

    def claim(self, request: Request) -> Response:
        shape = {"taskId": uuid.UUID, "agentId": uuid.UUID}
        refusal, body = self.bound(request, shape)
        if refusal:
            return refusal
        if body["agentId"] != self.agents[request.token]:
            return general(403, "The agent is not the caller.")
        row = self.rows.get(body["taskId"])
        if row is None:
            return Response(404, b"")
        if row["status"] != "Open":
            return general(409, "The task is no longer open.")
        row["status"] = "Assigned"
        key = str(uuid.uuid4())
        self.assignments[key] = {
            "assignmentId": key,
            "taskId": row["taskId"],
            "status": "Active",
        }
        self.book.claimed(row["taskId"])
        return Response(200, self.assignments[key])

    def submit(self, request: Request) -> Response:
        shape = {"assignmentId": uuid.UUID, "work": {"content": str}}
        refusal, body = self.bound(request, shape)
        if refusal:
            return refusal
        made = self.assignments.get(body["assignmentId"])
        if made is None:
            return Response(404, b"")
        row = self.rows[made["taskId"]]
        if made["status"] == "Active":
            if body["work"]["content"] != row["details"].upper():
                return general(422, "The work was not accepted.")
            made["status"], row["status"] = "Paid", "Done"
            self.book.pay(row["taskId"], row["rewardCredits"])
        return Response(200, made | {"creditsPaid": row["rewardCredits"]})
