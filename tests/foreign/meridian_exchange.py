"""Meridian Exchange: a mid-size company's Spring Boot 3 service (validation, ProblemDetail)."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_PKG = "com.meridian.exchange.api.dto"
_FORMATS = ["PLAIN_TEXT", "MARKDOWN", "HTML"]
_JAVA = {
    "long": "java.lang.Long",
    "int": "java.lang.Integer",
    "uuid": "java.util.UUID",
    "string": "java.lang.String",
    "format": f"{_PKG}.DeliverableFormat",
}
_TASKS = [
    (1042, "Shipping label header", 12, "handle with care"),
    (1043, "Banner line for the spring sale", 25, "everything must go by friday"),
    (1047, "Legal notice heading", 40, "limitation of liability (section 4b)"),
    (1051, "Warehouse sign", 8, "no entry - forklifts only"),
    (1058, "Street plate for the Munich office", 33, "leopoldstraße 12, münchen"),
    (1060, "Product code normalisation", 18, "mx-77/alpha rev. c"),
]


class _Problem(Exception):  # noqa: N818
    """A ProblemDetail on its way to the client."""

    def __init__(self, status: int, title: str, detail: str, **more: Any) -> None:
        self.status, self.title, self.detail, self.more = status, title, detail, more

    def response(self, request: Request) -> Response:
        if self.status == 401:  # Spring Security's entry point writes no body
            return Response(401, b"", {"WWW-Authenticate": self.detail})
        body = {"type": "about:blank", "title": self.title, "status": self.status}
        body |= {"detail": self.detail, "instance": request.path} | self.more
        return Response(self.status, body, {"Content-Type": "application/problem+json"})


def _advised(
    method: Callable[[Any, Request], dict[str, Any]],
) -> Callable[..., Response]:
    """Write what a controller returns, and what it throws as the advice would."""

    def call(self: Any, request: Request) -> Response:
        try:
            return Response(200, method(self, request))
        except _Problem as problem:
            return problem.response(request)

    return call


def _now(ahead: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(minutes=ahead)
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


def _unreadable(field: str = "", message: str = "") -> _Problem:
    more = {"errors": [{"field": field, "message": message}]} if message else {}
    return _Problem(400, "Bad Request", "Failed to read request", **more)


def _convert(kind: Any, value: Any, path: str) -> Any:
    """Read a JSON value as Jackson would into a field of this kind."""
    if value is None:
        return None
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(kind, dict):  # a nested record
        if isinstance(value, dict):
            return {
                k: _convert(of, value.get(k), f"{path}.{k}") for k, of in kind.items()
            }
        head = (
            f"Cannot construct instance of `{_PKG}.DeliverableDto`: no String-argument "
        )
        head += (
            f"constructor/factory method to deserialize from String value ('{text}')"
        )
        raise _unreadable(path, head)
    head = f"Cannot deserialize value of type `{_JAVA[kind]}` from "
    if isinstance(value, (dict, list)):
        name = "Object" if isinstance(value, dict) else "Array"
        raise _unreadable(
            path, f"{head}{name} value (token `JsonToken.START_{name.upper()}`)"
        )
    why = f"not a valid `{_JAVA[kind]}` value"
    try:
        if kind in ("long", "int"):
            return int(text if isinstance(value, bool) else value)
        if kind == "uuid":
            why = "UUID has to be represented by standard 36-char representation"
            return str(uuid.UUID(text if len(text) == 36 else ""))
        if kind == "format":
            why = f"not one of the values accepted for Enum class: [{', '.join(_FORMATS)}]"
            return _FORMATS[_FORMATS.index(text)]
    except ValueError:
        raise _unreadable(path, f'{head}String "{text}": {why}') from None
    return text


def _read(request: Request, kinds: dict[str, Any]) -> dict[str, Any]:
    media = request.headers.get("Content-Type") or "application/octet-stream"
    if media.split(";")[0].strip().lower() != "application/json":
        detail = f"Content-Type '{media}' is not supported."
        raise _Problem(415, "Unsupported Media Type", detail)
    try:
        body = request.json()
    except ValueError:
        raise _unreadable() from None
    if not isinstance(body, dict):
        raise _unreadable()
    return {name: _convert(kind, body.get(name), name) for name, kind in kinds.items()}


def _valid(
    *checks: tuple[str, bool, str], detail: str = "Invalid request content."
) -> None:
    errors = [{"field": f, "message": message} for f, ok, message in checks if not ok]
    if errors:
        raise _Problem(400, "Bad Request", detail, errors=errors)


class Meridian(Backend):
    """camelCase, numeric task ids, a Spring Data page, everything refused field by field."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.rows = {i: [title, pay, text, "OPEN"] for i, title, pay, text in _TASKS}
        self.assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(i): row[2] for i, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        detail = f"No static resource {request.path.lstrip('/')}."
        return _Problem(404, "Not Found", detail).response(request)

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self.agents:
            raise _Problem(
                401, "", 'Bearer error="invalid_token"' if request.token else "Bearer"
            )
        return self.agents[request.token]

    def _assignment(
        self, agent: dict[str, Any], key: str, status: str
    ) -> dict[str, Any]:
        held = self.assignments.get(key)
        if not held or held["agent"] is not agent:
            raise _Problem(
                404, "Assignment Not Found", f"Assignment {key} was not found."
            )
        if held["status"] != status:
            detail = (
                f"Assignment {key} is in status {held['status']}; expected {status}."
            )
            raise _Problem(409, "Invalid Assignment State", detail)
        return held

    @_advised
    def register(self, request: Request) -> dict[str, Any]:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        agent = {"agent_id": str(uuid.uuid4()), "access_token": token, "credits": 100}
        self.agents[token] = agent
        return agent | {"status": "ACTIVE", "createdAt": _now()}

    @_advised
    def tasks(self, request: Request) -> dict[str, Any]:
        if request.path.endswith(
            "/get-marketplace-tasks"
        ):  # the other one is permitAll()
            self._agent(request)
        numbers = []
        for name, default in (("limit", "20"), ("page", "0")):
            value = request.query.get(name) or default
            try:
                numbers.append(int(value))
            except ValueError:
                why = f"Failed to convert '{name}' with value: '{value}'"
                raise _Problem(400, "Bad Request", why) from None
        limit, page = numbers
        _valid(
            ("limit", limit >= 1, "must be greater than or equal to 1"),
            ("limit", limit <= 100, "must be less than or equal to 100"),
            ("page", page >= 0, "must be greater than or equal to 0"),
            detail="Validation failure",
        )
        rows = [
            {
                "id": i,
                "title": title,
                "instructions": "Deliver the source text in upper case, otherwise unchanged.",
                "sourceText": text,
                "reward": {"amount": pay, "currency": "CREDITS"},
                "status": state,
            }
            for i, (title, pay, text, state) in self.rows.items()
            if state == "OPEN"
        ]
        info = {"size": limit, "number": page, "totalElements": len(rows)}
        return {"content": rows[page * limit :][:limit], "page": info}

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    @_advised
    def claim(self, request: Request) -> dict[str, Any]:
        agent = self._agent(request)
        body = _read(
            request, {"taskId": "long", "agentId": "uuid", "estimatedMinutes": "int"}
        )
        task, minutes = body["taskId"], body["estimatedMinutes"]
        _valid(
            *(
                (name, value is not None, "must not be null")
                for name, value in body.items()
            ),
            (
                "estimatedMinutes",
                minutes is None or minutes > 0,
                "must be greater than 0",
            ),
            (
                "estimatedMinutes",
                (minutes or 1) <= 480,
                "must be less than or equal to 480",
            ),
        )
        if body["agentId"] != agent["agent_id"]:
            raise _Problem(
                403, "Forbidden", "agentId is not that of the authenticated agent."
            )
        if task not in self.rows:
            raise _Problem(404, "Task Not Found", f"Task {task} was not found.")
        if self.rows[task][3] != "OPEN":
            detail = (
                f"Task {task} is in status {self.rows[task][3]} and cannot be claimed."
            )
            raise _Problem(409, "Task Not Available", detail)
        self.rows[task][3] = "ASSIGNED"
        key = str(uuid.uuid4())
        self.assignments[key] = {"agent": agent, "task": task, "status": "IN_PROGRESS"}
        self.book.claimed(str(task))
        due = _now(minutes)
        return {
            "assignmentId": key,
            "taskId": task,
            "status": "IN_PROGRESS",
            "dueAt": due,
        }

    @_advised
    def submit(self, request: Request) -> dict[str, Any]:
        agent = self._agent(request)
        nested = {"format": "format", "content": "string"}
        body = _read(request, {"assignmentId": "uuid", "deliverable": nested})
        given, key = body["deliverable"], body["assignmentId"]
        inner = given or {"format": "-", "content": "-"}
        _valid(
            ("assignmentId", key is not None, "must not be null"),
            ("deliverable", given is not None, "must not be null"),
            ("deliverable.format", inner["format"] is not None, "must not be null"),
            (
                "deliverable.content",
                bool((inner["content"] or "").strip()),
                "must not be blank",
            ),
        )
        held = self._assignment(agent, key, "IN_PROGRESS")
        if given["content"] != self.rows[held["task"]][2].upper():
            detail = (
                f"Content is not the source text of task {held['task']} in upper case."
            )
            raise _Problem(422, "Deliverable Rejected", detail)
        held |= {"status": "DELIVERED", "submission": str(uuid.uuid4())}
        return {
            "submissionId": held["submission"],
            "assignmentId": key,
            "status": "DELIVERED",
        }

    @_advised
    def complete(self, request: Request) -> dict[str, Any]:
        agent = self._agent(request)
        body = _read(request, {"assignmentId": "uuid", "submissionId": "uuid"})
        _valid(
            *(
                (name, value is not None, "must not be null")
                for name, value in body.items()
            )
        )
        held = self._assignment(agent, body["assignmentId"], "DELIVERED")
        if held["submission"] != body["submissionId"]:
            detail = f"Submission {body['submissionId']} was not found."
            raise _Problem(404, "Submission Not Found", detail)
        row = self.rows[held["task"]]
        held["status"] = row[3] = "COMPLETED"
        self.book.pay(str(held["task"]), row[1])
        agent["credits"] += row[1]
        payout = {
            "amount": row[1],
            "currency": "CREDITS",
            "balanceAfter": agent["credits"],
        }
        return {"taskId": held["task"], "status": "COMPLETED", "payout": payout}
