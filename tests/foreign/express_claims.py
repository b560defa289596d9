"""A start-up's service in TypeScript: Express 4 with zod 3, written the usual way.

camelCase, an envelope {success, data | error}, prefixed ids, cursor pages, zod issues. The
claim's answer carries the input; a right submission pays at once; completing closes the claim.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SEED = [
    ("Uppercase a product name", "trail runner mk2, graphite", 14),
    ("Uppercase a street sign", "elm street / north end", 6),
    ("Uppercase a book spine", "a short history of tea", 22),
    ("Uppercase a call sign", "kilo seven whiskey", 11),
    ("Uppercase a banner", "free returns until june", 18),
]
_KINDS = {dict: "object", list: "array", str: "string", bool: "boolean"}
_KINDS |= {int: "number", float: "number", type(None): "null"}


class _HttpError(Exception):
    def __init__(self, status: int, code: str, message: str, **more: Any) -> None:
        self.status, self.error = status, {"code": code, "message": message, **more}


def _issue(
    path: list[str], message: str, code: str, **rule: Any
) -> list[dict[str, Any]]:
    return [{"code": code, **rule, "path": path, "message": message}]


def _type(
    kind: str, value: Any, path: list[str], expected: str = ""
) -> list[dict[str, Any]]:
    received = "undefined" if value is ... else _KINDS[type(value)]
    received = "nan" if value != value else received  # noqa: PLR0124
    if received == kind:
        return []
    expected = expected or kind
    text = "Required" if value is ... else f"Expected {expected}, received {received}"
    return _issue(path, text, "invalid_type", expected=expected, received=received)


def _string(prefix: str = "") -> Any:
    def check(value: Any, path: list[str]) -> list[dict[str, Any]]:
        if wrong := _type("string", value, path):
            return wrong
        if not value.startswith(prefix):
            text = f'Invalid input: must start with "{prefix}"'
            return _issue(
                path, text, "invalid_string", validation={"startsWith": prefix}
            )
        text = "String must contain at least 1 character(s)"
        return (
            [] if value else _issue(path, text, "too_small", minimum=1, type="string")
        )

    return check


def _integer(low: int, high: int) -> Any:
    def check(value: Any, path: list[str]) -> list[dict[str, Any]]:
        if wrong := _type("number", value, path):
            return wrong
        if value < low:
            text = f"Number must be greater than or equal to {low}"
            return _issue(path, text, "too_small", minimum=low, type="number")
        if value > high:
            text = f"Number must be less than or equal to {high}"
            return _issue(path, text, "too_big", maximum=high, type="number")
        if value == int(value):
            return []
        rule = {"expected": "integer", "received": "float"}
        return _issue(path, "Expected integer, received float", "invalid_type", **rule)

    return check


def _enum(*options: str) -> Any:
    def check(value: Any, path: list[str]) -> list[dict[str, Any]]:
        expected = " | ".join(f"'{option}'" for option in options)
        if (wrong := _type("string", value, path, expected)) or value in options:
            return wrong
        text = f"Invalid enum value. Expected {expected}, received '{value}'"
        return _issue(path, text, "invalid_enum_value", received=value, options=options)

    return check


def _true(value: Any, path: list[str]) -> list[dict[str, Any]]:
    text = "Invalid literal value, expected true"
    return [] if value is True else _issue(path, text, "invalid_literal", expected=True)


def _object(**shape: Any) -> Any:
    def check(value: Any, path: list[str]) -> list[dict[str, Any]]:
        if issues := _type("object", value, path):
            return issues
        for name, field in shape.items():
            issues += field(value.get(name, ...), [*path, name])
        if keys := [name for name in value if name not in shape]:
            text = "Unrecognized key(s) in object: " + ", ".join(
                f"'{key}'" for key in keys
            )
            issues += _issue(path, text, "unrecognized_keys", keys=keys)
        return issues

    return check


_CLAIM = _object(taskId=_string("tsk_"), etaMinutes=_integer(1, 1440))
_DONE = _object(kind=_enum("text", "url"), content=_string())
_SUBMIT = _object(claimId=_string("clm_"), deliverable=_DONE)
_QUERY = _object(limit=_integer(1, 25))
_COMPLETE = _object(claimId=_string("clm_"), confirm=_true)


def _id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(6)}"


def _iso(minutes: int = 0) -> str:
    return f"{datetime.now(UTC) + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%S.000Z}"


def _route(method: Any) -> Any:
    def handler(self: "ExpressZodBackend", request: Request) -> Response:
        headers = {
            "X-Powered-By": "Express",
            "Content-Type": "application/json; charset=utf-8",
        }
        try:
            return Response(200, method(self, request), headers)
        except _HttpError as error:
            return Response(
                error.status, {"success": False, "error": error.error}, headers
            )

    return handler


def _validate(schema: Any, value: Any, message: str = "Invalid request body") -> None:
    if issues := schema(value, []):
        raise _HttpError(400, "VALIDATION_ERROR", message, issues=issues)


class ExpressZodBackend(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        for title, text, amount in _SEED:
            row = {
                "taskId": _id("tsk"),
                "title": title,
                "state": "OPEN",
                "postedAt": _iso(),
            }
            row["reward"] = {"amount": amount, "currency": "CREDITS"}
            self._tasks[row["taskId"]] = {"row": row, "text": text}

    def texts(self) -> dict[str, str]:
        return {key: task["text"] for key, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        page = f"<pre>Cannot {request.method} {request.path}</pre>"
        return Response(
            404, page, {"Content-Type": "text/html", "X-Powered-By": "Express"}
        )

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            text = (
                "Invalid or expired token" if request.token else "Missing bearer token"
            )
            raise _HttpError(401, "UNAUTHORIZED", text)
        return self._agents[request.token]

    def _body(self, request: Request, schema: Any) -> dict[str, Any]:
        kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        try:
            body = request.json() if kind == "application/json" and request.raw else {}
        except ValueError:
            raise _HttpError(
                400, "INVALID_JSON", "Request body is not valid JSON"
            ) from None
        _validate(schema, body)
        return body

    def _claim(self, agent: dict[str, Any], key: str) -> dict[str, Any]:
        claim = self._claims.get(key)
        if not claim or claim["agentId"] != agent["agentId"]:
            raise _HttpError(404, "CLAIM_NOT_FOUND", f"Claim {key} not found")
        return claim

    @_route
    def register(self, request: Request) -> dict[str, Any]:
        self._body(request, lambda value, path: [])  # noqa: ARG005
        self.book.registrations += 1
        agent = {"agentId": _id("agt"), "credits": 100, "joinedAt": _iso()}
        self._agents[token := f"sk_agent_{secrets.token_urlsafe(30)}"] = agent
        return {"agent_id": agent["agentId"], "access_token": token, "credits": 100}

    @_route
    def tasks(self, request: Request) -> dict[str, Any]:
        text, keys = request.query.get("limit", "3"), list(self._tasks)
        limit = int(text) if text.isdecimal() else float("nan")
        _validate(_QUERY, {"limit": limit}, "Invalid query")
        cursor = request.query.get("cursor") or keys[0]
        if cursor not in keys:
            raise _HttpError(400, "INVALID_CURSOR", "Cursor is invalid or expired")
        rows = [self._tasks[key]["row"] for key in keys[keys.index(cursor) :]]
        rows = [dict(row) for row in rows if row["state"] == "OPEN"]
        following = rows[limit]["taskId"] if len(rows) > limit else None
        return {
            "success": True,
            "data": {"items": rows[:limit], "nextCursor": following},
        }

    @_route
    def agents(self, request: Request) -> dict[str, Any]:
        return {"success": True, "data": {"items": list(self._agents.values())}}

    marketplace, directory = tasks, agents

    @_route
    def claim(self, request: Request) -> dict[str, Any]:
        agent, body = self._agent(request), self._body(request, _CLAIM)
        if not (task := self._tasks.get(body["taskId"])):
            raise _HttpError(404, "TASK_NOT_FOUND", f"Task {body['taskId']} not found")
        if task["row"]["state"] != "OPEN":
            raise _HttpError(409, "TASK_NOT_OPEN", "Task has already been claimed")
        held = [row for row in self._claims.values() if row["status"] != "CLOSED"]
        if len([row for row in held if row["agentId"] == agent["agentId"]]) >= 2:
            text = "You can hold at most 2 claims. Complete one of them first."
            raise _HttpError(409, "CLAIM_LIMIT_REACHED", text)
        task["row"]["state"] = "CLAIMED"
        self.book.claimed(body["taskId"])
        claim = {"claimId": _id("clm"), "taskId": body["taskId"], "status": "ACTIVE"}
        claim |= {"agentId": agent["agentId"], "expiresAt": _iso(body["etaMinutes"])}
        self._claims[claim["claimId"]] = claim
        work = {
            "instructions": "Return inputText in upper case.",
            "inputText": task["text"],
        }
        return {"success": True, "data": {"claim": dict(claim), "work": work}}

    @_route
    def submit(self, request: Request) -> dict[str, Any]:
        agent, body = self._agent(request), self._body(request, _SUBMIT)
        claim, given = self._claim(agent, body["claimId"]), body["deliverable"]
        if claim["status"] != "ACTIVE":
            raise _HttpError(
                409, "ALREADY_SUBMITTED", "This claim was already delivered"
            )
        task = self._tasks[claim["taskId"]]
        if given != {"kind": "text", "content": task["text"].upper()}:
            text = "Expected kind 'text' with work.inputText in upper case as content"
            raise _HttpError(422, "DELIVERABLE_REJECTED", text)
        claim["status"], amount = "APPROVED", task["row"]["reward"]["amount"]
        self.book.pay(claim["taskId"], amount)
        agent["credits"] += amount
        data = {"submissionId": _id("sub"), "status": "APPROVED"}
        data["payout"] = {"amount": amount, "balance": agent["credits"]}
        return {"success": True, "data": data}

    @_route
    def complete(self, request: Request) -> dict[str, Any]:
        agent, body = self._agent(request), self._body(request, _COMPLETE)
        claim = self._claim(agent, body["claimId"])
        if claim["status"] != "APPROVED":
            raise _HttpError(
                409, "NOT_APPROVED", f"Claim is {claim['status']}, not APPROVED"
            )
        claim["status"] = self._tasks[claim["taskId"]]["row"]["state"] = "CLOSED"
        return {"success": True, "data": {"claim": claim}}

    @_route
    def post(self, request: Request) -> dict[str, Any]:
        self._agent(request)
        raise _HttpError(403, "FORBIDDEN", "Posting tasks requires a verified account")
