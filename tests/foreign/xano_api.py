"""A no-code backend in the manner of Xano: inputs are named one at a time.

{"code": "ERROR_CODE_INPUT_ERROR", "message": "Missing param: task_id", "payload": {"param":
"task_id"}} is a refusal; a value of the wrong type is told alike. Inputs that an endpoint
does not have are dropped. Times are in milliseconds, and pages are counted by `itemsTotal`.
"""

import itertools
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SIGNS = (
    "the shop reopens when the owner wakes",
    "we repair clocks and small regrets",
    "no umbrellas were harmed here",
    "ring twice for the silent alarm",
    "parking for bicycles and one mule",
    "fresh maps baked every morning",
    "closed due to excellent weather",
)


def no(status: int, code: str, message: str, payload: Any = "") -> Response:
    body = {"code": f"ERROR_CODE_{code}", "message": message, "payload": payload}
    return Response(status, body)


class XanoApi(Backend):
    """Seven signs in a workspace."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, dict[str, Any]] = {
            n: {
                "id": n,
                "created_at": 1761990000000 + n,
                "title": f"Sign {n}",
                "details": sign,
                "credits": n % 3 + 1,
                "task_status": "open",
            }
            for n, sign in enumerate(SIGNS, start=14)
        }
        self.claims: dict[int, dict[str, Any]] = {}
        self.numbers = itertools.count(6)
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {str(number): row["details"] for number, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return no(404, "NOT_FOUND", "Unable to locate request.")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(60)
        self.agents.add(token)
        agent = f"x{secrets.token_hex(4)}"
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["task_status"] == "open"]
        page = int(request.query.get("page", "1") or 1)
        part = found[(page - 1) * 4 : page * 4]
        return Response(
            200,
            {
                "itemsReceived": len(part),
                "curPage": page,
                "nextPage": page + 1 if page * 4 < len(found) else None,
                "prevPage": page - 1 or None,
                "itemsTotal": len(found),
                "items": part,
            },
        )

    def inputs(
        self, request: Request, wanted: dict[str, type]
    ) -> tuple[Response | None, dict[str, Any]]:
        """Return a refusal, or the inputs."""
        if request.token not in self.agents:
            return no(401, "UNAUTHORIZED", "Authentication Required"), {}
        try:
            body = request.json()
        except ValueError:
            body = {}
        body = body if isinstance(body, dict) else {}
        for name, kind in wanted.items():
            payload = {"param": name}
            if body.get(name) is None:
                words = f"Missing param: {name}"
                return no(400, "INPUT_ERROR", words, payload), {}
            if kind is int and not str(body[name]).isdigit():
                words = f"Value for param: {name} is not an integer"
                return no(400, "INPUT_ERROR", words, payload), {}
            if kind is str and not isinstance(body[name], str):
                words = f"Value for param: {name} is not text"
                return no(400, "INPUT_ERROR", words, payload), {}
        return None, body

    def claim(self, request: Request) -> Response:
        refusal, body = self.inputs(request, {"task_id": int})
        if refusal:
            return refusal
        row = self.rows.get(int(body["task_id"]))
        if row is None:
            return no(404, "NOT_FOUND", "Not Found.")
        if row["task_status"] != "open":
            return no(403, "ACCESS_DENIED", "Task is not open.")
        row["task_status"] = "claimed"
        made = {"id": next(self.numbers), "task_id": row["id"], "claim_status": "new"}
        self.claims[made["id"]] = made
        self.book.claimed(str(row["id"]))
        return Response(200, {"claim1": made})

    def submit(self, request: Request) -> Response:
        refusal, body = self.inputs(request, {"claim_id": int, "submission_text": str})
        if refusal:
            return refusal
        made = self.claims.get(int(body["claim_id"]))
        if made is None:
            return no(404, "NOT_FOUND", "Not Found.")
        if body["submission_text"] != self.rows[made["task_id"]]["details"].upper():
            return no(400, "FATAL_ERROR", "Submission was not accepted.")
        made["claim_status"] = "submitted"
        return Response(200, {"claim1": made})

    def complete(self, request: Request) -> Response:
        refusal, body = self.inputs(request, {"claim_id": int})
        if refusal:
            return refusal
        made = self.claims.get(int(body["claim_id"]))
        if made is None:
            return no(404, "NOT_FOUND", "Not Found.")
        row = self.rows[made["task_id"]]
        if made["claim_status"] == "submitted":
            made["claim_status"] = row["task_status"] = "completed"
            self.book.pay(str(row["id"]), row["credits"])
        elif made["claim_status"] != "completed":
            return no(403, "ACCESS_DENIED", "Nothing was submitted.")
        return Response(200, {"claim1": made, "paid": row["credits"]})
