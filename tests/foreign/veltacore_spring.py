"""Veltacore Assignments: a company's Java service on Spring Boot 3.

DTOs in camelCase, a paged model, Jackson's and Bean Validation's sentences, and an error
object of its own that one @ControllerAdvice writes. Completion pays.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_DTO = "com.veltacore.assignments.api.dto"
_LONG, _STRING, _UUID = "java.lang.Long", "java.lang.String", "java.util.UUID"
_DURATION = "java.time.Duration"
_PATTERNS = {
    _LONG: (r"[+-]?\d{1,18}", "not a valid `java.lang.Long` value"),
    _UUID: (
        r"[\da-fA-F]{8}(-[\da-fA-F]{4}){3}-[\da-fA-F]{12}",
        "UUID has to be represented by standard 36-char representation",
    ),
    _DURATION: (
        r"P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?",
        f"Failed to deserialize {_DURATION}: (java.time.format.DateTimeParseException) Text cannot be parsed to a Duration",
    ),
}
# The request records: fields with a Java type, or with a record of their own.
_CLAIM = {"taskId": _UUID, "agentId": _UUID}
_SUBMIT = {"assignmentId": _LONG, "result": {"content": _STRING}}
_COMPLETE = {"submissionId": _UUID, "timeSpent": _DURATION}
_MAX_ACTIVE = 3
_TASKS = [
    ("Shelf label, aisle 4", "Organic oat flakes, 500 g", 8),
    ("Warehouse banner", "Please keep the loading bay clear", 14),
    ("Safety notice", "Hard hats must be worn beyond this point", 20),
    ("Product headline", "The quiet dishwasher for small kitchens", 11),
    ("Door plate", "Meeting room Linz / second floor", 6),
    ("Voucher title", "Fifteen percent off all garden tools", 17),
]


def _now(days: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(days=days)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _ApiException(Exception):  # noqa: N818
    def __init__(self, status: int, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.more = status, code, message, more


def _advised(call: Callable[[Any, Request], Any]) -> Callable[[Any, Request], Response]:
    def handler(self: Any, request: Request) -> Response:
        try:
            return Response(200, call(self, request))
        except _ApiException as error:
            body = {"timestamp": _now(), "status": error.status}
            body |= {"error": HTTPStatus(error.status).phrase, "errorCode": error.code}
            body |= {"message": error.message, "path": request.path, **error.more}
            headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
            return Response(error.status, body, headers)

    return handler


def _unreadable(problem: str) -> _ApiException:
    return _ApiException(400, "MALFORMED_REQUEST", f"JSON parse error: {problem}")


def _bind(kind: Any, value: Any, record: str = "") -> Any:
    """Return a value as Jackson binds it; unknown properties are ignored."""
    if value is None:
        return None
    if isinstance(kind, dict):
        if isinstance(value, dict):
            return {
                name: _bind(of, value.get(name), "ResultPayload")
                for name, of in kind.items()
            }
        if not isinstance(value, list):
            form, argument = (
                ("String", "String")
                if isinstance(value, str)
                else ("Number", "int/Int")
            )
            start = f"Cannot construct instance of `{_DTO}.{record}` (although at least one Creator exists): no "
            shown = json.dumps(value).replace('"', "'")
            raise _unreadable(
                f"{start}{argument}-argument constructor/factory method to deserialize from {form} value ({shown})"
            )
        kind = f"{_DTO}.{record}"
    start = f"Cannot deserialize value of type `{kind}` from "
    if isinstance(value, dict | list):
        form = "Object" if isinstance(value, dict) else "Array"
        raise _unreadable(
            f"{start}{form} value (token `JsonToken.START_{form.upper()}`)"
        )
    if kind == _STRING:
        return value if isinstance(value, str) else json.dumps(value)
    if isinstance(value, bool) or (kind == _UUID and not isinstance(value, str)):
        form = (
            ("Boolean", f"{value}".upper())
            if isinstance(value, bool)
            else ("Integer", "NUMBER_INT")
        )
        raise _unreadable(f"{start}{form[0]} value (token `JsonToken.VALUE_{form[1]}`)")
    pattern, problem = _PATTERNS[kind]
    if isinstance(value, str) and not re.fullmatch(pattern, value):
        raise _unreadable(f'{start}String "{value}": {problem}')
    return int(value) if kind == _LONG else value


def _violation(field: str, value: Any, message: str) -> dict[str, Any]:
    return {"field": field, "rejectedValue": value, "message": message}


def _violations(
    fields: dict[str, Any], value: Any, at: str = ""
) -> list[dict[str, Any]]:
    found = []
    for name, kind in fields.items():
        if kind == _STRING and not (value[name] or "").strip():
            found.append(_violation(at + name, value[name], "must not be blank"))
        elif value[name] is None:
            found.append(_violation(at + name, None, "must not be null"))
        elif isinstance(kind, dict):
            found += _violations(kind, value[name], f"{at}{name}.")
    return found


class Veltacore(Backend):
    """The assignment service of Veltacore GmbH."""

    def __init__(self) -> None:
        super().__init__()
        self.accounts: dict[str, dict[str, Any]] = {}  # by token
        self.jobs: dict[str, dict[str, Any]] = {}
        self.assignments: dict[int, dict[str, Any]] = {}
        self.submissions: dict[str, int] = {}  # to the assignment
        for title, text, reward in _TASKS:
            task = {"id": str(uuid.uuid4()), "title": title, "status": "OPEN"}
            task["instructions"] = "Convert the source text to upper case."
            task |= {"sourceText": text, "reward": {"amount": reward, "unit": "CREDIT"}}
            self.jobs[task["id"]] = {**task, "deadline": _now(5)}

    def texts(self) -> dict[str, str]:
        return {key: task["sourceText"] for key, task in self.jobs.items()}

    @_advised
    def missing(self, request: Request) -> Any:
        allowed = [method for method, path in ACTIONS if path == request.path]
        if allowed and request.method not in allowed:
            raise _ApiException(
                405,
                "METHOD_NOT_ALLOWED",
                f"Request method '{request.method}' is not supported",
            )
        raise _ApiException(
            404, "NOT_FOUND", f"No static resource {request.path.lstrip('/')}."
        )

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        self.accounts[token] = agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        return Response(200, {**agent, "access_token": token})

    @_advised
    def marketplace(self, request: Request) -> Any:
        return self._page(request)

    @_advised
    def tasks(self, request: Request) -> Any:
        self._agent(request)
        return self._page(request)

    def _page(self, request: Request) -> Any:
        size = self._int(request, "limit", 20, 1, 100)
        number = self._int(request, "page", 0, 0, 10000)
        tasks = [task for task in self.jobs.values() if task["status"] == "OPEN"]
        page = {"size": size, "number": number, "totalElements": len(tasks)}
        page["totalPages"] = -(-len(tasks) // size)
        return {"content": tasks[number * size : (number + 1) * size], "page": page}

    @_advised
    def claim(self, request: Request) -> Any:
        me = self._agent(request)["agent_id"]
        body = self._body(request, "ClaimTaskRequest", _CLAIM)
        if body["agentId"] != me:
            raise _ApiException(
                403,
                "AGENT_MISMATCH",
                f"Agent {body['agentId']} is not the authenticated agent",
            )
        task = self.jobs.get(body["taskId"])
        if task is None:
            raise _ApiException(
                404, "TASK_NOT_FOUND", f"Task not found with id: {body['taskId']}"
            )
        if task["status"] != "OPEN":
            raise _ApiException(
                409,
                "TASK_NOT_AVAILABLE",
                f"Task {task['id']} cannot be claimed in status {task['status']}",
            )
        if (
            sum(
                (a["agentId"], a["status"]) == (me, "ASSIGNED")
                for a in self.assignments.values()
            )
            >= _MAX_ACTIVE
        ):
            raise _ApiException(
                409,
                "ASSIGNMENT_LIMIT_REACHED",
                f"Agent already has {_MAX_ACTIVE} active assignments",
            )
        task["status"] = "ASSIGNED"
        self.book.claimed(task["id"])
        key = 10482 + 7 * len(self.assignments)
        assignment = {"assignmentId": key, "taskId": task["id"], "agentId": me}
        assignment |= {
            "status": "ASSIGNED",
            "assignedAt": _now(),
            "dueAt": task["deadline"],
        }
        self.assignments[key] = assignment
        return dict(assignment)

    @_advised
    def submit(self, request: Request) -> Any:
        agent = self._agent(request)
        body = self._body(request, "SubmitResultRequest", _SUBMIT)
        assignment = self.assignments.get(body["assignmentId"])
        if assignment is None or assignment["agentId"] != agent["agent_id"]:
            raise _ApiException(
                404,
                "ASSIGNMENT_NOT_FOUND",
                f"Assignment not found with id: {body['assignmentId']}",
            )
        if assignment["status"] != "ASSIGNED":
            raise _ApiException(
                409,
                "INVALID_STATE_TRANSITION",
                f"Cannot submit a result in status {assignment['status']}",
            )
        task = self.jobs[assignment["taskId"]]
        if body["result"]["content"] != task["sourceText"].upper():
            raise _ApiException(
                422,
                "RESULT_REJECTED",
                f"Result does not satisfy the instructions: {task['instructions']}",
            )
        assignment["status"] = task["status"] = "SUBMITTED"
        key = str(uuid.uuid4())
        self.submissions[key] = assignment["assignmentId"]
        return {"submissionId": key, **assignment, "submittedAt": _now()}

    @_advised
    def complete(self, request: Request) -> Any:
        agent = self._agent(request)
        body = self._body(request, "CompleteTaskRequest", _COMPLETE)
        assignment = self.assignments.get(self.submissions.get(body["submissionId"], 0))
        if assignment is None or assignment["agentId"] != agent["agent_id"]:
            raise _ApiException(
                404,
                "SUBMISSION_NOT_FOUND",
                f"Submission not found with id: {body['submissionId']}",
            )
        if assignment["status"] == "COMPLETED":
            raise _ApiException(
                409,
                "INVALID_STATE_TRANSITION",
                "Assignment is already in status COMPLETED",
            )
        task = self.jobs[assignment["taskId"]]
        assignment["status"] = task["status"] = "COMPLETED"
        self.book.pay(task["id"], task["reward"]["amount"])
        agent["credits"] += task["reward"]["amount"]
        return {
            **assignment,
            "payout": task["reward"],
            "accountBalance": agent["credits"],
        }

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self.accounts:
            raise _ApiException(
                401,
                "UNAUTHORIZED",
                "Full authentication is required to access this resource",
            )
        return self.accounts[request.token]

    def _int(
        self, request: Request, name: str, default: int, low: int, high: int
    ) -> int:
        given = request.query.get(name) or str(default)
        if not re.fullmatch(r"[+-]?\d{1,9}", given):
            raise _ApiException(
                400, "TYPE_MISMATCH", f'{name}: For input string: "{given}"'
            )
        if not low <= int(given) <= high:
            self._valid(
                [_violation(name, int(given), f"must be between {low} and {high}")]
            )
        return int(given)

    def _valid(self, found: list[dict[str, Any]]) -> None:
        if found:
            raise _ApiException(
                400, "VALIDATION_FAILED", "Validation failed", violations=found
            )

    def _body(self, request: Request, record: str, fields: dict[str, Any]) -> Any:
        media = request.headers.get("Content-Type") or "application/octet-stream"
        if media.partition(";")[0].strip().lower() != "application/json":
            raise _ApiException(
                415,
                "UNSUPPORTED_MEDIA_TYPE",
                f"Content-Type '{media}' is not supported",
            )
        try:
            body = _bind(
                fields, request.json() if request.raw.strip() else None, record
            )
        except ValueError as error:
            at = request.raw.decode(errors="replace")[getattr(error, "pos", 0) :][:1]
            problem = (
                f"Unexpected character ('{at}' (code {ord(at)}))"
                if at
                else "Unexpected end-of-input"
            )
            raise _unreadable(problem) from None
        if body is None:
            raise _ApiException(
                400, "MALFORMED_REQUEST", "Required request body is missing"
            )
        self._valid(_violations(fields, body))
        return body
