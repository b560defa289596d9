"""Spring Boot 3 with ProblemDetail (RFC 9457), Bean Validation, Jackson in SNAKE_CASE.

Lists a Spring Data PagedModel {"content": [...], "page": {"size", "number", "total_elements",
"total_pages"}}: each with `id` (long), `order_type` "UPPERCASE_TEXT", `brief`, `source_text`,
`expected_content_type` "PLAIN_TEXT", `order_status` "OPEN", `fee` {"amount": 8.0, "currency"}.
claim wants {"work_order_id": long}; 200 {"assignment_id": long, "work_order", "due_at"}.
submit wants {"assignment_id": long, "deliverable": {"content_type": PLAIN_TEXT | MARKDOWN | HTML,
"body": str}}; 200 {"deliverable_id", "assignment_id", "assignment_status"}.
complete wants {"assignment_id": long, "outcome": DELIVERED | PARTIALLY_DELIVERED}; pays.
Unknown properties are ignored; numbers in strings are coerced to long; enums mind their case.
Refusals are application/problem+json. Bean Validation's 400 has `invalid_params`
[{"name", "reason"}] with all field errors, the names being Java's (workOrderId for the JSON key
work_order_id); Jackson's 400 has one with the JSON path and the mapper's message (which lists an
enum's values). A wrong or missing token is an empty 401 with WWW-Authenticate.
"""

import re
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = [
    "the gardener left his boots beside the greenhouse door",
    "a thin mist covered the meadow until the sun came over the hill",
    "every friday the market fills the square with flowers and cheese",
    "my brother learned to juggle with oranges from the corner shop",
    "the old lighthouse keeper still writes letters to his sister",
    "we waited under the bridge until the thunderstorm had passed",
]
FEES = [8, 11, 14, 6, 19, 13]
TITLES = {400: "Bad Request", 404: "Not Found", 409: "Conflict"}
TITLES |= {415: "Unsupported Media Type", 422: "Unprocessable Entity"}
PACKAGE = "io.quillworks.orders.api"
CONTENT_TYPES = ["PLAIN_TEXT", "MARKDOWN", "HTML"]
OUTCOMES = ["DELIVERED", "PARTIALLY_DELIVERED"]
# A request's Java record: its name, and for each component the type and the constraint.
CLAIM = ("ClaimRequest", {"workOrderId": ("Long", "must not be null")})
DELIVERABLE = (
    "DeliverableDto",
    {
        "contentType": (("ContentType", CONTENT_TYPES), "must not be null"),
        "body": ("String", "must not be blank"),
    },
)
KEY = {"assignmentId": ("Long", "must not be null")}
SUBMIT = ("SubmitRequest", {**KEY, "deliverable": (DELIVERABLE, "must not be null")})
OUTCOME = (("Outcome", OUTCOMES), "must not be null")
COMPLETE = ("CompleteRequest", {**KEY, "outcome": OUTCOME})


class Unreadable(Exception):
    """Jackson's MismatchedInputException: the JSON path and the original message."""


def snake(name: str) -> str:
    """Return a Java name as SnakeCaseStrategy translates it."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def problem(request: Request, status: int, detail: str, **more: Any) -> Response:
    """Return a ProblemDetail."""
    body = {
        "type": "about:blank",
        "title": TITLES[status],
        "status": status,
        "detail": detail,
        "instance": request.path,
        **more,
    }
    return Response(status, body, {"Content-Type": "application/problem+json"})


def token_of(value: Any) -> str:
    """Return how Jackson names a JSON value of the wrong shape."""
    if isinstance(value, bool):
        word = str(value).upper()
        return f"Boolean value (token `JsonToken.VALUE_{word}`)"
    if isinstance(value, dict):
        return "Object value (token `JsonToken.START_OBJECT`)"
    if isinstance(value, list):
        return "Array value (token `JsonToken.START_ARRAY`)"
    if isinstance(value, float):
        return "Floating-point value (token `JsonToken.VALUE_NUMBER_FLOAT`)"
    return "Integer value (token `JsonToken.VALUE_NUMBER_INT`)"


def scalar(kind: Any, value: Any, path: str) -> Any:
    """Return a Long, String or enum constant as Jackson would read it."""
    name = f"java.lang.{kind}" if isinstance(kind, str) else f"{PACKAGE}.{kind[0]}"
    start = f"Cannot deserialize value of type `{name}` from"
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "String" and isinstance(value, (str, int, float)):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if kind == "Long" and number:
        return int(value)
    if kind == "Long" and isinstance(value, str):
        if not value.strip():
            return None
        if re.fullmatch(r"[+-]?\d{1,18}", value.strip()):
            return int(value)
        raise Unreadable(path, f'{start} String "{value}": not a valid `{name}` value')
    if isinstance(kind, tuple) and isinstance(value, str):
        if value in kind[1]:
            return value
        accepted = (
            f"not one of the values accepted for Enum class: [{', '.join(kind[1])}]"
        )
        raise Unreadable(path, f'{start} String "{value}": {accepted}')
    if isinstance(kind, tuple) and number and isinstance(value, int):
        if 0 <= value < len(kind[1]):
            return kind[1][value]
        why = f"index value outside legal index range [0..{len(kind[1]) - 1}]"
        raise Unreadable(path, f"{start} number {value}: {why}")
    raise Unreadable(path, f"{start} {token_of(value)}")


def read(record: Any, value: Any, path: str = "") -> dict[str, Any]:
    """Return a record's components by their Java names, None where they are absent."""
    name, components = record
    if isinstance(value, str):
        raise Unreadable(
            path,
            f"Cannot construct instance of `{PACKAGE}.{name}` (although at least one Creator "
            "exists): no String-argument constructor/factory method to deserialize from "
            f"String value ('{value}')",
        )
    if not isinstance(value, dict):
        start = f"Cannot deserialize value of type `{PACKAGE}.{name}` from"
        raise Unreadable(path, f"{start} {token_of(value)}")
    found = {}  # type: ignore[var-annotated]
    for component, (kind, _) in components.items():
        key = snake(component)
        at = f"{path}.{key}" if path else key
        given = value.get(key)
        if given is None:
            found[component] = None  # type: ignore[assignment]
        elif isinstance(kind, tuple) and isinstance(kind[1], dict):
            found[component] = read(kind, given, at)
        else:
            found[component] = scalar(kind, given, at)
    return found


def violations(
    record: Any, found: dict[str, Any], path: str = ""
) -> list[dict[str, str]]:
    """Return the field errors of Bean Validation."""
    errors = []
    for component, (kind, reason) in record[1].items():
        value = found[component]
        blank = isinstance(value, str) and not value.strip()
        if value is None or blank:
            errors.append({"name": f"{path}{component}", "reason": reason})
        elif isinstance(value, dict):
            errors += violations(kind, value, f"{path}{component}.")
    return errors


class Quillworks(Backend):
    """Work orders and assignments, as a Spring Boot service over JPA."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.orders: dict[int, dict[str, Any]] = {}
        self.assignments: dict[int, dict[str, Any]] = {}
        for number, (text, fee) in enumerate(zip(TEXTS, FEES)):
            key = 481023 + 7 * number
            self.orders[key] = {
                "id": key,
                "order_type": "UPPERCASE_TEXT",
                "brief": "Write the source text in upper case",
                "source_text": text,
                "expected_content_type": "PLAIN_TEXT",
                "order_status": "OPEN",
                "fee": {"amount": float(fee), "currency": "CREDITS"},
                "created_at": f"2025-05-1{number}T09:30:00Z",
            }

    def texts(self) -> dict[str, str]:
        return {str(key): order["source_text"] for key, order in self.orders.items()}

    def missing(self, request: Request) -> Response:
        detail = f"No static resource {request.path.lstrip('/')}."
        return problem(request, 404, detail)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        agent = {"agent_id": str(90210 + len(self.agents)), "credits": 100}
        self.agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    def unauthorized(self, request: Request) -> Response | None:
        if request.token in self.agents:
            return None
        challenge = "Bearer"
        if request.token:
            challenge += (
                ' error="invalid_token", error_description="Invalid access token"'
            )
        return Response(401, b"", {"WWW-Authenticate": challenge})

    def page(self, size: int) -> Response:
        found = [one for one in self.orders.values() if one["order_status"] == "OPEN"]
        page = {"size": size, "number": 0, "total_elements": len(found)}
        page["total_pages"] = -(-len(found) // size)
        return Response(200, {"content": found[:size], "page": page})

    def marketplace(self, request: Request) -> Response:
        return self.page(20)

    def tasks(self, request: Request) -> Response:
        if refusal := self.unauthorized(request):
            return refusal
        limit = request.query.get("limit") or "20"
        if not re.fullmatch(r"[+-]?\d{1,9}", limit):
            return problem(
                request, 400, f"Failed to convert 'limit' with value: '{limit}'"
            )
        return self.page(min(max(int(limit), 1), 100))

    def payload(self, request: Request, record: Any) -> dict[str, Any] | Response:
        """Return the request's record, read and valid, or the refusal."""
        if refusal := self.unauthorized(request):
            return refusal
        media = (
            request.headers.get("Content-Type") or "application/octet-stream"
        ).strip()
        if not re.match(r"application/([\w.-]+\+)?json\b", media.lower()):
            return problem(request, 415, f"Content-Type '{media}' is not supported.")
        try:
            found = read(record, request.json())
        except ValueError:
            return problem(request, 400, "Failed to read request")
        except Unreadable as e:
            wrong = [{"name": e.args[0] or "$", "reason": e.args[1]}]
            return problem(request, 400, "Failed to read request", invalid_params=wrong)
        if errors := violations(record, found):
            detail = "Invalid request content."
            return problem(request, 400, detail, invalid_params=errors)
        return found

    def claim(self, request: Request) -> Response:
        given = self.payload(request, CLAIM)
        if isinstance(given, Response):
            return given
        order = self.orders.get(given["workOrderId"])
        if order is None:
            return problem(request, 404, f"Work order {given['workOrderId']} not found")
        if order["order_status"] != "OPEN":
            detail = f"Work order {order['id']} is {order['order_status']}, not OPEN"
            return problem(request, 409, detail)
        order["order_status"] = "ASSIGNED"
        key = 7700341 + len(self.assignments)
        self.assignments[key] = {
            "order": order,
            "owner": request.token,
            "status": "ACTIVE",
        }
        self.book.claimed(str(order["id"]))
        answer = {
            "assignment_id": key,
            "assignment_status": "ACTIVE",
            "work_order": order,
        }
        return Response(200, {**answer, "due_at": "2031-01-01T00:00:00Z"})

    def assigned(self, request: Request, key: int) -> dict[str, Any] | Response:
        found = self.assignments.get(key)
        if found is None or found["owner"] != request.token:
            return problem(request, 404, f"Assignment {key} not found")
        return found

    def submit(self, request: Request) -> Response:
        given = self.payload(request, SUBMIT)
        if isinstance(given, Response):
            return given
        key, sent = given["assignmentId"], given["deliverable"]
        found = self.assigned(request, key)
        if isinstance(found, Response):
            return found
        if found["status"] != "ACTIVE":
            return problem(request, 409, f"Assignment {key} is {found['status']}")
        order = found["order"]
        if sent["contentType"] != order["expected_content_type"]:
            detail = (
                f"Work order {order['id']} expects {order['expected_content_type']}"
            )
            return problem(request, 422, f"{detail} but got {sent['contentType']}")
        if sent["body"] != order["source_text"].upper():
            detail = "Deliverable rejected: body is not the source text in upper case"
            return problem(request, 422, detail)
        found["status"] = "SUBMITTED"
        answer = {"deliverable_id": key + 1200000, "assignment_id": key}
        return Response(200, {**answer, "assignment_status": "SUBMITTED"})

    def complete(self, request: Request) -> Response:
        given = self.payload(request, COMPLETE)
        if isinstance(given, Response):
            return given
        key = given["assignmentId"]
        found = self.assigned(request, key)
        if isinstance(found, Response):
            return found
        if found["status"] != "SUBMITTED":
            return problem(request, 409, f"Assignment {key} is {found['status']}")
        order, agent = found["order"], self.agents[request.token]
        if given["outcome"] != "DELIVERED":
            detail = f"{order['order_type']} orders cannot be partially delivered"
            return problem(request, 422, detail)
        found["status"], order["order_status"] = "COMPLETED", "CLOSED"
        credits_ = int(order["fee"]["amount"])
        agent["credits"] += credits_
        self.book.pay(str(order["id"]), credits_)
        answer = {"assignment_id": key, "assignment_status": "COMPLETED"}
        return Response(
            200,
            {**answer, "paid_fee": order["fee"], "account_balance": agent["credits"]},
        )
