"""A freight company's work-order service: Java records on Spring WebFlux and Jackson.

Bean validation names every wrong field; Jackson stops at the first that it cannot read.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_PACKAGE = "com.halvorsen.freightdesk.api.dto"
_FORMATS = ["PLAIN_TEXT", "MARKDOWN", "HTML"]
# Java type -> what it can be read from, how, and what Jackson says otherwise
_SCALARS: dict[str, tuple[str, Any, str]] = {
    "UUID": (r"[\da-fA-F]{8}(-[\da-fA-F]{4}){3}-[\da-fA-F]{12}", lambda m: m[0].lower(),
             "UUID has to be represented by standard 36-char representation"),
    "Long": (r"-?\d{1,18}", lambda m: int(m[0]), "not a valid `java.lang.Long` value"),
    "Boolean": ("true|false", lambda m: m[0] == "true",
                'only "true" or "false" recognized'),
    "OutputFormat": ("|".join(_FORMATS), lambda m: m[0], "not one of the values accepted"  # noqa: ISC004
                     f" for Enum class: [{', '.join(_FORMATS)}]"),
    "Duration": (r"PT(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?",
                 lambda m: sum(int(m[i + 1] or 0) * (3600, 60, 1)[i] for i in range(3)),
                 "Failed to deserialize java.time.Duration: (java.time.format."  # noqa: ISC004
                 "DateTimeParseException) Text cannot be parsed to a Duration"),
}  # fmt: skip
_WORK = [
    ("WO-004180", "keep dry, this side up", 18),
    ("WO-004181", "gate 7 opens at half past five", 25),
    ("WO-004182", "two pallets of glass, stack no higher than three", 40),
    ("WO-004186", "reefer set point minus eighteen", 30),
    ("WO-004190", "return empty drums to bay c", 22),
    ("WO-004193", "seal number to be noted on arrival", 55),
]
# Each request record: field -> (Java type, constraint)
_CLAIM = {"workOrderId": ("UUID", "NotNull"), "agentId": ("String", "NotBlank")}
_CLAIM["leaseDuration"] = ("Duration", "NotNull")
_OUTPUT = {"format": ("OutputFormat", "NotNull"), "text": ("String", "NotBlank")}
_SUBMIT = {"leaseId": ("UUID", "NotNull"), "output": ("OutputDto", "NotNull")}
_COMPLETE = {
    "submissionId": ("Long", "NotNull"),
    "confirmed": ("Boolean", "AssertTrue"),
}
_SAYS = dict(NotNull="not be null", NotBlank="not be blank", AssertTrue="be true")  # noqa: C408
_JAVA = {"UUID": "java.util.UUID", "Duration": "java.time.Duration"}
_JAVA |= {name: f"{_PACKAGE}.{name}" for name in ("OutputFormat", "OutputDto")}


class _Refusal(Exception):  # what the advice turns into the envelope  # noqa: N818
    def __init__(self, status: int, code: str, message: str, *fields: Any) -> None:
        super().__init__(message)
        self.status, self.code, self.fields = status, code, list(fields)


def _invalid(*fields: Any) -> _Refusal:
    return _Refusal(400, "VALIDATION_FAILED", "Validation failure", *fields)


def _unreadable(path: str, value: Any, why: str) -> _Refusal:
    wrong = _wrong(path, "typeMismatch", value, why)
    return _Refusal(400, "MESSAGE_NOT_READABLE", "Failed to read HTTP message", wrong)


def _scalar(java: str, value: Any, path: str) -> Any:
    """Read one value as Jackson's deserializers do, with their coercions."""
    full = _JAVA.get(java, f"java.lang.{java}")
    start = f"Cannot deserialize value of type `{full}` from "
    if java == "OutputDto" and isinstance(value, dict):
        return _read(_OUTPUT, value, path + ".")
    if isinstance(value, dict | list):
        kind = "OBJECT" if isinstance(value, dict) else "ARRAY"
        raise _unreadable(path, None, f"{start}JsonToken.START_{kind}")
    text = value if isinstance(value, str) else json.dumps(value)
    start += f'String "{text}": ' if isinstance(value, str) else f"value ({text}): "
    if java == "String":
        return text
    if java == "OutputDto":
        start = f"Cannot construct instance of `{full}` (although at least one Creator"
        why = " exists): no String-argument constructor/factory method to deserialize"
    elif java == "Duration" and isinstance(value, int | float):
        return value  # seconds
    else:
        pattern, convert, why = _SCALARS[java]
        if match := re.fullmatch(pattern, text):
            return convert(match)
    raise _unreadable(path, value, start + why)


def _read(shape: dict[str, tuple[str, str]], body: dict[str, Any], at: str = "") -> Any:
    given = {k: v for k, v in body.items() if k in shape and v is not None}
    got = {k: _scalar(shape[k][0], v, at + k) for k, v in given.items()}
    return {name: got.get(name) for name in shape}


def _wrong(field: str, code: str, value: Any, message: str) -> dict[str, Any]:
    return {"field": field, "code": code, "rejectedValue": value, "message": message}


def _violations(shape: Any, got: dict[str, Any], at: str = "") -> list[dict[str, Any]]:
    found = []
    for name, (java, rule) in shape.items():
        value = got[name]
        blank = rule == "NotBlank" and value is not None and not value.strip()
        if value is None or blank or (rule == "AssertTrue" and not value):
            found.append(_wrong(at + name, rule, value, "must " + _SAYS[rule]))
        elif java == "OutputDto":
            found += _violations(_OUTPUT, value, name + ".")
    return found


def _advised(method: Any) -> Any:
    """Turn a refusal into the company's envelope, and the rest into its answers."""

    def advised(self: Any, request: Request) -> Response:
        trace = secrets.token_hex(16)
        try:
            return Response(200, method(self, request), {"X-Trace-Id": trace})
        except _Refusal as no:
            headers = {"WWW-Authenticate": "Bearer"} if no.status == 401 else {}
            body = {"timestamp": datetime.now(UTC).isoformat(), "traceId": trace}
            body |= {"errorCode": no.code, "message": str(no), "fieldErrors": no.fields}
            return Response(no.status, body, headers | {"X-Trace-Id": trace})

    return advised


class FreightDesk(Backend):
    """Work orders under lease; the completed submission is paid."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}  # token -> agent
        self._orders: dict[str, dict[str, Any]] = {}
        self._leases: dict[str, tuple[str, str]] = {}  # lease -> order, agent
        self._submissions: dict[int, tuple[str, str]] = {}
        for reference, text, amount in _WORK:
            key = str(uuid.uuid5(uuid.NAMESPACE_URL, reference))
            self._orders[key] = {
                "workOrderId": key,
                "reference": reference,
                "instructions": "Return the source text in upper case, nothing else.",
                "content": {"sourceText": text, "languageTag": "en-GB"},
                "compensation": {"amount": amount, "unit": "CREDITS"},
                "workStatus": "AVAILABLE",
            }

    def texts(self) -> dict[str, str]:
        return {key: o["content"]["sourceText"] for key, o in self._orders.items()}

    @_advised
    def missing(self, request: Request) -> Any:
        raise _Refusal(404, "NOT_FOUND", f"No static resource {request.path[1:]}.")

    def _agent(self, request: Request) -> str:
        if request.token not in self._agents:
            why = "Invalid bearer token" if request.token else "Not Authenticated"
            raise _Refusal(401, "UNAUTHENTICATED", why)
        return self._agents[request.token]

    def _expect(self, order: dict[str, Any], status: str) -> None:
        if order["workStatus"] != status:
            why = f"Work order {order['reference']} is {order['workStatus']}"
            raise _Refusal(409, "ILLEGAL_WORK_STATUS", f"{why}, expected {status}")

    def _body(self, request: Request, shape: Any, dto: str) -> Any:
        media = request.headers.get("Content-Type") or "application/octet-stream"
        if not re.match(r"application/([\w.-]+\+)?json\b", media):
            why = f"Content type '{media}' not supported for bodyType={_PACKAGE}.{dto}"
            raise _Refusal(415, "UNSUPPORTED_MEDIA_TYPE", why)
        try:
            code, body = "MESSAGE_NOT_READABLE", request.json()
        except ValueError as error:
            why = f"JSON decoding error: {error}" if request.raw else "No request body"
            raise _Refusal(400, "MESSAGE_NOT_READABLE", why) from None
        if not isinstance(body, dict):
            raise _Refusal(400, code, f"Cannot deserialize value of type `{dto}`")
        if found := _violations(shape, got := _read(shape, body)):
            raise _invalid(*found)
        return got

    @_advised
    def register(self, request: Request) -> Any:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_urlsafe(32)
        self._agents[token] = agent
        return {"agent_id": agent, "access_token": token, "credits": 100}

    @_advised
    def tasks(self, request: Request) -> Any:
        self._agent(request)
        raw = request.query.get("limit", "20")
        if not re.fullmatch(r"-?\d{1,9}", raw):
            raise _Refusal(400, "TYPE_MISMATCH", f"limit: '{raw}' is not an Integer")
        if not 1 <= (limit := int(raw)) <= 50:
            raise _invalid(_wrong("limit", "Range", limit, "must be between 1 and 50"))
        free = [o for o in self._orders.values() if o["workStatus"] == "AVAILABLE"]
        return {"data": {"workOrders": free[:limit], "totalElements": len(free)}}

    marketplace = tasks

    @_advised
    def claim(self, request: Request) -> Any:
        agent = self._agent(request)
        got = self._body(request, _CLAIM, "ClaimRequest")
        if got["agentId"] != agent:
            raise _Refusal(403, "AGENT_MISMATCH", "agentId is not the token's agent")
        if (order := self._orders.get(got["workOrderId"])) is None:
            raise _Refusal(404, "WORK_ORDER_NOT_FOUND", "No such work order")
        if not 60 <= (seconds := got["leaseDuration"]) <= 86400:
            why = "must be between PT1M and PT24H"
            raise _invalid(_wrong("leaseDuration", "Range", seconds, why))
        self._expect(order, "AVAILABLE")
        order["workStatus"], lease = "LEASED", str(uuid.uuid4())
        self._leases[lease] = (order["workOrderId"], agent)
        self.book.claimed(order["workOrderId"])
        until = datetime.now(UTC) + timedelta(seconds=seconds)
        data = {"leaseId": lease, "expiresAt": until.isoformat(), "workOrder": order}
        return {"data": data}

    @_advised
    def submit(self, request: Request) -> Any:
        agent = self._agent(request)
        got = self._body(request, _SUBMIT, "SubmitRequest")
        key, holder = self._leases.get(got["leaseId"], ("", ""))
        if holder != agent:
            raise _Refusal(404, "LEASE_NOT_FOUND", f"No lease {got['leaseId']}")
        order = self._orders[key]
        self._expect(order, "LEASED")
        if got["output"]["text"] != order["content"]["sourceText"].upper():
            raise _Refusal(
                422, "OUTPUT_REJECTED", "Text is not the source in upper case"
            )
        number = 90017 + len(self._submissions)
        self._submissions[number] = (key, agent)
        order["workStatus"] = "SUBMITTED"
        return {"data": {"submissionId": number, "workStatus": "SUBMITTED"}}

    @_advised
    def complete(self, request: Request) -> Any:
        agent = self._agent(request)
        got = self._body(request, _COMPLETE, "CompleteRequest")
        key, owner = self._submissions.get(got["submissionId"], ("", ""))
        if owner != agent:
            raise _Refusal(404, "SUBMISSION_NOT_FOUND", "No such submission")
        order = self._orders[key]
        self._expect(order, "SUBMITTED")
        order["workStatus"] = "COMPLETED"
        self.book.pay(key, order["compensation"]["amount"])
        return {"data": order}
