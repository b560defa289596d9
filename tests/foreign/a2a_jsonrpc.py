"""An agents' protocol over JSON-RPC 2.0: every request is an envelope with a method.

{"jsonrpc": "2.0", "id": 1, "method": "tasks/claim", "params": {...}} is what each endpoint
takes, and errors are 200s with a code: -32600 says what the envelope lacks, -32602 what the
params do. Methods are named after what they do, with a stroke.
"""

import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TALK = (
    "the parrot knows the safe's number",
    "two radios argue about the weather",
    "a letter was answered by the rain",
    "the telephone rings in the orchard",
    "semaphore from the laundry line",
    "whispers travel along the pipes",
    "the echo asked for royalties",
)


class A2aJsonrpc(Backend):
    """Seven things to say louder."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        for n, line in enumerate(TALK):
            key = str(uuid.uuid4())
            self.rows[key] = {
                "id": key,
                "kind": "task",
                "prompt": line,
                "reward": n % 4 + 1,
                "status": {"state": "submitted"},
            }
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: row["prompt"] for key, row in self.rows.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        self.agents.add(token)
        agent = str(uuid.uuid4())
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [
            row for row in self.rows.values() if row["status"]["state"] == "submitted"
        ]
        return Response(200, {"tasks": found, "nextPageToken": ""})

    marketplace = tasks

    def error(self, code: int, message: str, data: Any = None) -> Response:
        error = {"code": code, "message": message, "data": data}
        body = {"jsonrpc": "2.0", "id": None, "error": error}
        return Response(200, body, refused=True)

    def called(
        self, request: Request, method: str, names: dict[str, type]
    ) -> tuple[Response | None, dict[str, Any], dict[str, Any]]:
        """Return a refusal, or the params and their row."""
        if request.token not in self.agents:
            return Response(401, {"error": "unauthorized"}), {}, {}
        try:
            body = request.json()
        except ValueError:
            return self.error(-32700, "Invalid JSON payload"), {}, {}
        body = body if isinstance(body, dict) else {}
        wrong = [
            {"field": name, "message": words}
            for name, wanted, words in (
                ("jsonrpc", ["2.0"], "must be '2.0'"),
                ("method", [method], f"must be '{method}'"),
            )
            if body.get(name) not in wanted
        ]
        if not isinstance(body.get("params"), dict):
            wrong.append({"field": "params", "message": "must be an object"})
        if wrong:
            words = "Request payload validation error"
            return self.error(-32600, words, wrong), {}, {}
        params = body["params"]
        wrong = [
            {"field": f"params.{name}", "message": "is required"}
            for name, kind in names.items()
            if not isinstance(params.get(name), kind)
        ]
        if wrong:
            return self.error(-32602, "Invalid parameters", wrong), {}, {}
        row = self.rows.get(params["taskId"])
        if row is None:
            return self.error(-32001, "Task not found"), {}, {}
        return None, params, row

    def result(self, row: dict[str, Any]) -> Response:
        return Response(200, {"jsonrpc": "2.0", "id": 1, "result": row})

    def claim(self, request: Request) -> Response:
        refusal, _, row = self.called(request, "tasks/claim", {"taskId": str})
        if refusal:
            return refusal
        if row["status"]["state"] != "submitted":
            return self.error(-32002, "Task cannot be claimed")
        row["status"] = {"state": "working"}
        self.book.claimed(row["id"])
        return self.result(row)

    def submit(self, request: Request) -> Response:
        names: dict[str, type] = {"taskId": str, "result": str}
        refusal, params, row = self.called(request, "tasks/submit", names)
        if refusal:
            return refusal
        if row["status"]["state"] != "working":
            return self.error(-32002, "Task is not being worked on")
        if params["result"] != row["prompt"].upper():
            return self.error(-32003, "Result rejected")
        row["status"] = {"state": "delivered"}
        return self.result(row)

    def complete(self, request: Request) -> Response:
        refusal, _, row = self.called(request, "tasks/complete", {"taskId": str})
        if refusal:
            return refusal
        if row["status"]["state"] == "delivered":
            row["status"] = {"state": "completed"}
            self.book.pay(row["id"], row["reward"])
        elif row["status"]["state"] != "completed":
            return self.error(-32002, "Nothing was delivered")
        return self.result(row)
