"""A trophy shop's minimal API in C#: ASP.NET Core 8, FluentValidation, ProblemDetails.

System.Text.Json reads with the web defaults (names without case, numbers from strings, what
is unknown is dropped, what is missing is the type's default); then FluentValidation speaks,
keyed by the C# property. A BadHttpRequestException is shown by its inner message. A proof is
looked at for a moment after it is sent in, and can be signed off only then.
"""

import functools
import json
import re
import secrets
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_PLATES = [
    ("Regatta", "first in the double sculls", "Brass", 18),
    ("Village fete", "best marrow in show", "Zinc", 7),
    ("Chess club", "patience, rook and pawn", "Brass", 12),
    ("Retirement", "forty years on the night mail", "Silver", 35),
    ("School sports", "egg and spoon, junior heat", "Zinc", 5),
    ("Choir festival", "second altos of the year", "Brass", 14),
    ("Sheepdog trial", "steady on the far side", "Silver", 28),
    ("Quiz league", "wooden spoon, with honour", "Zinc", 6),
    ("Allotments", "straightest row of leeks", "Brass", 11),
]
_NAMESPACE = uuid.UUID("6f2ac1de-0b6b-4c5e-9f40-2f6f3a1f7c11")
_PAGE = 4
_REVIEW_SECONDS = 0.6
_EMPTY = str(uuid.UUID(int=0))
_GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_RFC = "https://tools.ietf.org/html/rfc9110#section-15.5."
_KINDS = {
    400: ("1", "Bad Request"),
    401: ("2", "Unauthorized"),
    403: ("4", "Forbidden"),
    404: ("5", "Not Found"),
    405: ("6", "Method Not Allowed"),
    409: ("10", "Conflict"),
    415: ("16", "Unsupported Media Type"),
    422: ("21", "Unprocessable Entity"),
}
# The request records: property -> (C# type or a nested record, default).
_BOOK = {
    "BookPlateRequest": {"PlateId": "System.Guid", "EstimatedMinutes": "System.Int32"}
}
_PROOF = {
    "SubmitProofRequest": {
        "BookingId": "System.Guid",
        "Engraving": {"EngravingDto": {"Text": "System.String"}},
        "CharacterCount": "System.Int32",
    }
}
_SIGN = {
    "SignOffRequest": {
        "BookingId": "System.Guid",
        "ProofId": "System.Guid",
        "SignedOff": "System.Boolean",
    }
}


class _Problem(Exception):  # noqa: N818
    def __init__(self, status: int, detail: str = "", **more: Any) -> None:
        super().__init__(detail)
        section, title = _KINDS[status]
        body: dict[str, Any] = {
            "type": _RFC + section,
            "title": title,
            "status": status,
        }
        headers = {"Content-Type": "application/problem+json"} | more.pop("headers", {})
        if detail:
            body["detail"] = detail
        body |= more
        body["traceId"] = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
        self.response = Response(status, body, headers)


def _camel(name: str) -> str:
    return name[0].lower() + name[1:]


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def _unconverted(raw: bytes, kind: str, path: str, value: Any) -> _Problem:
    name = path.rpartition(".")[2].encode()
    at = max(raw.lower().find(b'"' + name.lower() + b'"'), 0)
    if isinstance(value, dict | list):
        end = min(
            (p for p in (raw.find(b"{", at + 1), raw.find(b"[", at + 1)) if p > 0),
            default=at,
        )
        end += 1
    else:
        token = json.dumps(value, ensure_ascii=False).encode()
        end = raw.find(token, at + len(name) + 2) + len(token)
    line = raw.count(b"\n", 0, end)
    byte = end - (raw.rfind(b"\n", 0, end) + 1)
    return _Problem(
        400,
        f"The JSON value could not be converted to {kind}. "
        f"Path: {path} | LineNumber: {line} | BytePositionInLine: {byte}.",
    )


def _convert(raw: bytes, kind: Any, path: str, value: Any) -> Any:
    if isinstance(kind, dict):
        return None if value is None else _record(raw, kind, path, value)
    bad = _unconverted(raw, kind, path, value)
    if kind == "System.String":
        if value is not None and not isinstance(value, str):
            raise bad
        return value
    if kind == "System.Guid":
        if not isinstance(value, str) or not _GUID.fullmatch(value):
            raise bad
        return value.lower()
    if kind == "System.Boolean":
        if not isinstance(value, bool):
            raise bad
        return value
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,9}", value):
        return int(value)  # JsonNumberHandling.AllowReadingFromString
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**31:
        raise bad
    return value


def _record(raw: bytes, shape: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    [(name, properties)] = shape.items()
    if not isinstance(value, dict):
        raise _unconverted(raw, name, path, value)
    defaults = {"System.Guid": _EMPTY, "System.Int32": 0, "System.Boolean": False}
    found = {
        p: defaults.get(k) if isinstance(k, str) else None
        for p, k in properties.items()
    }
    byname = {p.lower(): p for p in properties}
    for key, item in value.items():
        if own := byname.get(key.lower()):
            found[own] = _convert(raw, properties[own], f"{path}.{key}", item)
    return found


def _body(request: Request, shape: dict[str, Any]) -> dict[str, Any]:
    media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
    if not request.raw.strip():
        raise _Problem(
            400,
            'Implicit body inferred for parameter "request" but no body was provided. '
            "Did you mean to use a Service instead?",
        )
    if media != "application/json" and not media.endswith("+json"):
        raise _Problem(415, f'Expected a supported JSON media type but got "{media}".')
    try:
        value = request.json()
    except ValueError:
        first = request.raw.lstrip()[:1].decode(errors="replace")
        raise _Problem(
            400,
            f"'{first}' is an invalid start of a value. "
            "Path: $ | LineNumber: 0 | BytePositionInLine: 0.",
        ) from None
    return _record(request.raw, shape, "$", value)


class _Rules:
    """An AbstractValidator: collects every failure, property by property."""

    def __init__(self) -> None:
        self.errors: dict[str, list[str]] = {}

    def add(self, path: str, says: str) -> None:
        shown = f"'{_words(path.rpartition('.')[2])}'"
        self.errors.setdefault(path, []).append(f"{shown} {says}")

    def not_empty(self, path: str, value: Any) -> bool:
        empty = value in (None, _EMPTY) or (
            isinstance(value, str) and not value.strip()
        )
        if empty:
            self.add(path, "must not be empty.")
        return not empty

    def check(self) -> None:
        if self.errors:
            problem = _Problem(400, errors=self.errors)
            problem.response.body["title"] = "One or more validation errors occurred."
            raise problem


def _endpoint(method: Callable[..., Response]) -> Callable[..., Response]:
    @functools.wraps(method)
    def run(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except _Problem as problem:
            return problem.response

    return run


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f0+00:00")


class TrophyPlates(Backend):
    """Book a plate, send in a proof, wait until it was looked at, sign it off."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.bookings: dict[str, dict[str, Any]] = {}
        self.proofs: dict[str, dict[str, Any]] = {}
        due = datetime.now(UTC) + timedelta(days=2)
        self.plates = {
            str(uuid.uuid5(_NAMESPACE, wording)): {
                "plateId": str(uuid.uuid5(_NAMESPACE, wording)),
                "occasion": occasion,
                "wording": wording,
                "style": "All capitals, punctuation as given",
                "material": material,
                "fee": {"amount": float(Decimal(fee)), "currency": "Credits"},
                "state": "Open",
                "dueBy": _iso(due),
            }
            for occasion, wording, material, fee in _PLATES
        }

    def texts(self) -> dict[str, str]:
        return {key: plate["wording"] for key, plate in self.plates.items()}  # type: ignore[misc]

    def missing(self, request: Request) -> Response:
        return _Problem(404).response

    def agent(self, request: Request) -> str:
        if request.token not in self.agents:
            challenge = 'Bearer error="invalid_token"' if request.token else "Bearer"
            raise _Problem(401, headers={"WWW-Authenticate": challenge})
        return str(self.agents[request.token]["agent_id"])

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(32)
        self.agents[token] = {"agent_id": str(uuid.uuid4()), "credits": 100}
        return Response(200, {**self.agents[token], "access_token": token})

    @_endpoint
    def marketplace(self, request: Request) -> Response:
        asked: dict[str, int] = {}
        for name, usual in (("limit", _PAGE), ("offset", 0)):
            text = request.query.get(name) or str(usual)
            if not re.fullmatch(r"-?\d{1,9}", text):
                words = f'Failed to bind parameter "int {name}" from "{text}".'
                raise _Problem(400, words)
            asked[name] = max(int(text), 0)
        every = [p for p in self.plates.values() if p["state"] == "Open"]
        limit, offset = min(asked["limit"] or _PAGE, _PAGE), asked["offset"]
        more = offset + limit < len(every)
        return Response(
            200,
            {
                "items": every[offset : offset + limit],
                "totalCount": len(every),
                "nextOffset": offset + limit if more else None,
            },
        )

    @_endpoint
    def tasks(self, request: Request) -> Response:
        self.agent(request)
        return self.marketplace(request)

    @_endpoint
    def claim(self, request: Request) -> Response:
        agent = self.agent(request)
        given = _body(request, _BOOK)
        rules = _Rules()
        rules.not_empty("PlateId", given["PlateId"])
        minutes = given["EstimatedMinutes"]
        if not 5 <= minutes <= 240:
            says = f"must be between 5 and 240. You entered {minutes}."
            rules.add("EstimatedMinutes", says)
        rules.check()
        plate = self.plates.get(given["PlateId"])
        if plate is None:
            raise _Problem(404, f"Plate {given['PlateId']} was not found.")
        if plate["state"] != "Open":
            raise _Problem(
                409, f"Plate {plate['plateId']} is {plate['state']}, not Open."
            )
        plate["state"] = "Booked"
        self.book.claimed(plate["plateId"])  # type: ignore[arg-type]
        key = str(uuid.uuid4())
        self.bookings[key] = {"agent": agent, "plate": plate, "proof": None}
        until = datetime.now(UTC) + timedelta(minutes=minutes)
        return Response(
            200,
            {
                "bookingId": key,
                "plate": dict(plate),
                "bookedUntil": _iso(until),
            },
        )

    def booking(self, agent: str, key: str) -> dict[str, Any]:
        booking = self.bookings.get(key)
        if booking is None:
            raise _Problem(404, f"Booking {key} was not found.")
        if booking["agent"] != agent:
            raise _Problem(403, f"Booking {key} belongs to another engraver.")
        return booking

    @_endpoint
    def submit(self, request: Request) -> Response:
        agent = self.agent(request)
        given = _body(request, _PROOF)
        rules = _Rules()
        rules.not_empty("BookingId", given["BookingId"])
        if rules.not_empty("Engraving", given["Engraving"]):
            text = given["Engraving"]["Text"]
            if rules.not_empty("Engraving.Text", text):
                length = len(text.encode("utf-16-le")) // 2
                if given["CharacterCount"] != length:
                    rules.add("CharacterCount", f"must be equal to '{length}'.")
        rules.check()
        booking = self.booking(agent, given["BookingId"])
        plate = booking["plate"]
        if plate["state"] != "Booked":
            raise _Problem(
                409, f"Plate {plate['plateId']} is {plate['state']}, not Booked."
            )
        if text.strip() != plate["wording"].upper():  # type: ignore[possibly-undefined]
            raise _Problem(
                422, "The engraving is not the wording of the plate in all capitals."
            )
        key = str(uuid.uuid4())
        plate["state"] = "Proofed"
        booking["proof"] = key
        self.proofs[key] = {"ready": time.monotonic() + _REVIEW_SECONDS}
        return Response(
            200, {"proofId": key, "bookingId": given["BookingId"], "state": "InReview"}
        )

    @_endpoint
    def complete(self, request: Request) -> Response:
        agent = self.agent(request)
        given = _body(request, _SIGN)
        rules = _Rules()
        rules.not_empty("BookingId", given["BookingId"])
        rules.not_empty("ProofId", given["ProofId"])
        if not given["SignedOff"]:
            rules.add("SignedOff", "must be equal to 'True'.")
        rules.check()
        booking = self.booking(agent, given["BookingId"])
        plate = booking["plate"]
        if plate["state"] == "Booked":
            raise _Problem(409, f"Booking {given['BookingId']} has no proof yet.")
        if given["ProofId"] != booking["proof"]:
            words = f"Proof {given['ProofId']} was not found for this booking."
            raise _Problem(404, words)
        if plate["state"] == "Paid":
            raise _Problem(409, f"Plate {plate['plateId']} is Paid, not Proofed.")
        if time.monotonic() < self.proofs[booking["proof"]]["ready"]:
            raise _Problem(
                409,
                f"Proof {booking['proof']} is still in review. Try again shortly.",
                headers={"Retry-After": "1"},
            )
        plate["state"] = "Paid"
        self.book.pay(plate["plateId"], int(plate["fee"]["amount"]))
        account = self.agents[request.token]
        account["credits"] += int(plate["fee"]["amount"])
        return Response(
            200,
            {
                "bookingId": given["BookingId"],
                "state": "Paid",
                "paid": plate["fee"],
                "balance": account["credits"],
            },
        )
