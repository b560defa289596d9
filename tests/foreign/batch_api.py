"""A Node service whose every call is a batch: lists of ids, lists of results.

`{"taskIds": [...]}` claims, `{"results": [{"taskId", "output"}]}` hands in, `{"taskIds":
[...]}` completes. The answer is 200 and says of each item how it went. ajv's first error is
the message of a refusal.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

LABELS = (
    "handle with care and a little luck",
    "this side up unless it is monday",
    "keep dry and reasonably cheerful",
    "contents may settle out of court",
    "open slowly in front of witnesses",
    "fragile things travel in pairs",
    "return to sender if found singing",
)


def no(status: int, message: str) -> Response:
    return Response(status, {"error": {"code": status, "message": message}})


class BatchApi(Backend):
    """Seven labels, any number at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        for n, label in enumerate(LABELS):
            key = f"task-{secrets.token_hex(4)}"
            self.rows[key] = {
                "id": key,
                "input": label,
                "reward": n % 4 + 1,
                "status": "pending",
            }
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: row["input"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return no(404, f"Cannot {request.method} {request.path}")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(24)
        self.agents.add(token)
        agent = f"agent-{secrets.token_hex(4)}"
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        limit = int(request.query.get("limit", "25") or 25)
        found = [row for row in self.rows.values() if row["status"] == "pending"]
        return Response(200, {"tasks": found[:limit], "hasMore": len(found) > limit})

    def body_of(self, request: Request) -> Any:
        try:
            return request.json()
        except ValueError:
            return None

    def ids(self, request: Request) -> Response | list[str]:
        """Return a refusal, or the list of ids."""
        if request.token not in self.agents:
            return no(401, "Invalid token")
        body = self.body_of(request)
        if not isinstance(body, dict):
            return no(400, "body must be object")
        if "taskIds" not in body:
            return no(400, "body must have required property 'taskIds'")
        if not isinstance(body["taskIds"], list):
            return no(400, "body/taskIds must be array")
        if not body["taskIds"]:
            return no(400, "body/taskIds must NOT have fewer than 1 items")
        for n, one in enumerate(body["taskIds"]):
            if not isinstance(one, str):
                return no(400, f"body/taskIds/{n} must be string")
        ids: list[str] = body["taskIds"]
        return ids

    def moved(self, keys: list[str], before: str, after: str) -> Response:
        """Move each task on and tell how it went."""
        said: list[dict[str, Any]] = []
        for key in keys:
            row = self.rows.get(key)
            if row is None:
                said.append({"taskId": key, "ok": False, "error": "not found"})
            elif row["status"] not in (before, after):
                said.append({"taskId": key, "ok": False, "error": "wrong state"})
            else:
                if row["status"] == before == "pending":
                    self.book.claimed(key)
                if row["status"] == before and after == "completed":
                    self.book.pay(key, row["reward"])
                row["status"] = after
                said.append({"taskId": key, "ok": True, "status": after})
        refused = not any(one["ok"] for one in said)
        return Response(200, {"items": said}, refused=refused)

    def claim(self, request: Request) -> Response:
        ids = self.ids(request)
        if isinstance(ids, Response):
            return ids
        return self.moved(ids, "pending", "claimed")

    def submit(self, request: Request) -> Response:
        if request.token not in self.agents:
            return no(401, "Invalid token")
        body = self.body_of(request)
        if not isinstance(body, dict) or "results" not in body:
            return no(400, "body must have required property 'results'")
        if not isinstance(body["results"], list):
            return no(400, "body/results must be array")
        for n, one in enumerate(body["results"]):
            if not isinstance(one, dict):
                return no(400, f"body/results/{n} must be object")
            for name in ("taskId", "output"):
                if name not in one:
                    words = f"body/results/{n} must have required property '{name}'"
                    return no(400, words)
                if not isinstance(one[name], str):
                    return no(400, f"body/results/{n}/{name} must be string")
        right = [
            one["taskId"]
            for one in body["results"]
            if one["taskId"] in self.rows
            and one["output"] == self.rows[one["taskId"]]["input"].upper()
        ]
        return self.moved(right, "claimed", "submitted")

    def complete(self, request: Request) -> Response:
        ids = self.ids(request)
        if isinstance(ids, Response):
            return ids
        return self.moved(ids, "submitted", "completed")
