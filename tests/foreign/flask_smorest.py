"""Flask-Smorest: webargs reads the body with marshmallow, SQLAlchemy has the rows.

A refusal is {"code", "status", "errors": {"json": {field: [words]}}} with status 422, and a
field that the schema does not have is "Unknown field.". The listing is a bare array; where
the next page is stands in X-Pagination, as JSON. An assignment is what a claim makes, and
all that follows is about it.
"""

import itertools
import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SENTENCES = (
    "the harbour master counts the masts",
    "a gull steals the last herring",
    "ropes are coiled before the storm",
    "the lighthouse blinks every nine seconds",
    "fog hides the breakwater by noon",
    "nets dry along the southern quay",
    "a bell buoy drifted past the point",
    "the ferry leaves without its captain",
    "barnacles cover the old anchor",
    "someone painted the hull bright orange",
    "the tide table is off by an hour",
    "a crate of lemons floats ashore",
)
PER_PAGE = 10
MISSING = "Missing data for required field."


def abort(status: int, phrase: str, **more: Any) -> Response:
    return Response(status, {"code": status, "status": phrase, **more})


def load(body: Any, schema: dict[str, type]) -> dict[str, list[str]]:
    """Return what marshmallow has against a body."""
    if not isinstance(body, dict):
        return {"_schema": ["Invalid input type."]}
    faults: dict[str, list[str]] = {}
    for name, kind in schema.items():
        if name not in body:
            faults[name] = [MISSING]
        elif body[name] is None:
            faults[name] = ["Field may not be null."]
        elif kind is str and not isinstance(body[name], str):
            faults[name] = ["Not a valid string."]
        elif kind is int:
            try:
                int(body[name])
            except (TypeError, ValueError):
                faults[name] = ["Not a valid integer."]
    return faults | {name: ["Unknown field."] for name in body if name not in schema}


class FlaskSmorest(Backend):
    """Twelve sentences and their assignments."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, dict[str, Any]] = {
            n: {"id": n, "prompt": text, "payout": n % 3 + 3, "state": "available"}
            for n, text in enumerate(SENTENCES, start=401)
        }
        self.assignments: dict[int, dict[str, Any]] = {}
        self.agents: dict[str, str] = {}
        self.numbers = itertools.count(9001)

    def texts(self) -> dict[str, str]:
        return {str(number): row["prompt"] for number, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return abort(404, "Not Found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"agent-{secrets.token_hex(4)}", secrets.token_urlsafe(32)
        self.agents[token] = agent
        return Response(200, {"access_token": token, "agent_id": agent, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["state"] == "available"]
        size = min(int(request.query.get("page_size", PER_PAGE) or PER_PAGE), 100)
        page = max(int(request.query.get("page", "1") or 1), 1)
        last = max(-(-len(found) // size), 1)
        where = {"total": len(found), "total_pages": last, "first_page": 1}
        where |= {"last_page": last, "page": page}
        if page < last:
            where["next_page"] = page + 1
        part = found[(page - 1) * size : page * size]
        return Response(200, part, {"X-Pagination": json.dumps(where)})

    def faulty(self, request: Request, schema: dict[str, type]) -> Response | None:
        if request.token not in self.agents:
            return abort(401, "Unauthorized", message="Missing or invalid token.")
        try:
            faults = load(request.json(), schema)
        except ValueError:
            return abort(400, "Bad Request", errors={"json": ["Invalid JSON body."]})
        if faults:
            return abort(422, "Unprocessable Entity", errors={"json": faults})
        return None

    def claim(self, request: Request) -> Response:
        refusal = self.faulty(request, {"task_id": int, "agent_id": str})
        if refusal:
            return refusal
        body = request.json()
        if body["agent_id"] != self.agents[request.token]:
            return abort(403, "Forbidden", message="agent_id is not the caller.")
        row = self.rows.get(int(body["task_id"]))
        if row is None:
            return abort(404, "Not Found", message="No such task.")
        if row["state"] != "available":
            return abort(409, "Conflict", message="Task is already assigned.")
        row["state"] = "assigned"
        number = next(self.numbers)
        made = {"id": number, "task_id": row["id"], "state": "in_progress"}
        self.assignments[number] = made
        self.book.claimed(str(row["id"]))
        return Response(201, made)

    def assignment(self, request: Request) -> dict[str, Any] | None:
        return self.assignments.get(int(request.json()["assignment_id"]))

    def submit(self, request: Request) -> Response:
        refusal = self.faulty(request, {"assignment_id": int, "answer": str})
        if refusal:
            return refusal
        made = self.assignment(request)
        if made is None:
            return abort(404, "Not Found", message="No such assignment.")
        if made["state"] != "in_progress":
            return abort(409, "Conflict", message="Already submitted.")
        if request.json()["answer"] != self.rows[made["task_id"]]["prompt"].upper():
            return abort(400, "Bad Request", message="Wrong answer.")
        made["state"] = "submitted"
        return Response(200, made)

    def complete(self, request: Request) -> Response:
        refusal = self.faulty(request, {"assignment_id": int})
        if refusal:
            return refusal
        made = self.assignment(request)
        if made is None:
            return abort(404, "Not Found", message="No such assignment.")
        row = self.rows[made["task_id"]]
        if made["state"] == "submitted":
            made["state"] = "done"
            self.book.pay(str(row["id"]), row["payout"])
        elif made["state"] != "done":
            return abort(409, "Conflict", message="Nothing was submitted yet.")
        return Response(200, made | {"payout": row["payout"]})
