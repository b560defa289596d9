"""Spring Boot (web, security, validation, data) with its default error answers.

Market: a logistics company; agents prepare the wording of crate placards.
Listing: a Spring Data page, {"content": [...], "totalElements", "number", "size", "last"};
camelCase, long ids; `limit` is the size of the page (default 20), `page` counts from 0.
The text is `wording`.
Claim: {"orderId": long} -> 200 the assignment {"assignmentId", "orderId", "status", ...}.
Submit: {"assignmentId": long, "deliverable": {"format": "PLAIN_TEXT", "content"}} -> 200.
Complete: {"assignmentId": long} -> 200 {"assignmentId", "status", "creditsPaid", ...}.
Errors: {"timestamp", "status", "error", "message", "path"}, and "errors" with a list of
field errors when validation failed (include-message and include-binding-errors: always).
401 has no body. Jackson ignores unknown fields and takes "12" for 12.
"""

import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ORDERS = [
    ("PLACARD", "this side up, do not stack more than two crates", 28),
    ("PLACARD", "keep frozen until delivery to the customer", 20),
    ("DOCK_SIGN", "drivers report to gate four before unloading", 25),
    ("PLACARD", "live plants inside, open on arrival", 19),
    ("DOCK_SIGN", "no parking between six and nine in the morning", 27),
    ("PLACARD", "contains lithium batteries, handle with care", 22),
    ("DOCK_SIGN", "mind the gap between ramp and trailer", 23),
    ("PLACARD", "return empty pallets to the sender", 16),
    ("DOCK_SIGN", "hearing protection is required beyond this line", 24),
]
FORMATS = ("PLAIN_TEXT", "PDF")
REASONS = {400: "Bad Request", 403: "Forbidden", 404: "Not Found", 409: "Conflict"}
PACKAGE = "com.haulmark.market.api."


class UnreadableError(Exception):
    """Jackson could not read the body; says why."""


def iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000+00:00", time.gmtime(seconds))


def as_long(value: Any) -> int | None:
    """Read a Long as Jackson does."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            raise UnreadableError(
                "Cannot deserialize value of type `java.lang.Long` from String "
                f'"{value}": not a valid `java.lang.Long` value'
            ) from None
    kinds = {bool: "Boolean", dict: "Object", list: "Array"}
    kind = kinds.get(type(value), "Floating-point")
    raise UnreadableError(
        f"Cannot deserialize value of type `java.lang.Long` from {kind} value"
    )


class SpringBoot(Backend):
    """Crate placards, on Spring Boot."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, dict[str, Any]] = {}  # by token
        self.orders: dict[int, dict[str, Any]] = {
            90210 + n: {
                "id": 90210 + n,
                "orderType": type_,
                "customerNote": "Wording must be returned in upper case, otherwise "
                "unchanged.",
                "wording": wording,
                "feeCredits": fee,
                "deliverableFormat": "PLAIN_TEXT",
                "status": "OPEN",
                "dueDate": iso(time.time() + 172800)[:10],
            }
            for n, (type_, wording, fee) in enumerate(ORDERS, 1)
        }
        self.assignments: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(id_): order["wording"] for id_, order in self.orders.items()}

    def error(
        self, request: Request, status: int, message: str, **more: Any
    ) -> Response:
        return Response(
            status,
            {
                "timestamp": iso(time.time()),
                "status": status,
                "error": REASONS[status],
                "message": message,
                **more,
                "path": request.path,
            },
        )

    def missing(self, request: Request) -> Response:
        return self.error(request, 404, f"No static resource {request.path[1:]}.")

    def unauthorized(self) -> Response:
        return Response(401, b"", {"WWW-Authenticate": "Bearer"})

    def invalid(
        self, request: Request, object_: str, errors: list[tuple[str, str, Any]]
    ) -> Response:
        """Answer the errors of Bean Validation: field, code, rejected value."""
        messages = {"NotNull": "must not be null", "NotBlank": "must not be blank"}
        return self.error(
            request,
            400,
            f"Validation failed for object='{object_}'. Error count: {len(errors)}",
            errors=[
                {
                    "objectName": object_,
                    "field": field,
                    "rejectedValue": rejected,
                    "defaultMessage": messages[code],
                    "bindingFailure": False,
                    "code": code,
                }
                for field, code, rejected in errors
            ],
        )

    def begin(
        self, request: Request
    ) -> tuple[Response | None, dict[str, Any], dict[str, Any]]:
        agent = self.known.get(request.token)
        if agent is None:
            return self.unauthorized(), {}, {}
        message = "JSON parse error: Unrecognized token or unexpected end-of-input"
        try:
            body = request.json()
            if isinstance(body, dict):
                return None, agent, body
            message = "JSON parse error: Cannot deserialize request from this value"
        except ValueError:
            if not request.raw:
                message = "Required request body is missing"
        return self.error(request, 400, message), {}, {}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = str(uuid.uuid4())
        agent = {"id": str(uuid.uuid4()), "credits": 100}
        self.known[token] = agent
        body = {"agent_id": agent["id"], "access_token": token, "credits": 100}
        return Response(200, {**body, "tier": "FREE"})

    def marketplace(self, request: Request) -> Response:
        try:
            size = int(request.query.get("limit", "20"))
            page = int(request.query.get("page", "0"))
        except ValueError:
            size, page = 20, 0
        if size < 1 or page < 0:
            return self.error(request, 400, "Page size must not be less than one")
        open_ = [order for order in self.orders.values() if order["status"] == "OPEN"]
        content = open_[page * size : (page + 1) * size]
        pages = -(-len(open_) // size)
        return Response(
            200,
            {
                "content": content,
                "totalElements": len(open_),
                "totalPages": pages,
                "size": size,
                "number": page,
                "last": page + 1 >= pages,
            },
        )

    def tasks(self, request: Request) -> Response:
        if request.token not in self.known:
            return self.unauthorized()
        return self.marketplace(request)

    def claim(self, request: Request) -> Response:
        refusal, agent, body = self.begin(request)
        if refusal:
            return refusal
        try:
            id_ = as_long(body.get("orderId"))
        except UnreadableError as why:
            return self.error(request, 400, f"JSON parse error: {why}")
        if id_ is None:
            return self.invalid(request, "claimRequest", [("orderId", "NotNull", None)])
        order = self.orders.get(id_)
        if order is None:
            return self.error(request, 404, f"Order {id_} not found")
        for assignment in self.assignments.values():
            if assignment["orderId"] == id_:
                if assignment["agentId"] != agent["id"]:
                    message = f"Order {id_} is assigned to another agent"
                    return self.error(request, 409, message)
                return Response(200, assignment)
        assignment = {
            "assignmentId": 7000001 + len(self.assignments),
            "orderId": id_,
            "agentId": agent["id"],
            "status": "IN_PROGRESS",
            "assignedAt": iso(time.time()),
        }
        self.assignments[assignment["assignmentId"]] = assignment
        order["status"] = "ASSIGNED"
        self.book.claimed(str(id_))
        return Response(200, assignment)

    def mine(
        self, request: Request, agent: dict[str, Any], id_: int
    ) -> tuple[Response | None, dict[str, Any]]:
        assignment = self.assignments.get(id_)
        if assignment is None:
            return self.error(request, 404, f"Assignment {id_} not found"), {}
        if assignment["agentId"] != agent["id"]:
            return self.error(request, 403, "Access Denied"), {}
        return None, assignment

    def submit(self, request: Request) -> Response:  # noqa: PLR0915 - as it grew
        refusal, agent, body = self.begin(request)
        if refusal:
            return refusal
        deliverable = body.get("deliverable")
        try:
            id_ = as_long(body.get("assignmentId"))
            if not isinstance(deliverable, dict | type(None)):
                raise UnreadableError(
                    f"Cannot construct instance of `{PACKAGE}DeliverableDto`: no "
                    "suitable constructor or factory method for this value; expected "
                    "a JSON object"
                )
            format_ = (deliverable or {}).get("format")
            if format_ is not None and format_ not in FORMATS:
                raise UnreadableError(
                    f"Cannot deserialize value of type `{PACKAGE}DeliverableFormat` "
                    f'from String "{format_}": not one of the values accepted for '
                    f"Enum class: [{', '.join(FORMATS)}]"
                )
            content = (deliverable or {}).get("content")
            if isinstance(content, dict | list):
                where = f'{PACKAGE}DeliverableDto["content"]'
                raise UnreadableError(
                    f"Cannot deserialize `java.lang.String` at {where}"
                )
        except UnreadableError as why:
            return self.error(request, 400, f"JSON parse error: {why}")
        errors: list[tuple[str, str, Any]] = []
        if id_ is None:
            errors.append(("assignmentId", "NotNull", None))
        if deliverable is None:
            errors.append(("deliverable", "NotNull", None))
        else:
            if format_ is None:
                errors.append(("deliverable.format", "NotNull", None))
            if content is None or not str(content).strip():
                errors.append(("deliverable.content", "NotBlank", content))
        if errors or id_ is None:
            return self.invalid(request, "submissionRequest", errors)
        refusal, assignment = self.mine(request, agent, id_)
        if refusal:
            return refusal
        if (status := assignment["status"]) != "IN_PROGRESS":
            return self.error(request, 409, f"Assignment {id_} is {status}")
        order = self.orders[assignment["orderId"]]
        if format_ != order["deliverableFormat"]:
            return self.error(request, 400, f"Order {order['id']} is PLAIN_TEXT")
        if str(content) != order["wording"].upper():
            message = "Deliverable rejected: content is not the wording in upper case"
            return self.error(request, 400, message)
        assignment.update(status="DELIVERED", deliveredAt=iso(time.time()))
        return Response(200, assignment)

    def complete(self, request: Request) -> Response:
        refusal, agent, body = self.begin(request)
        if refusal:
            return refusal
        try:
            id_ = as_long(body.get("assignmentId"))
        except UnreadableError as why:
            return self.error(request, 400, f"JSON parse error: {why}")
        if id_ is None:
            missing = ("assignmentId", "NotNull", None)
            return self.invalid(request, "completionRequest", [missing])
        refusal, assignment = self.mine(request, agent, id_)
        if refusal:
            return refusal
        if assignment["status"] != "DELIVERED":
            message = f"Assignment {id_} is {assignment['status']}, expected DELIVERED"
            return self.error(request, 409, message)
        order = self.orders[assignment["orderId"]]
        assignment["status"] = order["status"] = "COMPLETED"
        agent["credits"] += order["feeCredits"]
        self.book.pay(str(order["id"]), order["feeCredits"])
        paid = {"creditsPaid": order["feeCredits"], "creditBalance": agent["credits"]}
        return Response(200, {**assignment, **paid})
