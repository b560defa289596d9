"""A Spring Boot 3 field service dispatcher: records as DTOs, Jakarta bean validation,
UUID ids, and the default error body with message and binding errors switched on."""

import json
import re
import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PACKAGE = "com.fieldline.dispatch.api"
OUTCOMES = ["RESOLVED", "PARTIALLY_RESOLVED", "UNRESOLVED"]
POSTS = {
    "/functions/v1/create-free-agent-public",
    "/functions/v1/claim-task-public",
    "/functions/v1/submit-task-result-public",
    "/functions/v1/complete-task-public",
}
GETS = {"/functions/v1/public-marketplace", "/functions/v1/get-marketplace-tasks"}
MAX_ACTIVE = 3

JOBS = [
    ("Boiler pressure drops overnight", "Heating", "Leeds", 45,
     "Boiler loses pressure overnight, tenant refills it every morning."),
    ("Lift stuck on 3rd floor", "Lifts", "Bristol", 80,
     "Lift car stops at the third floor and the doors stay shut."),
    ("Router swap", "Network", "York", 20,
     "Replace the branch router and label both uplinks."),
    ("Leaking tap", "Plumbing", "Hull", 15,
     "Kitchen tap drips, washer probably worn."),
    ("Fire door inspection", "Safety", "Leeds", 35,
     "Check closers and seals on the nine fire doors of the east wing."),
    ("Meter reading", "Utilities", "Derby", 10,
     "Read the gas meter in the basement and note the serial number."),
    ("Cold room alarm", "Refrigeration", "Hull", 60,
     "Cold room alarm sounds twice a night, evaporator iced up."),
    ("Printer jam", "Office", "York", 12,
     "Printer on desk 14 jams with A5 paper only."),
    ("Barrier stays open", "Access", "Bristol", 40,
     "Car park barrier does not close after the second vehicle."),
    ("Emergency lighting test", "Safety", "Derby", 30,
     "Run the three hour emergency lighting test and list failed fittings."),
]  # fmt: skip


def now() -> datetime:
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class FailureError(Exception):
    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.more = more


def unreadable(message: str) -> FailureError:
    return FailureError(400, f"JSON parse error: {message}")


@dataclass(frozen=True)
class Constraint:
    code: str
    message: str
    holds: Callable[[Any], bool]
    arguments: tuple[Any, ...] = ()


NOT_NULL = Constraint("NotNull", "must not be null", lambda v: v is not None)
NOT_BLANK = Constraint(
    "NotBlank", "must not be blank", lambda v: v is not None and bool(v.strip())
)


def size(most: int) -> Constraint:
    return Constraint(
        "Size",
        f"size must be between 0 and {most}",
        lambda v: v is None or len(v) <= most,
        (most, 0),
    )


def least(value: int) -> Constraint:
    return Constraint(
        "Min",
        f"must be greater than or equal to {value}",
        lambda v: v is None or v >= value,
        (value,),
    )


def greatest(value: int) -> Constraint:
    return Constraint(
        "Max",
        f"must be less than or equal to {value}",
        lambda v: v is None or v <= value,
        (value,),
    )


@dataclass(frozen=True)
class Component:
    name: str
    type: str
    constraints: tuple[Constraint, ...]


@dataclass(frozen=True)
class Record:
    name: str
    method: str
    components: tuple[Component, ...]

    @property
    def object_name(self) -> str:
        return self.name[0].lower() + self.name[1:]


UUID_TYPE = "java.util.UUID"
STRING_TYPE = "java.lang.String"
INTEGER_TYPE = "java.lang.Integer"
OUTCOME_TYPE = f"{PACKAGE}.VisitOutcome"

CLAIM = Record(
    "ClaimRequest",
    "claim",
    (
        Component("workOrderId", UUID_TYPE, (NOT_NULL,)),
        Component("technicianId", UUID_TYPE, (NOT_NULL,)),
        Component("etaMinutes", INTEGER_TYPE, (least(5), greatest(480))),
    ),
)
REPORT = Record(
    "VisitReportRequest",
    "submitReport",
    (
        Component("assignmentId", UUID_TYPE, (NOT_NULL,)),
        Component("outcome", OUTCOME_TYPE, (NOT_NULL,)),
        Component("report", STRING_TYPE, (NOT_BLANK, size(10000))),
        Component("minutesOnSite", INTEGER_TYPE, (NOT_NULL, least(1), greatest(1440))),
    ),
)
CLOSE = Record(
    "CloseOutRequest",
    "closeOut",
    (
        Component("assignmentId", UUID_TYPE, (NOT_NULL,)),
        Component("reportId", UUID_TYPE, (NOT_NULL,)),
        Component("signedOffBy", STRING_TYPE, (NOT_BLANK, size(80))),
    ),
)


def coerce(value: Any, type_: str) -> Any:  # noqa: PLR0915 - Jackson's rules
    cannot = f"Cannot deserialize value of type `{type_}` from "
    if value is None:
        return None
    if isinstance(value, dict):
        raise unreadable(cannot + "Object value (token `JsonToken.START_OBJECT`)")
    if isinstance(value, list):
        raise unreadable(cannot + "Array value (token `JsonToken.START_ARRAY`)")
    scalar = value if isinstance(value, str) else json.dumps(value)
    if type_ == STRING_TYPE:
        return scalar
    if type_ == UUID_TYPE:
        if not scalar.strip():
            return None
        if not re.fullmatch(r".{8}-.{4}-.{4}-.{4}-.{12}", scalar):
            raise unreadable(
                f'{cannot}String "{scalar}": UUID has to be represented by standard '
                "36-char representation"
            )
        for letter in scalar.replace("-", ""):
            if letter not in "0123456789abcdefABCDEF":
                raise unreadable(
                    f'{cannot}String "{scalar}": Non-hex character '
                    f"'{letter}' (value 0x{ord(letter):x}), not valid for UUID String"
                )
        return scalar.lower()
    if type_ == INTEGER_TYPE:
        if isinstance(value, bool):
            raise unreadable(
                f"{cannot}Boolean value (token `JsonToken.VALUE_{scalar.upper()}`)"
            )
        if isinstance(value, (int, float)):
            if not -(2**31) <= value < 2**31:
                raise unreadable(
                    f"Numeric value ({scalar}) out of range of int "
                    "(-2147483648 - 2147483647)"
                )
            return int(value)
        if not value.strip():
            return None
        if not re.fullmatch(r"[+-]?\d{1,9}", value.strip()):
            raise unreadable(
                f'{cannot}String "{value}": not a valid `java.lang.Integer` value'
            )
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if 0 <= value < len(OUTCOMES):
            return OUTCOMES[value]
        raise unreadable(
            f"{cannot}number {value}: index value outside legal index range "
            f"[0..{len(OUTCOMES) - 1}]"
        )
    if not isinstance(value, str):
        raise unreadable(f"{cannot}Boolean value (token `JsonToken.VALUE_TRUE`)")
    if not value.strip():
        return None
    if value.strip() not in OUTCOMES:
        raise unreadable(
            f'{cannot}String "{value}": not one of the values accepted for Enum class: '
            f"[{', '.join(OUTCOMES)}]"
        )
    return value.strip()


def no_constant(name: str) -> Any:
    raise ValueError(name)


def read(request: Request, record: Record) -> dict[str, Any]:
    content_type = request.headers.get("Content-Type") or "application/octet-stream"
    if not re.match(r"application/([\w.-]+\+)?json\s*(;|$)", content_type.lower()):
        raise FailureError(415, f"Content-Type '{content_type}' is not supported")
    missing = FailureError(
        400,
        f"Required request body is missing: public {PACKAGE}.AssignmentView "
        f"{PACKAGE}.DispatchController.{record.method}"
        f"({PACKAGE}.{record.name},org.springframework.security.core.Authentication)",
    )
    if not request.raw.strip():
        raise missing
    try:
        body = json.loads(request.raw, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        rest = error.doc[error.pos : error.pos + 1]
        raise unreadable(
            f"Unexpected character ('{rest}' (code {ord(rest)})): expected a valid value "
            "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
            if rest
            else "Unexpected end-of-input: expected close marker for Object"
        ) from error
    except ValueError as error:
        raise unreadable("Invalid UTF-8 or non-standard token") from error
    if body is None:
        raise missing
    if isinstance(body, list):
        raise unreadable(
            f"Cannot deserialize value of type `{PACKAGE}.{record.name}` from Array value "
            "(token `JsonToken.START_ARRAY`)"
        )
    if not isinstance(body, dict):
        kind = "String" if isinstance(body, str) else "Number"
        raise unreadable(
            f"Cannot construct instance of `{PACKAGE}.{record.name}` (although at least one "
            f"Creator exists): no {kind}-argument constructor/factory method to deserialize "
            f"from {kind} value ('{body}')"
        )
    types = {component.name: component.type for component in record.components}
    values: dict[str, Any] = dict.fromkeys(types)
    for name, value in body.items():
        if name in types:
            values[name] = coerce(value, types[name])
    errors = [
        binding_error(record, component, constraint, values[component.name])
        for component in record.components
        for constraint in component.constraints
        if not constraint.holds(values[component.name])
    ]
    if errors:
        raise FailureError(
            400,
            f"Validation failed for object='{record.object_name}'. "
            f"Error count: {len(errors)}",
            errors=errors,
        )
    return values


def binding_error(
    record: Record, component: Component, constraint: Constraint, value: Any
) -> dict[str, Any]:
    full = f"{record.object_name}.{component.name}"
    code = constraint.code
    return {
        "codes": [
            f"{code}.{full}",
            f"{code}.{component.name}",
            f"{code}.{component.type}",
            code,
        ],
        "arguments": [
            {
                "codes": [full, component.name],
                "arguments": None,
                "defaultMessage": component.name,
                "code": component.name,
            },
            *constraint.arguments,
        ],
        "defaultMessage": constraint.message,
        "objectName": record.object_name,
        "field": component.name,
        "rejectedValue": value,
        "bindingFailure": False,
        "code": code,
    }


@dataclass
class WorkOrder:
    id: str
    reference: str
    title: str
    category: str
    city: str
    payout: int
    description: str
    created: datetime
    status: str = "OPEN"

    def view(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "reference": self.reference,
            "title": self.title,
            "description": self.description,
            "category": self.category,
            "status": self.status,
            "priority": "HIGH" if self.payout >= 60 else "NORMAL",
            "site": {"city": self.city, "country": "GB"},
            "payoutCredits": self.payout,
            "createdAt": stamp(self.created),
        }


@dataclass
class Assignment:
    id: str
    order: WorkOrder
    technician: str
    due: datetime
    status: str = "DISPATCHED"
    report_id: str | None = None
    report: str = ""
    outcome: str | None = None

    def view(self) -> dict[str, Any]:
        return {
            "assignmentId": self.id,
            "workOrderId": self.order.id,
            "technicianId": self.technician,
            "status": self.status,
            "reportId": self.report_id,
            "outcome": self.outcome,
            "payoutCredits": self.order.payout,
            "dueBy": stamp(self.due),
        }


@dataclass
class Technician:
    id: str
    credits: int = 100
    assignments: list[Assignment] = field(default_factory=list)


class Fieldline(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.orders: dict[str, WorkOrder] = {}
        self.technicians: dict[str, Technician] = {}
        self.assignments: dict[str, Assignment] = {}
        for number, (title, category, city, payout, text) in enumerate(JOBS):
            order = WorkOrder(
                str(uuid.uuid4()),
                f"WO-{20417 + number * 3}",
                title,
                category,
                city,
                payout,
                text,
                now() - timedelta(hours=number + 2),
            )
            self.orders[order.id] = order

    def texts(self) -> dict[str, str]:
        return {order.id: order.description for order in self.orders.values()}

    def failed(self, request: Request, failure: FailureError) -> Response:
        return Response(
            failure.status,
            {
                "timestamp": stamp(now()).replace("Z", "+00:00"),
                "status": failure.status,
                "error": HTTPStatus(failure.status).phrase,
                "message": failure.message,
                **failure.more,
                "path": request.path,
            },
        )

    def missing(self, request: Request) -> Response:
        if request.path in POSTS | GETS:
            failure = FailureError(405, f"Method '{request.method}' is not supported")
            answer = self.failed(request, failure)
            answer.headers["Allow"] = "POST" if request.path in POSTS else "GET"
            return answer
        return self.failed(
            request,
            FailureError(404, f"No static resource {request.path.lstrip('/')}."),
        )

    def secured(
        self, request: Request, action: Callable[[Technician], Any]
    ) -> Response:
        technician = self.technicians.get(request.token)
        if technician is None:
            challenge = (
                'Bearer error="invalid_token", error_description="Provided token isn\'t '
                'active", error_uri="https://tools.ietf.org/html/rfc6750#section-3.1"'
                if request.token
                else "Bearer"
            )
            return Response(401, b"", {"WWW-Authenticate": challenge})
        try:
            return Response(200, action(technician))
        except FailureError as failure:
            return self.failed(request, failure)

    def register(self, request: Request) -> Response:
        technician = Technician(str(uuid.uuid4()))
        token = secrets.token_urlsafe(32)
        self.technicians[token] = technician
        self.book.registrations += 1
        return Response(
            200,
            {
                "agent_id": technician.id,
                "access_token": token,
                "token_type": "Bearer",
                "credits": technician.credits,
                "technician": {"id": technician.id, "status": "AVAILABLE"},
            },
        )

    def page(self, limit: int) -> dict[str, Any]:
        found = [o.view() for o in self.orders.values() if o.status == "OPEN"]
        content = found[:limit]
        sort = {"empty": True, "sorted": False, "unsorted": True}
        return {
            "content": content,
            "pageable": {
                "pageNumber": 0,
                "pageSize": limit,
                "sort": sort,
                "offset": 0,
                "paged": True,
                "unpaged": False,
            },
            "last": len(content) == len(found),
            "totalElements": len(found),
            "totalPages": -(-len(found) // limit),
            "first": True,
            "size": limit,
            "number": 0,
            "sort": sort,
            "numberOfElements": len(content),
            "empty": not content,
        }

    def marketplace(self, request: Request) -> Response:
        return Response(200, self.page(20))

    def tasks(self, request: Request) -> Response:
        def listing(_technician: Technician) -> Any:
            limit = request.query.get("limit") or "20"
            if not re.fullmatch(r"[+-]?\d{1,9}", limit):
                raise FailureError(
                    400,
                    "Method parameter 'limit': Failed to convert value of type "
                    "'java.lang.String' to required type 'int'; For input string: "
                    f'"{limit}"',
                )
            if int(limit) < 1:
                raise FailureError(400, "Page size must not be less than one")
            return self.page(min(int(limit), 100))

        return self.secured(request, listing)

    def claim(self, request: Request) -> Response:
        def dispatch(technician: Technician) -> Any:
            body = read(request, CLAIM)
            if body["technicianId"] != technician.id:
                raise FailureError(
                    403,
                    f"Technician {body['technicianId']} is not linked to this access "
                    "token; technicianId must be your own agent_id",
                )
            order = self.orders.get(body["workOrderId"])
            if order is None:
                raise FailureError(404, f"Work order {body['workOrderId']} not found")
            if order.status != "OPEN":
                raise FailureError(
                    409, f"Work order {order.reference} is {order.status}, not OPEN"
                )
            active = [a for a in technician.assignments if a.status != "CLOSED"]
            if len(active) >= MAX_ACTIVE:
                raise FailureError(
                    409,
                    f"Technician already has {MAX_ACTIVE} active assignments, close one "
                    "out first",
                )
            order.status = "DISPATCHED"
            due = now() + timedelta(hours=8)
            assignment = Assignment(str(uuid.uuid4()), order, technician.id, due)
            self.assignments[assignment.id] = assignment
            technician.assignments.append(assignment)
            self.book.claimed(order.id)
            return assignment.view()

        return self.secured(request, dispatch)

    def own(self, technician: Technician, id_: str) -> Assignment:
        assignment = self.assignments.get(id_)
        if assignment is None or assignment.technician != technician.id:
            raise FailureError(404, f"Assignment {id_} not found")
        if assignment.status == "CLOSED":
            raise FailureError(409, f"Assignment {id_} is already CLOSED")
        return assignment

    def submit(self, request: Request) -> Response:
        def report(technician: Technician) -> Any:
            body = read(request, REPORT)
            assignment = self.own(technician, body["assignmentId"])
            assignment.report_id = str(uuid.uuid4())
            assignment.report = body["report"]
            assignment.outcome = body["outcome"]
            assignment.status = "REPORTED"
            return assignment.view()

        return self.secured(request, report)

    def complete(self, request: Request) -> Response:
        def close_out(technician: Technician) -> Any:
            body = read(request, CLOSE)
            assignment = self.own(technician, body["assignmentId"])
            if assignment.report_id is None:
                raise FailureError(
                    409,
                    f"Assignment {assignment.id} is {assignment.status}, submit a visit "
                    "report before closing out",
                )
            if assignment.report_id != body["reportId"]:
                raise FailureError(
                    404,
                    f"Report {body['reportId']} is not the latest report of assignment "
                    f"{assignment.id}",
                )
            if assignment.outcome != "RESOLVED":
                raise FailureError(
                    422,
                    f"Outcome {assignment.outcome} cannot be closed out, only RESOLVED "
                    "visits are paid; submit a new report",
                )
            if assignment.report != assignment.order.description.upper():
                assignment.status = "REWORK"
                raise FailureError(
                    422, "Report did not pass the quality check, submit a new report"
                )
            assignment.status = assignment.order.status = "CLOSED"
            technician.credits += assignment.order.payout
            self.book.pay(assignment.order.id, assignment.order.payout)
            return {
                **assignment.view(),
                "signedOffBy": body["signedOffBy"],
                "creditBalance": technician.credits,
            }

        return self.secured(request, close_out)
