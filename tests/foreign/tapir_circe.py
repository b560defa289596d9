"""Scala with tapir and circe on http4s, the interpreter's defaults left as they are.

What cannot be decoded is a line of plain text, `Invalid value for: body (Missing required
field at 'task.id')`, the first fault only; circe ignores what a class does not have. A
request names the task as an object with an id, and a completion names the submission.
"""

import itertools
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

RIDDLES = (
    "what has roots that nobody sees",
    "thirty white horses on a red hill",
    "a box without hinges or a lid",
    "it cannot be seen nor be felt",
    "alive without breath and cold as death",
    "voiceless it cries and wingless flutters",
    "this thing all things devours",
)


def decode(body: Any, shape: dict[str, Any], path: str = "") -> str | None:
    """Return the first thing that circe cannot decode."""
    for name, kind in shape.items():
        at = f"{path}.{name}" if path else name
        value = body.get(name) if isinstance(body, dict) else None
        if value is None:
            return f"Missing required field at '{at}'"
        if isinstance(kind, dict):
            if not isinstance(value, dict):
                return (
                    f"Got value '{value!r}' with wrong type, expecting object at '{at}'"
                )
            if fault := decode(value, kind, at):
                return fault
        elif not isinstance(value, kind):
            wanted = "string" if kind is str else "number"
            return f"Got value '{value}' with wrong type, expecting {wanted} at '{at}'"
    return None


class TapirCirce(Backend):
    """Seven riddles in a Ref."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, dict[str, Any]] = {
            n: {
                "id": n,
                "statement": riddle,
                "bounty": n % 3 + 1,
                "state": {"type": "Open"},
            }
            for n, riddle in enumerate(RIDDLES, start=31)
        }
        self.submissions: dict[int, int] = {}
        self.numbers = itertools.count(700)
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {str(number): row["statement"] for number, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "Not found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(16)
        self.agents.add(token)
        agent = f"agent-{secrets.token_hex(4)}"
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["state"]["type"] == "Open"]
        return Response(200, {"tasks": found, "nextPage": None})

    marketplace = tasks

    def decoded(
        self, request: Request, shape: dict[str, Any]
    ) -> tuple[Response | None, dict[str, Any], dict[str, Any]]:
        """Return a refusal, or the body and its row."""
        if request.token not in self.agents:
            words = "Invalid value for: header Authorization (missing)"
            return Response(401, words), {}, {}
        try:
            body = request.json()
        except ValueError:
            return (
                Response(400, "Invalid value for: body (expected json value)"),
                {},
                {},
            )
        if fault := decode(body, shape):
            return Response(400, f"Invalid value for: body ({fault})"), {}, {}
        row = self.rows.get(body["task"]["id"])
        if row is None:
            return Response(404, "Task not found"), {}, {}
        return None, body, row

    def claim(self, request: Request) -> Response:
        refusal, _, row = self.decoded(request, {"task": {"id": int}})
        if refusal:
            return refusal
        if row["state"]["type"] != "Open":
            return Response(409, "Task is not open")
        row["state"] = {"type": "Claimed"}
        self.book.claimed(str(row["id"]))
        return Response(200, {"task": row})

    def submit(self, request: Request) -> Response:
        shape = {"task": {"id": int}, "solution": str}
        refusal, body, row = self.decoded(request, shape)
        if refusal:
            return refusal
        if row["state"]["type"] != "Claimed":
            return Response(409, "Task is not claimed")
        if body["solution"] != row["statement"].upper():
            return Response(422, "Wrong solution")
        number = next(self.numbers)
        self.submissions[number] = row["id"]
        row["state"] = {"type": "Submitted", "submission": number}
        return Response(200, {"submission": {"id": number, "task": row["id"]}})

    def complete(self, request: Request) -> Response:
        shape = {"task": {"id": int}, "submission": {"id": int}}
        refusal, body, row = self.decoded(request, shape)
        if refusal:
            return refusal
        if self.submissions.get(body["submission"]["id"]) != row["id"]:
            return Response(404, "Submission not found")
        if row["state"]["type"] == "Submitted":
            row["state"] = {"type": "Completed", "credits": row["bounty"]}
            self.book.pay(str(row["id"]), row["bounty"])
        return Response(200, {"task": row})
