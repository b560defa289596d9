"""Northmoor Railway: the signage desk. Ktor, kotlinx.serialization, StatusPages."""

import json
import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_PACKAGE = "uk.co.northmoor.signage.api"
_REASONS = {
    400: "Bad Request",
    404: "Not Found",
    409: "Conflict",
    422: "Unprocessable Entity",
}

# order number, station code, station, sign kind, location, face, wording, fee
_ORDERS = [
    ("SGN-20481", "NMR", "Northmoor Central", "PLATFORM_BOARD", "Platform 2", "FRONT",
     "Platform 2 for Harrow Bay and all stations to Selby", 16),
    ("SGN-20482", "NMR", "Northmoor Central", "PLATFORM_BOARD", "Platform 2", "BACK",
     "Way out and taxis", 8),
    ("SGN-20485", "HWB", "Harrow Bay", "SAFETY", "Level crossing", "FRONT",
     "Stop, look & listen before crossing the line", 15),
    ("SGN-20490", "HWB", "Harrow Bay", "NAMEPLATE", "Booking hall", "FRONT",
     "Harrow Bay (for Penrhôs Ferry)", 11),
    ("SGN-20493", "KLD", "Kelder Junction", "WAYFINDING", "Footbridge", "FRONT",
     "Toilets, lost property and left luggage", 12),
    ("SGN-20494", "KLD", "Kelder Junction", "WAYFINDING", "Footbridge", "BACK",
     "Step-free route to platforms 3-5", 13),
    ("SGN-20501", "SBY", "Selby Road", "SAFETY", "Signal box stairs", "FRONT",
     "Authorised staff only beyond this point", 10),
]  # fmt: skip


class _NoError(Exception):
    """An exception that StatusPages maps."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


# --- kotlinx.serialization's streaming decoder, Json { ignoreUnknownKeys = true } ---

_STRING = "String"
_OPTIONAL = "String?"


class _Enum:
    def __init__(self, name: str, *values: str) -> None:
        self.name = f"{_PACKAGE}.{name}"
        self.values = values


class _Record:
    """A @Serializable data class."""

    def __init__(self, name: str, **fields: Any) -> None:
        self.name = f"{_PACKAGE}.{name}"
        self.fields = fields


_TOKENS = {
    '"': "quotation mark '\"'",
    "{": "start of the object '{'",
    "}": "end of the object '}'",
    ":": "colon ':'",
}
_COERCE = (
    "Use 'coerceInputValues = true' in 'Json {}' builder to coerce nulls "
    "if property has a default value."
)


class _IllegalInputError(Exception):
    pass


class _Decoder:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.path: list[str] = []

    def _fail(self, message: str, position: int, hint: str = "") -> _IllegalInputError:
        said = f"{message} at path: {self._where()}" + (f"\n{hint}" if hint else "")
        if position >= 0:
            said = f"Unexpected JSON token at offset {position}: {said}"
        return _IllegalInputError(f"{said}\nJSON input: {self._minified(position)}")

    def _where(self) -> str:
        return "$" + "".join(f".{name}" for name in self.path)

    def _minified(self, offset: int) -> str:
        size = len(self.source)
        if size < 200:
            return self.source
        if offset < 0:
            return "....." + self.source[-60:]
        start, end = offset - 30, offset + 30
        return (
            ("....." if start > 0 else "")
            + self.source[max(start, 0) : min(end, size)]
            + ("....." if end < size else "")
        )

    def _skip_blanks(self) -> str:
        while self.at < len(self.source) and self.source[self.at] in " \t\r\n":
            self.at += 1
        return self.source[self.at : self.at + 1]

    def _expect(self, token: str) -> None:
        got = self._skip_blanks()
        if got == token:
            self.at += 1
            return
        expected = _TOKENS[token]
        if not got:
            raise self._fail(f"Expected {expected}, but had 'EOF' instead", -1)
        if token == '"' and re.match(r"null\b", self.source[self.at :]):
            raise self._fail(
                "Expected string literal but 'null' literal was found", self.at, _COERCE
            )
        if self.at + 1 == len(self.source):
            got = "EOF"
        raise self._fail(f"Expected {expected}, but had '{got}' instead", self.at)

    def _string(self) -> str:
        self._expect('"')
        start = self.at
        try:
            text, self.at = json.decoder.scanstring(  # type: ignore[attr-defined]
                self.source, start, False
            )
        except ValueError:
            raise self._fail(
                "Expected quotation mark '\"', but had 'EOF' instead",
                len(self.source) - 1,
            ) from None
        return str(text)

    def _skip_value(self) -> None:
        self._skip_blanks()
        try:
            _, self.at = json.JSONDecoder(strict=False).raw_decode(self.source, self.at)
        except ValueError:
            got = self.source[self.at : self.at + 1] or "EOF"
            raise self._fail(
                f"Expected quotation mark '\"', but had '{got}' instead", self.at
            ) from None

    def _value(self, kind: Any) -> Any:
        if isinstance(kind, _Record):
            return self._record(kind)
        if kind == _OPTIONAL:
            self._skip_blanks()
            if re.match(r"null\b", self.source[self.at :]):
                self.at += 4
                return None
        text = self._string()
        if isinstance(kind, _Enum) and text not in kind.values:
            raise _IllegalInputError(
                f"{kind.name} does not contain element with name '{text}'"
                f" at path {self._where()}"
            )
        return text

    def _record(self, record: _Record) -> dict[str, Any]:
        depth = len(self.path)
        self._expect("{")
        found: dict[str, Any] = {}
        comma = -1
        while (got := self._skip_blanks()) and got not in "}],:":
            comma = -1
            key = self._string()
            self._expect(":")
            if key in record.fields:
                self.path[depth:] = [key]
                found[key] = self._value(record.fields[key])
            else:
                self._skip_value()
            if self._skip_blanks() == ",":
                comma = self.at
                self.at += 1
            else:
                break
        if comma >= 0:
            raise self._fail(
                "Trailing comma before the end of JSON object",
                comma,
                "Trailing commas are non-complaint JSON and not allowed by default. "
                "Use 'allowTrailingComma = true' in 'Json {}' builder to support them.",
            )
        self._expect("}")
        del self.path[depth:]
        absent = [
            name
            for name, kind in record.fields.items()
            if kind != _OPTIONAL and name not in found
        ]
        if len(absent) == 1:
            raise _IllegalInputError(
                f"Field '{absent[0]}' is required for type with serial name "
                f"'{record.name}', but it was missing at path: {self._where()}"
            )
        if absent:
            raise _IllegalInputError(
                f"Fields [{', '.join(absent)}] are required for type with serial name "
                f"'{record.name}', but they were missing at path: {self._where()}"
            )
        return {name: found.get(name) for name in record.fields}

    def whole(self, record: _Record) -> dict[str, Any]:
        found = self._record(record)
        if got := self._skip_blanks():
            raise self._fail(
                f"Expected EOF after parsing, but had {got} instead", self.at
            )
        return found


_CLAIM = _Record("AssignOrderRequest", orderNo=_STRING)
_SUBMIT = _Record(
    "ProofRequest",
    workTicket=_STRING,
    panel=_Record("PanelProof", face=_Enum("Face", "FRONT", "BACK"), legend=_STRING),
)
_COMPLETE = _Record("SignOffRequest", workTicket=_STRING, signedOffBy=_OPTIONAL)


class Northmoor(Backend):
    """The signage desk: sign orders, work tickets, sign-off."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._orders: dict[str, dict[str, Any]] = {}
        self._tickets: dict[str, dict[str, Any]] = {}
        needed = datetime.now(UTC).date() + timedelta(days=12)
        for number, code, name, kind, spot, face, wording, fee in _ORDERS:
            self._orders[number] = {
                "orderNo": number,
                "station": {"code": code, "name": name},
                "signType": kind,
                "location": spot,
                "face": face,
                "wording": wording,
                "typesetting": "Set the wording in capitals throughout.",
                "feeCredits": fee,
                "requiredBy": needed.isoformat(),
                "state": "OPEN",
            }

    def texts(self) -> dict[str, str]:
        """Return each wording by its order."""
        return {number: order["wording"] for number, order in self._orders.items()}

    # --- plugins ---

    def missing(self, request: Request) -> Response:
        """Ktor's bare 404."""
        return Response(404)

    def _receive(self, request: Request, record: _Record) -> dict[str, Any]:
        try:
            return _Decoder(request.raw.decode("utf-8", "replace")).whole(record)
        except _IllegalInputError as illegal:
            raise _NoError(400, f"Illegal input: {illegal}") from None

    def _route(self, request: Request, record: _Record | None, route: Any) -> Response:
        """authenticate("agents") { post { route(call.receive()) } } with StatusPages."""
        agent = self._agents.get(request.token)
        if agent is None:
            return Response(401, b"", {"WWW-Authenticate": "Bearer"})
        try:
            if record is None:
                return Response(200, route(agent))
            media = (request.headers.get("Content-Type") or "").partition(";")[0]
            if media.strip().lower() != "application/json":
                return Response(415)
            return Response(200, route(agent, self._receive(request, record)))
        except _NoError as no:
            return Response(
                no.status,
                {
                    "status": no.status,
                    "error": _REASONS[no.status],
                    "message": str(no),
                    "path": request.path,
                },
            )

    # --- routes ---

    def register(self, request: Request) -> Response:
        """POST create-free-agent-public."""
        self.book.registrations += 1
        agent = {"id": f"AG-{secrets.token_hex(4).upper()}", "credits": 100}
        token = secrets.token_urlsafe(32)
        self._agents[token] = agent
        return Response(
            200, {"agent_id": agent["id"], "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        """GET get-marketplace-tasks; limit.toIntOrNull() ?: 25, coerced to 1..100."""

        def route(_agent: dict[str, Any]) -> Any:
            raw = request.query.get("limit", "")
            limit = int(raw) if re.fullmatch(r"[+-]?[0-9]{1,9}", raw) else 25
            orders = list(self._orders.values())
            return {
                "orders": orders[: max(1, min(limit, 100))],
                "count": len(orders),
            }

        return self._route(request, None, route)

    def claim(self, request: Request) -> Response:
        """POST claim-task-public."""

        def route(agent: dict[str, Any], body: dict[str, Any]) -> Any:
            number = body["orderNo"]
            if not number.strip():
                raise _NoError(400, "orderNo must not be blank")
            order = self._orders.get(number)
            if order is None:
                raise _NoError(404, f"No sign order {number}")
            if order["state"] != "OPEN":
                raise _NoError(409, f"Sign order {number} is {order['state']}")
            order["state"] = "ASSIGNED"
            ticket = f"WT-{secrets.token_hex(6)}"
            self._tickets[ticket] = {"order": order, "agent": agent["id"]}
            self.book.claimed(number)
            until = datetime.now(UTC) + timedelta(hours=6)
            return {
                "workTicket": ticket,
                "orderNo": number,
                "state": "ASSIGNED",
                "assignedTo": agent["id"],
                "assignedUntil": until.strftime("%Y-%m-%dT%H:%M:%SZ"),
            }

        return self._route(request, _CLAIM, route)

    def _ticketed(self, agent: dict[str, Any], ticket: str) -> dict[str, Any]:
        if not ticket.strip():
            raise _NoError(400, "workTicket must not be blank")
        found = self._tickets.get(ticket)
        if found is None or found["agent"] != agent["id"]:
            raise _NoError(404, f"No work ticket {ticket}")
        order: dict[str, Any] = found["order"]
        return order

    def submit(self, request: Request) -> Response:
        """POST submit-task-result-public."""

        def route(agent: dict[str, Any], body: dict[str, Any]) -> Any:
            order = self._ticketed(agent, body["workTicket"])
            panel = body["panel"]
            if not panel["legend"].strip():
                raise _NoError(400, "panel.legend must not be blank")
            if order["state"] != "ASSIGNED":
                raise _NoError(
                    409, f"Sign order {order['orderNo']} is {order['state']}"
                )
            if panel["face"] != order["face"]:
                raise _NoError(
                    422,
                    f"panel.face {panel['face']} is not the face that was ordered "
                    f"({order['face']})",
                )
            if panel["legend"] != order["wording"].upper():
                raise _NoError(
                    422, "panel.legend is not the ordered wording set in capitals"
                )
            order["state"] = "PROOFED"
            return {
                "workTicket": body["workTicket"],
                "orderNo": order["orderNo"],
                "state": "PROOFED",
            }

        return self._route(request, _SUBMIT, route)

    def complete(self, request: Request) -> Response:
        """POST complete-task-public."""

        def route(agent: dict[str, Any], body: dict[str, Any]) -> Any:
            order = self._ticketed(agent, body["workTicket"])
            if not (body["signedOffBy"] or "").strip():
                raise _NoError(400, "signedOffBy is required")
            if body["signedOffBy"] != agent["id"]:
                raise _NoError(
                    400, "signedOffBy must be the agent the work ticket is assigned to"
                )
            if order["state"] != "PROOFED":
                raise _NoError(
                    409, f"Sign order {order['orderNo']} is {order['state']}"
                )
            order["state"] = "CLOSED"
            agent["credits"] += order["feeCredits"]
            self.book.pay(order["orderNo"], order["feeCredits"])
            return {
                "orderNo": order["orderNo"],
                "state": "CLOSED",
                "signedOffBy": agent["id"],
                "paidCredits": order["feeCredits"],
                "accountBalance": agent["credits"],
            }

        return self._route(request, _COMPLETE, route)
