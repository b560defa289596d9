"""Granary: a Spring Boot service with bean validation, HAL pages and Boot's error attributes.

Handing in is judged and paid at once; completing only closes the order.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import uuid
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_PACKAGE = "com.granary.exchange.api"
_FORMATS = ["PLAIN_TEXT", "MARKDOWN", "CSV"]
# The request records and the Java types of their fields, none of which may be null
_RECORDS = {
    "claimRequest": {
        "workOrderId": "Long",
        "agentId": "String",
        "estimatedMinutes": "Integer",
    },
    "handInRequest": {"reservationId": "UUID", "content": "String", "format": "Format"},
    "closingRequest": {"reservationId": "UUID", "deliveryConfirmed": "Boolean"},
}
_GUIDANCE = "Hand in the passage in upper case letters."
_NEW = {"guidance": _GUIDANCE, "format": "PLAIN_TEXT", "phase": "AVAILABLE"}
_SEED = [
    (7001, "Label for the wheat silo", "winter wheat, second harvest", 16),
    (7002, "Label for the oat silo", "rolled oats, keep dry", 7),
    (7003, "Notice at the weighbridge", "stop here and wait for the lamp", 25),
    (7004, "Heading of the ledger", "received, stored, dispatched", 13),
    (7005, "Notice at the gate", "closed on sundays", 10),
]


class _Status(Exception):  # noqa: N818
    """Spring's ResponseStatusException: a status, a message and perhaps `errors`."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status, self.message, self.more = status, message, more


def _convert(value: Any, kind: str) -> Any:
    """Return the value as Jackson would bind it."""
    places = {"Format": _PACKAGE, "UUID": "java.util"}
    java = f"{places.get(kind, 'java.lang')}.{kind}"
    problem = f"JSON parse error: Cannot deserialize value of type `{java}` from "
    if value is None or (isinstance(value, bool) and kind == "Boolean"):
        return value
    if isinstance(value, (dict, list, bool)):
        name = {dict: "Object", list: "Array", bool: "Boolean"}[type(value)]
        token = f"VALUE_{value}" if name == "Boolean" else f"START_{name}"
        raise _Status(400, f"{problem}{name} value (token `JsonToken.{token.upper()}`)")
    text = str(value)
    if kind == "String" or (kind == "Format" and text in _FORMATS):
        return text
    if kind == "Boolean" and text in ("true", "false"):
        return text == "true"
    if kind in ("Long", "Integer") and re.fullmatch(r"-?\d{1,18}(\.\d+)?", text):
        return int(text.split(".", maxsplit=1)[0])
    if kind == "UUID" and re.fullmatch(
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text.lower()
    ):
        return text.lower()
    reason = {
        "Boolean": 'only "true" or "false" recognized',
        "UUID": "UUID has to be represented by standard 36-char representation",
        "Format": f"not one of the values accepted for Enum class: [{', '.join(_FORMATS)}]",
    }.get(kind, f"not a valid `{java}` value")
    raise _Status(400, f'{problem}String "{text}": {reason}')


def _violation(record: str, field: str, kind: str, value: Any) -> dict[str, Any] | None:
    """Return Boot's account of what bean validation has against the value, if anything."""
    if kind == "String" and not (value or "").strip():
        code, message = "NotBlank", "must not be blank"
    elif value is None:
        code, message = "NotNull", "must not be null"
    elif kind == "Integer" and value <= 0:
        code, message = "Positive", "must be greater than 0"
    elif value is False:
        code, message = "AssertTrue", "must be true"
    else:
        return None
    return {
        "codes": [f"{code}.{record}.{field}", f"{code}.{field}", code],
        "defaultMessage": message,
        "objectName": record,
        "field": field,
        "rejectedValue": value,
        "bindingFailure": False,
        "code": code,
    }


def _mapped(controller: Any) -> Any:
    """Make a controller's refusals answers."""

    def mapped(self: "Granary", request: Request) -> Response:
        try:
            return controller(self, request)
        except _Status as problem:
            if problem.status != 401:
                return self._refusal(request, problem)
        # The security filter answers with a header and no body.
        challenge = 'Bearer error="invalid_token"' if request.token else "Bearer"
        return Response(401, b"", {"WWW-Authenticate": challenge})

    return mapped


class Granary(Backend):
    """An exchange of work orders."""

    def __init__(self) -> None:
        super().__init__()
        self._balance: dict[str, int] = {}  # by agent
        self._holders: dict[str, str] = {}  # the agent of each token
        self._orders: dict[int, dict[str, Any]] = {
            number: {"subject": subject, "passage": text, "bounty": pay, **_NEW}
            for number, subject, text, pay in _SEED
        }
        self._reservations: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the passage of every order by its number."""
        return {str(number): order["passage"] for number, order in self._orders.items()}

    def _refusal(self, request: Request, problem: _Status) -> Response:
        body = {
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "status": problem.status,
            "error": HTTPStatus(problem.status).phrase,
            "message": problem.message,
            **problem.more,
            "path": request.path,
        }
        return Response(problem.status, body)

    def missing(self, request: Request) -> Response:
        """Answer as the dispatcher does when no handler is mapped."""
        no = _Status(404, f"No static resource {request.path.lstrip('/')}.")
        if any(
            path == request.path and method != request.method
            for method, path in ACTIONS
        ):
            no = _Status(405, f"Method '{request.method}' is not supported.")
        return self._refusal(request, no)

    def _principal(self, request: Request) -> str:
        if request.token not in self._holders:
            raise _Status(401, "")
        return self._holders[request.token]

    def _bind(self, request: Request, record: str) -> dict[str, Any]:
        media = (
            request.headers.get("Content-Type") or "application/octet-stream"
        ).lower()
        if media.split(";")[0].strip() != "application/json":
            raise _Status(415, f"Content-Type '{media}' is not supported.")
        java = f"{_PACKAGE}.{record[0].upper()}{record[1:]}"
        if not request.raw:
            raise _Status(400, f"Required request body is missing: {java}")
        try:
            body = request.json()
        except ValueError as error:
            raise _Status(400, f"JSON parse error: {error}") from None
        if not isinstance(body, dict):
            raise _Status(
                400, f"JSON parse error: Cannot construct instance of `{java}`"
            )
        fields = _RECORDS[record]
        bound = {name: _convert(body.get(name), kind) for name, kind in fields.items()}
        found = [
            _violation(record, name, kind, bound[name]) for name, kind in fields.items()
        ]
        if errors := [violation for violation in found if violation]:
            count = (
                f"Validation failed for object='{record}'. Error count: {len(errors)}"
            )
            raise _Status(400, count, errors=errors)
        return bound

    def register(self, request: Request) -> Response:
        """Create an agent."""
        agent, token = f"AGT-{len(self._balance) + 1001}", uuid.uuid4().hex
        self._balance[agent], self._holders[token] = 100, agent
        self.book.registrations += 1
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    @_mapped
    def tasks(self, request: Request) -> Response:
        """Return a page of the orders that can be had."""
        if request.path.endswith("-tasks"):
            self._principal(request)
        try:
            size = min(max(int(request.query.get("limit", "20")), 1), 50)
            page = max(int(request.query.get("page", "0")), 0)
        except ValueError:
            raise _Status(
                400, "Failed to convert 'java.lang.String' to type 'int'"
            ) from None
        free = [
            number
            for number, order in self._orders.items()
            if order["phase"] == "AVAILABLE"
        ]
        shown = [
            {"workOrderId": key, **self._orders[key]}
            for key in free[page * size :][:size]
        ]
        here = request.base + request.path
        body = {
            "_embedded": {"workOrders": shown},
            "_links": {"self": {"href": f"{here}?page={page}&limit={size}"}},
            "page": {"size": size, "totalElements": len(free), "number": page},
        }
        if (page + 1) * size < len(free):
            body["_links"]["next"] = {"href": f"{here}?page={page + 1}&limit={size}"}
        return Response(200, body, {"Content-Type": "application/hal+json"})

    marketplace = tasks

    @_mapped
    def claim(self, request: Request) -> Response:
        """Reserve an order."""
        agent = self._principal(request)
        form = self._bind(request, "claimRequest")
        if form["agentId"] != agent:
            raise _Status(
                403, f"agentId {form['agentId']} does not belong to the access token"
            )
        number, order = form["workOrderId"], self._orders.get(form["workOrderId"])
        if order is None:
            raise _Status(404, f"Work order not found with id: {number}")
        if order["phase"] != "AVAILABLE":
            raise _Status(
                409, f"Work order {number} is {order['phase']} and cannot be reserved"
            )
        order["phase"] = "RESERVED"
        self._reservations[key := str(uuid.uuid4())] = {
            "number": number,
            "agent": agent,
        }
        self.book.claimed(str(number))
        return Response(
            200, {"reservationId": key, "workOrderId": number, "phase": "RESERVED"}
        )

    def _held(self, key: str, agent: str, phase: str) -> tuple[int, dict[str, Any]]:
        held = self._reservations.get(key)
        if held is None or held["agent"] != agent:
            raise _Status(404, f"Reservation not found with id: {key}")
        order = self._orders[held["number"]]
        if order["phase"] != phase:
            raise _Status(409, f"Work order is {order['phase']}, expected {phase}")
        return held["number"], order

    @_mapped
    def submit(self, request: Request) -> Response:
        """Judge what is handed in, and pay."""
        agent = self._principal(request)
        form = self._bind(request, "handInRequest")
        number, order = self._held(form["reservationId"], agent, "RESERVED")
        if form["format"] != "PLAIN_TEXT":
            raise _Status(422, f"Work order {number} has to be handed in as PLAIN_TEXT")
        if form["content"] != order["passage"].upper():
            raise _Status(
                422, f"Content does not satisfy the guidance of work order {number}"
            )
        order["phase"] = "DELIVERED"
        self._balance[agent] += order["bounty"]
        self.book.pay(str(number), order["bounty"])
        receipt = {"amount": order["bounty"], "newBalance": self._balance[agent]}
        return Response(200, {"phase": "DELIVERED", "receipt": receipt})

    @_mapped
    def complete(self, request: Request) -> Response:
        """Close a delivered order."""
        agent = self._principal(request)
        form = self._bind(request, "closingRequest")
        number, order = self._held(form["reservationId"], agent, "DELIVERED")
        order["phase"] = "CLOSED"
        return Response(200, {"workOrderId": number, "phase": "CLOSED"})
