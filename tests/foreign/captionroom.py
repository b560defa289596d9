"""Caption Room: a small team's service on LoopBack 4 (Node); completion pays."""
# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import json
import re
import secrets
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_NAMES = {400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound"}
_NAMES |= {409: "Conflict", 415: "UnsupportedMediaType", 422: "UnprocessableEntity"}
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TYPES = {"integer": int, "string": str}
# property -> type, required, minLength/minimum, format
_WORD, _COUNT = ("string", True, 1, ""), ("integer", True, 1, "")
_CLAIM = {"taskId": ("integer", True, None, ""), "agentId": _WORD}
_SUBMIT = {"assignmentId": ("string", True, None, "uuid"), "output": _WORD}
_SUBMIT |= {"notes": ("string", False, None, "")}
_COMPLETE = {"submissionId": ("integer", True, None, "")}
_CHECKOUT = dict.fromkeys(("plan", "agent_id", "price_id"), _WORD)
_CHECKOUT |= dict.fromkeys(("requested_credits", "amount_cents"), _COUNT)
_CHECKOUT |= dict.fromkeys(("product_label", "source"), _SUBMIT["notes"])
_SEED = [
    ("Title card, opening", "the river at first light", 12),
    ("Title card, market", "saturday market, north gate", 18),
    ("Lower third, guest", "dr. mira holt, geologist", 9),
    ("Title card, storm", "three hours before the storm", 25),
    ("Lower third, host", "tom okafor reporting", 7),
    ("End card", "thanks for watching - see you in may", 15),
]


class _HttpError(Exception):
    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        error = {"statusCode": status, "name": f"{_NAMES[status]}Error"}
        error |= {"message": message, **more}
        self.response = Response(status, {"error": error})


def _route(method: Any) -> Any:
    def run(self: Any, request: Request) -> Response:
        try:
            return Response(200, method(self, request))
        except _HttpError as error:
            return error.response

    return run


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _jwt(agent: str) -> str:
    parts = (json.dumps(part).encode() for part in ({"alg": "HS256"}, {"id": agent}))
    coded = [base64.urlsafe_b64encode(p).rstrip(b"=").decode() for p in parts]
    return ".".join([*coded, secrets.token_urlsafe(32)])


def _body(request: Request, schema: dict[str, tuple[str, bool, Any, str]]) -> Any:  # noqa: PLR0915
    """Parse the body and validate it as AJV with allErrors does."""
    kind = (request.headers.get("Content-Type") or "application/json").split(";")[0]
    if request.raw and kind.strip().lower() != "application/json":
        said = f"Content-type {kind} does not match [application/json]."
        raise _HttpError(415, said, code="UNSUPPORTED_MEDIA_TYPE")
    if not request.raw.strip():
        code = "MISSING_REQUIRED_PARAMETER"
        raise _HttpError(400, "Request body is required", code=code)
    try:
        body = request.json()
    except ValueError as error:
        at = getattr(error, "pos", 0)
        text = request.raw.decode(errors="replace")[at : at + 1]
        said = f"Unexpected token {text} in JSON at position {at}"
        said = said if text else "Unexpected end of JSON input"
        raise _HttpError(400, said, name="SyntaxError") from None
    found: list[dict[str, Any]] = []

    def add(path: str, code: str, message: str, **info: Any) -> None:
        found.append({"path": path, "code": code, "message": message, "info": info})

    if not isinstance(body, dict):
        add("", "type", "must be object", type="object")
    else:
        for name in (n for n in schema if schema[n][1] and n not in body):
            said = f"must have required property '{name}'"
            add("", "required", said, missingProperty=name)
        for name in (n for n in body if n not in schema):
            said = "must NOT have additional properties"
            add("", "additionalProperties", said, additionalProperty=name)
        for name, (type_, _, least, format_) in schema.items():
            if name not in body:
                continue
            value, path = body[name], f"/{name}"
            if type(value) is not _TYPES[type_]:
                add(path, "type", f"must be {type_}", type=type_)
            elif type_ == "string" and least and not value:
                said = f"must NOT have fewer than {least} characters"
                add(path, "minLength", said, limit=least)
            elif type_ == "integer" and least is not None and value < least:
                add(
                    path, "minimum", f"must be >= {least}", comparison=">=", limit=least
                )
            elif format_ and not _UUID.fullmatch(value):
                add(path, "format", f'must match format "{format_}"', format=format_)
    if found:
        said = "The request body is invalid. See error object `details` property"
        said += " for more info."
        raise _HttpError(422, said, code="VALIDATION_FAILED", details=found)
    return body


def _find(name: str, rows: dict[Any, dict[str, Any]], id_: Any) -> dict[str, Any]:
    if id_ not in rows:
        said = f"Entity not found: {name} with id {json.dumps(id_)}"
        raise _HttpError(404, said, name="Error", code="ENTITY_NOT_FOUND")
    return rows[id_]


class CaptionRoom(Backend):
    """The LoopBack application."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}
        self._tokens: dict[str, str] = {}
        self._assignments: dict[str, dict[str, Any]] = {}
        self._submissions: dict[int, dict[str, Any]] = {}
        self._tasks: dict[int, dict[str, Any]] = {}
        asked = "Return sourceText in upper case, nothing else changed."
        for id_, (title, text, reward) in enumerate(_SEED, 1):
            task = {"id": id_, "title": title, "instructions": asked}
            task |= {"sourceText": text, "rewardCredits": reward, "status": "OPEN"}
            self._tasks[id_] = task

    def texts(self) -> dict[str, str]:
        return {str(t["id"]): t["sourceText"] for t in self._tasks.values()}

    def missing(self, request: Request) -> Response:
        said = f'Endpoint "{request.method} {request.path}" not found.'
        return _HttpError(404, said).response

    def _agent(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            raise _HttpError(401, "Authorization header not found.")
        if not request.token:
            raise _HttpError(401, "Authorization header is not of type 'Bearer'.")
        if request.token not in self._tokens:
            raise _HttpError(401, "Error verifying token : invalid signature")
        return self._agents[self._tokens[request.token]]

    def _open(self, request: Request) -> list[dict[str, Any]]:
        given = request.query.get("limit", "20")
        said = f'Invalid data {json.dumps(given)} for parameter "limit".'
        more: dict[str, Any] = {"code": "INVALID_PARAMETER_VALUE"}
        if not re.fullmatch(r"-?\d+", given):
            raise _HttpError(400, said, **more)
        limit = int(given)
        if not 1 <= limit <= 50:
            code, edge = ("maximum", "<= 50") if limit > 50 else ("minimum", ">= 1")
            more["details"] = [{"path": "", "code": code, "message": f"must be {edge}"}]
            raise _HttpError(400, said, **more)
        return [t for t in self._tasks.values() if t["status"] == "OPEN"][:limit]

    @_route
    def register(self, request: Request) -> Any:
        id_ = str(uuid.uuid4())
        self._tokens[token := _jwt(id_)] = id_
        self._agents[id_] = {"id": id_, "credits": 100}
        self.book.registrations += 1
        return {"agent_id": id_, "access_token": token, "credits": 100}

    @_route
    def tasks(self, request: Request) -> Any:
        self._agent(request)
        return self._open(request)

    @_route
    def marketplace(self, request: Request) -> Any:
        keys = ("id", "title", "rewardCredits", "status")
        return [{key: task[key] for key in keys} for task in self._open(request)]

    @_route
    def agents(self, request: Request) -> Any:
        if slug := request.query.get("slug"):
            return {"id": _find("Agent", self._agents, slug)["id"]}
        return [{"id": id_} for id_ in self._agents]

    directory = agents

    @_route
    def claim(self, request: Request) -> Any:
        agent, body = self._agent(request), _body(request, _CLAIM)
        if body["agentId"] != agent["id"]:
            raise _HttpError(403, "agentId does not match the authenticated agent.")
        task = _find("Task", self._tasks, body["taskId"])
        if task["status"] != "OPEN":
            raise _HttpError(409, f"Task {task['id']} is already {task['status']}.")
        task["status"] = "ASSIGNED"
        id_ = str(uuid.uuid4())
        row = {"id": id_, "taskId": task["id"], "agentId": agent["id"]}
        self._assignments[id_] = {**row, "status": "ACTIVE", "assignedAt": _now()}
        self.book.claimed(str(task["id"]))
        return self._assignments[id_]

    @_route
    def submit(self, request: Request) -> Any:
        agent, body = self._agent(request), _body(request, _SUBMIT)
        assignment = _find("Assignment", self._assignments, body["assignmentId"])
        if assignment["agentId"] != agent["id"]:
            raise _HttpError(403, "This assignment belongs to another agent.")
        if assignment["status"] != "ACTIVE":
            raise _HttpError(409, f"Assignment is already {assignment['status']}.")
        task = self._tasks[assignment["taskId"]]
        if body["output"] != task["sourceText"].upper():
            raise _HttpError(422, "output is not the sourceText in upper case.")
        assignment["status"] = "SUBMITTED"
        id_ = 501 + len(self._submissions)
        row = {"id": id_, "assignmentId": assignment["id"], "output": body["output"]}
        self._submissions[id_] = {**row, "status": "VERIFIED", "submittedAt": _now()}
        return self._submissions[id_]

    @_route
    def complete(self, request: Request) -> Any:
        agent, body = self._agent(request), _body(request, _COMPLETE)
        submission = _find("Submission", self._submissions, body["submissionId"])
        assignment = self._assignments[submission["assignmentId"]]
        if assignment["agentId"] != agent["id"]:
            raise _HttpError(403, "This submission belongs to another agent.")
        task = self._tasks[assignment["taskId"]]
        if task["status"] == "COMPLETED":
            raise _HttpError(409, f"Task {task['id']} is already COMPLETED.")
        task["status"] = assignment["status"] = "COMPLETED"
        self.book.pay(str(task["id"]), task["rewardCredits"])
        agent["credits"] += task["rewardCredits"]
        return {**task, "agentCredits": agent["credits"]}

    @_route
    def post(self, request: Request) -> Any:
        self._agent(request)
        raise _HttpError(403, "Only verified agents can post tasks.")

    @_route
    def checkout(self, request: Request) -> Any:
        _body(request, _CHECKOUT)
        raise _HttpError(409, "Payments are disabled in this environment.")
