"""A Strapi v5 project: a `data` wrapper in and out, document ids, strict input.

A body without `data` is refused before all else, then a key that the content type does not
have (one at a time), then every attribute that is missing; a relation that points nowhere
is refused last. Claims are entries of their own (201), and what follows is about the
entry's documentId, not about its number. A biginteger attribute travels as a string.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PROMPTS = (
    "the ferry leaves at a quarter past",
    "pour the batter into a square tin",
    "seven owls sat on the barn roof",
    "the mayor lost her favourite scarf",
    "paint dries faster near the window",
    "a cricket sings behind the piano",
    "we traded apples for two candles",
    "the tunnel ends under the old mill",
    "copper turns green in the salt air",
    "someone left a kite in the attic",
    "the postman whistles on wednesdays",
    "frost drew ferns across the glass",
)
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
PAGE_SIZE = 5
STAMP = "2025-02-11T09:41:27.330Z"
# The attributes of each content type that a client may write; all are required.
ATTRIBUTES = {
    "claim": {"task": "relation"},
    "submit": {"assignment": "relation", "answer": "text"},
    "complete": {"assignment": "relation"},
}


class StrapiError(Exception):
    def __init__(
        self, status: int, name: str, message: str, details: Any = None
    ) -> None:
        super().__init__(message)
        error = {
            "status": status,
            "name": name,
            "message": message,
            "details": details or {},
        }
        self.response = Response(status, {"data": None, "error": error})


def invalid(faults: list[tuple[str, str]], given: dict[str, Any]) -> StrapiError:
    """Return a ValidationError about these fields."""
    errors = [
        {
            "path": [field],
            "message": message,
            "name": "ValidationError",
            "value": given.get(field),
        }
        for field, message in faults
    ]
    told = faults[0][1] if len(faults) == 1 else f"{len(faults)} errors occurred"
    return StrapiError(400, "ValidationError", told, {"errors": errors})


def document_id() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(24))


class Strapi(Backend):
    """Twelve published tasks."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: dict[str, str] = {}
        self.tasks_: dict[str, dict[str, Any]] = {}
        self.assignments: dict[str, dict[str, Any]] = {}
        for at, prompt in enumerate(PROMPTS):
            self.tasks_[document_id()] = {
                "id": 2 * at + 3,
                "prompt": prompt,
                "bounty": str(at % 7 + 2),
                "stage": "available",
            }

    def texts(self) -> dict[str, str]:
        return {key: task["prompt"] for key, task in self.tasks_.items()}

    def missing(self, request: Request) -> Response:
        return StrapiError(404, "NotFoundError", "Not Found").response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, agent = secrets.token_hex(64), document_id()
        self.tokens[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def entry(self, key: str) -> dict[str, Any]:
        task = self.tasks_[key]
        return {
            "id": task["id"],
            "documentId": key,
            "slug": "-".join(task["prompt"].split()[:3]),
            "prompt": task["prompt"],
            "bounty": task["bounty"],
            "stage": task["stage"],
            "createdAt": STAMP,
            "updatedAt": STAMP,
            "publishedAt": STAMP,
            "locale": None,
        }

    def tasks(self, request: Request) -> Response:
        rows = [k for k, t in self.tasks_.items() if t["stage"] == "available"]
        asked = request.query.get("pagination[page]", "1")
        page = max(1, int(asked)) if asked.isdecimal() else 1
        shown = rows[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
        pagination = {
            "page": page,
            "pageSize": PAGE_SIZE,
            "pageCount": -(-len(rows) // PAGE_SIZE),
            "total": len(rows),
        }
        data = [self.entry(key) for key in shown]
        return Response(200, {"data": data, "meta": {"pagination": pagination}})

    marketplace = tasks

    def agent(self, request: Request) -> str:
        if request.token not in self.tokens:
            told = "Missing or invalid credentials"
            raise StrapiError(401, "UnauthorizedError", told)
        return self.tokens[request.token]

    def answered(
        self, request: Request, action: str, run: Callable[[str, Any], Any]
    ) -> Response:
        try:
            agent = self.agent(request)
            return Response(201, {"data": run(agent, given(request, action))})
        except StrapiError as no:
            return no.response

    def claim(self, request: Request) -> Response:
        return self.answered(request, "claim", self.on_claim)

    def on_claim(self, agent: str, data: dict[str, Any]) -> Any:
        key = data["task"]
        if key not in self.tasks_:
            raise no_relation("api::task.task")
        if self.tasks_[key]["stage"] != "available":
            raise StrapiError(409, "ApplicationError", "Task is no longer available")
        self.tasks_[key]["stage"] = "assigned"
        number, document = 40 + len(self.assignments), document_id()
        self.assignments[document] = {"agent": agent, "task": key, "answer": None}
        self.book.claimed(key)
        return self.shown(number, document)

    def shown(self, number: int, document: str) -> dict[str, Any]:
        return {
            "id": number,
            "documentId": document,
            "stage": self.tasks_[self.assignments[document]["task"]]["stage"],
            "createdAt": STAMP,
            "updatedAt": STAMP,
        }

    def own(self, agent: str, document: str) -> dict[str, Any]:
        if document not in self.assignments:
            raise no_relation("api::assignment.assignment")
        if self.assignments[document]["agent"] != agent:
            raise StrapiError(403, "ForbiddenError", "Forbidden")
        return self.assignments[document]

    def submit(self, request: Request) -> Response:
        return self.answered(request, "submit", self.on_submit)

    def on_submit(self, agent: str, data: dict[str, Any]) -> Any:
        found = self.own(agent, data["assignment"])
        task = self.tasks_[found["task"]]
        if data["answer"] != task["prompt"].upper():
            raise invalid([("answer", "answer is not what was asked for")], data)
        found["answer"], task["stage"] = data["answer"], "answered"
        return self.shown(73, data["assignment"])

    def complete(self, request: Request) -> Response:
        return self.answered(request, "complete", self.on_complete)

    def on_complete(self, agent: str, data: dict[str, Any]) -> Any:
        found = self.own(agent, data["assignment"])
        if found["answer"] is None:
            raise StrapiError(400, "ApplicationError", "Assignment has no answer")
        if found["task"] not in self.book.paid:
            task = self.tasks_[found["task"]]
            task["stage"] = "settled"
            self.book.pay(found["task"], int(task["bounty"]))
        return self.shown(90, data["assignment"])


def no_relation(kind: str) -> StrapiError:
    told = f"1 relation(s) of type {kind} associated with this entity do not exist"
    return StrapiError(400, "ValidationError", told)


def given(request: Request, action: str) -> dict[str, Any]:
    """Return the `data` of a body that the content type takes."""
    try:
        body = request.json()
    except ValueError:
        body = None
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(data, dict):
        told = 'Missing "data" payload in the request body'
        raise StrapiError(400, "ValidationError", told)
    wanted = ATTRIBUTES[action]
    for key in data:
        if key not in wanted:
            details = {"key": key, "path": key, "source": "body"}
            raise StrapiError(400, "ValidationError", f"Invalid key {key}", details)
    faults = []
    for field in wanted:
        value = data.get(field)
        if value is None:
            faults.append((field, f"{field} must be defined."))
        elif not isinstance(value, str):
            kind = type(value).__name__
            told = (
                f"{field} must be a `string` type, but the final value was: `{kind}`."
            )
            faults.append((field, told))
    if faults:
        raise invalid(faults, data)
    return data
