"""Django REST with the team's own renderer and exception handler around everything.

{"success", "data", "error"} is every body; `details` has what the serializer said. Related
rows are primary keys, called after the relation and not `..._id`. A deliverable is a list of
parts, and finishing tells when the work was done, as an ISO 8601 date and time.
"""

import datetime as dt
import itertools
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

REQUIRED = "This field is required."
TEXTS = (
    "the admin site is open all night",
    "a queryset is lazy until it rains",
    "signals were sent and nobody listened",
    "the middleware naps after lunch",
    "migrations fly south in autumn",
    "a slug crossed the url at dawn",
    "the fixture hangs above the table",
)
PAGE = 5


def pk(value: Any, known: Any) -> list[str]:
    """Return what PrimaryKeyRelatedField says."""
    try:
        number = int(value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        return [f"Incorrect type. Expected pk value, received {kind}."]
    return [] if number in known else [f'Invalid pk "{value}" - object does not exist.']


def moment(value: Any) -> list[str]:
    try:
        dt.datetime.fromisoformat(str(value))
    except ValueError:
        formats = "YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z]"
        words = "Datetime has wrong format. Use one of these formats instead:"
        return [f"{words} {formats}."]
    return []


def part(value: Any) -> dict[str, list[str]]:
    """Return what the nested serializer says of one part."""
    if not isinstance(value, dict):
        kind = type(value).__name__
        words = f"Invalid data. Expected a dictionary, but got {kind}."
        return {"non_field_errors": [words]}
    found = {name: [REQUIRED] for name in ("kind", "value") if name not in value}
    if "kind" in value and value["kind"] not in ("text", "file"):
        found["kind"] = [f'"{value["kind"]}" is not a valid choice.']
    return found


def parts(value: Any) -> Any:
    if not isinstance(value, list):
        kind = type(value).__name__
        words = f'Expected a list of items but got type "{kind}".'
        return {"non_field_errors": [words]}
    found = [part(one) for one in value]
    return found if any(found) else []


class DrfRenderer(Backend):
    """Seven texts and their assignments."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, dict[str, Any]] = {
            n: {
                "id": n,
                "title": f"Text {n}",
                "body": text,
                "reward": f"{n % 4 + 1}.00",
                "status": "published",
                "created_at": "2026-10-30T11:02:09.113201Z",
            }
            for n, text in enumerate(TEXTS, start=512)
        }
        self.assignments: dict[int, dict[str, Any]] = {}
        self.numbers = itertools.count(88)
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {str(number): row["body"] for number, row in self.rows.items()}

    def ok(self, data: Any, status: int = 200) -> Response:
        return Response(status, {"success": True, "data": data, "error": None})

    def no(self, status: int, code: str, message: str, details: Any = None) -> Response:
        error = {"code": code, "message": message, "details": details}
        return Response(status, {"success": False, "data": None, "error": error})

    def missing(self, request: Request) -> Response:
        return self.no(404, "not_found", "Not found.")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        self.agents.add(token)
        agent = f"ag{secrets.token_hex(5)}"
        return self.ok({"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["status"] == "published"]
        page = int(request.query.get("page", "1") or 1)
        more = len(found) > page * PAGE
        following = f"{request.base}{request.path}?page={page + 1}" if more else None
        return self.ok(
            {
                "count": len(found),
                "next": following,
                "previous": None,
                "results": found[(page - 1) * PAGE : page * PAGE],
            }
        )

    def read(self, request: Request, checks: dict[str, Any]) -> Response | None:
        if request.token not in self.agents:
            words = "Authentication credentials were not provided."
            return self.no(401, "not_authenticated", words)
        try:
            body = request.json()
        except ValueError:
            return self.no(400, "parse_error", "JSON parse error")
        if not isinstance(body, dict):
            return self.no(400, "validation_error", "Invalid input.")
        details: dict[str, Any] = {}
        for name, check in checks.items():
            fault = check(body[name]) if name in body else [REQUIRED]
            if fault:
                details[name] = fault
        if details:
            return self.no(400, "validation_error", "Invalid input.", details)
        return None

    def claim(self, request: Request) -> Response:
        refusal = self.read(request, {"task": lambda value: pk(value, self.rows)})
        if refusal:
            return refusal
        row = self.rows[int(request.json()["task"])]
        if row["status"] != "published":
            return self.no(409, "already_assigned", "Task is already assigned.")
        row["status"] = "assigned"
        made = {"id": next(self.numbers), "task": row["id"], "status": "active"}
        self.assignments[made["id"]] = made
        self.book.claimed(str(row["id"]))
        return self.ok(made, 201)

    def assignment(self, value: Any) -> list[str]:
        return pk(value, self.assignments)

    def submit(self, request: Request) -> Response:
        checks = {"assignment": self.assignment, "deliverables": parts}
        refusal = self.read(request, checks)
        if refusal:
            return refusal
        body = request.json()
        made = self.assignments[int(body["assignment"])]
        if made["status"] != "active":
            return self.no(409, "not_active", "Assignment is not active.")
        wanted = self.rows[made["task"]]["body"].upper()
        if [one["value"] for one in body["deliverables"]] != [wanted]:
            return self.no(422, "rejected", "The deliverables were rejected.")
        made["status"] = "submitted"
        return self.ok(made)

    def complete(self, request: Request) -> Response:
        checks = {"assignment": self.assignment, "finished_at": moment}
        refusal = self.read(request, checks)
        if refusal:
            return refusal
        made = self.assignments[int(request.json()["assignment"])]
        row = self.rows[made["task"]]
        if made["status"] == "submitted":
            made["status"], row["status"] = "completed", "closed"
            self.book.pay(str(row["id"]), int(float(row["reward"])))
        elif made["status"] != "completed":
            return self.no(409, "not_submitted", "Nothing was submitted.")
        return self.ok(made | {"reward": row["reward"]})
