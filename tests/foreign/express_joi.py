"""Express with Joi and Mongoose behind nginx, answers in the manner of JSend.

Joi stops at the first fault and quotes the label. Unknown keys are not allowed, which is
Joi's default. Everything that succeeds is {"status": "success", "data": ...}; what the
caller did wrong is "fail", with a message. nginx answers the rest with its own page.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

NOTES = (
    "the kettle whistles at seven",
    "two spoons rest beside the jar",
    "a drawer full of foreign coins",
    "rain taps on the kitchen window",
    "the bread knife needs a new handle",
    "someone left the pantry door ajar",
    "an apron hangs behind the stove",
    "eleven plates and one chipped bowl",
    "the butter softens by the lamp",
    "salt is kept on the upper shelf",
    "a recipe written in green ink",
    "the clock over the sink is slow",
)
FORMATS = ["text", "markdown", "json"]
NGINX = (
    "<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n"
    "<center><h1>404 Not Found</h1></center>\r\n<hr><center>nginx/1.24.0</center>\r\n"
    "</body>\r\n</html>\r\n"
)


def fail(status: int, message: str) -> Response:
    return Response(status, {"status": "fail", "message": message})


def success(data: Any, status: int = 200) -> Response:
    return Response(status, {"status": "success", "data": data})


def object_id(value: Any, label: str) -> str | None:
    """Return what Joi.string().hex().length(24) says of a value."""
    if not isinstance(value, str):
        return f'"{label}" must be a string'
    if any(one not in "0123456789abcdef" for one in value.lower()):
        return f'"{label}" must only contain hexadecimal characters'
    if len(value) != 24:
        return f'"{label}" length must be 24 characters long'
    return None


def check(body: Any, schema: dict[str, Any], at: str = "") -> str | None:
    """Return the first fault as Joi words it."""
    if not isinstance(body, dict):
        return f'"{at.rstrip(".") or "value"}" must be of type object'
    for key, kind in schema.items():
        label, value = at + key, body.get(key)
        if key not in body:
            return f'"{label}" is required'
        if isinstance(kind, dict):
            fault = check(value, kind, f"{label}.")
        elif kind == "id":
            fault = object_id(value, label)
        elif isinstance(kind, list):
            words = f'"{label}" must be one of [{", ".join(kind)}]'
            fault = None if value in kind else words
        elif not isinstance(value, str):
            fault = f'"{label}" must be a string'
        else:
            fault = None if value else f'"{label}" is not allowed to be empty'
        if fault:
            return fault
    more = [key for key in body if key not in schema]
    return f'"{at}{more[0]}" is not allowed' if more else None


class ExpressJoi(Backend):
    """Twelve notes in a collection."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: dict[str, dict[str, Any]] = {}
        for n, note in enumerate(NOTES):
            key = secrets.token_hex(12)
            self.notes[key] = {
                "_id": key,
                "title": f"Note {n + 1}",
                "description": note,
                "reward": n % 4 + 2,
                "status": "open",
                "createdAt": "2026-10-02T08:11:45.120Z",
                "updatedAt": "2026-10-02T08:11:45.120Z",
                "__v": 0,
            }
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {key: note["description"] for key, note in self.notes.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, NGINX, {"Content-Type": "text/html"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = secrets.token_hex(12), secrets.token_urlsafe(40)
        self.agents[token] = agent
        return success({"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [note for note in self.notes.values() if note["status"] == "open"]
        page = max(int(request.query.get("page", "1") or 1), 1)
        limit = min(int(request.query.get("limit", "10") or 10), 10)
        part = found[(page - 1) * limit : page * limit]
        answer = success({"tasks": part})
        answer.body |= {"results": len(part), "total": len(found), "page": page}
        return answer

    marketplace = tasks

    def read(
        self, request: Request, schema: dict[str, Any]
    ) -> tuple[Response | None, dict[str, Any], dict[str, Any]]:
        """Return a refusal, or the body and its note."""
        if request.token not in self.agents:
            return (
                fail(401, "You are not logged in! Please log in to get access"),
                {},
                {},
            )
        try:
            body = request.json()
        except ValueError:
            return fail(400, "Unexpected token in JSON at position 0"), {}, {}
        if fault := check(body, schema):
            return fail(400, fault), {}, {}
        note = self.notes.get(body["taskId"])
        if note is None:
            return fail(404, "No task found with that ID"), {}, {}
        return None, body, note

    def claim(self, request: Request) -> Response:
        refusal, _, note = self.read(request, {"taskId": "id"})
        if refusal:
            return refusal
        if note["status"] != "open":
            return fail(409, "This task has already been claimed")
        note |= {"status": "claimed", "claimedBy": self.agents[request.token]}
        self.book.claimed(note["_id"])
        return success({"task": dict(note)})

    def submit(self, request: Request) -> Response:
        submission = {"content": str, "format": FORMATS}
        refusal, body, note = self.read(
            request, {"taskId": "id", "submission": submission}
        )
        if refusal:
            return refusal
        if note["status"] != "claimed":
            return fail(409, "Only claimed tasks can be submitted")
        if body["submission"]["content"] != note["description"].upper():
            return fail(422, "The submission was rejected")
        note["status"] = "submitted"
        return success({"task": dict(note)})

    def complete(self, request: Request) -> Response:
        refusal, _, note = self.read(request, {"taskId": "id"})
        if refusal:
            return refusal
        if note["status"] == "submitted":
            note["status"] = "completed"
            self.book.pay(note["_id"], note["reward"])
        elif note["status"] != "completed":
            return fail(409, "Submit your work before completing the task")
        return success({"task": dict(note), "creditsEarned": note["reward"]})
