"""A Yii 2 REST module: a bare list of faults by field, labels in the messages.

[{"field": "task_id", "message": "Task ID cannot be blank."}] with status 422 is a refusal,
pages are told in X-Pagination-* headers and a Link, and numbers of the database are numbers.
The agent's own name goes with a claim; what is handed in is a `solution`.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

VERSES = (
    "the goose has opinions about the gate",
    "a bucket waits beneath the leak",
    "barley bends the way of rumours",
    "the tractor coughs and then agrees",
    "dew writes on the spider's page",
    "the rooster overslept on purpose",
    "hay remembers every summer",
)
PAGE = 3


def label(name: str) -> str:
    words = " ".join(name.split("_")).title()
    return words.replace("Id", "ID")


class YiiRest(Backend):
    """Seven verses in MySQL."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, dict[str, Any]] = {
            n: {
                "id": n,
                "name": f"Verse #{n}",
                "description": verse,
                "price": n % 4 + 1,
                "status": 10,
                "status_name": "Active",
                "created_at": 1762000000 + n,
            }
            for n, verse in enumerate(VERSES, start=3001)
        }
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {str(number): row["description"] for number, row in self.rows.items()}

    def no(self, status: int, name: str, message: str) -> Response:
        body = {"name": name, "message": message, "code": 0, "status": status}
        return Response(status, body)

    def missing(self, request: Request) -> Response:
        return self.no(404, "Not Found", "Page not found.")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = secrets.token_hex(5), secrets.token_urlsafe(32)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["status"] == 10]
        page = int(request.query.get("page", "1") or 1)
        pages = max(-(-len(found) // PAGE), 1)
        headers = {
            "X-Pagination-Total-Count": str(len(found)),
            "X-Pagination-Page-Count": str(pages),
            "X-Pagination-Current-Page": str(page),
            "X-Pagination-Per-Page": str(PAGE),
        }
        if page < pages:
            following = f"{request.base}{request.path}?page={page + 1}"
            headers["Link"] = f"<{following}>; rel=next"
        return Response(200, found[(page - 1) * PAGE : page * PAGE], headers)

    def loaded(
        self, request: Request, rules: dict[str, type]
    ) -> tuple[Response | None, dict[str, Any], dict[str, Any]]:
        """Return a refusal, or the attributes and their row."""
        if request.token not in self.agents:
            words = "Your request was made with invalid credentials."
            return self.no(401, "Unauthorized", words), {}, {}
        try:
            body = request.json()
        except ValueError:
            words = "Invalid JSON data in request body: Syntax error."
            return self.no(400, "Bad Request", words), {}, {}
        body = body if isinstance(body, dict) else {}
        faults = []
        for name, kind in rules.items():
            value = body.get(name)
            if value in (None, ""):
                words = f"{label(name)} cannot be blank."
            elif kind is int and not str(value).isdigit():
                words = f"{label(name)} must be an integer."
            elif kind is str and not isinstance(value, str):
                words = f"{label(name)} must be a string."
            elif name == "task_id" and int(value) not in self.rows:
                words = f"{label(name)} is invalid."
            else:
                continue
            faults.append({"field": name, "message": words})
        if faults:
            return Response(422, faults), {}, {}
        return None, body, self.rows[int(body["task_id"])]

    def claim(self, request: Request) -> Response:
        rules = {"task_id": int, "agent_name": str}
        refusal, _, row = self.loaded(request, rules)
        if refusal:
            return refusal
        if row["status"] != 10:
            return self.no(409, "Conflict", "The task is no longer active.")
        row |= {"status": 20, "status_name": "Reserved"}
        self.book.claimed(str(row["id"]))
        return Response(201, row)

    def submit(self, request: Request) -> Response:
        refusal, body, row = self.loaded(request, {"task_id": int, "solution": str})
        if refusal:
            return refusal
        if row["status"] != 20:
            return self.no(409, "Conflict", "The task is not reserved.")
        if body["solution"] != row["description"].upper():
            words = "The solution is wrong."
            return Response(422, [{"field": "solution", "message": words}])
        row |= {"status": 30, "status_name": "Submitted"}
        return Response(200, row)

    def complete(self, request: Request) -> Response:
        refusal, _, row = self.loaded(request, {"task_id": int})
        if refusal:
            return refusal
        if row["status"] == 30:
            row |= {"status": 40, "status_name": "Paid"}
            self.book.pay(str(row["id"]), row["price"])
        elif row["status"] != 40:
            return self.no(409, "Conflict", "The task was not submitted.")
        return Response(200, row)
