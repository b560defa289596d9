"""A network in the manner of Uber Direct: deliveries, waypoints, pincodes, cents.

Snake case, {"kind": "error", "code", "message", "params"}, a list with next_href. The
proof of delivery at the dropoff pays; completing afterwards only shows the delivery.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_VEHICLES = ("bicycle", "car", "van", "truck", "scooter", "motorcycle")
_WAYPOINTS = ("pickup", "dropoff", "return")
_LOADS = [
    ("two boxes of glazed donuts", 565, "Dough & Co", "12 Mission St"),
    ("one bouquet, yellow tulips", 430, "Petal Works", "801 Market St"),
    ("prescription bag no. 1187", 899, "Corner Pharmacy", "55 Grand Ave"),
    ("spare bike tube, size 28", 310, "Spoke Shop", "9 Valencia St"),
    ("three signed contracts", 1240, "Lex Partners", "1 Ferry Plaza"),
    ("birthday card for aunt may", 275, "Paper Moon", "340 Haight St"),
]


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _error(
    status: int, code: str, message: str, params: dict[str, str] | None = None
) -> Response:
    body: dict[str, Any] = {
        "kind": "error",
        "code": code,
        "message": message,
        "metadata": {},
    }
    if params:
        body["params"] = params
    return Response(status, body, {"X-Uber-Trace-Id": secrets.token_hex(8)})


def _invalid(params: dict[str, str]) -> Response:
    return _error(
        400, "invalid_params", "The parameters of your request were invalid.", params
    )


class UberDirect(Backend):
    """Deliveries that a courier accepts and proves with a document and a pincode."""

    def __init__(self) -> None:
        super().__init__()
        self._couriers: dict[str, dict[str, Any]] = {}  # by token
        self._deliveries: dict[str, dict[str, Any]] = {}
        now = datetime.now(UTC)
        for number, (text, fee, name, address) in enumerate(_LOADS):
            key = "del_" + secrets.token_urlsafe(16).replace("-", "x").replace("_", "y")
            self._deliveries[key] = {
                "kind": "delivery",
                "id": key,
                "uuid": secrets.token_hex(16).upper(),
                "status": "pending",
                "complete": False,
                "live_mode": True,
                "fee": fee,
                "currency": "usd",
                "tip": 0,
                "created": _stamp(now - timedelta(minutes=40 - number)),
                "updated": _stamp(now - timedelta(minutes=40 - number)),
                "dropoff_deadline": _stamp(now + timedelta(hours=6)),
                "pickup": {"name": name, "address": f"{address}, San Francisco, CA"},
                "dropoff": {
                    "name": f"Desk {number + 1}",
                    "address": "1455 Market St, San Francisco, CA",
                    "notes": "The document to hand over is manifest.description in upper case.",
                },
                "manifest": {"reference": f"REF-{7001 + number}", "description": text},
                "courier": None,
            }
        self._pins: dict[str, str] = {}
        self._owners: dict[str, str] = {}  # delivery -> token

    def texts(self) -> dict[str, str]:
        """Return the text of every delivery by its identifier."""
        return {
            key: d["manifest"]["description"] for key, d in self._deliveries.items()
        }

    def missing(self, request: Request) -> Response:
        """Say that there is no such route."""
        return _error(404, "not_found", "The requested resource does not exist.")

    def register(self, request: Request) -> Response:
        """Sign a courier up."""
        self.book.registrations += 1
        token = "KA." + secrets.token_urlsafe(32)
        agent = {"agent_id": "cus_" + secrets.token_hex(10), "credits": 100}
        self._couriers[token] = agent
        return Response(
            200,
            {
                "kind": "courier",
                **agent,
                "access_token": token,
                "token_type": "Bearer",
                "expires_in": 2592000,
                "scope": "eats.deliveries",
            },
        )

    def marketplace(self, request: Request) -> Response:
        """List what is still pending, for anybody."""
        return self._list(request)

    def tasks(self, request: Request) -> Response:
        """List what is still pending."""
        return self._unauthorized(request) or self._list(request)

    def _list(self, request: Request) -> Response:
        params, numbers = {}, {"limit": 10, "offset": 0}
        for name, least in (("limit", 1), ("offset", 0)):
            if name in request.query:
                try:
                    numbers[name] = int(request.query[name])
                except ValueError:
                    params[name] = f"{name} must be an integer"
                    continue
                if numbers[name] < least:
                    params[name] = f"{name} must be greater than or equal to {least}"
        if params:
            return _invalid(params)
        limit, offset = min(numbers["limit"], 100), numbers["offset"]
        pending = [d for d in self._deliveries.values() if d["status"] == "pending"]
        more = offset + limit < len(pending)
        return Response(
            200,
            {
                "object": "list",
                "url": request.path,
                "total_count": len(pending),
                "data": [dict(d) for d in pending[offset : offset + limit]],
                "next_href": f"{request.path}?limit={limit}&offset={offset + limit}"
                if more
                else "",
            },
        )

    def _unauthorized(self, request: Request) -> Response | None:
        if request.token in self._couriers:
            return None
        return _error(401, "unauthorized", "Invalid OAuth 2.0 credentials provided.")

    def _body(self, request: Request) -> dict[str, Any] | Response:
        """Return the body, or the refusal of it."""
        refusal = self._unauthorized(request)
        if refusal:
            return refusal
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return _error(
                400,
                "invalid_params",
                "The request body could not be parsed as a JSON object.",
            )
        return body

    @staticmethod
    def _text(params: dict[str, str], body: Any, *names: str, within: str = "") -> None:
        for name in names:
            value = body.get(name)
            if value is None or value == "":
                params[within + name] = f"{within + name} is required"
            elif not isinstance(value, str):
                params[within + name] = f"{within + name} must be a string"

    def _delivery(self, body: dict[str, Any], token: str) -> dict[str, Any] | Response:
        delivery = self._deliveries.get(body["delivery_id"])
        if delivery is None:
            return _error(
                404, "delivery_not_found", "The requested delivery does not exist."
            )
        owner = self._owners.get(delivery["id"])
        if owner and owner != token:
            return _error(
                403, "forbidden", "This delivery is assigned to another courier."
            )
        return delivery

    def claim(self, request: Request) -> Response:
        """Assign a delivery to a courier."""
        body = self._body(request)
        if isinstance(body, Response):
            return body
        params: dict[str, str] = {}
        self._text(params, body, "delivery_id", "pickup_eta")
        if "pickup_eta" not in params:
            try:
                if (
                    datetime.fromisoformat(
                        body["pickup_eta"].replace("Z", "+00:00")  # noqa: FURB162
                    ).tzinfo
                    is None
                ):
                    raise ValueError
            except ValueError:
                params["pickup_eta"] = (
                    "pickup_eta must be a date-time in RFC 3339 format"
                )
        courier = body.get("courier")
        if courier is None:
            params["courier"] = "courier is required"
        elif not isinstance(courier, dict):
            params["courier"] = "courier must be an object"
        else:
            self._text(params, courier, "name", "vehicle_type", within="courier.")
            if (
                "courier.vehicle_type" not in params
                and courier["vehicle_type"] not in _VEHICLES
            ):
                params["courier.vehicle_type"] = (
                    "courier.vehicle_type must be one of: " + ", ".join(_VEHICLES)
                )
        if params:
            return _invalid(params)
        delivery = self._delivery(body, request.token)
        if isinstance(delivery, Response):
            return delivery
        if delivery["status"] != "pending":
            return _error(
                409, "duplicate_delivery", "This delivery has already been accepted."
            )
        key = delivery["id"]
        self._owners[key] = request.token
        self._pins[key] = f"{secrets.randbelow(9000) + 1000}"
        delivery.update(
            status="pickup_complete",
            updated=_stamp(datetime.now(UTC)),
            courier={"name": courier["name"], "vehicle_type": courier["vehicle_type"]},
            pickup_eta=body["pickup_eta"],
            tracking_url=f"https://www.example.com/orders/{delivery['uuid']}",
        )
        self.book.claimed(key)
        needs = {
            "pincode": {"enabled": True, "type": "random", "value": self._pins[key]}
        }
        return Response(200, {**delivery, "verification_requirements": needs})

    def submit(self, request: Request) -> Response:
        """Take the proof of a delivery, and pay it."""
        body = self._body(request)
        if isinstance(body, Response):
            return body
        params: dict[str, str] = {}
        self._text(params, body, "delivery_id", "waypoint", "document", "pincode")
        if "waypoint" not in params and body["waypoint"] not in _WAYPOINTS:
            params["waypoint"] = "waypoint must be one of: " + ", ".join(_WAYPOINTS)
        if params:
            return _invalid(params)
        delivery = self._delivery(body, request.token)
        if isinstance(delivery, Response):
            return delivery
        key = delivery["id"]
        if delivery["status"] != "pickup_complete":
            return _error(
                409,
                "invalid_delivery_state",
                f"Proof of delivery cannot be added while the delivery is {delivery['status']}.",
            )
        if body["waypoint"] != "dropoff":
            params["waypoint"] = (
                "the pickup of this delivery is already complete; the next waypoint is dropoff"
            )
        if body["pincode"] != self._pins[key]:
            params["pincode"] = (
                "pincode is not the one in verification_requirements.pincode.value"
            )
        if body["document"] != delivery["manifest"]["description"].upper():
            params["document"] = (
                "document is not the manifest description in upper case"
            )
        if params:
            return _invalid(params)
        now = _stamp(datetime.now(UTC))
        delivery.update(status="delivered", complete=True, updated=now)
        self._couriers[request.token]["credits"] += delivery["fee"]
        self.book.pay(key, delivery["fee"])
        return Response(
            200,
            {
                **delivery,
                "verification": {
                    "pincode": {"entered": body["pincode"]},
                    "completed_at": now,
                },
                "earnings": {"amount": delivery["fee"], "currency": "usd"},
            },
        )

    def complete(self, request: Request) -> Response:
        """Show a delivery that has been delivered."""
        body = self._body(request)
        if isinstance(body, Response):
            return body
        params: dict[str, str] = {}
        self._text(params, body, "delivery_id")
        if params:
            return _invalid(params)
        delivery = self._delivery(body, request.token)
        if isinstance(delivery, Response):
            return delivery
        if not delivery["complete"]:
            return _error(
                409,
                "invalid_delivery_state",
                f"The delivery is {delivery['status']}, not delivered.",
            )
        return Response(200, dict(delivery))
