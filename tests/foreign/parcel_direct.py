"""Parcel Direct: a courier marketplace in the public API style of Uber Direct.

snake_case, `object: list` with `next_href`, prefixed identifiers, timestamps named
`*_dt`, errors as code/message/kind/metadata with every bad parameter named at once.
The label's text is only in the claim's answer. A right proof of delivery pays at once;
completing only closes the delivery.
"""

import re
import secrets
from datetime import datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

# Identifier -> recipient, pickup, label, fee.
_DELIVERIES = {
    "del_8Kd2mQ": ("Ines Coll", "Tinta Paper Goods", "fragile: two glass vases", 18),
    "del_3Vx9Ra": ("Omar Haddad", "Bloom & Stem", "keep upright, cut flowers", 10),
    "del_Zt51Lw": ("June Park", "Corner Bakery", "contains nuts and sesame", 27),
    "del_p0HnYc": ("Ravi Menon", "Old Town Books", "gift wrapped, do not open", 13),
    "del_64TeGs": ("Lea Brandt", "Pharmacy West", "store below 8 degrees", 36),
    "del_Qm7uBj": ("Sam Okoro", "Needle & Thread", "hang the dress on arrival", 22),
}


def _error(status: int, code: str, message: str, /, **metadata: str) -> Response:
    body = {"code": code, "message": message, "kind": "error", "metadata": metadata}
    return Response(status, body)


def _invalid(metadata: dict[str, str]) -> Response:
    message = "The parameters of your request were invalid."
    return _error(400, "invalid_params", message, **metadata)


def _is_timestamp(value: str) -> bool:
    try:
        moment = datetime.fromisoformat(value.replace("Z", "+00:00"))  # noqa: FURB162
    except ValueError:
        return False
    return moment.tzinfo is not None and "T" in value


class ParcelDirect(Backend):
    """A marketplace of deliveries, each with a label to print in capitals."""

    def __init__(self) -> None:
        super().__init__()
        self._couriers: dict[str, str] = {}
        self._earned: dict[str, int] = {}
        self._status = dict.fromkeys(_DELIVERIES, "pending")
        self._holder: dict[str, str] = {}
        self._pins: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {key: delivery[2] for key, delivery in _DELIVERIES.items()}

    def missing(self, request: Request) -> Response:
        return _error(404, "not_found", "The requested resource does not exist.")

    def _unauthorized(self, request: Request) -> Response | None:
        if request.token in self._couriers:
            return None
        message = "Invalid OAuth 2.0 credentials provided."
        return _error(401, "unauthorized", message)

    def _params(
        self, request: Request, wanted: dict[str, str]
    ) -> tuple[dict[str, Any], Response | None]:
        """Return the wanted parameters by dotted name, or the refusal."""
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return {}, _invalid({"body": "The request body must be a JSON object."})
        found: dict[str, Any] = {}
        wrong: dict[str, str] = {}
        for name, kind in wanted.items():
            node: Any = body
            for part in name.split("."):
                node = node.get(part) if isinstance(node, dict) else None
            found[name] = node
            if node is None or node == "":
                wrong[name] = f"{name} is required."
            elif kind == "integer" and type(node) is not int:
                wrong[name] = f"{name} must be an integer."
            elif kind != "integer" and not isinstance(node, str):
                wrong[name] = f"{name} must be a string."
            elif kind == "timestamp" and not _is_timestamp(node):
                wrong[name] = f"{name} must be an RFC 3339 timestamp with a time zone."
        return found, _invalid(wrong) if wrong else None

    def _delivery(self, key: str, short: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002
        recipient, pickup, label, fee = _DELIVERIES[key]
        record: dict[str, Any] = {
            "kind": "delivery",
            "id": key,
            "status": self._status[key],
            "created": f"2025-06-02T08:{10 + list(_DELIVERIES).index(key)}:00Z",
            "pickup": {"name": pickup, "notes": "Label printer at the counter."},
            "dropoff": {
                "name": recipient,
                "notes": "Prove delivery with the label_text in capital letters.",
            },
            "fee": fee,
            "currency": "credits",
            "complete": self._status[key] in ("delivered", "closed"),
        }
        if short:
            return record
        record["manifest"] = {"quantity": 1, "size": "small", "label_text": label}
        record["courier"] = {"courier_id": self._holder[key]}
        record["verification"] = {
            "pincode": {"enabled": True, "value": self._pins[key]}
        }
        return record

    def _held(self, request: Request, key: str) -> Response | None:
        """Return the refusal if the delivery is not this courier's."""
        if key not in _DELIVERIES:
            message = "The requested delivery does not exist."
            return _error(404, "delivery_not_found", message)
        if self._holder.get(key) != self._couriers[request.token]:
            message = "This delivery is not assigned to you."
            return _error(403, "delivery_not_assigned", message, delivery_id=key)
        return None

    def register(self, request: Request) -> Response:
        courier, token = (
            f"cou_{secrets.token_hex(8)}",
            f"PD.{secrets.token_urlsafe(30)}",
        )
        self._couriers[token], self._earned[courier] = courier, 0
        self.book.registrations += 1
        answer = {"agent_id": courier, "access_token": token, "credits": 100}
        return Response(body={"kind": "courier", **answer})

    def tasks(self, request: Request) -> Response:
        return self._unauthorized(request) or self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        asked = {"limit": "3", "offset": "0", **request.query}
        wrong = {
            name: f"{name} must be an integer of at least {least}."
            for name, least in (("limit", 1), ("offset", 0))
            if not re.fullmatch(r"\d{1,9}", asked[name]) or int(asked[name]) < least
        }
        if wrong:
            return _invalid(wrong)
        limit, offset = min(int(asked["limit"]), 50), int(asked["offset"])
        pending = [key for key, status in self._status.items() if status == "pending"]
        answer: dict[str, Any] = {"object": "list", "total_count": len(pending)}
        shown = pending[offset : offset + limit]
        answer["data"] = [self._delivery(key, short=True) for key in shown]
        if offset + limit < len(pending):
            href = f"{request.path}?offset={offset + limit}&limit={limit}"
            answer["next_href"] = href
        return Response(body=answer)

    def agents(self, request: Request) -> Response:
        data = [{"kind": "courier", "id": courier} for courier in self._earned]
        return Response(body={"object": "list", "total_count": len(data), "data": data})

    directory = agents

    def claim(self, request: Request) -> Response:
        if refusal := self._unauthorized(request):
            return refusal
        wanted = {"delivery_id": "string", "courier_id": "string"}
        wanted["dropoff_eta_dt"] = "timestamp"
        params, refusal = self._params(request, wanted)
        if refusal:
            return refusal
        key, courier = params["delivery_id"], self._couriers[request.token]
        if key not in _DELIVERIES:
            message = "The requested delivery does not exist."
            return _error(404, "delivery_not_found", message)
        if params["courier_id"] != courier:
            message = "The courier_id must be the agent_id of the access token's owner."
            return _error(403, "courier_mismatch", message)
        if self._status[key] != "pending":
            message = "The delivery was already accepted by a courier."
            return _error(
                409, "delivery_unavailable", message, status=self._status[key]
            )
        self._status[key] = "pickup"
        self._holder[key] = courier
        self._pins[key] = f"{1000 + secrets.randbelow(9000)}"
        self.book.claimed(key)
        eta = {"dropoff_eta": params["dropoff_eta_dt"]}
        return Response(body={**self._delivery(key), **eta})

    def submit(self, request: Request) -> Response:
        if refusal := self._unauthorized(request):
            return refusal
        wanted = ("delivery_id", "proof_of_delivery.label", "proof_of_delivery.pincode")
        params, refusal = self._params(request, dict.fromkeys(wanted, "string"))
        if refusal := refusal or self._held(request, params["delivery_id"]):
            return refusal
        key = params["delivery_id"]
        if self._status[key] != "pickup":
            message = "Proof of delivery was already accepted."
            return _error(409, "already_delivered", message, status=self._status[key])
        name = "proof_of_delivery.pincode"
        if params[name] != self._pins[key]:
            return _invalid({name: f"{name} is not the pincode of this delivery."})
        name = "proof_of_delivery.label"
        _, _, label, fee = _DELIVERIES[key]
        if params[name] != label.upper():
            message = "The label does not meet the dropoff notes."
            return _error(422, "proof_rejected", message, **{name: "label mismatch"})
        self._status[key] = "delivered"
        self._earned[self._holder[key]] += fee
        self.book.pay(key, fee)
        payout = {"id": f"pay_{key[4:]}", "amount": fee, "currency": "credits"}
        return Response(
            body={**self._delivery(key), "payout": {**payout, "status": "paid"}}
        )

    def complete(self, request: Request) -> Response:
        if refusal := self._unauthorized(request):
            return refusal
        wanted = {"delivery_id": "string", "handover_seconds": "integer"}
        params, refusal = self._params(request, wanted)
        if refusal := refusal or self._held(request, params["delivery_id"]):
            return refusal
        key = params["delivery_id"]
        if self._status[key] == "pickup":
            message = "The delivery has no accepted proof of delivery."
            return _error(409, "proof_missing", message, status="pickup")
        self._status[key] = "closed"  # closing twice is no error
        balance = 100 + self._earned[self._holder[key]]
        return Response(body={**self._delivery(key), "courier_balance": balance})

    def post(self, request: Request) -> Response:
        message = "Your account is not enabled to create deliveries."
        return self._unauthorized(request) or _error(403, "customer_blocked", message)

    def checkout(self, request: Request) -> Response:
        return _error(402, "customer_suspended", "Billing is not set up.")
