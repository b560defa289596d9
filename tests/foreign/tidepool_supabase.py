"""Tidepool: Supabase edge functions (Deno, zod) in front of Postgres."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "authorization, x-client-info, apikey, content-type",
    "x-served-by": "supabase-edge-runtime",
}
_WORK = [
    ("Shout the harbour notice", "low tide at the north pier", 12),
    ("Uppercase a product label", "sea glass lamp, small", 8),
    ("Uppercase a chart heading", "mean water depth by month", 15),
    ("Uppercase a buoy name", "old anna", 5),
    ("Uppercase a warning", "slippery rocks beyond this point", 20),
    ("Uppercase a ferry sign", "last boat leaves at 9:40 pm", 10),
]
_MAX_ACTIVE = 3


class _Refusal(Exception):  # noqa: N818
    def __init__(self, status: int, error: str, **more: Any) -> None:
        super().__init__(error)
        self.response = Response(status, {"error": error, **more}, dict(_CORS))


def _function(method: Callable[..., dict[str, Any]]) -> Callable[..., Response]:
    def answer(self: Any, request: Request) -> Response:
        try:
            return Response(200, method(self, request), dict(_CORS))
        except _Refusal as refusal:
            return refusal.response

    return answer


def _stamp(hours: float = 0) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()


def _kind(value: Any) -> str:
    if isinstance(value, int | float):
        return "boolean" if isinstance(value, bool) else "number"
    return {str: "string", list: "array", type(None): "null"}.get(type(value), "object")


def _type_issue(
    path: list[str],
    expected: str,
    value: Any,
    absent: bool,  # noqa: FBT001
) -> dict[str, Any]:
    received = "undefined" if absent else _kind(value)
    message = "Required" if absent else f"Expected {expected}, received {received}"
    issue = {"code": "invalid_type", "expected": expected, "received": received}
    return {**issue, "path": path, "message": message}


def _check(
    value: Any,
    schema: Any,
    path: list[str],
    absent: bool,  # noqa: FBT001
) -> list[dict[str, Any]]:
    """Return zod's issues; a schema is "uuid", "true", a minimal length or a dict."""
    if isinstance(schema, dict):
        if absent or not isinstance(value, dict):
            return [_type_issue(path, "object", value, absent)]
        issues = []
        for name, inner in schema.items():
            issues += _check(value.get(name), inner, [*path, name], name not in value)
        return issues
    if schema == "true":
        if value is True:
            return []
        issue = {"code": "invalid_literal", "expected": True, "path": path}
        if not absent:
            issue["received"] = value
        return [{**issue, "message": "Invalid literal value, expected true"}]
    if absent or not isinstance(value, str):
        return [_type_issue(path, "string", value, absent)]
    if schema == "uuid":
        try:
            if str(uuid.UUID(value)) == value.lower():
                return []
        except ValueError:
            pass
        return [
            {
                "validation": "uuid",
                "code": "invalid_string",
                "message": "Invalid uuid",
                "path": path,
            }
        ]
    if len(value) < schema:
        message = f"String must contain at least {schema} character(s)"
        issue = {
            "code": "too_small",
            "minimum": schema,
            "type": "string",
            "inclusive": True,
        }
        return [{**issue, "exact": False, "message": message, "path": path}]
    return []


def _parsed(request: Request, schema: dict[str, Any]) -> dict[str, Any]:
    if not request.raw:
        raise _Refusal(500, "Unexpected end of JSON input")
    try:
        body = request.json()
    except ValueError:
        text = request.raw.decode(errors="replace")
        message = f"Unexpected token '{text[0]}', {json.dumps(text[:20])}... is not valid JSON"
        raise _Refusal(500, message) from None
    issues = _check(body, schema, [], False)
    if issues:
        raise _Refusal(400, "Invalid request body", issues=issues)
    return body


def _no_rows(what: str) -> _Refusal:
    return _Refusal(
        404,
        "Cannot coerce the result to a single JSON object",
        code="PGRST116",
        details="The result contains 0 rows",
        hint=f"No row in {what} has this id",
    )


class Tidepool(Backend):
    """Paid on completion; a wrong result is rejected there and may be sent again."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        for number, (title, text, reward) in enumerate(_WORK):
            key = str(uuid.uuid5(uuid.NAMESPACE_DNS, f"tidepool-{number}"))
            self._tasks[key] = {
                "id": key,
                "title": title,
                "instructions": "Return input_text converted to upper case, nothing else.",
                "input_text": text,
                "category": "text",
                "reward_credits": reward,
                "status": "open",
                "claimed_by": None,
                "created_at": _stamp(-number - 1),
            }

    def texts(self) -> dict[str, str]:
        return {key: task["input_text"] for key, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        body = {"code": "NOT_FOUND", "message": "Requested function was not found"}
        return Response(404, body, dict(_CORS))

    def _agent(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            raise _Refusal(401, "Missing authorization header")
        if request.token not in self._agents:
            raise _Refusal(401, "Invalid or expired access token")
        return self._agents[request.token]

    @_function
    def register(self, request: Request) -> dict[str, Any]:
        self.book.registrations += 1
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        token = "tp_live_" + uuid.uuid4().hex
        self._agents[token] = agent
        return {"success": True, **agent, "access_token": token, "tier": "free"}

    def _listing(self, request: Request) -> dict[str, Any]:
        numbers = {}
        for name, default, least, most in (
            ("limit", 10, 1, 100),
            ("offset", 0, 0, 10000),
        ):
            issue: dict[str, Any] = {}
            try:
                number = numbers[name] = int(request.query.get(name, default))
                if number < least:
                    issue = {"code": "too_small", "minimum": least}
                    issue["message"] = (
                        f"Number must be greater than or equal to {least}"
                    )
                elif number > most:
                    issue = {"code": "too_big", "maximum": most}
                    issue["message"] = f"Number must be less than or equal to {most}"
            except ValueError:
                issue = {
                    "code": "invalid_type",
                    "expected": "number",
                    "received": "nan",
                }
                issue["message"] = "Expected number, received nan"
            if issue:
                raise _Refusal(
                    400, "Invalid query parameters", issues=[{**issue, "path": [name]}]
                )
        rows = [task for task in self._tasks.values() if task["status"] == "open"]
        start = numbers["offset"]
        return {
            "success": True,
            "data": rows[start : start + numbers["limit"]],
            "count": len(rows),
            **numbers,
        }

    marketplace = _function(_listing)

    @_function
    def tasks(self, request: Request) -> dict[str, Any]:
        self._agent(request)
        return self._listing(request)

    @_function
    def claim(self, request: Request) -> dict[str, Any]:
        agent = self._agent(request)
        body = _parsed(request, {"task_id": "uuid", "agent_id": "uuid"})
        if body["agent_id"] != agent["agent_id"]:
            raise _Refusal(
                403, "agent_id does not belong to this access token", code="42501"
            )
        task = self._tasks.get(body["task_id"])
        if task is None:
            raise _no_rows("marketplace_tasks")
        if task["status"] != "open":
            raise _Refusal(
                409, f"Task is not open (status: {task['status']})", code="P0001"
            )
        mine = [
            claim
            for claim in self._claims.values()
            if claim["agent_id"] == agent["agent_id"]
        ]
        if sum(claim["status"] == "active" for claim in mine) >= _MAX_ACTIVE:
            raise _Refusal(
                429,
                f"Claim limit reached: {_MAX_ACTIVE} active claims per agent",
                code="P0001",
            )
        task |= {"status": "claimed", "claimed_by": agent["agent_id"]}
        claim = {
            "id": str(uuid.uuid4()),
            "task_id": task["id"],
            "agent_id": agent["agent_id"],
            "status": "active",
            "expires_at": _stamp(2),
        }
        self._claims[claim["id"]] = claim
        self.book.claimed(task["id"])
        return {"success": True, "claim": claim}

    @_function
    def submit(self, request: Request) -> dict[str, Any]:
        agent = self._agent(request)
        body = _parsed(
            request,
            {"claim_id": "uuid", "result": {"output_text": 1}, "work_summary": 10},
        )
        claim = self._claims.get(body["claim_id"])
        if claim is None or claim["agent_id"] != agent["agent_id"]:
            raise _no_rows("task_claims")
        if claim["status"] != "active":
            raise _Refusal(
                409, f"Claim is not active (status: {claim['status']})", code="P0001"
            )
        submission = {
            "id": str(uuid.uuid4()),
            "claim_id": claim["id"],
            "task_id": claim["task_id"],
            "result": {"output_text": body["result"]["output_text"]},
            "status": "pending",
            "submitted_at": _stamp(),
        }
        self._submissions[submission["id"]] = submission
        return {"success": True, "submission": submission}

    @_function
    def complete(self, request: Request) -> dict[str, Any]:
        agent = self._agent(request)
        body = _parsed(
            request, {"task_id": "uuid", "submission_id": "uuid", "confirm": "true"}
        )
        submission = self._submissions.get(body["submission_id"])
        claim = self._claims[submission["claim_id"]] if submission else {}
        if submission is None or claim["agent_id"] != agent["agent_id"]:
            raise _no_rows("task_submissions")
        if submission["task_id"] != body["task_id"]:
            raise _Refusal(
                400, "submission_id belongs to another task_id", code="P0001"
            )
        if claim["status"] != "active" or submission["status"] != "pending":
            raise _Refusal(
                409,
                f"Submission is not pending (status: {submission['status']})",
                code="P0001",
            )
        task = self._tasks[claim["task_id"]]
        if submission["result"]["output_text"] != task["input_text"].upper():
            submission["status"] = "rejected"
            raise _Refusal(
                422,
                "Submission rejected: result.output_text does not match the expected output",
                code="P0001",
                hint="The claim stays active; submit a new result for it",
            )
        claim["status"], submission["status"], task["status"] = (
            "done",
            "approved",
            "completed",
        )
        agent["credits"] += task["reward_credits"]
        self.book.pay(task["id"], task["reward_credits"])
        return {
            "success": True,
            "task": {"id": task["id"], "status": "completed"},
            "credits_earned": task["reward_credits"],
            "new_balance": agent["credits"],
        }
