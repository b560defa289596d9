"""Millwright: work orders as a start-up serves them with Django REST framework.

Serializers speak the framework's own sentences; the house's EXCEPTION_HANDLER wraps them
in {"status_code", "error_type", "detail", "errors"}. Lists are LimitOffsetPagination,
money is a DecimalField. A submission that is right pays; completing only closes it.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

ORDERS = [
    ("Engraving, pump house", "main valve, turn clockwise", 14),
    ("Engraving, boiler", "do not open under pressure", 22),
    ("Label, spare parts bin", "bearings 6204 to 6210", 7),
    ("Nameplate, press 3", "overhauled in may by team zürich", 19),
    ("Sign, loading dock", "switch off engine while loading", 28),
    ("Tag, crane hook", "max. load 1.5 t", 16),
]
SPECIFICATION = {
    "guidance": "Give the wording in capitals.",
    "result_format": "plain_text",
}
NO_CREDENTIALS = ("NotAuthenticated", "Authentication credentials were not provided.")
NOT_FOUND = (
    "<h1>Not Found</h1><p>The requested resource was not found on this server.</p>"
)
DURATION = re.compile(
    r"(?:(?P<d>\d{1,6}) (?:days?, )?)?(?:(?:(?P<h>\d+):)?(?P<m>\d+):)?(?P<s>\d+)(?:[.,]\d{1,6})?"
)
ISO_DURATION = re.compile(
    r"P(?:(?P<d>\d{1,6})D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+)S)?)?"
)


class _ApiError(Exception):
    def __init__(self, status: int, kind: str, detail: str, errors: Any = None) -> None:
        body = {
            "status_code": status,
            "error_type": kind,
            "detail": detail,
            "errors": errors,
        }
        headers = {"WWW-Authenticate": 'Bearer realm="api"'} if status == 401 else {}
        self.response = Response(status, body, headers)


class _Invalid(Exception):  # noqa: N818
    def __init__(self, errors: Any) -> None:  # a dictionary for a nested serializer
        self.errors = [errors] if isinstance(errors, str) else errors


Field = Callable[[Any], Any]


def _char(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _Invalid("Not a valid string.")
    if not (text := str(value).strip()):
        raise _Invalid("This field may not be blank.")
    return text


def _format(value: Any) -> str:
    if value != "plain_text":
        raise _Invalid(f'"{value}" is not a valid choice.')
    return value


def _duration(value: Any) -> timedelta:
    if not (
        found := DURATION.fullmatch(str(value)) or ISO_DURATION.fullmatch(str(value))
    ):
        formats = "[DD] [HH:[MM:]]ss[.uuuuuu]."
        raise _Invalid(
            f"Duration has wrong format. Use one of these formats instead: {formats}"
        )
    days, hours, minutes, seconds = (int(found[k] or 0) for k in "dhms")
    length = timedelta(days, seconds + 60 * minutes + 3600 * hours)
    if length < timedelta(minutes=1):
        raise _Invalid("Ensure this value is greater than or equal to 0:01:00.")
    if length > timedelta(hours=8):
        raise _Invalid("Ensure this value is less than or equal to 8:00:00.")
    return length


def _related(rows: dict[Any, dict[str, Any]], kind: type) -> Field:
    """Return a PrimaryKeyRelatedField over a table whose key is an int or a UUID."""

    def check(value: Any) -> dict[str, Any]:
        if value == "":
            raise _Invalid("This field may not be null.")
        wrong = f"Incorrect type. Expected pk value, received {type(value).__name__}."
        if isinstance(value, bool | list | dict):
            raise _Invalid(wrong)
        try:
            key = int(value) if kind is int else str(uuid.UUID(str(value)))
        except ValueError:
            uid = f"“{value}” is not a valid UUID."
            raise _Invalid(wrong if kind is int else uid) from None
        if key not in rows:
            raise _Invalid(f'Invalid pk "{value}" - object does not exist.')
        return rows[key]

    return check


def _serializer(**fields: Field) -> Field:
    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            wrong = (
                f"Invalid data. Expected a dictionary, but got {type(value).__name__}."
            )
            raise _Invalid({"non_field_errors": [wrong]})
        valid, errors = {}, {}
        for name, field in fields.items():
            try:
                if value.get(name) is None:
                    what = "may not be null" if name in value else "is required"
                    raise _Invalid(f"This field {what}.")
                valid[name] = field(value[name])
            except _Invalid as bad:
                errors[name] = bad.errors
        if errors:
            raise _Invalid(errors)
        return valid

    return check


def _view(handler: Callable[..., Response]) -> Callable[..., Response]:
    @wraps(handler)
    def answer(self: "Millwright", request: Request) -> Response:
        try:
            return handler(self, request, self._agent(request))
        except _Invalid as bad:
            return _ApiError(
                400, "ValidationError", "Invalid input.", bad.errors
            ).response
        except _ApiError as bad:
            return bad.response

    return answer


class Millwright(Backend):
    """Work orders, reservations of them, and submissions; every read wants a token too."""

    def __init__(self) -> None:
        super().__init__()
        self._orders: dict[int, dict[str, Any]] = {}
        for n, (name, text, pay) in enumerate(ORDERS, 1):
            row = {
                "id": n,
                "name": name,
                "remuneration": f"{pay}.00",
                "state": "published",
            }
            self._orders[n] = {
                **row,
                "specification": {**SPECIFICATION, "wording": text},
            }
        self._agents: dict[str, dict[str, Any]] = {}  # by token

    def texts(self) -> dict[str, str]:
        return {str(n): o["specification"]["wording"] for n, o in self._orders.items()}

    def missing(self, request: Request) -> Response:
        if request.path not in {p for method, p in ACTIONS if method != request.method}:
            return Response(
                404, NOT_FOUND, {"Content-Type": "text/html; charset=utf-8"}
            )
        detail = f'Method "{request.method}" not allowed.'
        return _ApiError(405, "MethodNotAllowed", detail).response

    def _agent(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise _ApiError(401, *NO_CREDENTIALS)
        if request.token not in self._agents:
            raise _ApiError(401, "AuthenticationFailed", "Invalid token.")
        return self._agents[request.token]

    def _data(self, request: Request, serializer: Field) -> dict[str, Any]:
        data: Any = {}
        if request.raw:
            media = request.headers.get("Content-Type") or ""
            if media.split(";")[0].strip().lower() != "application/json":
                detail = f'Unsupported media type "{media}" in request.'
                raise _ApiError(415, "UnsupportedMediaType", detail)
            try:
                data = request.json()
            except ValueError as bad:
                raise _ApiError(
                    400, "ParseError", f"JSON parse error - {bad}"
                ) from None
        return serializer(data)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        name, token = f"mw-{secrets.randbelow(10**8):08d}", secrets.token_hex(20)
        agent = {"name": name, "balance": 100, "reservations": {}, "submissions": {}}
        self._agents[token] = agent
        return Response(200, {"agent_id": name, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        sizes = []
        for name, usual in (("limit", 4), ("offset", 0)):
            text = request.query.get(name, "")
            sizes.append(
                min(int(text), 50) if text.isdecimal() and int(text) else usual
            )
        limit, offset = sizes
        rows = [o for o in self._orders.values() if o["state"] == "published"]
        page = f"{request.base}{request.path}?limit={limit}&offset="
        body = {
            "count": len(rows),
            "next": f"{page}{offset + limit}" if offset + limit < len(rows) else None,
            "previous": f"{page}{max(offset - limit, 0)}" if offset else None,
            "results": rows[offset : offset + limit],
        }
        return Response(200, body)

    @_view
    def tasks(self, request: Request, agent: dict[str, Any]) -> Response:
        return self.marketplace(request)

    @_view
    def claim(self, request: Request, agent: dict[str, Any]) -> Response:
        orders = _related(self._orders, int)
        data = self._data(
            request, _serializer(work_order=orders, expected_duration=_duration)
        )
        order = data["work_order"]
        if order["state"] != "published":
            raise _ApiError(
                409, "WorkOrderUnavailable", "This work order has been reserved."
            )
        order["state"] = "reserved"
        self.book.claimed(str(order["id"]))
        until = datetime.now(UTC) + data["expected_duration"]
        row = {
            "uuid": str(uuid.uuid4()),
            "work_order": order["id"],
            "reserved_by": agent["name"],
            "reserved_until": until.isoformat().replace("+00:00", "Z"),
            "state": "reserved",
        }
        agent["reservations"][row["uuid"]] = row
        return Response(200, row)

    @_view
    def submit(self, request: Request, agent: dict[str, Any]) -> Response:
        own = _related(agent["reservations"], uuid.UUID)
        result = _serializer(format=_format, value=_char)
        data = self._data(request, _serializer(reservation=own, result=result))
        row = data["reservation"]
        order = self._orders[row["work_order"]]
        if row["state"] != "reserved":
            raise _Invalid(
                {"reservation": ["This reservation has already been settled."]}
            )
        if data["result"]["value"] != order["specification"]["wording"].upper():
            raise _Invalid(
                {"result": {"value": ["This does not meet the specification."]}}
            )
        row["state"] = order["state"] = "settled"
        pay = int(float(order["remuneration"]))
        agent["balance"] += pay
        self.book.pay(str(order["id"]), pay)
        key = str(uuid.uuid4())
        agent["submissions"][key] = row
        paid = {"credited": order["remuneration"], "balance": f"{agent['balance']}.00"}
        return Response(200, {"uuid": key, "reservation": row, "payment": paid})

    @_view
    def complete(self, request: Request, agent: dict[str, Any]) -> Response:
        own = _related(agent["submissions"], uuid.UUID)
        data = self._data(request, _serializer(submission=own, closing_note=_char))
        row = data["submission"]
        if row["state"] == "closed":
            raise _Invalid({"submission": ["This work order is already closed."]})
        row["state"] = self._orders[row["work_order"]]["state"] = "closed"
        return Response(200, {**row, "closing_note": data["closing_note"]})
