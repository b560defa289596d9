"""A company's ASP.NET Core 8 service: controllers, FluentValidation, ProblemDetails."""
# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import json
import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from .backend import Backend, Request, Response  # noqa: TID252

ORDERS = [
    ("Shelf label", "fragile - handle with care", 15),
    ("Parcel", "paid by the sender", 11),
    ("Door sign", "meeting room closed on friday", 22),
    ("Badge", "visitor, third floor", 8),
    ("Invoice header", "second reminder to the customer", 40),
    ("Plate", "return empty pallets here", 33),
    ("Notice", "water is off until noon", 27),
]
TYPES = {
    400: ("Bad Request", "9110#section-15.5.1"),
    401: ("Unauthorized", "9110#section-15.5.2"),
    404: ("Not Found", "9110#section-15.5.5"),
    409: ("Conflict", "9110#section-15.5.10"),
    415: ("Unsupported Media Type", "9110#section-15.5.16"),
    422: ("Unprocessable Entity", "4918#section-11.2"),
}
MIN_DATE = datetime.min.replace(tzinfo=UTC)
ZERO_GUID = str(uuid.UUID(int=0))
INT, GUID, BOOL, STRING = (
    "System.Int32",
    "System.Guid",
    "System.Boolean",
    "System.String",
)
BYTES, SPAN, DATE = "System.Byte[]", "System.TimeSpan", "System.DateTimeOffset"
DEFAULTS = {INT: 0, GUID: ZERO_GUID, BOOL: False, SPAN: timedelta(), DATE: MIN_DATE}


class _Problem(Exception):  # noqa: N818
    def __init__(self, status: int, detail: str = "", errors: Any = None) -> None:
        title = (
            "One or more validation errors occurred." if errors else TYPES[status][0]
        )
        kind = f"https://tools.ietf.org/html/rfc{TYPES[status][1]}"
        body: dict[str, Any] = {"type": kind, "title": title, "status": status}
        body |= {"detail": detail} if detail else {"errors": errors} if errors else {}
        body["traceId"] = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
        headers = {"Content-Type": "application/problem+json; charset=utf-8"}
        headers |= {"WWW-Authenticate": "Bearer"} if status == 401 else {}
        self.response = Response(status, body, headers)


def _action(method: Any) -> Any:
    def answer(self: Any, request: Request) -> Response:
        try:
            return Response(200, method(self, request))
        except _Problem as problem:
            return problem.response

    return answer


def _convert(kind: str, value: Any) -> Any:
    """Convert as System.Text.Json does, or raise ValueError."""
    if value is None and kind in (STRING, BYTES):
        return None
    wanted = {INT: int, BOOL: bool}.get(kind, str)
    if type(value) is not wanted or (kind == INT and abs(value) >= 2**31):
        raise ValueError(kind)
    if kind == GUID:
        return str(uuid.UUID(value if len(value) == 36 else ""))
    if kind == BYTES:
        return base64.b64decode(value, validate=True)
    if kind == SPAN:
        found = re.fullmatch(
            r"(?:(\d+)\.)?([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d+)?", value
        )
        days, hours, minutes, seconds = map(
            int, found.groups("0")[:4] if found else "none"
        )
        return timedelta(days, seconds, 0, 0, minutes, hours)
    if kind == DATE:
        date = datetime.fromisoformat(value if value[4:5] == "-" else "")
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    return value


def _bind(request: Request, command: str, fields: dict[str, str]) -> dict[str, Any]:
    """Read the body into the command's properties, by PascalCase name."""
    media = (
        (request.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    )
    if media not in ("application/json", "text/json"):
        raise _Problem(415)
    required = {"command": ["The command field is required."]}
    if not (text := request.raw.decode(errors="replace")).strip():
        raise _Problem(
            400, errors={"": ["A non-empty request body is required."], **required}
        )

    def fail(path: str, sentence: str, offset: int) -> _Problem:
        before = text[:offset].split("\n")
        where = f"LineNumber: {len(before) - 1} | BytePositionInLine: {len(before[-1].encode())}."
        return _Problem(
            400, errors={**required, path: [f"{sentence} Path: {path} | {where}"]}
        )

    try:
        body = json.loads(text)
    except json.JSONDecodeError as error:
        at = text[error.pos : error.pos + 1]
        raise fail(
            "$",
            f"'{at}' is an invalid start of a value."
            if at
            else "Expected depth to "
            "be zero at the end of the JSON payload. There is an open JSON object or "
            "array that should be closed.",
            error.pos,
        ) from None
    if not isinstance(body, dict):
        raise fail(
            "$",
            "The JSON value could not be converted to "
            f"Dispatch.Application.Commands.{command}Command.",
            1,
        )
    names = {name.lower(): name for name in fields}
    values = {name: DEFAULTS.get(kind) for name, kind in fields.items()}
    for key, value in body.items():
        try:
            if name := names.get(key.lower()):
                values[name] = _convert(fields[name], value)
        except ValueError:
            found = re.search(rf'"{re.escape(key)}"\s*:\s*', text)
            start = found.end() if found else 0
            scalar = not isinstance(value, (dict, list))
            end = json.JSONDecoder().raw_decode(text, start)[1] if scalar else start + 1
            what = f"The JSON value could not be converted to {fields[name]}."
            raise fail(f"$.{key}", what, end) from None
    return values


def _validate(values: dict[str, Any], **rules: Any) -> None:
    """Apply FluentValidation rules; NotEmpty stands for every property that has none."""
    errors: dict[str, list[str]] = {}
    for name, value in values.items():
        label = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
        said, (rule, bound) = [], rules.get(name, ("", None))
        empty = value in (None, b"", 0, ZERO_GUID, MIN_DATE)
        if (empty or str(value).isspace() or value == "") and rule not in (
            "equal",
            "more",
        ):
            said.append(f"'{label}' must not be empty.")
        if rule == "equal" and value != bound:
            said.append(f"'{label}' must be equal to '{bound}'.")
        if rule in ("after", "more") and value <= bound:
            shown = (
                f"{bound:%m/%d/%Y %H:%M:%S} +00:00" if rule == "after" else "00:00:00"
            )
            said.append(f"'{label}' must be greater than '{shown}'.")
        errors |= {name: said} if said else {}
    if errors:
        raise _Problem(400, errors=errors)


class DispatchAspNet(Backend):
    """Work orders are assigned, delivered (and paid), and then closed."""

    def __init__(self) -> None:
        super().__init__()
        self.orders = {
            1001 + i: {
                "workOrderId": 1001 + i,
                "title": title,
                "status": "Available",
                "description": "Deliver the source text in capital letters.",
                "compensation": {"amount": float(amount), "currency": "Credits"},
            }
            for i, (title, _, amount) in enumerate(ORDERS)
        }
        self.users: dict[str, dict[str, Any]] = {}
        self.assignments: dict[str, dict[str, Any]] = {}
        self.version = 2000

    def texts(self) -> dict[str, str]:
        return {str(1001 + i): text for i, (_, text, _) in enumerate(ORDERS)}

    def missing(self, request: Request) -> Response:
        return _Problem(404).response

    def _user(self, request: Request) -> dict[str, Any]:
        if request.token not in self.users:
            raise _Problem(401)
        return self.users[request.token]

    def _advance(self, assignment: dict[str, Any], status: str) -> None:
        self.version += 1
        assignment["status"] = assignment["workOrder"]["status"] = status
        assignment["rowVersion"] = base64.b64encode(
            self.version.to_bytes(8, "big")
        ).decode()

    @_action
    def register(self, request: Request) -> Any:
        _bind(request, "RegisterAgent", {})
        self.book.registrations += 1
        token = "CfDJ8" + secrets.token_urlsafe(48)
        user = {"agent_id": str(uuid.uuid4()), "access_token": token, "credits": 100}
        return dict(self.users.setdefault(token, user))

    @_action
    def marketplace(self, request: Request) -> Any:
        numbers = {"limit": 5, "pageNumber": 1}
        for name in numbers:  # noqa: PLC0206
            given = request.query.get(name, str(numbers[name]))
            if not re.fullmatch(r"-?\d{1,9}", given):
                raise _Problem(
                    400, errors={name: [f"The value '{given}' is not valid."]}
                )
            if not 1 <= int(given) <= 100:
                label = "Limit" if name == "limit" else "Page Number"
                said = f"'{label}' must be between 1 and 100. You entered {given}."
                raise _Problem(400, errors={label.replace(" ", ""): [said]})
            numbers[name] = int(given)
        size, page = numbers["limit"], numbers["pageNumber"]
        found = [
            order for order in self.orders.values() if order["status"] == "Available"
        ]
        pages = -(-len(found) // size)
        return {
            "items": found[(page - 1) * size : page * size],
            "pageNumber": page,
            "totalPages": pages,
            "totalCount": len(found),
            "hasPreviousPage": page > 1,
            "hasNextPage": page < pages,
        }

    def tasks(self, request: Request) -> Response:
        known = request.token in self.users
        return self.marketplace(request) if known else _Problem(401).response

    @_action
    def claim(self, request: Request) -> Any:
        user, values = (
            self._user(request),
            _bind(
                request,
                "AssignWorkOrder",
                {"WorkOrderId": INT, "AcceptTerms": BOOL, "ExpectedCompletion": DATE},
            ),
        )
        _validate(
            values,
            AcceptTerms=("equal", True),
            ExpectedCompletion=("after", datetime.now(UTC)),
        )
        number = values["WorkOrderId"]
        if (order := self.orders.get(number)) is None:
            raise _Problem(404, f'Entity "WorkOrder" ({number}) was not found.')
        if order["status"] != "Available":
            raise _Problem(409, f"Work order {number} is not available for assignment.")
        key = str(uuid.uuid4())
        assignment = self.assignments[key] = {
            "assignmentId": key,
            "user": user,
            "workOrder": order,
        }
        self._advance(assignment, "Assigned")
        self.book.claimed(str(number))
        return {**self._shown(assignment), "sourceText": self.texts()[str(number)]}

    def _shown(self, assignment: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in assignment.items() if key != "user"}

    def _load(self, user: dict[str, Any], values: dict[str, Any], state: str) -> Any:
        key = values["AssignmentId"]
        assignment = self.assignments.get(key)
        if assignment is None or assignment["user"] is not user:
            raise _Problem(404, f'Entity "Assignment" ({key}) was not found.')
        if (status := assignment["status"]) != state:
            raise _Problem(
                409, f"Assignment is in status '{status}'; expected '{state}'."
            )
        if base64.b64encode(values["RowVersion"]).decode() != assignment["rowVersion"]:
            raise _Problem(
                409, "'Row Version' is out of date: the record was modified since."
            )
        return assignment

    @_action
    def submit(self, request: Request) -> Any:
        user, values = (
            self._user(request),
            _bind(
                request,
                "DeliverResult",
                {"AssignmentId": GUID, "RowVersion": BYTES, "ResultText": STRING},
            ),
        )
        _validate(values)
        assignment = self._load(user, values, "Assigned")
        order, number = (
            assignment["workOrder"],
            str(assignment["workOrder"]["workOrderId"]),
        )
        if values["ResultText"] != self.texts()[number].upper():
            raise _Problem(
                422, "The result text is not the source text in capital letters."
            )
        self._advance(assignment, "Delivered")
        amount = int(order["compensation"]["amount"])
        user["credits"] += amount
        self.book.pay(number, amount)
        return {
            **self._shown(assignment),
            "payment": {
                **order["compensation"],
                "status": "Paid",
                "newBalance": user["credits"],
            },
        }

    @_action
    def complete(self, request: Request) -> Any:
        user, values = (
            self._user(request),
            _bind(
                request,
                "CloseAssignment",
                {"AssignmentId": GUID, "RowVersion": BYTES, "TimeSpent": SPAN},
            ),
        )
        _validate(values, TimeSpent=("more", timedelta()))
        assignment = self._load(user, values, "Delivered")
        self._advance(assignment, "Closed")
        return self._shown(assignment)
