"""FastAPI by somebody who read the first page of its tutorial: scalars are in the query.

`def claim(task_id: int)` takes task_id from the query string of a POST, and its refusal says
so: loc is ["query", "task_id"]. Only a result has a model, which wants to know how it went
and how sure the agent is. Completing is by query again.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ITEMS = (
    "the snail has the right of way",
    "mind the gap between two thoughts",
    "a duck is stuck in the revolving door",
    "the lift only goes to the third floor",
    "do not feed the photocopier",
    "the exit is where you came in",
    "please hold the handrail and your breath",
)
OUTCOMES = ("success", "failure", "partial")


def fault(kind: str, msg: str, *loc: str) -> dict[str, Any]:
    return {"type": kind, "loc": [*loc], "msg": msg, "input": None}


def unprocessable(*faults: dict[str, Any]) -> Response:
    return Response(422, {"detail": [*faults]})


class FastapiQuery(Backend):
    """Seven signs in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.items: dict[int, dict[str, Any]] = {
            n: {"id": n, "text": text, "credits": n % 3 + 1, "status": "open"}
            for n, text in enumerate(ITEMS, start=1)
        }
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {str(number): item["text"] for number, item in self.items.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"detail": "Not Found"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(24)
        self.agents.add(token)
        agent = secrets.token_hex(6)
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        limit = int(request.query.get("limit", "100") or 100)
        found = [one for one in self.items.values() if one["status"] == "open"]
        return Response(200, found[:limit])

    def named(self, request: Request) -> list[dict[str, Any]]:
        value = request.query.get("task_id")
        if value is None:
            return [fault("missing", "Field required", "query", "task_id")]
        if not value.isdigit():
            words = (
                "Input should be a valid integer, unable to parse string as an integer"
            )
            return [fault("int_parsing", words, "query", "task_id")]
        return []

    def found(
        self, request: Request, *more: dict[str, Any]
    ) -> Response | dict[str, Any]:
        """Return a refusal, or the item."""
        if request.token not in self.agents:
            return Response(401, {"detail": "Not authenticated"})
        if faults := [*self.named(request), *more]:
            return unprocessable(*faults)
        item = self.items.get(int(request.query["task_id"]))
        return item or Response(404, {"detail": "Task not found"})

    def claim(self, request: Request) -> Response:
        item = self.found(request)
        if isinstance(item, Response):
            return item
        if item["status"] != "open":
            return Response(400, {"detail": "Task already claimed"})
        item["status"] = "claimed"
        self.book.claimed(str(item["id"]))
        return Response(200, {"message": "Task claimed", "task": item})

    def faults(self, body: Any) -> list[dict[str, Any]]:
        """Return what pydantic says of a result."""
        if not isinstance(body, dict):
            words = (
                "Input should be a valid dictionary or object to extract fields from"
            )
            return [fault("model_attributes_type", words, "body")]
        found = []
        for name, kind in (("output", str), ("outcome", str), ("confidence", float)):
            value = body.get(name)
            if name not in body:
                found.append(fault("missing", "Field required", "body", name))
            elif kind is float and not isinstance(value, int | float):
                words = "Input should be a valid number"
                found.append(fault("float_type", words, "body", name))
            elif kind is str and not isinstance(value, str):
                words = "Input should be a valid string"
                found.append(fault("string_type", words, "body", name))
        if isinstance(body.get("outcome"), str) and body["outcome"] not in OUTCOMES:
            words = "Input should be 'success', 'failure' or 'partial'"
            found.append(fault("literal_error", words, "body", "outcome"))
        return found

    def submit(self, request: Request) -> Response:
        try:
            body = request.json()
        except ValueError:
            return unprocessable(
                fault("json_invalid", "JSON decode error", "body", "0")
            )
        item = self.found(request, *self.faults(body))
        if isinstance(item, Response):
            return item
        if item["status"] != "claimed":
            return Response(400, {"detail": "Task is not claimed"})
        if body["output"] != item["text"].upper() or body["outcome"] != "success":
            return Response(400, {"detail": "Result rejected"})
        item["status"] = "submitted"
        return Response(200, {"message": "Result received", "task": item})

    def complete(self, request: Request) -> Response:
        item = self.found(request)
        if isinstance(item, Response):
            return item
        if item["status"] == "submitted":
            item["status"] = "completed"
            self.book.pay(str(item["id"]), item["credits"])
        elif item["status"] != "completed":
            return Response(400, {"detail": "Task is not submitted"})
        return Response(200, {"message": "Task completed", "task": item})
