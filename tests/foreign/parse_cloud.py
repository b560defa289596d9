"""Parse Server's cloud functions with their own validator, in front of a MongoDB.

What a function returns stands in `result`, dates and pointers are objects with a `__type`,
and every refusal is {"code", "error"} with status 400: "Validation failed. Please specify
data for taskId.", one name at a time. A claim is an object with an objectId of its own.
"""

import secrets
import string
from typing import Any

from tests.foreign.backend import Backend, Request, Response

LETTERS = string.ascii_letters + string.digits
NOTES = (
    "pack the telescope before the tent",
    "comets do not keep appointments",
    "the observatory smells of coffee",
    "orion leans over the chimney",
    "a satellite pretends to be a star",
    "the moon borrowed somebody's light",
    "count the rings and divide by tea",
)


def object_id() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(10))


def no(code: int, error: str, status: int = 400) -> Response:
    return Response(status, {"code": code, "error": error})


def validate(body: Any, fields: dict[str, type]) -> Response | None:
    """Return what Parse.Cloud's validator throws first."""
    params = body if isinstance(body, dict) else {}
    for name, kind in fields.items():
        if params.get(name) is None:
            words = f"Validation failed. Please specify data for {name}."
            return no(142, words)
        if not isinstance(params[name], kind):
            wanted = kind.__name__.replace("str", "string").replace("dict", "object")
            words = f"Validation failed. Invalid type for {name}. Expected: {wanted}"
            return no(142, words)
    return None


class ParseCloud(Backend):
    """Seven notes for the night."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: dict[str, dict[str, Any]] = {}
        for n, note in enumerate(NOTES):
            key = object_id()
            self.notes[key] = {
                "objectId": key,
                "createdAt": f"2026-11-03T21:{n:02}:00.000Z",
                "updatedAt": f"2026-11-03T21:{n:02}:00.000Z",
                "deadline": {"__type": "Date", "iso": "2027-06-01T00:00:00.000Z"},
                "content": note,
                "points": n % 5 + 1,
                "status": "OPEN",
                "__type": "Object",
                "className": "Task",
            }
        self.claims: dict[str, dict[str, Any]] = {}
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: note["content"] for key, note in self.notes.items()}

    def missing(self, request: Request) -> Response:
        return no(141, "Invalid function", 404)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = object_id(), f"r:{secrets.token_hex(16)}"
        self.agents.add(token)
        made = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, {"result": made})

    def tasks(self, request: Request) -> Response:
        found = [note for note in self.notes.values() if note["status"] == "OPEN"]
        return Response(200, {"result": found})

    def ran(
        self, request: Request, fields: dict[str, type]
    ) -> tuple[Response | None, dict[str, Any]]:
        """Return a refusal, or the parameters."""
        if request.token not in self.agents:
            return no(209, "Invalid session token", 401), {}
        try:
            body = request.json()
        except ValueError:
            return no(107, "Received an object with invalid JSON"), {}
        return validate(body, fields), body

    def claim(self, request: Request) -> Response:
        refusal, params = self.ran(request, {"taskId": str})
        if refusal:
            return refusal
        note = self.notes.get(params["taskId"])
        if note is None:
            return no(101, "Object not found.", 404)
        if note["status"] != "OPEN":
            return no(141, "Task is taken")
        note["status"] = "TAKEN"
        key = object_id()
        pointer = {"__type": "Pointer", "className": "Task"}
        self.claims[key] = {
            "objectId": key,
            "task": pointer | {"objectId": note["objectId"]},
            "status": "ACTIVE",
            "__type": "Object",
            "className": "Claim",
        }
        self.book.claimed(note["objectId"])
        return Response(200, {"result": self.claims[key]})

    def submit(self, request: Request) -> Response:
        refusal, params = self.ran(request, {"claimId": str, "payload": dict})
        if refusal:
            return refusal
        claim = self.claims.get(params["claimId"])
        if claim is None:
            return no(101, "Object not found.", 404)
        if "answer" not in params["payload"]:
            return no(141, "payload.answer is required")
        note = self.notes[claim["task"]["objectId"]]
        if params["payload"]["answer"] != note["content"].upper():
            return no(141, "Answer rejected")
        claim["status"] = "SUBMITTED"
        return Response(200, {"result": claim})

    def complete(self, request: Request) -> Response:
        refusal, params = self.ran(request, {"claimId": str})
        if refusal:
            return refusal
        claim = self.claims.get(params["claimId"])
        if claim is None:
            return no(101, "Object not found.", 404)
        note = self.notes[claim["task"]["objectId"]]
        if claim["status"] == "SUBMITTED":
            claim["status"], note["status"] = "DONE", "DONE"
            self.book.pay(note["objectId"], note["points"])
        elif claim["status"] != "DONE":
            return no(141, "Nothing was submitted")
        return Response(200, {"result": {"paid": note["points"], "claim": claim}})
