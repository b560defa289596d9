"""Next.js route handlers with Zod 4: z.treeifyError, cuids, strict objects, Prisma rows.

A refusal is a tree: errors of the whole, and below `properties` those of each member. What
a schema does not have is refused by name. An output is an object with a type out of three.
Finishing puts a task into review; asked again a little later, it has been paid.
"""

import json
import secrets
import time
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]

PROMPTS = (
    "the static page was generated twice",
    "hydrate the geraniums before noon",
    "a cookie crumbled on the middleware",
    "route the river past the old barn",
    "the edge of the map is cached",
    "parallel rails meet at the harbour",
    "suspense hangs over the breakfast",
    "revalidate the ticket every sixty miles",
    "the layout shifted when grandma sat",
    "serve the soup from the other side",
)
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
REVIEW_SECONDS = 2.0
SCHEMAS: dict[str, Json] = {
    "claim": {"taskId": str},
    "submit": {
        "taskId": str,
        "claimId": str,
        "output": {"type": ("text", "url", "file"), "value": str},
    },
    "complete": {"submissionId": str},
}


def cuid() -> str:
    return "cm" + "".join(secrets.choice(ALPHABET) for _ in range(23))


def kind_of(value: Any) -> str:
    """Return what Zod calls the type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "string"


def tree_of(value: Any, schema: Any, *, given: bool = True) -> Json | None:
    """Return the tree of what is wrong with a value, or None."""
    received = kind_of(value) if given else "undefined"
    if isinstance(schema, tuple):
        if value in schema:
            return None
        options = "|".join(json.dumps(one) for one in schema)
        return {"errors": [f"Invalid option: expected one of {options}"]}
    if schema is str:
        if isinstance(value, str) and given:
            if value:
                return None
            return {"errors": ["Too small: expected string to have >=1 characters"]}
        return {"errors": [f"Invalid input: expected string, received {received}"]}
    if not isinstance(value, dict):
        return {"errors": [f"Invalid input: expected object, received {received}"]}
    below = {
        name: tree
        for name, part in schema.items()
        if (tree := tree_of(value.get(name), part, given=name in value))
    }
    extra = [json.dumps(name) for name in value if name not in schema]
    errors = [f"Unrecognized key{'s'[: len(extra) > 1]}: {', '.join(extra)}"]
    if not below and not extra:
        return None
    found: Json = {"errors": errors if extra else []}
    return found | ({"properties": below} if below else {})


class Next(Backend):
    """Ten tasks, reviewed for two seconds each."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.rows: dict[str, Json] = {}
        for n, prompt in enumerate(PROMPTS):
            row: Json = {
                "id": cuid(),
                "title": "Uppercase a sentence",
                "prompt": prompt,
                "rewardCredits": n % 6 + 1,
                "status": "OPEN",
                "createdAt": f"2026-07-{n + 1:02}T08:00:00.000Z",
                "creator": {"id": cuid(), "name": "Vera"},
                "_count": {"claims": 0},
            }
            self.rows[row["id"]] = row
        self.claims: dict[str, str] = {}
        self.submissions: dict[str, str] = {}
        self.review_until: dict[str, float] = {}

    def texts(self) -> dict[str, str]:
        return {one: row["prompt"] for one, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "<!DOCTYPE html><title>404</title>", {"Server": "Next"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = cuid(), secrets.token_urlsafe(32)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["status"] == "OPEN"]
        return Response(200, {"tasks": found, "nextCursor": None})

    def call(
        self, request: Request, schema: str, step: Callable[[Json], Response]
    ) -> Response:
        if request.token not in self.agents:
            return Response(401, {"error": "Unauthorized"})
        try:
            body = request.json()
        except ValueError:
            return Response(500, "")
        if tree := tree_of(body, SCHEMAS[schema]):
            return Response(400, {"error": tree})
        return step(body)

    def claim(self, request: Request) -> Response:
        return self.call(request, "claim", self.on_claim)

    def on_claim(self, body: Json) -> Response:
        row = self.rows.get(body["taskId"])
        if not row:
            return Response(404, {"error": "Task not found"})
        if row["status"] != "OPEN":
            return Response(409, {"error": "Task is not open"})
        row["status"] = "CLAIMED"
        self.book.claimed(row["id"])
        claim = cuid()
        self.claims[claim] = row["id"]
        told = {"id": claim, "taskId": row["id"], "createdAt": "2026-08-01T08:00:00Z"}
        return Response(200, {"claim": told})

    def submit(self, request: Request) -> Response:
        return self.call(request, "submit", self.on_submit)

    def on_submit(self, body: Json) -> Response:
        if self.claims.get(body["claimId"]) != body["taskId"]:
            return Response(403, {"error": "This claim does not belong to the task"})
        row = self.rows[body["taskId"]]
        output = body["output"]
        if output["type"] != "text" or output["value"] != row["prompt"].upper():
            return Response(422, {"error": "The output was rejected by the checker"})
        submission = next(
            (one for one, task in self.submissions.items() if task == row["id"]), cuid()
        )
        self.submissions[submission] = row["id"]
        if row["status"] == "CLAIMED":
            row["status"] = "SUBMITTED"
        told = {"id": submission, "taskId": row["id"], "status": "RECEIVED"}
        return Response(200, {"submission": told})

    def complete(self, request: Request) -> Response:
        return self.call(request, "complete", self.on_complete)

    def on_complete(self, body: Json) -> Response:
        if body["submissionId"] not in self.submissions:
            return Response(404, {"error": "Submission not found"})
        row = self.rows[self.submissions[body["submissionId"]]]
        now = time.monotonic()
        until = self.review_until.setdefault(row["id"], now + REVIEW_SECONDS)
        if now < until:
            row["status"] = "IN_REVIEW"
            told = {"id": row["id"], "status": "IN_REVIEW", "paidAt": None}
            return Response(200, {"task": told})
        if row["status"] != "PAID":
            row["status"] = "PAID"
            self.book.pay(row["id"], row["rewardCredits"])
        told = {"id": row["id"], "status": "PAID", "paidAt": "2026-08-01T08:05:00Z"}
        return Response(200, {"task": told, "creditsEarned": row["rewardCredits"]})
