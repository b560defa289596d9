"""Captionery: a small team's caption service on Node, Fastify 5 with its own ajv and @fastify/jwt.

camelCase, one fault at a time, `{statusCode, code, error, message}`; completion pays.
"""

import base64
import json
import re
import secrets
import uuid
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_CAPTIONS = [
    ("Title card, harbour film", "The last ferry leaves at dusk", 35),
    ("Lower third, interview 3", "Marta Lindqvist, lighthouse keeper", 20),
    ("Chapter caption", "Three winters without a letter", 28),
    ("End card", "Thank you for watching - see you in spring", 44),
    ("Teaser line", "Nobody counted the boats twice", 31),
    ("Poster strapline", "Every tide brings something home", 52),
]
_UUID = re.compile(
    r"^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$", re.IGNORECASE
)


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


_STRING = {"type": "string", "minLength": 1}
_ID = {"type": "string", "format": "uuid"}
_COUNT = {"type": "integer", "minimum": 1}
_CLAIM = _object(taskId=_STRING)
_SUBMIT = _object(assignmentId=_ID, output=_object(caption=_STRING))
_COMPLETE = _object(assignmentId=_ID, submissionId=_ID)
_NAMES = {"plan": _STRING, "agent_id": _STRING, "price_id": _STRING}
_CHECKOUT = _object(**_NAMES, requested_credits=_COUNT, amount_cents=_COUNT)
_LIMIT = {**_COUNT, "maximum": 50, "default": 4}
_OFFSET = {"type": "integer", "minimum": 0, "default": 0}
_LIST = {"properties": {"limit": _LIMIT, "offset": _OFFSET}}


class _Fault(Exception):  # noqa: N818
    def __init__(self, status: int, message: str, code: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


def _coerced(value: Any, kind: str) -> Any:
    """Coerce as ajv does with coerceTypes: "array", Fastify's default."""
    if kind != "object" and isinstance(value, list) and len(value) == 1:
        value = value[0]
    if kind == "string" and isinstance(value, bool | int | float | None):
        return "" if value is None else json.dumps(value)
    if kind == "integer" and isinstance(value, str) and re.match(r"^-?\d+$", value):
        return int(value)
    return value


def _validate(value: Any, schema: dict[str, Any], where: str) -> Any:
    """Validate and return the value; the first fault is told, as with allErrors off."""
    kind = schema.get("type", "object")
    value = _coerced(value, kind)
    python: Any = {"object": dict, "string": str, "integer": int}[kind]
    problem = ""
    if not isinstance(value, python) or (kind == "integer" and isinstance(value, bool)):
        problem = f"must be {kind}"
    elif kind == "integer" and value > schema.get("maximum", value):
        problem = f"must be <= {schema['maximum']}"
    elif kind == "integer" and value < schema.get("minimum", value):
        problem = f"must be >= {schema['minimum']}"
    elif kind == "string" and len(value) < schema.get("minLength", 0):
        problem = "must NOT have fewer than 1 characters"
    elif schema.get("format") == "uuid" and not _UUID.match(value):
        problem = 'must match format "uuid"'
    elif kind == "object":
        properties = schema["properties"]
        value = {
            n: p["default"] for n, p in properties.items() if "default" in p
        } | value
        absent = [name for name in schema.get("required", ()) if name not in value]
        if absent:
            problem = f"must have required property '{absent[0]}'"
    if problem:
        raise _Fault(400, f"{where} {problem}", "FST_ERR_VALIDATION")
    for name, inner in schema.get("properties", {}).items():
        if name in value:
            value[name] = _validate(value[name], inner, f"{where}/{name}")
    return value


def _body(request: Request, schema: dict[str, Any] | None) -> Any:
    kind = (request.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    body: Any = None
    if kind == "application/json":
        if not request.raw:
            message = (
                "Body cannot be empty when content-type is set to 'application/json'"
            )
            raise _Fault(400, message, "FST_ERR_CTP_EMPTY_JSON_BODY")
        try:
            body = request.json()
        except ValueError:
            message = (
                "Body is not valid JSON but content-type is set to 'application/json'"
            )
            raise _Fault(400, message, "FST_ERR_CTP_INVALID_JSON_BODY") from None
    elif kind or request.raw:
        raise _Fault(415, "Unsupported Media Type", "FST_ERR_CTP_INVALID_MEDIA_TYPE")
    return body if schema is None else _validate(body, schema, "body")


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _reply(status: int, body: Any) -> Response:
    return Response(status, body, {"Content-Type": "application/json; charset=utf-8"})


def _route(handler: Callable[..., Any]) -> Callable[..., Response]:
    def wrapped(self: Any, request: Request) -> Response:
        try:
            return _reply(200, handler(self, request))
        except _Fault as fault:
            code = {"code": fault.code} if fault.code else {}
            body = {"error": HTTPStatus(fault.status).phrase, "message": fault.message}
            return _reply(fault.status, {"statusCode": fault.status, **code, **body})

    return wrapped


class Captionery(Backend):
    """Fastify with ajv: `data` and `pagination`, assignments, submissions, payouts."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        for title, text, amount in _CAPTIONS:
            id_ = "cm" + secrets.token_hex(11)
            self._tasks[id_] = {
                "id": id_,
                "title": title,
                "instructions": "Return the caption in upper case, otherwise unchanged.",
                "input": {"caption": text},
                "reward": {"amount": amount, "unit": "credits"},
                "status": "OPEN",
            }

    def texts(self) -> dict[str, str]:
        return {id_: task["input"]["caption"] for id_, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        body = {"message": f"Route {request.method}:{request.path} not found"}
        return _reply(404, {**body, "error": "Not Found", "statusCode": 404})

    def _agent(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            message = "No Authorization was found in request.headers"
            raise _Fault(401, message, "FST_JWT_NO_AUTHORIZATION_IN_HEADER")
        if request.token not in self._agents:
            why = (
                "signature is invalid"
                if request.token.count(".") == 2
                else "is malformed"
            )
            message = f"Authorization token is invalid: The token {why}."
            raise _Fault(401, message, "FST_JWT_AUTHORIZATION_TOKEN_INVALID")
        return self._agents[request.token]

    @_route
    def register(self, request: Request) -> Any:
        _body(request, None)
        self.book.registrations += 1
        id_ = str(uuid.uuid4())
        payload = json.dumps({"sub": id_}).encode()
        parts = (b'{"alg":"HS256","typ":"JWT"}', payload, secrets.token_bytes(32))
        token = ".".join(_b64(part) for part in parts)
        self._agents[token] = {"agentId": id_, "credits": 100}
        return {"agent_id": id_, "access_token": token, "credits": 100}

    @_route
    def checkout(self, request: Request) -> Any:
        body = _body(request, _CHECKOUT)
        return {
            "ok": True,
            "mode": "payment",
            "agentId": body["agent_id"],
            "plan": body["plan"],
        }

    def _page(self, request: Request) -> Any:
        query = _validate(request.query, _LIST, "querystring")
        limit, offset = query["limit"], query["offset"]
        open_ = [task for task in self._tasks.values() if task["status"] == "OPEN"]
        page = {"total": len(open_), "limit": limit, "offset": offset}
        return {"data": open_[offset : offset + limit], "pagination": page}

    marketplace = tasks = _route(_page)

    @_route
    def agents(self, request: Request) -> Any:
        if "slug" in request.query:
            raise _Fault(404, "Agent not found")
        return {
            "data": [{"agentId": agent["agentId"]} for agent in self._agents.values()]
        }

    directory = agents

    @_route
    def post(self, request: Request) -> Any:
        self._agent(request)
        raise _Fault(402, "Posting tasks requires the Team plan")

    @_route
    def claim(self, request: Request) -> Any:
        me = self._agent(request)["agentId"]
        task = self._tasks.get(_body(request, _CLAIM)["taskId"])
        if task is None:
            raise _Fault(404, "Task not found")
        if task["status"] != "OPEN":
            raise _Fault(409, "Task is no longer open")
        task["status"] = "ASSIGNED"
        id_ = str(uuid.uuid4())
        assignment = {
            "id": id_,
            "taskId": task["id"],
            "agentId": me,
            "status": "IN_PROGRESS",
        }
        self._assignments[id_] = assignment
        self.book.claimed(task["id"])
        return {"assignment": assignment}

    def _assignment(
        self, agent: dict[str, Any], id_: str, status: str
    ) -> dict[str, Any]:
        assignment = self._assignments.get(id_)
        if assignment is None or assignment["agentId"] != agent["agentId"]:
            raise _Fault(404, "Assignment not found")
        if assignment["status"] != status:
            raise _Fault(
                409, f"Assignment is {assignment['status']}, expected {status}"
            )
        return assignment

    @_route
    def submit(self, request: Request) -> Any:
        agent = self._agent(request)
        body = _body(request, _SUBMIT)
        assignment = self._assignment(agent, body["assignmentId"], "IN_PROGRESS")
        text = self._tasks[assignment["taskId"]]["input"]["caption"]
        if body["output"]["caption"] != text.upper():
            raise _Fault(422, "Caption is not the input caption in upper case")
        assignment.update(status="SUBMITTED", submissionId=str(uuid.uuid4()))
        submission = {
            "id": assignment["submissionId"],
            "assignmentId": assignment["id"],
        }
        return {"submission": {**submission, "status": "APPROVED"}}

    @_route
    def complete(self, request: Request) -> Any:
        agent = self._agent(request)
        body = _body(request, _COMPLETE)
        assignment = self._assignment(agent, body["assignmentId"], "SUBMITTED")
        if body["submissionId"] != assignment["submissionId"]:
            raise _Fault(404, "Submission not found")
        task = self._tasks[assignment["taskId"]]
        assignment["status"] = task["status"] = "PAID"
        agent["credits"] += task["reward"]["amount"]
        self.book.pay(task["id"], task["reward"]["amount"])
        return {
            "assignment": assignment,
            "payout": task["reward"],
            "balance": agent["credits"],
        }
