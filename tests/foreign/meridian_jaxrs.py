"""A company's service in Java on Jakarta EE: JAX-RS, Bean Validation, ExceptionMappers."""
# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_WORK = [
    (10421, "Notice board text", "lift out of service until monday", 30, 1),
    (10425, "Form heading", "application for a parking permit", 45, 2),
    (10430, "Warning plate", "high voltage - keep out", 15, 1),
    (10431, "Register entry", "lindqvist, karin (née öberg)", 60, 4),
    (10438, "Stamp", "received and filed", 10, 1),
    (10440, "Platform display", "train 417 departs from track 9", 35, 3),
]


class _Failure(Exception):  # noqa: N818
    """What an ExceptionMapper would be given."""

    def __init__(
        self, status: int, code: str, message: str, *details: dict[str, Any]
    ) -> None:
        super().__init__(message)
        body = {
            "errorCode": code,
            "errorMessage": message,
            "correlationId": str(uuid.uuid4()),
            "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        }
        headers = (
            {"WWW-Authenticate": 'Bearer realm="meridian"'} if status == 401 else {}
        )
        more = {"violations": list(details)} if details else {}
        self.answer = Response(status, {**body, **more}, headers)


def _invalid(found: list[dict[str, Any]]) -> None:
    if found:
        raise _Failure(400, "VALIDATION_FAILED", "Request validation failed", *found)


def _web(status: int) -> _Failure:
    return _Failure(
        status, f"HTTP_{status}", f"HTTP {status} {HTTPStatus(status).phrase}"
    )


# The constraints, each with the sentence of the default resource bundle.
# All but the first two let null pass.
NOT_NULL = ("must not be null", lambda v: v is not None)
NOT_BLANK = ("must not be blank", lambda v: bool(v and v.strip()))
POSITIVE = ("must be greater than 0", lambda v: v is None or v > 0)
NOT_NEGATIVE = ("must be greater than or equal to 0", lambda v: v is None or v >= 0)
AT_LEAST_1 = ("must be greater than or equal to 1", lambda v: v is None or v >= 1)
AT_MOST_100 = ("must be less than or equal to 100", lambda v: v is None or v <= 100)
AT_MOST_480 = ("must be less than or equal to 480", lambda v: v is None or v <= 480)
TRUE = ("must be true", lambda v: v is not False)
FORMAT = (
    'must match "PLAIN_TEXT|MARKDOWN"',
    lambda v: v in (None, "PLAIN_TEXT", "MARKDOWN"),
)

_Bean = dict[
    str, Any
]  # property -> (java type, checks) or a bean that is @NotNull @Valid
ID, COUNT, NAME = (int, [NOT_NULL]), (int, [NOT_NULL, POSITIVE]), (str, [NOT_BLANK])
CLAIM: _Bean = {"agentId": NAME, "taskId": COUNT, "version": ID}
DELIVERY: _Bean = {
    "assignmentId": ID,
    "deliverable": {"content": NAME, "format": (str, [NOT_NULL, FORMAT])},
}
EFFORT, TERMS = (int, [NOT_NULL, AT_LEAST_1, AT_MOST_480]), (bool, [NOT_NULL, TRUE])
COMPLETION: _Bean = {
    "assignmentId": ID,
    "effortMinutes": EFFORT,
    "termsAccepted": TERMS,
}
QUERY: _Bean = {"arg0": (int, [AT_LEAST_1, AT_MOST_100]), "arg1": (int, [NOT_NEGATIVE])}
_DTO = "com.meridian.workforce.api."
_TYPES = {str: "java.lang.String", int: "java.lang.Long", bool: "java.lang.Boolean"}


def _bind(bean: _Bean, value: Any) -> dict[str, Any]:
    """Do as JSON-B does: take what is known, ignore the rest, convert what it can."""
    bound: dict[str, Any] = {}
    for name, rule in bean.items():
        given = value.get(name)
        kind = _DTO + "Deliverable" if isinstance(rule, dict) else _TYPES[rule[0]]
        try:
            if given is None:
                bound[name] = None
            elif isinstance(rule, dict):
                bound[name] = _bind(rule, given)
            elif isinstance(given, dict | list):
                raise ValueError
            elif rule[0] is bool:
                bound[name] = str(given).lower() == "true"
            else:
                bound[name] = rule[0](str(given))
        except (ValueError, AttributeError):
            why = f"because of: Error deserialize JSON value into type: class {kind}."
            raise _Failure(
                400,
                "MALFORMED_REQUEST",
                f"Unable to deserialize property '{name}' {why}",
            ) from None
    return bound


def _validate(bean: _Bean, bound: dict[str, Any], path: str) -> list[dict[str, Any]]:
    found = []
    for name, rule in bean.items():
        value, here = bound[name], f"{path}.{name}"
        if isinstance(rule, dict) and value is not None:
            found += _validate(rule, value, here)
            continue
        checks = [NOT_NULL] if isinstance(rule, dict) else rule[1]
        found += [
            {"propertyPath": here, "message": message, "invalidValue": value}
            for message, holds in checks
            if not holds(value)
        ]
    return found


class MeridianJaxrs(Backend):
    """Camel case and numbers for identifiers; all violations at once; versions."""

    def __init__(self) -> None:
        super().__init__()
        self.work = {
            key: {
                "taskId": key,
                "title": title,
                "description": "Provide sourceText converted to upper case.",
                "sourceText": text,
                "deliverableFormat": "PLAIN_TEXT",
                "compensation": {"amount": amount, "currency": "CREDITS"},
                "taskState": "AVAILABLE",
                "version": version,
            }
            for key, title, text, amount, version in _WORK
        }
        self.accounts, self.assignments = (
            dict[str, dict[str, Any]](),
            dict[int, dict[str, Any]](),
        )

    def texts(self) -> dict[str, str]:
        return {str(key): task["sourceText"] for key, task in self.work.items()}

    def missing(self, request: Request) -> Response:
        return _web(405 if any(p == request.path for _, p in ACTIONS) else 404).answer

    def _account(self, request: Request) -> dict[str, Any]:
        if request.token not in self.accounts:
            raise _web(401)
        return self.accounts[request.token]

    def _entity(self, request: Request, bean: _Bean, method: str) -> dict[str, Any]:
        if request.headers.get_content_type() != "application/json":
            raise _web(415)
        try:
            value = request.json() if request.raw.strip() else None
        except ValueError as error:
            why = f"Unexpected char at (offset={getattr(error, 'pos', 0)})"
            raise _Failure(400, "MALFORMED_REQUEST", f"Internal error: {why}") from None
        if not isinstance(value, dict | None):
            why = f"Can't deserialize JSON value into: class {_DTO}{method.title()}Request"
            raise _Failure(400, "MALFORMED_REQUEST", f"Internal error: {why}")
        bound = None if value is None else _bind(bean, value)
        _invalid(_validate({"arg0": bean}, {"arg0": bound}, method))
        return bound or {}

    def _assignment(self, account: dict[str, Any], key: int) -> dict[str, Any]:
        if (item := self.assignments.get(key)) is None:
            raise _Failure(
                404, "ASSIGNMENT_NOT_FOUND", f"Assignment with id {key} not found"
            )
        if item["agentId"] != account["agentId"]:
            raise _Failure(
                403, "ACCESS_DENIED", f"Assignment {key} belongs to another agent"
            )
        return item

    def register(self, request: Request) -> Any:
        self._entity(request, {}, "register")
        token, key = secrets.token_hex(32), str(uuid.uuid4())
        self.accounts[token] = {"agentId": key, "balance": 100, "agentState": "ACTIVE"}
        self.book.registrations += 1
        return {"agent_id": key, "access_token": token, "credits": 100}

    def marketplace(self, request: Request) -> Any:
        try:  # a query parameter that does not convert is a 404 in JAX-RS
            limit, offset = (
                int(request.query.get(n, d)) for n, d in (("limit", 5), ("offset", 0))
            )
        except ValueError:
            raise _web(404) from None
        _invalid(_validate(QUERY, {"arg0": limit, "arg1": offset}, "findTasks"))
        items, end = list(self.work.values()), offset + limit
        link = f'<{request.base}{request.path}?limit={limit}&offset={end}>; rel="next"'
        body = {"items": items[offset:end], "offset": offset, "totalCount": len(items)}
        return Response(200, body, {"Link": link} if items[end:] else {})

    tasks = marketplace

    def directory(self, request: Request) -> Any:
        slug, agents = (
            request.query.get("slug"),
            [a["agentId"] for a in self.accounts.values()],
        )
        if slug and slug not in agents:
            raise _Failure(404, "AGENT_NOT_FOUND", f"Agent with slug {slug} not found")
        return (
            {"agentId": slug}
            if slug
            else {"items": [{"agentId": key} for key in agents]}
        )

    agents = directory

    def checkout(self, request: Request) -> Any:
        raise _Failure(503, "PAYMENT_GATEWAY_DISABLED", "Payment gateway is disabled")

    def post(self, request: Request) -> Any:
        self._account(request)
        raise _Failure(403, "ACCESS_DENIED", "Role TASK_PUBLISHER is required")

    def claim(self, request: Request) -> Any:
        account, entity = self._account(request), self._entity(request, CLAIM, "claim")
        if entity["agentId"] != account["agentId"]:
            raise _Failure(
                403, "ACCESS_DENIED", "agentId does not match the authenticated agent"
            )
        key = entity["taskId"]
        if (task := self.work.get(key)) is None:
            raise _Failure(404, "TASK_NOT_FOUND", f"Task with id {key} not found")
        if task["taskState"] != "AVAILABLE":
            raise _Failure(
                409, "TASK_NOT_AVAILABLE", f"Task {key} is in state {task['taskState']}"
            )
        if entity["version"] != task["version"]:
            raise _Failure(
                409,
                "OPTIMISTIC_LOCK",
                f"Task {key} has been modified: current version "
                f"is {task['version']}, version in request is {entity['version']}",
            )
        number = 700100 + 7 * len(self.assignments)
        item = {
            "assignmentId": number,
            "taskId": key,
            "agentId": account["agentId"],
            "assignmentState": "ASSIGNED",
            "dueDate": str(date.today() + timedelta(days=2)),  # noqa: DTZ011
        }
        self.assignments[number] = dict(item)
        task["taskState"], task["version"] = "ASSIGNED", task["version"] + 1
        self.book.claimed(str(key))
        return item

    def submit(self, request: Request) -> Any:
        account, entity = (
            self._account(request),
            self._entity(request, DELIVERY, "submit"),
        )
        item = self._assignment(account, entity["assignmentId"])
        wanted = self.work[item["taskId"]]["deliverableFormat"]
        if item["assignmentState"] == "COMPLETED":
            raise _Failure(
                409, "ILLEGAL_STATE_TRANSITION", "Assignment is already COMPLETED"
            )
        if entity["deliverable"]["format"] != wanted:
            raise _Failure(
                422, "FORMAT_MISMATCH", f"Deliverable format must be {wanted}"
            )
        item.update(
            content=entity["deliverable"]["content"], assignmentState="DELIVERED"
        )
        return {
            "assignmentId": item["assignmentId"],
            "assignmentState": "DELIVERED",
            "deliveredAt": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }

    def complete(self, request: Request) -> Any:
        account, entity = (
            self._account(request),
            self._entity(request, COMPLETION, "complete"),
        )
        item = self._assignment(account, entity["assignmentId"])
        task, state = self.work[item["taskId"]], item["assignmentState"]
        if state != "DELIVERED":
            why = f"Cannot complete assignment in state {state}, expected DELIVERED"
            raise _Failure(409, "ILLEGAL_STATE_TRANSITION", why)
        if item["content"] != task["sourceText"].upper():
            item["assignmentState"] = "ASSIGNED"
            raise _Failure(
                422,
                "DELIVERABLE_NOT_ACCEPTED",
                "Deliverable content is not sourceText "
                "in upper case; assignment has been returned to state ASSIGNED",
            )
        item["assignmentState"] = task["taskState"] = "COMPLETED"
        account["balance"] += task["compensation"]["amount"]
        self.book.pay(str(task["taskId"]), task["compensation"]["amount"])
        return {
            "assignmentId": item["assignmentId"],
            "assignmentState": "COMPLETED",
            "settlement": task["compensation"],
            "accountBalance": account["balance"],
        }


def _mapped(method: Callable[..., Any]) -> Callable[..., Response]:
    """The resource methods return entities; the mappers answer for exceptions."""

    def call(self: Backend, request: Request) -> Response:
        try:
            answer = method(self, request)
        except _Failure as error:
            return error.answer
        return answer if isinstance(answer, Response) else Response(200, answer)

    return call


for _name in set(ACTIONS.values()):
    setattr(MeridianJaxrs, _name, _mapped(getattr(MeridianJaxrs, _name)))
