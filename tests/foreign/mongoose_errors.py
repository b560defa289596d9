"""Express and Mongoose without another validator: the model says what is wrong.

A refusal is the message of a ValidationError, which joins what each path said, casts and
nested objects included. Each step makes a document and the next one refers to it by its
`_id`, in a path called as the model is. The listing is mongoose-paginate's, and a reward
is an object.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]
PROMPTS = (
    "the kitchen smells of cardamom",
    "lost gloves wait at the station",
    "a fox crossed behind the chapel",
    "the printer sulks after lunch",
    "knock twice and then wait",
    "our neighbour collects lampshades",
    "the tide took the lower steps",
    "good bread needs a slow night",
)
LIMIT, MOST_LIMIT = 3, 5


class SentError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def object_id() -> str:
    return f"6740{secrets.token_hex(10)}"


def reference(body: Json, path: str) -> str:
    """Return what a required ObjectId says of a path."""
    value = body.get(path)
    if value is None:
        return f"Path `{path}` is required."
    if isinstance(value, str) and len(value) == len(object_id()):
        return ""
    kind = "string" if isinstance(value, str) else type(value).__name__
    shown = f'"{value}"' if isinstance(value, str) else str(value)
    return (
        f"Cast to ObjectId failed for value {shown} (type {kind}) at path "
        f'"{path}" because of "BSONError"'
    )


def nested_text(body: Json, path: str) -> tuple[str, str]:
    """Return the place and the fault of a text in a nested object."""
    outer, inner = path.split(".")
    value = body.get(outer)
    if value is None:
        return path, f"Path `{path}` is required."
    if not isinstance(value, dict):
        told = (
            f"Tried to set nested object field `{outer}` to primitive value `{value}`"
        )
        return outer, told
    text = value.get(inner)
    if isinstance(text, dict | list):
        told = (
            f'Cast to string failed for value "{text}" (type Object) at path "{inner}"'
        )
        return path, told
    return path, "" if text else f"Path `{path}` is required."


def validate(model: str, **faults: str | tuple[str, str]) -> None:
    """Raise the model's ValidationError, if any path is at fault."""
    found = []
    for name, fault in faults.items():
        path, message = fault if isinstance(fault, tuple) else (name, fault)
        if message:
            found.append(f"{path}: {message}")
    if found:
        raise SentError(400, f"{model} validation failed: {', '.join(found)}")


class MongooseErrors(Backend):
    """Eight tasks in a collection."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.rows: dict[str, Json] = {}
        for n, prompt in enumerate(PROMPTS):
            key = object_id()
            self.rows[key] = {
                "_id": key,
                "title": "Shout",
                "input": {"text": prompt},
                "reward": {"amount": n % 3 + 1, "currency": "credits"},
                "status": "open",
                "createdAt": "2026-11-10T19:12:33.087Z",
                "updatedAt": "2026-11-10T19:12:33.087Z",
                "__v": 0,
            }
        self.claims: dict[str, Json] = {}
        self.submissions: dict[str, Json] = {}

    def texts(self) -> dict[str, str]:
        return {key: row["input"]["text"] for key, row in self.rows.items()}

    def handler(
        self, request: Request, run: Callable[[Request, Json], Json]
    ) -> Response:
        if request.token not in self.agents:
            return Response(401, {"success": False, "error": "jwt malformed"})
        try:
            body = request.json() if request.raw else {}
            if not isinstance(body, dict):
                body = {}
            return Response(200, {"success": True, **run(request, body)})
        except ValueError:
            told = "Unexpected token in JSON at position 0"
            return Response(400, {"success": False, "error": told})
        except SentError as no:
            return Response(no.status, {"success": False, "error": no.message})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = object_id(), f"eyJ{secrets.token_urlsafe(48)}"
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        return self.handler(request, self.on_tasks)

    def on_tasks(self, request: Request, body: Json) -> Json:
        limit = min(int(request.query.get("limit") or LIMIT), MOST_LIMIT)
        page = int(request.query.get("page") or 1)
        open_ = [row for row in self.rows.values() if row["status"] == "open"]
        pages = max(-(-len(open_) // limit), 1)
        return {
            "docs": open_[(page - 1) * limit : page * limit],
            "totalDocs": len(open_),
            "limit": limit,
            "page": page,
            "totalPages": pages,
            "hasPrevPage": page > 1,
            "hasNextPage": page < pages,
            "prevPage": page - 1 or None,
            "nextPage": page + 1 if page < pages else None,
        }

    def claim(self, request: Request) -> Response:
        return self.handler(request, self.on_claim)

    def on_claim(self, request: Request, body: Json) -> Json:
        validate("Claim", task=reference(body, "task"))
        row = self.rows.get(body["task"])
        if row is None:
            raise SentError(404, "Task not found")
        if row["status"] != "open":
            raise SentError(409, "Task already claimed")
        row["status"] = "claimed"
        claim = {
            "_id": object_id(),
            "task": row["_id"],
            "agent": self.agents[request.token],
            "status": "active",
            "__v": 0,
        }
        self.claims[str(claim["_id"])] = claim
        self.book.claimed(row["_id"])
        return {"claim": claim}

    def submit(self, request: Request) -> Response:
        return self.handler(request, self.on_submit)

    def on_submit(self, request: Request, body: Json) -> Json:
        validate(
            "Submission",
            content=nested_text(body, "content.text"),
            claim=reference(body, "claim"),
        )
        claim = self.claims.get(body["claim"])
        if claim is None:
            raise SentError(404, "Claim not found")
        if claim["status"] != "active":
            raise SentError(409, "Claim already submitted")
        if body["content"]["text"] != self.rows[claim["task"]]["input"]["text"].upper():
            raise SentError(422, "Submission rejected by checker")
        claim["status"] = "submitted"
        submission = {
            "_id": object_id(),
            "claim": claim["_id"],
            "content": {"text": body["content"]["text"]},
            "__v": 0,
        }
        self.submissions[str(submission["_id"])] = submission
        return {"submission": submission}

    def complete(self, request: Request) -> Response:
        return self.handler(request, self.on_complete)

    def on_complete(self, request: Request, body: Json) -> Json:
        validate("Completion", submission=reference(body, "submission"))
        submission = self.submissions.get(body["submission"])
        if submission is None:
            raise SentError(404, "Submission not found")
        claim = self.claims[submission["claim"]]
        row = self.rows[claim["task"]]
        if claim["status"] == "submitted":
            claim["status"] = row["status"] = "completed"
            self.book.pay(row["_id"], row["reward"]["amount"])
        return {"task": row, "earned": row["reward"]}
