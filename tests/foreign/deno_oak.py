"""Deno with Oak and Superstruct: "At path: taskId -- Expected a string, but received: ...".

object() of Superstruct wants the known names and no others, and throws at the first thing
it meets. A result is a tagged object, { type: "text", value }, and the claim's answer has
the attempt that it belongs to.
"""

import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SCRAPS = (
    "buy thread and a thimble of patience",
    "the hem follows the horizon",
    "seven buttons and none alike",
    "velvet remembers every hand",
    "the dummy wears the tailor's hat",
    "measure twice and hum once",
    "pins gather by the radiator",
)


def told(value: Any) -> str:
    return "undefined" if value is None else json.dumps(value)


def failure(body: Any, struct: dict[str, Any], at: str = "") -> str | None:
    """Return StructError's message for the first failure."""
    if not isinstance(body, dict):
        where = f"At path: {at.rstrip('.')} -- " if at else ""
        return f"{where}Expected an object, but received: {told(body)}"
    for name in [*struct, *(one for one in body if one not in struct)]:
        value, where = body.get(name), f"At path: {at}{name} -- "
        if name not in struct:
            words = "Expected a value of type `never`, but received:"
            return f"{where}{words} `{told(value)}`"
        kind = struct[name]
        if isinstance(kind, dict):
            if fault := failure(value, kind, f"{at}{name}."):
                return fault
        elif isinstance(kind, str):
            if value != kind:
                words = f'Expected the literal `"{kind}"`, but received: {told(value)}'
                return where + words
        elif not isinstance(value, kind):
            return f"{where}Expected a string, but received: {told(value)}"
    return None


class DenoOak(Backend):
    """Seven scraps in Deno KV."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        for n, scrap in enumerate(SCRAPS):
            key = f"01J{secrets.token_hex(11).upper()}"
            self.rows[key] = {
                "id": key,
                "type": "transform",
                "content": scrap,
                "reward": n % 4 + 1,
                "status": "unclaimed",
            }
        self.attempts: dict[str, str] = {}
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: row["content"] for key, row in self.rows.items()}

    def no(self, status: int, message: str) -> Response:
        return Response(status, {"ok": False, "message": message})

    def missing(self, request: Request) -> Response:
        return Response(404, "Not Found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        self.agents.add(token)
        agent = secrets.token_hex(8)
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["status"] == "unclaimed"]
        return Response(200, {"ok": True, "tasks": found})

    marketplace = tasks

    def asserted(
        self, request: Request, struct: dict[str, Any]
    ) -> tuple[Response | None, dict[str, Any], dict[str, Any]]:
        """Return a refusal, or the body and its row."""
        if request.token not in self.agents:
            return self.no(401, "Unauthorized"), {}, {}
        try:
            body = request.json()
        except ValueError:
            return self.no(400, "Unexpected end of JSON input"), {}, {}
        if fault := failure(body, struct):
            return self.no(400, fault), {}, {}
        row = self.rows.get(body["taskId"])
        if row is None:
            return self.no(404, "task not found"), {}, {}
        if "attemptId" in struct and self.attempts.get(body["attemptId"]) != row["id"]:
            return self.no(403, "attempt does not belong to the task"), {}, {}
        return None, body, row

    def claim(self, request: Request) -> Response:
        refusal, _, row = self.asserted(request, {"taskId": str})
        if refusal:
            return refusal
        if row["status"] != "unclaimed":
            return self.no(409, "task is claimed")
        row["status"] = "claimed"
        attempt = f"01K{secrets.token_hex(11).upper()}"
        self.attempts[attempt] = row["id"]
        self.book.claimed(row["id"])
        return Response(200, {"ok": True, "attempt": {"id": attempt, "no": 1}})

    def submit(self, request: Request) -> Response:
        result = {"type": "text", "value": str}
        struct = {"taskId": str, "attemptId": str, "result": result}
        refusal, body, row = self.asserted(request, struct)
        if refusal:
            return refusal
        if body["result"]["value"] != row["content"].upper():
            return self.no(422, "result rejected")
        row["status"] = "submitted"
        return Response(200, {"ok": True, "status": "submitted"})

    def complete(self, request: Request) -> Response:
        struct = {"taskId": str, "attemptId": str}
        refusal, _, row = self.asserted(request, struct)
        if refusal:
            return refusal
        if row["status"] == "submitted":
            row["status"] = "completed"
            self.book.pay(row["id"], row["reward"])
        elif row["status"] != "completed":
            return self.no(409, "nothing was submitted")
        return Response(
            200, {"ok": True, "status": "completed", "reward": row["reward"]}
        )
