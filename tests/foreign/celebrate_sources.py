"""Express with celebrate: Joi's faults sorted by where they are: headers, query or body.

One source at a time, as celebrate checks them, and in it the first fault. The worker is
told in a header, the version of the protocol in the query, and the rest in a body that has
a wrapper for each action.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "the parade ends at the old gate",
    "confetti in the violin case",
    "a toast to the absent drummer",
    "the cake has one candle left",
    "balloons over the parking lot",
    "the band tunes to the doorbell",
)
WRAPPERS = {"claim": "claim", "submit": "submission", "complete": "completion"}
FIELDS = {
    "claim": ["assignmentId"],
    "submit": ["assignmentId", "answer"],
    "complete": ["assignmentId"],
}


class CelebrateSources(Backend):
    """Six assignments."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {
            secrets.token_hex(12): {
                "text": text,
                "points": at % 3 + 2,
                "status": "open",
            }
            for at, text in enumerate(TEXTS)
        }
        self.workers: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {key: row["text"] for key, row in self.rows.items()}

    def no(self, status: int, error: str, message: str, **more: Any) -> Response:
        told = {"statusCode": status, "error": error, "message": message, **more}
        return Response(status, told)

    def missing(self, request: Request) -> Response:
        return self.no(404, "Not Found", "Not Found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        worker, token = f"wk-{secrets.token_hex(4)}", secrets.token_hex(16)
        self.workers[token] = worker
        told = {"agent_id": worker, "access_token": token, "credits": 100}
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        rows = [{"assignmentId": key, **row} for key, row in self.rows.items()]
        return Response(200, {"assignments": rows})

    def fault(self, request: Request, action: str, body: Any) -> tuple[str, str, str]:
        """Return the source, the key and the message of the first fault."""
        if not request.headers.get("X-Worker-Id"):
            return "headers", "x-worker-id", '"x-worker-id" is required'
        wrapper = WRAPPERS[action]
        if not isinstance(body, dict) or wrapper not in body:
            return "body", wrapper, f'"{wrapper}" is required'
        inner = body[wrapper]
        if not isinstance(inner, dict):
            return "body", wrapper, f'"{wrapper}" must be of type object'
        for name in FIELDS[action]:
            path = f"{wrapper}.{name}"
            if name not in inner:
                return "body", path, f'"{path}" is required'
            if not isinstance(inner[name], str):
                return "body", path, f'"{path}" must be a string'
        for name in inner:
            if name not in FIELDS[action]:
                path = f"{wrapper}.{name}"
                return "body", path, f'"{path}" is not allowed'
        for name in body:
            if name != wrapper:
                return "body", name, f'"{name}" is not allowed'
        return "", "", ""

    def route(
        self, request: Request, action: str, act: Callable[[str, Any], Response]
    ) -> Response:
        if request.token not in self.workers:
            return self.no(401, "Unauthorized", "Missing or unknown token")
        try:
            body = request.json()
        except ValueError:
            return self.no(400, "Bad Request", "Unexpected token in JSON")
        source, key, message = self.fault(request, action, body)
        if source:
            validation = {source: {"source": source, "keys": [key], "message": message}}
            told = "Validation failed"
            return self.no(400, "Bad Request", told, validation=validation)
        if request.headers["X-Worker-Id"] != self.workers[request.token]:
            return self.no(403, "Forbidden", "You are another worker")
        inner = body[WRAPPERS[action]]
        if inner["assignmentId"] not in self.rows:
            return self.no(404, "Not Found", "No such assignment")
        return act(inner["assignmentId"], inner)

    def claim(self, request: Request) -> Response:
        return self.route(request, "claim", self.on_claim)

    def on_claim(self, key: str, _inner: Any) -> Response:
        if self.rows[key]["status"] != "open":
            return self.no(409, "Conflict", "The assignment is taken")
        self.rows[key]["status"] = "taken"
        self.book.claimed(key)
        return Response(200, {"assignmentId": key, "status": "taken"})

    def submit(self, request: Request) -> Response:
        return self.route(request, "submit", self.on_submit)

    def on_submit(self, key: str, inner: Any) -> Response:
        row = self.rows[key]
        if row["status"] == "open":
            return self.no(409, "Conflict", "Take the assignment first")
        if inner["answer"] != row["text"].upper():
            return self.no(422, "Unprocessable Entity", "The answer is wrong")
        if row["status"] == "taken":
            row["status"] = "answered"
        return Response(200, {"assignmentId": key, "status": row["status"]})

    def complete(self, request: Request) -> Response:
        return self.route(request, "complete", self.on_complete)

    def on_complete(self, key: str, _inner: Any) -> Response:
        row = self.rows[key]
        if row["status"] in ("open", "taken"):
            return self.no(409, "Conflict", "There is no answer yet")
        if row["status"] == "answered":
            row["status"] = "paid"
            self.book.pay(key, row["points"])
        return Response(200, {"assignmentId": key, "status": "paid"})
