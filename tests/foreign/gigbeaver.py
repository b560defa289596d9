"""A start-up's Spring Boot service: records, Jakarta validation, its own exception handler.

Listings are Spring Data pages (`content` and `page`) of summaries; the text comes with the
assignment that a claim creates. Refusals are the GlobalExceptionHandler's ErrorResponse; a
401 is Spring Security's, with no body. Completing an approved submission pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import secrets
import uuid
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

PACKAGE = "com.gigbeaver.api"
Record = list[tuple[str, str, dict[str, Any]]]  # components: name, type, constraints
PAGE: Record = [
    ("limit", "Integer", {"min": 1, "max": 50}),
    ("page", "Integer", {"min": 0}),
]
CLAIM: Record = [
    ("taskId", "Long", {}),
    ("agentId", "UUID", {}),
    ("estimatedMinutes", "Integer", {"min": 1, "max": 480}),
]
SUBMIT: Record = [
    ("assignmentId", "UUID", {}),
    ("resultText", "String", {"blank": False}),
    ("resultFormat", "ResultFormat", {}),
]
COMPLETE: Record = [
    ("assignmentId", "UUID", {}),
    ("confirmed", "Boolean", {"true": True}),
]
FORMATS = ["PLAIN_TEXT", "MARKDOWN", "HTML"]
WORK = [
    (1041, 10, "the beaver builds a dam before winter comes"),
    (1042, 22, "two crates of apples were left at the gate"),
    (1043, 35, "our ferry leaves from the northern pier"),
    (1044, 7, "mind the wet paint on the stairs"),
    (1047, 28, "a short note about the garden party"),
    (1048, 16, "the museum is closed on mondays"),
    (1052, 50, "return the library books by the end of may"),
    (1053, 13, "small dogs are welcome in the cafe"),
]


def now() -> str:
    """Return this Instant as Jackson writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class ApiError(Exception):
    """An exception that the GlobalExceptionHandler turns into an ErrorResponse."""

    def __init__(self, status: int, code: str, message: str, fields: Any = ()) -> None:
        super().__init__(message)
        self.status, self.code, self.fields = status, code, fields

    def response(self, path: str) -> Response:
        """Return the ErrorResponse."""
        return Response(
            self.status,
            {
                "timestamp": now(),
                "status": self.status,
                "error": HTTPStatus(self.status).phrase,
                "errorCode": self.code,
                "message": str(self),
                "path": path,
                "fieldErrors": list(self.fields),
            },
        )


def unreadable(type_: str, value: Any, reason: str) -> ApiError:
    """Return what Jackson says of a value that does not fit its type."""
    if isinstance(value, dict | list):
        word = "Array" if isinstance(value, list) else "Object"
        found = f"{word} value (token `JsonToken.START_{word.upper()}`)"
    elif isinstance(value, str):
        found = f"String {json.dumps(value)}: {reason}"
    else:
        kind = {bool: "Boolean", int: "Integer", float: "Floating-point"}
        found = f"{kind.get(type(value), 'Null')} value ({json.dumps(value)}): {reason}"
    return ApiError(
        400,
        "MALFORMED_REQUEST",
        f"JSON parse error: Cannot deserialize value of type `{type_}` from {found}",
    )


def convert(kind: str, value: Any) -> Any:
    """Read one component of a record; null stays null."""
    if value is None:
        return None
    if kind == "String":
        if isinstance(value, dict | list):
            raise unreadable("java.lang.String", value, "")
        return value if isinstance(value, str) else json.dumps(value)
    if kind in ("Long", "Integer"):
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and re.fullmatch("-?[0-9]{1,18}", value):
            return int(value)
        raise unreadable(
            f"java.lang.{kind}", value, f"not a valid `java.lang.{kind}` value"
        )
    if kind == "UUID":
        try:
            return str(uuid.UUID(value))
        except (ValueError, AttributeError, TypeError):
            raise unreadable(
                "java.util.UUID",
                value,
                "UUID has to be represented by standard 36-char representation",
            ) from None
    if kind == "Boolean" and not isinstance(value, bool):
        raise unreadable(
            "java.lang.Boolean", value, 'only "true" or "false" recognized'
        )
    if kind == "ResultFormat" and value not in FORMATS:
        raise unreadable(
            f"{PACKAGE}.model.ResultFormat",
            value,
            f"not one of the values accepted for Enum class: [{', '.join(FORMATS)}]",
        )
    return value


def validate(record: Record, body: dict[str, Any]) -> dict[str, Any]:
    """Read a record, ignore what it does not have, and check its constraints."""
    values = {name: convert(kind, body.get(name)) for name, kind, _ in record}
    problems = []
    for name, _, rules in record:
        value, message = values[name], ""
        if "blank" in rules and not (value or "").strip():
            message = "must not be blank"
        elif value is None:
            message = "must not be null"
        elif value < rules.get("min", value):
            message = f"must be greater than or equal to {rules['min']}"
        elif value > rules.get("max", value):
            message = f"must be less than or equal to {rules['max']}"
        elif "true" in rules and not value:
            message = "must be true"
        if message:
            problems.append({"field": name, "message": message, "rejectedValue": value})
    if problems:
        raise ApiError(
            400, "VALIDATION_FAILED", "Validation failed for request", problems
        )
    return values


class GigBeaver(Backend):
    """Tasks, assignments and submissions."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._texts = {id_: text for id_, _, text in WORK}
        self._tasks = {
            id_: {
                "id": id_,
                "title": "Uppercase a sentence",
                "rewardCredits": reward,
                "instructions": "Return the source text in upper case.",
                "status": "OPEN",
                "createdAt": now(),
            }
            for id_, reward, _ in WORK
        }
        self._assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its id."""
        return {str(id_): text for id_, text in self._texts.items()}

    def missing(self, request: Request) -> Response:
        """Refuse a path or a method that no controller maps."""
        error = ApiError(404, "NOT_FOUND", f"No static resource {request.path[1:]}.")
        methods = [method for method, path in ACTIONS if path == request.path]
        if methods and request.method not in methods:
            message = f"Request method '{request.method}' is not supported"
            error = ApiError(405, "METHOD_NOT_ALLOWED", message)
        return error.response(request.path)

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        id_, token = str(uuid.uuid4()), f"gb_{secrets.token_hex(24)}"
        self._agents[token] = {"id": id_, "credits": 100}
        return Response(200, {"agent_id": id_, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        """Return a page of the open tasks."""
        try:
            values = validate(PAGE, {"limit": "5", "page": "0", **request.query})
        except ApiError as error:
            return error.response(request.path)
        rows = [task for task in self._tasks.values() if task["status"] == "OPEN"]
        size, start = values["limit"], values["limit"] * values["page"]
        return Response(
            200,
            {
                "content": rows[start : start + size],
                "page": {
                    "size": size,
                    "number": values["page"],
                    "totalElements": len(rows),
                    "totalPages": -(-len(rows) // size),
                },
            },
        )

    marketplace = tasks

    def _serve(self, request: Request, record: Record, action: Any) -> Response:
        """Authenticate, read, validate, and call a service; handle its exceptions."""
        if not (agent := self._agents.get(request.token)):
            challenge = 'Bearer error="invalid_token"' if request.token else "Bearer"
            return Response(401, b"", {"WWW-Authenticate": challenge})
        try:
            media = request.headers.get("Content-Type") or ""
            if not media.lower().startswith("application/json"):
                message = f"Content-Type '{media}' is not supported"
                raise ApiError(415, "UNSUPPORTED_MEDIA_TYPE", message)
            try:
                body = request.json()
            except ValueError as error:
                raise ApiError(
                    400, "MALFORMED_REQUEST", f"JSON parse error: {error}"
                ) from error
            if not isinstance(body, dict):
                raise unreadable(
                    f"{PACKAGE}.dto.Request", body, "no String-argument constructor"
                )
            return action(agent, validate(record, body))
        except ApiError as error:
            return error.response(request.path)

    def claim(self, request: Request) -> Response:
        """Create an assignment."""
        return self._serve(request, CLAIM, self._claim)

    def _claim(self, agent: dict[str, Any], values: dict[str, Any]) -> Response:
        if values["agentId"] != agent["id"]:
            raise ApiError(
                403, "ACCESS_DENIED", "agentId does not match the authenticated agent"
            )
        if not (task := self._tasks.get(values["taskId"])):
            raise ApiError(
                404, "TASK_NOT_FOUND", f"Task not found with id: {values['taskId']}"
            )
        if task["status"] != "OPEN":
            raise ApiError(
                409, "TASK_NOT_AVAILABLE", f"Task {task['id']} is already assigned"
            )
        task["status"] = "ASSIGNED"
        id_ = str(uuid.uuid4())
        self._assignments[id_] = {"task": task, "agent": agent, "status": "IN_PROGRESS"}
        self.book.claimed(str(task["id"]))
        return Response(
            201,
            {
                "assignmentId": id_,
                "status": "IN_PROGRESS",
                "task": {**task, "sourceText": self._texts[task["id"]]},
            },
        )

    def _assignment(self, agent: dict[str, Any], id_: str) -> dict[str, Any]:
        if not (found := self._assignments.get(id_)):
            raise ApiError(
                404, "ASSIGNMENT_NOT_FOUND", f"Assignment not found with id: {id_}"
            )
        if found["agent"] is not agent:
            raise ApiError(403, "ACCESS_DENIED", "Access Denied")
        if found["status"] == "COMPLETED":
            raise ApiError(
                409, "INVALID_STATE", f"Assignment {id_} is already COMPLETED"
            )
        return found

    def submit(self, request: Request) -> Response:
        """Review a result."""
        return self._serve(request, SUBMIT, self._submit)

    def _submit(self, agent: dict[str, Any], values: dict[str, Any]) -> Response:
        found = self._assignment(agent, values["assignmentId"])
        right = values["resultText"] == self._texts[found["task"]["id"]].upper()
        found["status"] = "APPROVED" if right else "REJECTED"
        feedback = None if right else "Result does not match the instructions"
        return Response(
            202,
            {
                "assignmentId": values["assignmentId"],
                "status": found["status"],
                "feedback": feedback,
            },
            refused=not right,
        )

    def complete(self, request: Request) -> Response:
        """Pay for an assignment."""
        return self._serve(request, COMPLETE, self._complete)

    def _complete(self, agent: dict[str, Any], values: dict[str, Any]) -> Response:
        found = self._assignment(agent, values["assignmentId"])
        if found["status"] != "APPROVED":
            raise ApiError(
                409, "INVALID_STATE", f"Assignment is {found['status']}, not APPROVED"
            )
        found["status"] = found["task"]["status"] = "COMPLETED"
        reward = found["task"]["rewardCredits"]
        agent["credits"] += reward
        self.book.pay(str(found["task"]["id"]), reward)
        return Response(
            200,
            {
                "assignmentId": values["assignmentId"],
                "status": "COMPLETED",
                "creditsEarned": reward,
                "balance": agent["credits"],
            },
        )
