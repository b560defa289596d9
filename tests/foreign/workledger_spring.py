"""WorkLedger: a company's service in Java on Spring Boot 3 (Bean Validation, ProblemDetail)."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import wraps
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_TASKS = [
    ("TSK-2025-00311", 18, "Invoice overdue: second reminder"),
    ("TSK-2025-00312", 25, "fire exit, keep clear at all times"),
    ("TSK-2025-00315", 7, "Visitors please report to Reception"),
    ("TSK-2025-00316", 31, "Quarterly figures are due on 30 June"),
    ("TSK-2025-00320", 13, "Authorised personnel only beyond this point"),
]
_FORMATS = ["JSON", "MARKDOWN", "PLAIN_TEXT"]


class _Problem(Exception):  # noqa: N818
    def __init__(self, status: int, detail: str, **properties: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.properties = status, detail, properties

    def at(self, request: Request) -> Response:
        if self.status == 401:  # the resource server's entry point writes no body
            return Response(401, b"", {"WWW-Authenticate": self.detail})
        body = {"type": "about:blank", "title": HTTPStatus(self.status).phrase, "status": self.status,
                "detail": self.detail, "instance": request.path, **self.properties}  # fmt: skip
        return Response(self.status, body, {"Content-Type": "application/problem+json"})


def _mapping(
    method: Callable[[Any, Request], Response],
) -> Callable[[Any, Request], Response]:
    @wraps(method)
    def wrapped(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except _Problem as problem:
            return problem.at(request)

    return wrapped


def _read(kind: str, value: Any) -> Any:
    """Read one property as its Java type; what Jackson says if it cannot."""
    token = {dict: "Object value", list: "Array value", bool: "Boolean value"}.get(
        type(value)
    )
    source = token or (
        f'String "{value}"' if isinstance(value, str) else "Integer value"
    )
    if kind == "object":
        java, why = "com.workledger.api.Deliverable", "an Object is expected"
        good = isinstance(value, dict)
    elif kind == "string":
        java, why = "java.lang.String", "a String is expected"
        good = not isinstance(value, (dict, list))
        value = str(value) if good and value is not None else value
    elif kind == "long":
        java, why = "java.lang.Long", "not a valid `java.lang.Long` value"
        good = not isinstance(value, bool) and bool(re.fullmatch(r"-?\d+", str(value)))
        value = int(value) if good else value
    elif kind == "date":
        java, why = "java.time.LocalDate", "the expected format is yyyy-MM-dd"
        good = isinstance(value, str) and bool(
            re.fullmatch(r"\d{4}-\d\d-\d\d(T.*)?", value)
        )
        try:
            value = date.fromisoformat(value[:10]) if good else value
        except ValueError:
            good = False
    else:
        java = "com.workledger.api.DeliverableFormat"
        why = f"not one of the values accepted for Enum class: [{', '.join(_FORMATS)}]"
        good = value in _FORMATS
    if good or value is None:
        return value
    said = f"JSON parse error: Cannot deserialize value of type `{java}` from {source}: {why}"
    raise _Problem(400, said)


def _request_body(request: Request, **fields: str) -> dict[str, Any]:
    """@Valid @RequestBody; a double underscore in a name is a nested object's property."""
    media = (request.headers.get("Content-Type") or "").partition(";")[0]
    if not request.raw:
        raise _Problem(400, "Required request body is missing")
    if media != "application/json":
        raise _Problem(415, f"Content-Type '{media}' is not supported.")
    try:
        body = request.json()
    except ValueError as error:
        raise _Problem(400, f"JSON parse error: {error}") from None
    if not isinstance(body, dict):
        raise _Problem(
            400, "JSON parse error: Cannot deserialize request: not a JSON object"
        )
    read, errors = {}, []
    for name, kind in fields.items():
        outer, _, inner = name.partition("__")
        if inner and read.get(outer) is None:
            continue
        value = read[name] = _read(
            kind, body[outer].get(inner) if inner else body.get(outer)
        )
        said = ""
        if kind == "string" and not (value or "").strip():
            said = "must not be blank"
        elif value is None:
            said = "must not be null"
        elif name == "summary" and not 10 <= len(value) <= 500:
            said = "size must be between 10 and 500"
        elif kind == "date" and value < date.today() - timedelta(  # noqa: DTZ011
            days=1
        ):  # any time zone's today
            said = "must be a date in the present or in the future"
        if said:
            errors.append({"field": name.replace("__", "."), "message": said})
    if errors:
        raise _Problem(400, "Invalid request content.", errors=errors)
    return read


class WorkLedger(Backend):
    """Spring: camelCase, nested records, problem+json; the completion settles the task."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        since = f"{datetime.now(UTC) - timedelta(days=2):%Y-%m-%dT%H:%M:%SZ}"
        self._tasks = {
            key: {"taskId": key, "version": number + 2, "status": "AVAILABLE", "publishedAt": since,
                  "workItem": {"kind": "TEXT_TRANSFORMATION", "sourceText": text,
                               "instructions": "Convert sourceText to upper case.",
                               "deliverableFormat": "PLAIN_TEXT"},
                  "compensation": {"amount": pay, "currency": "CREDITS"}}
            for number, (key, pay, text) in enumerate(_TASKS)
        }  # fmt: skip
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {
            key: task["workItem"]["sourceText"] for key, task in self._tasks.items()
        }

    def missing(self, request: Request) -> Response:
        for method, path in ACTIONS:
            if path == request.path and method != request.method:
                return _Problem(405, f"Method '{request.method}' is not supported.").at(
                    request
                )
        return _Problem(404, f"No static resource {request.path.strip('/')}.").at(
            request
        )

    def _principal(self, request: Request) -> dict[str, Any]:
        if request.token in self._agents:
            return self._agents[request.token]
        raise _Problem(
            401, 'Bearer error="invalid_token"' if request.token else "Bearer"
        )

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        agent = {"agentId": f"AGT-{70411 + self.book.registrations}", "balance": 100}
        self._agents[token] = agent
        return Response(
            200, {"agent_id": agent["agentId"], "access_token": token, "credits": 100}
        )

    def _page(self, request: Request, rows: list[Any]) -> Response:
        """A Page serialized via DTO; `limit` is the size, `page` counts from zero."""
        number = {"limit": 20, "page": 0}
        for name in number:  # noqa: PLC0206
            value = request.query.get(name) or str(number[name])
            if not re.fullmatch(r"-?\d+", value):
                raise _Problem(400, f"Failed to convert '{name}' with value: '{value}'")
            number[name] = int(value)
        size, page = number["limit"], max(number["page"], 0)
        if not 1 <= size <= 100:
            error = {"field": "limit", "message": "must be between 1 and 100"}
            raise _Problem(400, "Validation failure", errors=[error])
        pages = -(-len(rows) // size)
        about = {
            "size": size,
            "number": page,
            "totalElements": len(rows),
            "totalPages": pages,
        }
        return Response(
            200, {"content": rows[page * size : (page + 1) * size], "page": about}
        )

    @_mapping
    def marketplace(self, request: Request) -> Response:
        return self._page(request, list(self._tasks.values()))

    @_mapping
    def tasks(self, request: Request) -> Response:
        self._principal(request)
        return self.marketplace(request)

    @_mapping
    def agents(self, request: Request) -> Response:
        return self._page(
            request, [{"agentId": a["agentId"]} for a in self._agents.values()]
        )

    directory = agents

    @_mapping
    def post(self, request: Request) -> Response:
        self._principal(request)
        raise _Problem(403, "Access Denied")

    checkout = post

    @_mapping
    def claim(self, request: Request) -> Response:
        agent = self._principal(request)
        sent = _request_body(request, agentId="string", taskId="string", version="long",
                             plannedDeliveryDate="date")  # fmt: skip
        if sent["agentId"] != agent["agentId"]:
            raise _Problem(
                403, f"Access token was not issued to agent {sent['agentId']}."
            )
        if sent["taskId"] not in self._tasks:
            raise _Problem(404, f"Task {sent['taskId']} was not found.")
        task = self._tasks[sent["taskId"]]
        if task["status"] != "AVAILABLE":
            raise _Problem(
                409, f"Task {sent['taskId']} is not available: {task['status']}."
            )
        if sent["version"] != task["version"]:
            raise _Problem(
                409, f"Task was modified: current version is {task['version']}."
            )
        task["status"], task["version"] = "IN_PROGRESS", task["version"] + 1
        claim = {"claimReference": f"CLM-{9001 + len(self._claims)}", "taskId": task["taskId"],
                 "plannedDeliveryDate": str(sent["plannedDeliveryDate"])}  # fmt: skip
        self._claims[claim["claimReference"]] = {"agent": agent, "task": task}
        self.book.claimed(task["taskId"])
        return Response(200, {"claim": claim, "taskStatus": "IN_PROGRESS"})

    def _find(
        self, rows: dict[str, Any], name: str, key: str, agent: Any
    ) -> dict[str, Any]:
        if key in rows and rows[key]["agent"] is agent:
            return rows[key]
        raise _Problem(404, f"{name} {key} was not found.")

    @_mapping
    def submit(self, request: Request) -> Response:
        agent = self._principal(request)
        sent = _request_body(request, claimReference="string", deliverable="object",
                             deliverable__format="enum", deliverable__content="string")  # fmt: skip
        task = self._find(self._claims, "Claim", sent["claimReference"], agent)["task"]
        if task["status"] != "IN_PROGRESS":
            raise _Problem(409, f"Task {task['taskId']} is already {task['status']}.")
        if sent["deliverable__format"] != task["workItem"]["deliverableFormat"]:
            raise _Problem(422, "Deliverable format must be PLAIN_TEXT for this task.")
        right = sent["deliverable__content"] == task["workItem"]["sourceText"].upper()
        task["status"] = "DELIVERED" if right else "IN_PROGRESS"
        key = f"SUB-{4401 + len(self._submissions)}"
        said = "Content does not meet the instructions. A new deliverable may be submitted."
        review = (
            {"outcome": "ACCEPTED"}
            if right
            else {"outcome": "REJECTED", "comment": said}
        )
        self._submissions[key] = {"agent": agent, "task": task, "right": right}
        return Response(
            200, {"submissionReference": key, "review": review}, refused=not right
        )

    @_mapping
    def complete(self, request: Request) -> Response:
        agent = self._principal(request)
        sent = _request_body(request, submissionReference="string", summary="string")
        held = self._find(
            self._submissions, "Submission", sent["submissionReference"], agent
        )
        task = held["task"]
        if not held["right"]:
            raise _Problem(
                409, f"Submission {sent['submissionReference']} was REJECTED."
            )
        if task["status"] == "COMPLETED":
            raise _Problem(409, f"Task {task['taskId']} is already COMPLETED.")
        task["status"] = "COMPLETED"
        agent["balance"] += task["compensation"]["amount"]
        self.book.pay(task["taskId"], task["compensation"]["amount"])
        return Response(200, {"taskId": task["taskId"], "taskStatus": "COMPLETED",
                              "settlement": task["compensation"], "account": agent})  # fmt: skip
