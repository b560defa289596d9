"""A Cloudflare Worker: Hono with bearerAuth and @hono/valibot-validator.

Answers {"ok": true, "data": ...} in camelCase with nanoids; lists `tasks` with an
opaque `cursor` and payouts as {amount: "25", unit: "credits"} among leased ones. A body
that fails its schema comes back as valibot's whole result (400: typed, success, output,
issues with path and message); the worker's own no is {"ok": false, "error": {code,
message}}; no token is Hono's plain "Unauthorized". A claim returns a `claimToken`,
which submit wants beside a nested `result` of type and content. Completing starts a
review: the second further look at complete finds it approved and paid.
"""

import base64
import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_OPEN = {
    "V1StGXR8_Z5jdHi6B-myT": ("Push notification", "your parcel has arrived", 12),
    "k7Qm2xYpL0aWv-3NfRt9s": ("Button label", "add to basket", 6),
    "Uakgb_J5m9g-0JDMbcJqL": ("Push notification", "storm warning until midnight", 25),
    "9fTe4H_rZbC1nKd8oXs2P": ("Email subject", "we have updated our terms", 18),
    "dQ3wE-6uYiOpAsD_fGhJk": ("Alt text", "two otters holding hands", 21),
    "zXcVbNm1_2QwErTy-3UiO": ("Error page", "this page took a day off", 14),
}
_LEASED = {"Lk8JhG-fDsA7qWeRtYuI_": ("Tooltip", "opens in a new tab", 5)}


def _issue(body: Any, path: list[str], value: Any, expected: str, message: str) -> Any:
    """Return one issue as valibot 1.0 makes it (JSON has nothing undefined)."""
    steps = []
    for name in path:
        absent = not isinstance(body, dict) or name not in body
        step = {"type": "object", "origin": "key" if absent else "value", "input": body}
        body = body.get(name) if isinstance(body, dict) else None
        steps.append({**step, "key": name} | ({} if absent else {"value": body}))
    received = "undefined" if value is ... else json.dumps(value)
    if isinstance(value, dict | list):
        received = "Object" if isinstance(value, dict) else "Array"
    kind = (
        "picklist"
        if "|" in expected
        else "object"
        if expected == "Object"
        else "string"
    )
    issue = {"kind": "schema", "type": "object" if value is ... else kind}
    issue |= {} if value is ... else {"input": value}
    issue |= {"expected": expected, "received": received}
    issue["message"] = message.format(expected=expected, received=received)
    return issue | ({"path": steps} if steps else {})


def _check(schema: Any, whole: Any, value: Any, path: list[str]) -> list[Any]:
    """Return the issues; a schema is a dict (object), list (picklist) or str."""
    wrong = "Invalid type: Expected {expected} but received {received}"
    if isinstance(schema, dict):
        if not isinstance(value, dict):
            return [_issue(whole, path, value, "Object", wrong)]
        found = []
        for name, inner in schema.items():
            if name in value:
                found += _check(inner, whole, value[name], [*path, name])
            else:
                key = "Invalid key: Expected {expected} but received {received}"
                found.append(_issue(whole, [*path, name], ..., f'"{name}"', key))
        return found
    if isinstance(schema, list):
        if value in schema:
            return []
        expected = "(" + " | ".join(f'"{word}"' for word in schema) + ")"
        return [_issue(whole, path, value, expected, wrong)]
    return (
        [] if isinstance(value, str) else [_issue(whole, path, value, "string", wrong)]
    )


class HonoValibot(Backend):
    """A worker at the edge."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        for number, (key, row) in enumerate((_LEASED | _OPEN).items()):
            self.rows[key] = {
                "id": key,
                "title": row[0],
                "prompt": row[1],
                "payout": {"amount": str(row[2]), "unit": "credits"},
                "status": "leased" if key in _LEASED else "available",
                "postedAt": 1746090000000 + number * 61500,
            }
        self.claims: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the available tasks' texts."""
        return {key: row[1] for key, row in _OPEN.items()}

    def missing(self, request: Request) -> Response:
        """Return Hono's own notFound."""
        return Response(404, "404 Not Found")

    def _no(self, status: int, code: str, message: str) -> Response:
        return Response(
            status, {"ok": False, "error": {"code": code, "message": message}}
        )

    def _yes(self, code: int = 200, /, **data: Any) -> Response:
        return Response(code, {"ok": True, "data": data})

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        token = "agt_live_" + secrets.token_urlsafe(24)
        agent = {"id": secrets.token_urlsafe(15), "credits": 100}
        self.agents[token] = agent
        return self._yes(201, agent=dict(agent), accessToken=token)

    def _denied(self, request: Request) -> Response | None:
        if request.token in self.agents:
            return None
        reason = ' error="invalid_token"' if request.token else ""
        return Response(
            401, "Unauthorized", {"WWW-Authenticate": f'Bearer realm=""{reason}'}
        )

    def marketplace(self, request: Request) -> Response:
        """List what is not done, by cursor."""
        limit = request.query.get("limit", "")
        size = min(int(limit), 50) if limit.isdigit() and int(limit) else 10
        try:
            start = int(base64.b64decode(request.query.get("cursor", "MA=="))[:4])
        except ValueError:
            return self._no(400, "BAD_CURSOR", "cursor is not valid")
        rows = [row for row in self.rows.values() if row["status"] != "done"]
        more = start + size < len(rows)
        cursor = base64.b64encode(str(start + size).encode()).decode() if more else None
        return self._yes(tasks=rows[start : start + size], cursor=cursor)

    def tasks(self, request: Request) -> Response:
        """List to an agent."""
        return self._denied(request) or self.marketplace(request)

    def _valid(self, request: Request, schema: Any) -> Any:
        """Return the body, or what the validator answers."""
        if denied := self._denied(request):
            return denied
        body: Any = {}
        # The validator reads no body of another content type, and validates {}.
        if "json" in (request.headers.get("Content-Type") or ""):
            try:
                body = request.json()
            except ValueError:
                return Response(400, "Malformed JSON in request body")
        if issues := _check(schema, body, body, []):
            result = {
                "typed": False,
                "success": False,
                "output": body,
                "issues": issues,
            }
            return Response(400, result)
        if "claimToken" in schema:
            claim = self.claims.get(body["claimToken"])
            if not claim or claim["token"] != request.token:
                return self._no(404, "CLAIM_NOT_FOUND", "no such claim")
            body["claim"] = claim
        return body

    def claim(self, request: Request) -> Response:
        """Lease a task; again, it is the same lease."""
        body = self._valid(request, {"taskId": "string"})
        if isinstance(body, Response):
            return body
        row = self.rows.get(body["taskId"])
        if not row:
            return self._no(404, "TASK_NOT_FOUND", "no such task")
        for key, claim in self.claims.items():
            if claim["token"] == request.token and claim["row"] is row:
                return self._yes(claimToken=key, taskId=row["id"], leaseSeconds=900)
        if row["status"] != "available":
            return self._no(409, "TASK_UNAVAILABLE", f"task is {row['status']}")
        row["status"] = "leased"
        key = "clm_" + secrets.token_urlsafe(12)
        self.claims[key] = {
            "token": request.token,
            "row": row,
            "content": None,
            "looks": 0,
        }
        self.book.claimed(row["id"])
        return self._yes(claimToken=key, taskId=row["id"], leaseSeconds=900)

    def submit(self, request: Request) -> Response:
        """Take a result."""
        result = {"type": ["text", "json", "file"], "content": "string"}
        body = self._valid(request, {"claimToken": "string", "result": result})
        if isinstance(body, Response):
            return body
        claim = body["claim"]
        if claim["looks"]:
            return self._no(409, "ALREADY_COMPLETED", "the claim was completed before")
        claim["content"] = body["result"]["content"]
        return self._yes(taskId=claim["row"]["id"], status="submitted")

    def complete(self, request: Request) -> Response:
        """Start the review, or look at it."""
        body = self._valid(request, {"claimToken": "string"})
        if isinstance(body, Response):
            return body
        claim, row = body["claim"], body["claim"]["row"]
        if claim["content"] is None:
            return self._no(409, "NOTHING_SUBMITTED", "submit a result first")
        claim["looks"] += 1
        if claim["looks"] < 3:
            return self._yes(202, taskId=row["id"], status="reviewing")
        if claim["content"] != row["prompt"].upper():
            claim["looks"], claim["content"] = 0, None
            return self._no(422, "REJECTED", "the result was rejected, submit another")
        agent = self.agents[request.token]
        if row["status"] != "done":
            row["status"] = "done"
            agent["credits"] += int(row["payout"]["amount"])
            self.book.pay(row["id"], int(row["payout"]["amount"]))
        status = {"status": "approved", "payout": row["payout"]}
        return self._yes(taskId=row["id"], **status, credits=agent["credits"])
