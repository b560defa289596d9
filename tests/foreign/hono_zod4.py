"""Hono on Workers with @hono/zod-validator and Zod 4, nothing customised.

The validator answers { success: false, error: <the ZodError> }, and since Zod 4 an error
that is made JSON has only a name and a message, which is the list of issues as JSON in a
text. Schemas strip what they do not know. A claim gives a token that goes with the rest.
"""

import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

WORDS = (
    "the lantern festival begins at nine",
    "paper boats carry wishes downstream",
    "a drummer lost one of his sticks",
    "the dragon needs fourteen dancers",
    "sparklers hiss in the cold air",
    "sweet dumplings sold by the dozen",
    "a child rides on tall shoulders",
    "the river mirrors every window",
    "firecrackers startle the grey cat",
    "old friends meet under the bridge",
    "masks are carved from linden wood",
    "the last lantern burns till dawn",
)
PAGE = 5


def of_type(value: Any) -> str:
    if isinstance(value, dict):
        return "object"
    return "string" if isinstance(value, str) else "number"


def issues(body: Any, schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what z.object(schema).safeParse finds, all of it."""
    if not isinstance(body, dict):
        words = "Invalid input: expected object, received array"
        return [
            {"expected": "object", "code": "invalid_type", "path": [], "message": words}
        ]
    found: list[dict[str, Any]] = []
    for name, kind in schema.items():
        value = body.get(name)
        if not isinstance(value, str):
            given = "undefined" if name not in body else of_type(value)
            fault: dict[str, Any] = {
                "expected": "string",
                "code": "invalid_type",
                "path": [name],
            }
            words = f"Invalid input: expected string, received {given}"
            found.append(fault | {"message": words})
        elif len(value) < kind:
            words = f"Too small: expected string to have >={kind} characters"
            fault = {"origin": "string", "code": "too_small", "minimum": kind}
            found.append(fault | {"inclusive": True, "path": [name], "message": words})
    return found


class HonoZod4(Backend):
    """Twelve jobs in D1."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: dict[str, dict[str, Any]] = {}
        for n, words in enumerate(WORDS):
            key = secrets.token_urlsafe(15)[:21].ljust(21, "x")
            self.jobs[key] = {
                "id": key,
                "title": "Make it loud",
                "instructions": words,
                "reward": {"amount": n % 5 + 1, "currency": "credits"},
                "status": "available",
                "tags": ["text", "short"],
            }
        self.claims: dict[str, str] = {}
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: job["instructions"] for key, job in self.jobs.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "404 Not Found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(30)
        self.agents.add(token)
        agent = secrets.token_urlsafe(12)
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [job for job in self.jobs.values() if job["status"] == "available"]
        page = int(request.query.get("page", "1") or 1)
        return Response(
            200,
            {
                "tasks": found[(page - 1) * PAGE : page * PAGE],
                "meta": {"page": page, "pageSize": PAGE, "total": len(found)},
            },
        )

    marketplace = tasks

    def checked(
        self, request: Request, schema: dict[str, int]
    ) -> tuple[Response | None, dict[str, Any], dict[str, Any]]:
        """Return a refusal, or the body and its job."""
        if request.token not in self.agents:
            return Response(401, {"message": "Unauthorized"}), {}, {}
        try:
            body = request.json()
        except ValueError:
            return Response(400, "Malformed JSON in request body"), {}, {}
        if found := issues(body, schema):
            error = {"name": "ZodError", "message": json.dumps(found, indent=2)}
            return Response(400, {"success": False, "error": error}), {}, {}
        job = self.jobs.get(body["taskId"])
        if job is None:
            return Response(404, {"message": "Task not found"}), {}, {}
        if "claimToken" in schema and self.claims.get(body["claimToken"]) != job["id"]:
            return Response(403, {"message": "Invalid claim token"}), {}, {}
        return None, body, job

    def claim(self, request: Request) -> Response:
        refusal, _, job = self.checked(request, {"taskId": 1})
        if refusal:
            return refusal
        if job["status"] != "available":
            return Response(409, {"message": "Task already claimed"})
        job["status"] = "claimed"
        token = secrets.token_urlsafe(18)
        self.claims[token] = job["id"]
        self.book.claimed(job["id"])
        expires = "2026-12-31T23:59:59.000Z"
        return Response(
            200, {"taskId": job["id"], "claimToken": token, "expiresAt": expires}
        )

    def submit(self, request: Request) -> Response:
        schema = {"taskId": 1, "claimToken": 10, "answer": 1}
        refusal, body, job = self.checked(request, schema)
        if refusal:
            return refusal
        if job["status"] != "claimed":
            return Response(409, {"message": "Task is not claimed"})
        if body["answer"] != job["instructions"].upper():
            return Response(422, {"message": "Answer rejected"})
        job["status"] = "submitted"
        return Response(200, {"taskId": job["id"], "status": "submitted"})

    def complete(self, request: Request) -> Response:
        refusal, _, job = self.checked(request, {"taskId": 1, "claimToken": 10})
        if refusal:
            return refusal
        if job["status"] == "submitted":
            job["status"] = "completed"
            self.book.pay(job["id"], job["reward"]["amount"])
        elif job["status"] != "completed":
            return Response(409, {"message": "Submit an answer first"})
        return Response(
            200, {"taskId": job["id"], "status": "completed", "reward": job["reward"]}
        )
