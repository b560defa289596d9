"""A broadcaster's caption desk: an internal Fastify service with the house's own words.

Items of the running order have a pid; an agent books one, delivers copy for the booking and
signs it off. Bodies are checked by JSON schema (the first failure is told, scalars are
coerced, unknown properties dropped). The desk pays when it accepts a delivery.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ITEMS = [
    # pid, programme, network, duration, fee, script
    (
        "p0hx41cd",
        "The Early Bulletin",
        "radio-north",
        "PT1M30S",
        11,
        "Good morning. It is six o'clock, here is the news.",
    ),
    (
        "p0hx42kf",
        "Harbour Lights",
        "tv-one",
        "PT45S",
        25,
        "[door slams] You said you'd wait for me, Tom!",
    ),
    (
        "p0hx47mm",
        "Gardening Hour",
        "radio-north",
        "PT2M",
        8,
        "Sow the beans now, but keep an eye on the frost",
    ),
    (
        "p0hx4bq2",
        "Match Night",
        "tv-two",
        "PT3M10S",
        40,
        "Two-nil at the break, and the visitors look tired",
    ),
    (
        "p0hx4c9v",
        "The Archive Room",
        "tv-one",
        "PT55S",
        19,
        "Recorded in 1961; restored by the film library",
    ),
    (
        "p0hx4d7w",
        "Weather for Sailors",
        "radio-north",
        "PT2M20S",
        15,
        "Dogger, Fisher: south-west 5 to 7, rain later",
    ),
    (
        "p0hx4f3z",
        "Small Hours",
        "tv-two",
        "PT1M",
        33,
        "Stay with us - more music after the headlines",
    ),
]

_DURATION = re.compile(
    r"P(?!$)((\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?|(\d+W)?)"
)

_TEXT = {"type": "string", "minLength": 1}
_CLAIM = {"booking": {"pid": _TEXT, "eta": {"type": "string", "format": "duration"}}}
_SUBMIT = {"delivery": {"booking_id": _TEXT, "copy": _TEXT}}
_COMPLETE = {"booking_id": _TEXT, "rights_cleared": {"type": "boolean", "const": True}}

_REASONS = {
    400: "Bad Request", 403: "Forbidden", 404: "Not Found", 409: "Conflict",
    415: "Unsupported Media Type",
}  # fmt: skip


class _Refusal(Exception):  # noqa: N818
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        body = {
            "statusCode": status,
            "code": code,
            "error": _REASONS[status],
            "message": message,
        }
        self.answer = Response(
            status, body, {"x-request-id": f"req-{secrets.token_hex(3)}"}
        )


def _invalid(where: str, says: str) -> _Refusal:
    return _Refusal(400, "FST_ERR_VALIDATION", f"{where} {says}")


def _scalar(value: Any, schema: dict[str, Any], where: str) -> Any:
    """Coerce and check one value as Ajv does."""
    if schema["type"] == "string":
        if isinstance(value, bool):
            value = str(value).lower()
        elif value is None:
            value = ""
        elif isinstance(value, (int, float)):
            value = str(value)
        if not isinstance(value, str):
            raise _invalid(where, "must be string")
        if len(value) < schema.get("minLength", 0):
            raise _invalid(where, "must NOT have fewer than 1 characters")
        if "format" in schema and not _DURATION.fullmatch(value):
            raise _invalid(where, f'must match format "{schema["format"]}"')
        return value
    if value in ("true", 1):
        value = True
    elif value in ("false", 0) or value is None:
        value = False
    if not isinstance(value, bool):
        raise _invalid(where, "must be boolean")
    if value is not schema["const"]:
        raise _invalid(where, "must be equal to constant")
    return value


def _checked(value: Any, schema: dict[str, Any], where: str = "body") -> dict[str, Any]:
    """Check an object and return what the schema knows of it."""
    if not isinstance(value, dict):
        raise _invalid(where, "must be object")
    for name in schema:
        if name not in value:
            raise _invalid(where, f"must have required property '{name}'")
    return {
        name: (_scalar if "type" in inner else _checked)(
            value[name], inner, f"{where}/{name}"
        )
        for name, inner in schema.items()
    }


class CaptionDesk(Backend):
    """The caption desk of a broadcaster."""

    def __init__(self) -> None:
        super().__init__()
        self._freelancers: dict[str, str] = {}  # token -> agent id
        self._bookings: dict[str, dict[str, Any]] = {}
        self._holders: dict[str, str] = {}  # booking id -> agent id
        on_air = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        self._items: dict[str, dict[str, Any]] = {
            pid: {
                "pid": pid,
                "programme": {"title": title, "network": network},
                "brief": "Set the script in capitals, otherwise unchanged, and file it as copy.",
                "script": script,
                "on_air": f"{on_air + timedelta(days=1, hours=hour):%Y-%m-%dT%H:%M:%SZ}",
                "duration": duration,
                "fee": {"credits": fee},
                "state": "open",
            }
            for hour, (pid, title, network, duration, fee, script) in enumerate(_ITEMS)
        }

    def texts(self) -> dict[str, str]:
        """Return the script of every item."""
        return {pid: item["script"] for pid, item in self._items.items()}

    def missing(self, request: Request) -> Response:
        """Return Fastify's answer to an unknown route."""
        message = f"Route {request.method}:{request.path} not found"
        return Response(
            404, {"message": message, "error": "Not Found", "statusCode": 404}
        )

    def register(self, request: Request) -> Response:
        """Take on a freelancer."""
        self.book.registrations += 1
        token = f"cd_{secrets.token_hex(20)}"
        agent_id = f"fl-{secrets.token_hex(4)}"
        self._freelancers[token] = agent_id
        return Response(
            body={
                "agent_id": agent_id,
                "access_token": token,
                "credits": 100,
                "desk": "captions",
            }
        )

    def tasks(self, request: Request) -> Response:
        """Return a page of the open items of the running order; it is readable to all."""
        limit = request.query.get("limit", "5")
        if not re.fullmatch(r"-?\d+", limit):
            return _invalid("querystring/limit", "must be integer").answer
        if int(limit) < 1:
            return _invalid("querystring/limit", "must be >= 1").answer
        if int(limit) > 50:
            return _invalid("querystring/limit", "must be <= 50").answer
        after = request.query.get("after", "")
        rows = [
            i for i in self._items.values() if i["state"] == "open" and i["pid"] > after
        ]
        page, rest = rows[: int(limit)], rows[int(limit) :]
        following = (
            f"{request.path}?limit={limit}&after={page[-1]['pid']}" if rest else None
        )
        return Response(
            body={"desk": "captions", "running_order": page, "next": following}
        )

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        """List the freelancers."""
        return Response(body={"freelancers": sorted(self._freelancers.values())})

    directory = agents

    def claim(self, request: Request) -> Response:
        """Book an item for the caller."""
        return self._guarded(request, _CLAIM, self._book)

    def submit(self, request: Request) -> Response:
        """Take the copy for a booking, and pay for it when it is right."""
        return self._guarded(request, _SUBMIT, self._deliver)

    def complete(self, request: Request) -> Response:
        """Sign a booking off."""
        return self._guarded(request, _COMPLETE, self._sign_off)

    def _book(self, body: dict[str, Any], agent_id: str) -> Response:
        wanted = body["booking"]
        item = self._items.get(wanted["pid"])
        if item is None:
            raise _Refusal(404, "DESK_UNKNOWN_PID", f"No item with pid {wanted['pid']}")
        if item["state"] != "open":
            raise _Refusal(
                409, "DESK_ALREADY_BOOKED", f"{item['pid']} is already booked"
            )
        item["state"] = "booked"
        booking_id = f"bk-{len(self._bookings) + 2301}"
        self._holders[booking_id] = agent_id
        booking = {
            "booking_id": booking_id,
            "pid": item["pid"],
            "state": "booked",
            "eta": wanted["eta"],
            "booked_at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        }
        self._bookings[booking_id] = booking
        self.book.claimed(item["pid"])
        return Response(body={"booking": dict(booking)})

    def _deliver(self, body: dict[str, Any], agent_id: str) -> Response:
        delivery = body["delivery"]
        booking = self._booking(delivery["booking_id"], agent_id)
        if booking["state"] != "booked":
            said = f"Booking {booking['booking_id']} is already {booking['state']}"
            raise _Refusal(409, "DESK_ALREADY_DELIVERED", said)
        item = self._items[booking["pid"]]
        answer: dict[str, Any] = {
            "booking_id": booking["booking_id"],
            "pid": item["pid"],
        }
        if delivery["copy"] != item["script"].upper():
            notes = [
                "Copy is not as briefed: we want the script in capitals, nothing else."
            ]
            answer |= {"verdict": "sent_back", "notes": notes}
            return Response(body={"delivery": answer}, refused=True)
        booking["state"] = item["state"] = "delivered"
        self.book.pay(item["pid"], item["fee"]["credits"])
        answer |= {"verdict": "accepted", "notes": [], "fee_paid": dict(item["fee"])}
        return Response(body={"delivery": answer})

    def _sign_off(self, body: dict[str, Any], agent_id: str) -> Response:
        booking = self._booking(body["booking_id"], agent_id)
        if booking["state"] != "delivered":
            said = (
                f"Booking {booking['booking_id']} is {booking['state']}, not delivered"
            )
            raise _Refusal(409, "DESK_NOT_DELIVERED", said)
        booking["state"] = self._items[booking["pid"]]["state"] = "signed_off"
        return Response(body={"booking": dict(booking)})

    def _booking(self, booking_id: str, agent_id: str) -> dict[str, Any]:
        if booking_id not in self._bookings:
            raise _Refusal(404, "DESK_UNKNOWN_BOOKING", f"No booking {booking_id}")
        if self._holders[booking_id] != agent_id:
            raise _Refusal(403, "DESK_NOT_YOURS", f"Booking {booking_id} is not yours")
        return self._bookings[booking_id]

    def _guarded(
        self, request: Request, schema: dict[str, Any], action: Any
    ) -> Response:
        """Answer as the bearer plugin, the body parser, the schema and the desk do, in turn."""
        if not request.headers.get("Authorization"):
            return Response(401, {"error": "missing authorization header"})
        if request.token not in self._freelancers:
            return Response(401, {"error": "invalid authorization header"})
        try:
            body = _checked(self._parsed(request), schema)
            return action(body, self._freelancers[request.token])
        except _Refusal as refusal:
            return refusal.answer

    @staticmethod
    def _parsed(request: Request) -> Any:
        kind = request.headers.get("Content-Type") or ""
        if not request.raw and not kind:
            return None
        if kind.partition(";")[0].strip().lower() != "application/json":
            said = f"Unsupported Media Type: {kind or 'undefined'}"
            raise _Refusal(415, "FST_ERR_CTP_INVALID_MEDIA_TYPE", said)
        if not request.raw:
            said = "Body cannot be empty when content-type is set to 'application/json'"
            raise _Refusal(400, "FST_ERR_CTP_EMPTY_JSON_BODY", said)
        try:
            return request.json()
        except ValueError:
            said = (
                "Body is not valid JSON but content-type is set to 'application/json'"
            )
            raise _Refusal(400, "FST_ERR_CTP_INVALID_JSON_BODY", said) from None
