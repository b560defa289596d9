"""An airfield bulletin bureau in Go: huma v2 on chi, its validator and problem documents.

Refusals are application/problem+json; what is wrong with a body is 422 "validation failed" and
a list of message, location and value. Properties that a schema does not have are unexpected,
though their case is not looked at. Every answer names its JSON schema in `$schema`, which can
be fetched. Ids are int64, names keep Go's initialisms: bulletinID, requestID.

The list does not show the text; it comes with the lease. A claim carries a requestID of the
client's own, so that one sent twice gives the same lease; a lease runs out when nothing is
filed. Filing gives a receipt, and lease and receipt together close the bulletin.
"""

import json
import re
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_BULLETINS = [
    ("A0417/26", "EDKV", "rwy 09/27 closed for grass cutting, daily 0600-0900", 16),
    ("A0418/26", "EDKV", "windsock north of apron unserviceable", 7),
    ("A0421/26", "LFQM", "model rockets up to 900 ft agl within 2 km", 21),
    ("B0102/26", "LFQM", "fuel: no avgas until further notice", 9),
    ("B0107/26", "EHTW", "crane 48 m, lit, 350 m south of threshold 23", 18),
    ("B0110/26", "EHTW", "large flocks of geese at dusk", 6),
    ("C0033/26", "EBSG", "glider winch in use; cross overhead above 2500 ft", 24),
    ("C0034/26", "EBSG", "taxiway b soft after rain, use caution", 11),
    ("C0039/26", "LSZK", "tower frequency changed to 119.355", 13),
    (
        "C0041/26",
        "LSZK",
        "parking limited to three aircraft, prior permission required",
        15,
    ),
    ("C0044/26", "EDKV", "parachute jumping sat and sun, sunrise to sunset", 19),
    ("C0045/26", "LFQM", "restaurant open again", 3),
]
_LEASE_SECONDS = 90
_PAGE = 6

Schema = dict[str, Any]
Detail = dict[str, Any]


def _model(required: dict[str, Schema]) -> Schema:
    link = {
        "type": "string",
        "format": "uri",
        "description": "A URL to the JSON Schema for this object.",
        "readOnly": True,
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {"$schema": link, **required},
        "required": list(required),
    }


_UUID: Schema = {"type": "string", "format": "uuid"}
_CONTENT: Schema = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "mimeType": {"type": "string", "enum": ["text/plain", "text/markdown"]},
        "text": {"type": "string", "minLength": 1, "maxLength": 2000},
    },
    "required": ["mimeType", "text"],
}
_SCHEMAS: dict[str, Schema] = {
    "ClaimInputBody": _model(
        {
            "bulletinID": {"type": "integer", "format": "int64", "minimum": 1},
            "requestID": _UUID,
        }
    ),
    "FileInputBody": _model(
        {"leaseToken": {"type": "string", "minLength": 1}, "content": _CONTENT}
    ),
    "CloseInputBody": _model(
        {"leaseToken": {"type": "string", "minLength": 1}, "receiptID": _UUID}
    ),
}


def _uuid_fault(text: str) -> str:
    inner = text
    if len(text) == 36 + 9:
        if text[:9].lower() != "urn:uuid:":
            return f'invalid urn prefix: "{text[:9]}"'
        inner = text[9:]
    elif len(text) == 36 + 2:
        inner = text[1:-1]
    elif len(text) == 32:
        return "" if re.fullmatch(r"[0-9a-fA-F]{32}", text) else "invalid UUID format"
    elif len(text) != 36:
        return f"invalid UUID length: {len(text)}"
    shape = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    return "" if re.fullmatch(shape, inner, re.IGNORECASE) else "invalid UUID format"


def _validate(schema: Schema, path: str, value: Any, found: list[Detail]) -> None:
    """Do as huma.Validate does."""

    def add(message: str, where: str = path) -> None:
        found.append({"message": message, "location": where, "value": value})

    kind = schema["type"]
    if kind == "integer":
        if isinstance(value, bool) or not isinstance(value, int | float):
            return add("expected integer")
        if isinstance(value, float) and not value.is_integer():
            return add("expected integer")
        if value < schema.get("minimum", value):
            add(f"expected number >= {schema['minimum']}")
        if value > schema.get("maximum", value):
            add(f"expected number <= {schema['maximum']}")
    elif kind == "string":
        if not isinstance(value, str):
            return add("expected string")
        if len(value) < schema.get("minLength", 0):
            add(f"expected length >= {schema['minLength']}")
        if len(value) > schema.get("maxLength", len(value)):
            add(f"expected length <= {schema['maxLength']}")
        if schema.get("format") == "uuid" and (fault := _uuid_fault(value)):
            add(f"expected string to be RFC 4122 uuid: {fault}")
    elif not isinstance(value, dict):
        return add("expected object")
    else:
        actual = {name.lower(): name for name in value}
        for name, inner in schema["properties"].items():
            key = name if name in value else actual.get(name.lower())
            if key is None:
                if name in schema["required"]:
                    add(f"expected required property {name} to be present")
            elif value[key] is not None or name in schema["required"]:
                _validate(inner, f"{path}.{name}", value[key], found)
        known = {name.lower() for name in schema["properties"]}
        for name in value:
            if name.lower() not in known:
                add("unexpected property", f"{path}.{name}")
    if "enum" in schema and value not in schema["enum"]:
        add(f'expected value to be one of "{", ".join(schema["enum"])}"')
    return None


def _decoded(value: Any, schema: Schema) -> Any:
    """Unmarshal a valid value into the struct, whatever the case of its names."""
    if schema["type"] != "object":
        return int(value) if schema["type"] == "integer" else value
    actual = {name.lower(): name for name in value}
    return {
        name: _decoded(
            value[name] if name in value else value[actual[name.lower()]],
            schema["properties"][name],
        )
        for name in schema["required"]
    }


def _no_constant(name: str) -> Any:
    raise json.JSONDecodeError("Expecting value", name, 0)


def _go_json_error(fault: json.JSONDecodeError) -> str:
    if fault.pos >= len(fault.doc):
        return "unexpected end of JSON input"
    letter = fault.doc[fault.pos]
    quoted = r"'\''" if letter == "'" else f"'{letter}'"
    where = {
        "Expecting property name enclosed in double quotes": (
            "looking for beginning of object key string"
        ),
        "Expecting ':' delimiter": "after object key",
        "Expecting ',' delimiter": "after object key:value pair",
        "Extra data": "after top-level value",
    }.get(fault.msg, "looking for beginning of value")
    return f"invalid character {quoted} {where}"


def _rfc3339(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class _StatusError(Exception):  # noqa: N818
    """huma.NewError."""

    def __init__(self, status: int, detail: str, *errors: Detail) -> None:
        super().__init__(detail)
        title = HTTPStatus(status).phrase
        title = "Unprocessable Entity" if status == 422 else title
        self.status = status
        self.model = {"title": title, "status": status, "detail": detail}
        if errors:
            self.model["errors"] = [
                {name: v for name, v in error.items() if v is not None}
                for error in errors
            ]


class NotamHuma(Backend):
    """Twelve bulletins; requestID, lease token, typed content, receipt."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}
        self._leases: dict[str, dict[str, Any]] = {}
        self._answers: dict[str, dict[str, Any]] = {}
        issued = datetime.now(UTC) - timedelta(hours=14)
        self._bulletins: dict[int, dict[str, Any]] = {}
        self._raw: dict[int, str] = {}
        for at, (series, airfield, text, pay) in enumerate(_BULLETINS):
            number = 260_400_118 + 37 * at
            self._raw[number] = text
            self._bulletins[number] = {
                "id": number,
                "series": series,
                "airfield": airfield,
                "wordCount": len(text.split()),
                "payCredits": pay,
                "state": "pending",
                "issuedAt": _rfc3339(issued + timedelta(minutes=17 * at)),
            }

    def texts(self) -> dict[str, str]:
        return {str(number): text for number, text in self._raw.items()}

    def document(self, request: Request) -> Response:
        """Return a schema; there is nothing else to read here."""
        name = request.path.removeprefix("/schemas/").removesuffix(".json")
        if request.path == f"/schemas/{name}.json":
            if name in _SCHEMAS:
                return Response(200, _SCHEMAS[name])
            if name in self._answers:
                return Response(200, self._describe(self._answers[name]))
        return self.missing(request)

    def _describe(self, value: Any) -> Schema:
        if isinstance(value, dict):
            inner = {name: self._describe(v) for name, v in value.items()}
            return {
                "type": "object",
                "additionalProperties": False,
                "properties": inner,
            }
        if isinstance(value, list):
            return {"type": "array", "items": self._describe(value[0]) if value else {}}
        kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
        return {"type": kinds.get(type(value), "null")}

    def _write(
        self, request: Request, name: str, body: dict[str, Any], status: int = 200
    ) -> Response:
        link = f"/schemas/{name}.json"
        answer = {"$schema": request.base + link, **body}
        self._answers[name] = answer
        media = "application/problem+json" if status >= 400 else "application/json"
        headers = {"Link": f'<{link}>; rel="describedBy"', "Content-Type": media}
        return Response(status, answer, headers)

    def _operation(
        self, request: Request, into: str, name: str, run: Callable[..., dict[str, Any]]
    ) -> Response:
        try:
            agent = self._authorize(request)
            body = self._read(request, _SCHEMAS[into])
            self._expire()
            return self._write(request, name, run(agent, **body))
        except _StatusError as no:
            return self._write(request, "ErrorModel", no.model, no.status)

    def _authorize(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise _StatusError(401, "missing bearer token")
        if request.token not in self._agents:
            raise _StatusError(401, "unknown bearer token")
        return self._agents[request.token]

    @staticmethod
    def _read(request: Request, schema: Schema) -> dict[str, Any]:
        if not request.raw:
            raise _StatusError(400, "request body is required")
        text = request.raw.decode(errors="replace")
        media = (
            (request.headers.get("Content-Type") or "")
            .partition(";")[0]
            .strip()
            .lower()
        )
        fault = {"message": "", "location": "body", "value": text}
        if media and media != "application/json" and not media.endswith("+json"):
            fault["message"] = f"unknown content type: {media}"
            raise _StatusError(415, "validation failed", fault)
        try:
            body = json.loads(text, parse_constant=_no_constant)
        except json.JSONDecodeError as wrong:
            fault["message"] = _go_json_error(wrong)
            raise _StatusError(400, "validation failed", fault) from None
        found: list[Detail] = []
        _validate(schema, "body", body, found)
        if found:
            raise _StatusError(422, "validation failed", *found)
        decoded: dict[str, Any] = _decoded(body, schema)
        return decoded

    def _expire(self) -> None:
        """Give back what was leased and never filed."""
        for lease in self._leases.values():
            if lease["state"] == "leased" and lease["until"] < time.monotonic():
                lease["state"] = "expired"
                self._bulletins[lease["bulletinID"]]["state"] = "pending"
                self.book.held.discard(str(lease["bulletinID"]))

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"nb_{secrets.token_urlsafe(27)}"
        agent = {"agent_id": f"agent-{secrets.token_hex(5)}", "credits": 100}
        self._agents[token] = agent
        return self._write(request, "JoinOutputBody", {**agent, "access_token": token})

    def _list(self, request: Request) -> Response:
        try:
            limit = self._query(request, "limit", _PAGE, {"minimum": 1, "maximum": 25})
            start = self._query(request, "pageToken", 0, {"minimum": 0})
        except _StatusError as no:
            return self._write(request, "ErrorModel", no.model, no.status)
        self._expire()
        rows = [
            row
            for row in self._bulletins.values()
            if row["state"] == "pending" and row["id"] > start
        ]
        body: dict[str, Any] = {"bulletins": rows[:limit]}
        if len(rows) > limit:
            body["nextPageToken"] = str(rows[limit - 1]["id"])
        return self._write(request, "ListOutputBody", body)

    @staticmethod
    def _query(request: Request, name: str, default: int, bounds: Schema) -> int:
        given = request.query.get(name) or str(default)
        where = f"query.{name}"
        if not re.fullmatch(r"[+-]?\d+", given):
            fault = {"message": "invalid integer", "location": where, "value": given}
            raise _StatusError(422, "validation failed", fault)
        found: list[Detail] = []
        _validate({"type": "integer", **bounds}, where, int(given), found)
        if found:
            raise _StatusError(422, "validation failed", *found)
        return int(given)

    def marketplace(self, request: Request) -> Response:
        return self._list(request)

    def tasks(self, request: Request) -> Response:
        try:
            self._authorize(request)
        except _StatusError as no:
            return self._write(request, "ErrorModel", no.model, no.status)
        return self._list(request)

    def agents(self, request: Request) -> Response:
        rows = [{"agentID": agent["agent_id"]} for agent in self._agents.values()]
        return self._write(request, "AgentsOutputBody", {"agents": rows})

    directory = agents

    def claim(self, request: Request) -> Response:
        return self._operation(
            request, "ClaimInputBody", "ClaimOutputBody", self._claim
        )

    def _claim(
        self,
        agent: dict[str, Any],
        bulletinID: int,  # noqa: N803
        requestID: str,  # noqa: N803
    ) -> dict[str, Any]:
        for lease in self._leases.values():
            if (lease["agent"], lease["requestID"]) == (agent["agent_id"], requestID):
                if lease["bulletinID"] == bulletinID and lease["state"] != "expired":
                    return self._leased(lease)
                fault = {
                    "message": f"already used for bulletin {lease['bulletinID']}",
                    "location": "body.requestID",
                    "value": requestID,
                }
                raise _StatusError(409, "requestID must be new for every claim", fault)
        row = self._bulletins.get(bulletinID)
        if row is None:
            raise _StatusError(404, f"bulletin {bulletinID} not found")
        if row["state"] != "pending":
            raise _StatusError(
                409, f"bulletin {bulletinID} is {row['state']}, not pending"
            )
        row["state"] = "leased"
        self.book.claimed(str(bulletinID))
        token = f"lse_{secrets.token_hex(12)}"
        ends = datetime.now(UTC) + timedelta(seconds=_LEASE_SECONDS)
        self._leases[token] = {
            "token": token,
            "bulletinID": bulletinID,
            "requestID": requestID,
            "agent": agent["agent_id"],
            "state": "leased",
            "expiresAt": _rfc3339(ends),
            "until": time.monotonic() + _LEASE_SECONDS,
            "receiptID": "",
        }
        return self._leased(self._leases[token])

    def _leased(self, lease: dict[str, Any]) -> dict[str, Any]:
        number = lease["bulletinID"]
        shown = {name: lease[name] for name in ("token", "bulletinID", "expiresAt")}
        guidance = "File the raw text in capitals; digits, units and punctuation stay."
        bulletin = {**self._bulletins[number], "rawText": self._raw[number]}
        return {"lease": shown, "bulletin": bulletin | {"guidance": guidance}}

    def _held(self, agent: dict[str, Any], token: str) -> dict[str, Any]:
        lease = self._leases.get(token)
        if lease is None:
            raise _StatusError(404, "lease not found")
        if lease["agent"] != agent["agent_id"]:
            raise _StatusError(403, "lease is held by another agent")
        if lease["state"] == "expired":
            raise _StatusError(410, f"lease expired at {lease['expiresAt']}")
        return lease

    def submit(self, request: Request) -> Response:
        return self._operation(request, "FileInputBody", "FileOutputBody", self._file)

    def _file(
        self,
        agent: dict[str, Any],
        leaseToken: str,  # noqa: N803
        content: dict[str, str],
    ) -> dict[str, Any]:
        lease = self._held(agent, leaseToken)
        if lease["state"] != "leased":
            raise _StatusError(409, f"bulletin has already been {lease['state']}")
        number = lease["bulletinID"]
        if content["text"].strip() != self._raw[number].upper():
            fault = {
                "message": "expected rawText of the bulletin in capitals",
                "location": "body.content.text",
                "value": content["text"],
            }
            raise _StatusError(422, "bulletin not accepted", fault)
        digits = secrets.token_hex(15)
        receipt = f"{digits[:8]}-{digits[8:12]}-4{digits[12:15]}-a{digits[15:18]}-{digits[18:]}"
        lease |= {"state": "filed", "receiptID": receipt}
        self._bulletins[number]["state"] = "filed"
        return {"receiptID": receipt, "bulletinID": number, "state": "filed"}

    def complete(self, request: Request) -> Response:
        return self._operation(
            request, "CloseInputBody", "CloseOutputBody", self._close
        )

    def _close(
        self,
        agent: dict[str, Any],
        leaseToken: str,  # noqa: N803
        receiptID: str,  # noqa: N803
    ) -> dict[str, Any]:
        lease = self._held(agent, leaseToken)
        if lease["state"] == "leased":
            raise _StatusError(409, "bulletin has not been filed yet")
        if lease["state"] == "closed":
            raise _StatusError(409, "bulletin has already been closed")
        if receiptID.lower() != lease["receiptID"]:
            fault = {
                "message": "not the receipt of this lease",
                "location": "body.receiptID",
                "value": receiptID,
            }
            raise _StatusError(422, "receipt does not match", fault)
        row = self._bulletins[lease["bulletinID"]]
        lease["state"] = row["state"] = "closed"
        self.book.pay(str(row["id"]), row["payCredits"])
        agent["credits"] += row["payCredits"]
        return {
            "bulletin": row,
            "paidCredits": row["payCredits"],
            "balanceCredits": agent["credits"],
        }
