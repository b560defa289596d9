"""A small team's sign shop on Bun: Elysia with TypeBox, in development mode.

Each route has its `t.Object({...})`; the 422 for a wrong body is Elysia's own.
"""

import json
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TASKS = [
    ("sgn_Vx3kQ1", "Door plate, ground floor", "meeting room two", 12),
    ("sgn_a8TnZ0", "Car park board", "no parking after six", 9),
    ("sgn_Lp55wE", "Shop window", "fresh bread every morning", 21),
    ("sgn_0RmjYd", "Trail marker", "waterfall 400 m", 7),
    ("sgn_Kc9uBh", "Harbour notice", "mind the step", 16),
    ("sgn_q2FsXo", "Library shelf", "atlases and maps", 30),
    ("sgn_Hw7eNi", "Museum label", "please do not touch the bronze", 18),
]


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


_STRING = {"type": "string"}
_TEXT = {"minLength": 1, "type": "string"}
_KINDS = ("text/plain", "text/markdown")
_FORMAT = {"anyOf": [{"const": kind, "type": "string"} for kind in _KINDS]}
_MINUTES = {"minimum": 5, "maximum": 240, "type": "integer"}
_TRUE = {"const": True, "type": "boolean"}
_CLAIM = _object(taskId=_STRING, etaMinutes=_MINUTES)
_SUBMIT = _object(claimId=_STRING, output=_object(text=_TEXT, format=_FORMAT))
_COMPLETE = _object(claimId=_STRING, submissionId=_STRING, confirm=_TRUE)
_Handler = Callable[..., dict[str, Any]]
_NOTHING = object()  # JavaScript's undefined


def _create(schema: dict[str, Any]) -> Any:
    """Return what TypeBox's Value.Create makes of a schema."""
    if "anyOf" in schema:
        return _create(schema["anyOf"][0])
    if "const" in schema:
        return schema["const"]
    if schema["type"] == "object":
        return {name: _create(part) for name, part in schema["properties"].items()}
    if schema["type"] == "string":
        return " " * schema.get("minLength", 0)
    return schema.get("minimum", 0)


def _shown(value: Any) -> str:
    return (
        "undefined"
        if value is _NOTHING
        else "[object Object]"
        if isinstance(value, dict)
        else str(value)
    )


def _error(
    type_: int, schema: Any, path: str, value: Any, message: str
) -> dict[str, Any]:
    name = path[1:].replace("/", ".")
    summary = message
    if type_ == 45:
        summary = f"Property '{name}' is missing"
    elif type_ == 54:
        summary = f"Expected property '{name}' to be string but found: {_shown(value)}"
    elif type_ == 62:
        kinds = ", ".join(
            f"'{part.get('format', part['type'])}'" for part in schema["anyOf"]
        )
        summary = f"Property '{name}' should be one of: {kinds}"
    error = {"summary": summary, "type": type_, "schema": schema, "path": path}
    error |= {} if value is _NOTHING else {"value": value}
    inner: list[Any] = (
        [{"iterator": {}} for _ in schema["anyOf"]] if type_ == 62 else []
    )
    return {**error, "message": message, "errors": inner}


def _visit(schema: dict[str, Any], path: str, value: Any) -> list[dict[str, Any]]:
    def no(type_: int, message: str) -> list[dict[str, Any]]:
        return [_error(type_, schema, path, value, message)]

    if "anyOf" in schema:
        fits = any(not _visit(part, path, value) for part in schema["anyOf"])
        return [] if fits else no(62, "Expected union value")
    if "const" in schema:
        wanted = "true" if schema["const"] is True else repr(schema["const"])
        same = type(value) is type(schema["const"]) and value == schema["const"]
        return [] if same else no(32, f"Expected {wanted}")
    if schema["type"] == "object":
        if not isinstance(value, dict):
            return no(46, "Expected object")
        parts = schema["properties"]
        lacking, message = set(parts) - set(value), "Expected required property"
        errors = [
            _error(45, parts[name], f"{path}/{name}", _NOTHING, message)
            for name in parts
            if name in lacking
        ]
        for name, part in parts.items():
            errors += _visit(part, f"{path}/{name}", value.get(name, _NOTHING))
        return errors
    if schema["type"] == "string":
        if not isinstance(value, str):
            return no(54, "Expected string")
        short = len(value) < (least := schema.get("minLength", 0))
        return (
            no(52, f"Expected string length greater or equal to {least}")
            if short
            else []
        )
    if isinstance(value, bool) or not isinstance(value, int | float) or value % 1 != 0:
        return no(27, "Expected integer")
    if value > schema["maximum"]:
        return no(24, f"Expected integer to be less or equal to {schema['maximum']}")
    if value < schema["minimum"]:
        return no(25, f"Expected integer to be greater or equal to {schema['minimum']}")
    return []


def _invalid(
    on: str, expected: Any, found: Any, errors: list[dict[str, Any]]
) -> Response:
    first = errors[0]
    body = {"type": "validation", "on": on, "property": first["path"] or "root"}
    body |= {name: first[name] for name in ("message", "summary")}
    body |= {"expected": expected} | ({} if found is _NOTHING else {"found": found})
    text = json.dumps({**body, "errors": errors}, indent=2)
    return Response(422, text, {"Content-Type": "application/json"})


class _ThrownError(Exception):
    """`throw status(...)`."""


def _status(status: int, error: str, message: str) -> _ThrownError:
    return _ThrownError(Response(status, {"error": error, "message": message}))


def _route(schema: dict[str, Any]) -> Callable[[_Handler], Callable[..., Response]]:
    """Check body and bearer before the handler, as `{ body: schema }` and a guard do."""

    def wrap(handler: _Handler) -> Callable[..., Response]:
        def answer(self: Any, request: Request) -> Response:
            kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
            body: Any = _NOTHING
            try:
                if kind == "application/json":
                    body = request.json()
            except ValueError:
                return Response(400, "Bad Request")
            if errors := _visit(schema, "", body):
                return _invalid("body", _create(schema), body, errors)
            agent = self._agents.get(request.token)
            if agent is None:
                return Response(401, "Unauthorized", {"WWW-Authenticate": "Bearer"})
            try:
                return Response(200, handler(self, body, agent))
            except _ThrownError as thrown:
                answer: Response = thrown.args[0]
                return answer

        return answer

    return wrap


class ElysiaSignage(Backend):
    """Lettering for signs: claim with an estimate, submit an output, confirm to be paid."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # token -> agent
        self._claims: dict[str, dict[str, Any]] = {}
        self._open = [task[0] for task in _TASKS]

    def texts(self) -> dict[str, str]:
        return {id_: text for id_, _, text, _ in _TASKS}

    def missing(self, request: Request) -> Response:
        return Response(404, "NOT_FOUND")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"agent_id": f"agt_{secrets.token_hex(6)}", "credits": 100}
        self._agents[token := f"sgnt_{secrets.token_urlsafe(24)}"] = agent
        return Response(200, {**agent, "access_token": token})

    def tasks(self, request: Request) -> Response:
        raw = request.query.get("limit", "20")
        if not raw.isdigit() or not 1 <= int(raw) <= 50:
            number = {"minimum": 1, "maximum": 50, "type": "number"}
            union = {"anyOf": [{"format": "numeric", "type": "string"}, number]}
            error = _error(62, union, "/limit", raw, "Expected union value")
            return _invalid("query", {"limit": 1}, request.query, [error])
        limit, cursor = int(raw), request.query.get("cursor", "0")
        start = int(cursor) if cursor.isdigit() else 0
        shown = [
            (n, *t) for n, t in enumerate(_TASKS) if t[0] in self._open and n >= start
        ]
        work = "Set sourceText in capital letters, nothing else changed."
        items = [
            {
                "taskId": id_,
                "title": title,
                "state": "open",
                "brief": {"instructions": work, "sourceText": text},
                "reward": {"credits": reward},
            }
            for _, id_, title, text, reward in shown[:limit]
        ]
        following = str(shown[limit][0]) if len(shown) > limit else None
        return Response(200, {"items": items, "nextCursor": following})

    marketplace = tasks

    @_route(_CLAIM)
    def claim(self, body: Any, agent: dict[str, Any]) -> dict[str, Any]:
        if (id_ := body["taskId"]) not in self.texts():
            raise _status(404, "TASK_NOT_FOUND", f"No task with taskId {id_}")
        if id_ not in self._open:
            raise _status(409, "TASK_NOT_OPEN", f"Task {id_} is already claimed")
        self._open.remove(id_)
        self.book.claimed(id_)
        due = datetime.now(UTC) + timedelta(minutes=body["etaMinutes"])
        claim = {
            "claimId": str(uuid.uuid4()),
            "taskId": id_,
            "agentId": agent["agent_id"],
        }
        claim |= {"state": "claimed", "dueAt": due.strftime("%Y-%m-%dT%H:%M:%S.000Z")}
        self._claims[claim["claimId"]] = claim
        return {"claim": claim}

    def _claim(self, body: Any, agent: dict[str, Any]) -> dict[str, Any]:
        claim = self._claims.get(body["claimId"])
        if claim is None or claim["agentId"] != agent["agent_id"]:
            raise _status(404, "CLAIM_NOT_FOUND", "You have no claim with this claimId")
        return claim

    @_route(_SUBMIT)
    def submit(self, body: Any, agent: dict[str, Any]) -> dict[str, Any]:
        claim = self._claim(body, agent)
        if claim["state"] != "claimed":
            raise _status(409, "ALREADY_SUBMITTED", f"Claim is {claim['state']}")
        if body["output"]["text"] != self.texts()[claim["taskId"]].upper():
            message = "output.text is not sourceText in capital letters"
            raise _status(400, "OUTPUT_REJECTED", message)
        claim |= {"state": "submitted", "submissionId": (id_ := str(uuid.uuid4()))}
        return {"submission": {"submissionId": id_, "state": "accepted"}}

    @_route(_COMPLETE)
    def complete(self, body: Any, agent: dict[str, Any]) -> dict[str, Any]:
        claim = self._claim(body, agent)
        if claim["state"] == "claimed":
            raise _status(409, "NOT_SUBMITTED", "Submit an output for this claim first")
        if claim["state"] == "completed":
            raise _status(409, "ALREADY_COMPLETED", "This claim has been paid")
        if body["submissionId"] != claim["submissionId"]:
            raise _status(
                404, "SUBMISSION_NOT_FOUND", "submissionId is not of this claim"
            )
        reward = next(task[3] for task in _TASKS if task[0] == claim["taskId"])
        claim["state"] = "completed"
        agent["credits"] += reward
        self.book.pay(claim["taskId"], reward)
        return {
            "claim": claim,
            "payout": {"credits": reward, "balance": agent["credits"]},
        }
