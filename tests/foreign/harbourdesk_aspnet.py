"""HarbourDesk: a shipping company's service in C#, as ASP.NET Core 8 controllers answer.

Binding errors are System.Text.Json's, validation errors are the data annotations', both in
ValidationProblemDetails; everything else goes through the company's ApiException
middleware. A missing or unknown token is refused by the bearer handler: 401, no body.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import json
import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SOURCES = [
    ("Container label, berth 4", "fragile: keep dry and upright", 12),
    ("Gate notice", "gate seven closes at nine tonight", 8),
    ("Crane warning sign", "do not stand under the load", 20),
    ("Pilot's remark", "wind from the north-west, force five", 15),
    ("Ferry board", "the 14:20 ferry to Gävle is delayed", 17),
]
_GUID = "System.Nullable`1[System.Guid]"
_UUID = r"[\da-fA-F]{8}(-[\da-fA-F]{4}){3}-[\da-fA-F]{12}"
_INT32 = "System.Nullable`1[System.Int32]"
_INT64 = "System.Nullable`1[System.Int64]"
# Property -> (type, bounds of Range or StringLength); all of them are [Required].
_DTOS: dict[str, dict[str, tuple[str, tuple[int, int]]]] = {
    "ClaimWorkItemRequest": {
        "WorkItemId": (_GUID, (0, 0)),
        "EstimatedMinutes": (_INT32, (5, 480)),
    },
    "SubmitDeliverableRequest": {
        "AssignmentId": (_INT64, (1, 2**63 - 1)),
        "RowVersion": ("System.Byte[]", (0, 0)),
        "ResultText": ("System.String", (1, 4000)),
    },
    "CompleteAssignmentRequest": {
        "AssignmentId": (_INT64, (1, 2**63 - 1)),
        "DeliverableId": (_GUID, (0, 0)),
        "CompletionNote": ("System.String", (10, 500)),
    },
}


class _Refused(Exception):  # noqa: N818
    """An answer that says no; its one argument is the response."""


def _now(**later: int) -> str:
    return (datetime.now(UTC) + timedelta(**later)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _problem(status: int, title: str, errors: Any = None) -> _Refused:
    section = {400: "15.5.1", 415: "15.5.16"}[status]
    body = {
        "type": f"https://tools.ietf.org/html/rfc9110#section-{section}",
        "title": title,
        "status": status,
    }
    body.update({"errors": errors} if errors else {})
    body["traceId"] = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
    return _Refused(
        Response(
            status, body, {"Content-Type": "application/problem+json; charset=utf-8"}
        )
    )


def _invalid(errors: dict[str, list[str]]) -> _Refused:
    return _problem(400, "One or more validation errors occurred.", errors)


def _unbound(path: str, why: str, line: int, byte: int) -> _Refused:
    where = f" Path: {path} | LineNumber: {line} | BytePositionInLine: {byte}."
    return _invalid(
        {path: [why + where], "request": ["The request field is required."]}
    )


def _api_exception(status: int, code: str, text: str, details: Any = None) -> _Refused:
    return _Refused(
        Response(
            status,
            {
                "statusCode": status,
                "errorCode": code,
                "message": text,
                "details": details,
                "timestampUtc": _now(),
            },
        )
    )


def _ok(data: Any) -> Response:
    return Response(
        200,
        {"success": True, "data": data},
        {"Content-Type": "application/json; charset=utf-8"},
    )


def _convert(kind: str, value: Any) -> Any:
    """Convert a JSON value as the web defaults do, or raise ValueError."""
    if value is None or (kind == "System.String" and isinstance(value, str)):
        return value
    if kind == _GUID and re.fullmatch(_UUID, str(value)):
        return value.lower()
    if kind == "System.Byte[]" and isinstance(value, str):
        return base64.b64decode(value, validate=True)
    if kind in (_INT32, _INT64) and re.fullmatch(r"-?\d{1,18}", str(value)):
        return int(value)
    raise ValueError(kind)


def _authorized(name: str = "") -> Any:
    """Mark an action as [Authorize], with the class of its [FromBody] argument."""

    def wrap(work: Any) -> Any:
        def action(self: "HarbourDesk", request: Request) -> Response:
            try:
                agent = self._agent(request)
                return work(self, agent, self._dto(request, name) if name else request)
            except _Refused as refused:
                return refused.args[0]

        return action

    return wrap


class HarbourDesk(Backend):
    """Work items, assignments, deliverables; completion pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # token -> agent
        self._items: dict[str, dict[str, Any]] = {}
        self._assignments: dict[int, dict[str, Any]] = {}
        for number, (title, source, amount) in enumerate(_SOURCES, 118):
            key = str(uuid.uuid4())
            self._items[key] = {
                "workItemId": key,
                "reference": f"WI-{number:05}",
                "title": title,
                "instructions": "Return the source text converted to upper case.",
                "sourceText": source,
                "compensation": {"amount": amount, "currency": "CREDITS"},
                "status": "Open",
            }

    def texts(self) -> dict[str, str]:
        """Return the source texts."""
        return {key: item["sourceText"] for key, item in self._items.items()}

    def missing(self, request: Request) -> Response:
        """Return the bare 404 of a route that no controller has."""
        return Response(404)

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            why = ' error="invalid_token"' if request.token else ""
            raise _Refused(Response(401, b"", {"WWW-Authenticate": f"Bearer{why}"}))
        return self._agents[request.token]

    def _dto(self, request: Request, name: str) -> dict[str, Any]:  # noqa: PLR0915
        """Bind the body to a request class and validate it."""
        if request.headers.get_content_type() != "application/json":
            raise _problem(415, "Unsupported Media Type")
        text = request.raw.decode(errors="replace")
        if not text.strip():
            raise _invalid({"": ["A non-empty request body is required."]})
        try:
            body = json.loads(text)
        except json.JSONDecodeError as error:
            why = f"'{text[error.pos : error.pos + 1]}' is an invalid start of a value."
            raise _unbound("$", why, error.lineno - 1, error.colno - 1) from None
        failed = "The JSON value could not be converted to"
        if not isinstance(body, dict):
            raise _unbound("$", f"{failed} HarbourDesk.Contracts.{name}.", 0, 1)
        values: dict[str, Any] = dict.fromkeys(_DTOS[name])
        for key, value in body.items():
            prop = next((p for p in values if p.lower() == key.lower()), None)
            if prop is None:
                continue
            kind = _DTOS[name][prop][0]
            try:
                values[prop] = _convert(kind, value)
            except ValueError:
                at = re.search(rf'"{re.escape(key)}"\s*:\s*', text)
                end = json.JSONDecoder().raw_decode(text, at.end())[1] if at else 0
                *above, line = text[:end].split("\n")
                place = len(above), len(line.encode())
                raise _unbound(f"$.{key}", f"{failed} {kind}.", *place) from None
        errors = {}
        for prop, (kind, (low, high)) in _DTOS[name].items():
            value = values[prop]
            if value is None or (isinstance(value, str) and not value.strip()):
                errors[prop] = [f"The {prop} field is required."]
            elif kind == "System.String" and not low <= len(value) <= high:
                least = f"a minimum length of {low} and " if low > 1 else ""
                errors[prop] = [
                    f"The field {prop} must be a string with {least}a maximum length of {high}."
                ]
            elif isinstance(value, int) and not low <= value <= high:
                errors[prop] = [f"The field {prop} must be between {low} and {high}."]
        if errors:
            raise _invalid(errors)
        return values

    def register(self, request: Request) -> Response:
        """Create an agent; these three names are given by the public contract."""
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        self._agents[token] = {"balance": 100}
        return Response(
            200, {"agent_id": str(uuid.uuid4()), "access_token": token, "credits": 100}
        )

    @_authorized()
    def tasks(self, agent: dict[str, Any], request: Request) -> Response:
        """List the open work items, a page at a time."""
        values, errors = {"limit": 20, "pageNumber": 1}, {}
        for key in values:  # noqa: PLC0206
            text = request.query.get(key, str(values[key]))
            if not re.fullmatch(r"-?\d{1,9}", text):
                errors[key] = [f"The value '{text}' is not valid."]
            elif not 1 <= int(text) <= 50:
                errors[key] = [f"The field {key} must be between 1 and 50."]
            else:
                values[key] = int(text)
        if errors:
            raise _invalid(errors)
        size, page = values["limit"], values["pageNumber"]
        items = [item for item in self._items.values() if item["status"] == "Open"]
        paging = {
            "pageNumber": page,
            "pageSize": size,
            "totalCount": len(items),
            "hasNextPage": page * size < len(items),
        }
        return _ok({"items": items[(page - 1) * size : page * size], **paging})

    @_authorized("ClaimWorkItemRequest")
    def claim(self, agent: dict[str, Any], dto: dict[str, Any]) -> Response:
        """Assign a work item to the caller."""
        item = self._items.get(dto["WorkItemId"])
        if item is None:
            raise _api_exception(
                404,
                "WorkItemNotFound",
                f"Work item '{dto['WorkItemId']}' was not found.",
            )
        if item["status"] != "Open":
            raise _api_exception(
                409,
                "WorkItemNotOpen",
                f"Work item {item['reference']} cannot be claimed because its status is '{item['status']}'.",
            )
        item["status"] = "Assigned"
        self.book.claimed(item["workItemId"])
        number = 50412 + len(self._assignments)
        version = base64.b64encode((2001 + number).to_bytes(8, "big")).decode()
        self._assignments[number] = {
            "item": item,
            "agent": agent,
            "version": version,
            "deliverable": None,
        }
        return _ok(
            {
                "assignmentId": number,
                "workItemId": item["workItemId"],
                "status": "Assigned",
                "rowVersion": version,
                "dueOnUtc": _now(minutes=dto["EstimatedMinutes"]),
            }
        )

    def _assignment(
        self, agent: dict[str, Any], number: int, expected: str
    ) -> dict[str, Any]:
        found = self._assignments.get(number)
        if found is None or found["agent"] is not agent:
            raise _api_exception(
                404, "AssignmentNotFound", f"Assignment '{number}' was not found."
            )
        if (status := found["item"]["status"]) != expected:
            raise _api_exception(
                409,
                "InvalidAssignmentState",
                f"Assignment '{number}' is in status '{status}'; expected '{expected}'.",
            )
        return found

    @_authorized("SubmitDeliverableRequest")
    def submit(self, agent: dict[str, Any], dto: dict[str, Any]) -> Response:
        """Take the deliverable of an assignment."""
        number = dto["AssignmentId"]
        item = (found := self._assignment(agent, number, "Assigned"))["item"]
        if dto["RowVersion"] != base64.b64decode(found["version"]):
            raise _api_exception(
                409,
                "ConcurrencyConflict",
                "The assignment has been modified since it was read.",
                {"currentRowVersion": found["version"]},
            )
        if dto["ResultText"] != item["sourceText"].upper():
            raise _api_exception(
                422,
                "DeliverableRejected",
                f"The result for work item {item['reference']} is not the source text in upper case.",
            )
        item["status"] = "Delivered"
        found["deliverable"] = str(uuid.uuid4())
        return _ok(
            {
                "deliverableId": found["deliverable"],
                "assignmentId": number,
                "status": "Delivered",
                "receivedOnUtc": _now(),
            }
        )

    @_authorized("CompleteAssignmentRequest")
    def complete(self, agent: dict[str, Any], dto: dict[str, Any]) -> Response:
        """Close an assignment and pay for it."""
        number = dto["AssignmentId"]
        found = self._assignment(agent, number, "Delivered")
        if dto["DeliverableId"] != found["deliverable"]:
            raise _api_exception(
                404,
                "DeliverableNotFound",
                f"Deliverable '{dto['DeliverableId']}' was not found for assignment '{number}'.",
            )
        found["item"]["status"] = "Closed"
        amount = found["item"]["compensation"]["amount"]
        agent["balance"] += amount
        self.book.pay(found["item"]["workItemId"], amount)
        return _ok(
            {
                "assignmentId": number,
                "status": "Closed",
                "amountPaid": amount,
                "accountBalance": agent["balance"],
            }
        )
