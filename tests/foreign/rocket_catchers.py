"""A Rocket service in Rust with its default catchers: a refusal is a status and its reason.

What serde cannot read is a 422 "Unprocessable Entity" whose description says nothing of the
body. Names are those of the records. A claim takes the id and the agent's; an answer, the
id and the answer; completing is by the id again.
"""

import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CARGO = (
    "the booster apologises to the pad",
    "tea floats in perfect spheres",
    "a glove drifts past the window",
    "mission control plays cards",
    "the airlock keeps a guest book",
    "stars do not blink up here",
    "the checklist ends with a joke",
)
REASONS = {
    400: ("Bad Request", "The request could not be understood by the server."),
    401: ("Unauthorized", "The request requires user authentication."),
    404: ("Not Found", "The requested resource could not be found."),
    409: ("Conflict", "The request conflicts with the state of the resource."),
    422: (
        "Unprocessable Entity",
        "The request was well-formed but was unable to be followed due to semantic errors.",
    ),
}


def caught(code: int) -> Response:
    reason, description = REASONS[code]
    error = {"code": code, "reason": reason, "description": description}
    return Response(code, {"error": error})


class RocketCatchers(Backend):
    """Seven lines from orbit."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        for n, line in enumerate(CARGO):
            key = str(uuid.uuid4())
            self.rows[key] = {
                "task_id": key,
                "prompt": line,
                "reward": n % 3 + 1,
                "status": "open",
            }
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {key: row["prompt"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return caught(404)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_hex(32)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["status"] == "open"]
        return Response(200, {"tasks": found})

    marketplace = tasks

    def guarded(
        self, request: Request, *names: str
    ) -> tuple[Response | None, dict[str, str], dict[str, Any]]:
        """Return a refusal, or the struct and its row."""
        if request.token not in self.agents:
            return caught(401), {}, {}
        try:
            body = request.json()
        except ValueError:
            return caught(400), {}, {}
        if not isinstance(body, dict) or any(
            not isinstance(body.get(name), str) for name in names
        ):
            return caught(422), {}, {}
        row = self.rows.get(body["task_id"])
        return (None if row else caught(404)), body, row or {}

    def claim(self, request: Request) -> Response:
        refusal, body, row = self.guarded(request, "task_id", "agent_id")
        if refusal:
            return refusal
        if body["agent_id"] != self.agents[request.token] or row["status"] != "open":
            return caught(409)
        row["status"] = "claimed"
        self.book.claimed(row["task_id"])
        return Response(200, {"task": row})

    def submit(self, request: Request) -> Response:
        refusal, body, row = self.guarded(request, "task_id", "answer")
        if refusal:
            return refusal
        if row["status"] != "claimed" or body["answer"] != row["prompt"].upper():
            return caught(409)
        row["status"] = "submitted"
        return Response(200, {"task": row})

    def complete(self, request: Request) -> Response:
        refusal, _, row = self.guarded(request, "task_id")
        if refusal:
            return refusal
        if row["status"] == "submitted":
            row["status"] = "completed"
            self.book.pay(row["task_id"], row["reward"])
        elif row["status"] != "completed":
            return caught(409)
        return Response(200, {"task": row, "credits_earned": row["reward"]})
