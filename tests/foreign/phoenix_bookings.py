"""Phoenix (Elixir) JSON API with Ecto changesets: a sign-painting shop.

Lists {"data": [...]}: each with `id` (integer), `customer`, `status`, `instructions`, `copy`
(the text), `fee` (a Decimal, so a string: "12.00"), `inserted_at`.
claim wants {"booking": {"order_id": 4117}}; 201 {"data": {"id": uuid, "order_id", "status",
"lock_version": 1, ...}}. The same agent gets its booking again.
submit wants {"proof": {"booking_id": uuid, "artwork": {"lettering": str}}}; 201 {"data": {"id",
"status", "booking": {"id", "status", "lock_version": 2}}}.
complete wants {"handover": {"booking_id": uuid, "lock_version": 2}} (optimistic lock: the
booking's newest version); pays, 201 {"data": {...}}.
Refusals: ChangesetJSON's 422 {"errors": {field: [message]}}, nested as the params are (unknown
fields are ignored; scrub_params makes blank strings nil); a missing resource key is a 400
Phoenix.MissingParamError, which ErrorJSON shows as {"errors": {"detail": message}}; the rest of
the FallbackController is {"errors": {"detail": ...}} with 401, 404 and 409.
"""

import json
import re
import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ORDERS = [
    (
        "Haddock & Daughters",
        "fresh fish from the harbour every morning except on mondays",
        12,
    ),
    ("Willow Lane Nursery", "please close the gate because the goats are clever", 7),
    ("The Copper Kettle", "breakfast is served until the last guest has woken up", 9),
    ("Benson Cycles", "we mend punctures while you wait and tell you a story", 15),
    ("Orchard Theatre", "doors open half an hour before the curtain rises", 18),
    ("Pike Street Laundry", "do not put your hat or your cat in the machine", 5),
]
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
BLANK, INVALID = "can't be blank", "is invalid"


def detail(status: int, message: str) -> Response:
    """Return what ErrorJSON renders."""
    return Response(status, {"errors": {"detail": message}})


def changeset_error(errors: dict[str, Any]) -> Response:
    """Return what the generated ChangesetJSON renders."""
    return Response(422, {"errors": errors})


def scrub(value: Any) -> Any:
    """Make blank strings nil, as scrub_params does."""
    if isinstance(value, dict):
        return {key: scrub(item) for key, item in value.items()}
    if isinstance(value, list):
        return [scrub(item) for item in value]
    return None if isinstance(value, str) and not value.strip() else value


def cast_value(value: Any, kind: Any) -> tuple[Any, Any]:
    """Return the cast value and what is wrong with it (None, a list or a dict)."""
    if value is None:
        return None, [BLANK]
    if isinstance(kind, dict):
        if not isinstance(value, dict):
            return None, [INVALID]
        inner, errors = cast(value, kind)
        return inner, errors or None
    if kind == "integer":
        if isinstance(value, int) and not isinstance(value, bool):
            return value, None
        if isinstance(value, str) and re.fullmatch(r"[+-]?\d+", value):
            return int(value), None
        return None, [INVALID]
    if not isinstance(value, str):
        return None, [INVALID]
    if kind == "binary_id":
        return (value.lower(), None) if UUID.fullmatch(value) else (None, [INVALID])
    if len(value) > 200:
        return None, ["should be at most 200 character(s)"]
    return value, None


def cast(
    params: dict[str, Any], schema: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Cast and require every field of the schema; return changes and errors."""
    changes: dict[str, Any] = {}
    errors: dict[str, Any] = {}
    for name, kind in schema.items():
        changes[name], wrong = cast_value(params.get(name), kind)
        if wrong:
            errors[name] = wrong
    return changes, errors


class Phoenix(Backend):
    """Orders, bookings, proofs and handovers."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.orders: dict[int, dict[str, Any]] = {}
        self.bookings: dict[str, dict[str, Any]] = {}
        self.proofs = 310
        for number, (customer, text, fee) in enumerate(ORDERS):
            key = 4117 + 3 * number
            self.orders[key] = {
                "id": key,
                "customer": customer,
                "status": "open",
                "instructions": "Letter the copy in upper case, punctuation unchanged.",
                "copy": text,
                "fee": f"{fee}.00",
                "inserted_at": f"2025-03-{11 + number}T08:1{number}:00Z",
            }

    def texts(self) -> dict[str, str]:
        return {str(key): order["copy"] for key, order in self.orders.items()}

    def missing(self, request: Request) -> Response:
        return detail(404, "Not Found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = "SFMyNTY." + secrets.token_urlsafe(36)
        agent = {"agent_id": str(uuid.uuid4()), "access_token": token, "credits": 100}
        self.agents[token] = dict(agent)
        return Response(200, agent)

    def marketplace(self, request: Request) -> Response:
        return self.index(100)

    def tasks(self, request: Request) -> Response:
        if request.token not in self.agents:
            return detail(401, "Unauthorized")
        limit = request.query.get("limit", "50")
        return self.index(int(limit) if limit.isdigit() and int(limit) else 50)

    def index(self, limit: int) -> Response:
        found = [order for order in self.orders.values() if order["status"] == "open"]
        return Response(200, {"data": found[:limit]})

    def params(
        self, request: Request, key: str, schema: dict[str, Any]
    ) -> dict[str, Any] | Response:
        """Go through Plug.Parsers, the auth plug, scrub_params and the changeset."""
        given: Any = {}
        media = request.headers.get("Content-Type") or ""
        if request.raw and media.split(";")[0].strip().lower() == "application/json":
            try:
                given = request.json()
            except ValueError as error:
                at = getattr(error, "pos", 0)
                byte = request.raw[at : at + 1]
                what = f"unexpected end of input at position {at}"
                if byte:
                    char = json.dumps(byte.decode("latin-1"))
                    what = f"unexpected byte at position {at}: 0x{byte.hex().upper()} ({char})"
                return detail(
                    400,
                    "malformed request, a Jason.DecodeError exception was raised "
                    f"with message {json.dumps(what)}",
                )
            if not isinstance(given, dict):
                given = {"_json": given}
        if request.token not in self.agents:
            return detail(401, "Unauthorized")
        inner = scrub(given.get(key))
        if inner is None or inner is False:
            return detail(
                400,
                f'expected key "{key}" to be present in params, please send the expected '
                "key or adapt your scrub_params/2 call",
            )
        if not isinstance(inner, dict):
            shown = json.dumps(inner, ensure_ascii=False)
            return detail(400, f"expected params to be a :map, got: `{shown}`")
        changes, errors = cast(inner, schema)
        return changeset_error(errors) if errors else changes

    def booking(self, key: str, token: str) -> dict[str, Any] | Response:
        found = self.bookings.get(key)
        if found is None or found["token"] != token:
            return detail(404, "Not Found")
        return found

    def claim(self, request: Request) -> Response:
        given = self.params(request, "booking", {"order_id": "integer"})
        if isinstance(given, Response):
            return given
        order = self.orders.get(given["order_id"])
        if order is None:
            return changeset_error({"order_id": ["does not exist"]})
        found = [
            row for row in self.bookings.values() if row["order_id"] == order["id"]
        ]
        if found and (
            found[0]["token"] != request.token or order["status"] == "closed"
        ):
            return detail(409, "order has already been booked")
        if found:
            return Response(200, {"data": self.show(found[0])})
        row = {
            "id": str(uuid.uuid4()),
            "order_id": order["id"],
            "status": "held",
            "held_until": "2099-01-01T00:00:00Z",
            "lock_version": 1,
            "token": request.token,
        }
        self.bookings[row["id"]] = row
        order["status"] = "booked"
        self.book.claimed(str(order["id"]))
        return Response(201, {"data": self.show(row)})

    @staticmethod
    def show(row: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in row.items() if key != "token"}

    def submit(self, request: Request) -> Response:
        schema = {"booking_id": "binary_id", "artwork": {"lettering": "string"}}
        given = self.params(request, "proof", schema)
        if isinstance(given, Response):
            return given
        row = self.booking(given["booking_id"], request.token)
        if isinstance(row, Response):
            return row
        if row["status"] != "held":
            return detail(409, "booking already has an approved proof")
        if (
            given["artwork"]["lettering"]
            != self.orders[row["order_id"]]["copy"].upper()
        ):
            wrong = ["does not match the copy of the order in upper case"]
            return changeset_error({"artwork": {"lettering": wrong}})
        row["status"] = "proofed"
        row["lock_version"] += 1
        self.proofs += 1
        shown = {key: row[key] for key in ("id", "status", "lock_version")}
        return Response(
            201, {"data": {"id": self.proofs, "status": "approved", "booking": shown}}
        )

    def complete(self, request: Request) -> Response:
        schema = {"booking_id": "binary_id", "lock_version": "integer"}
        given = self.params(request, "handover", schema)
        if isinstance(given, Response):
            return given
        row = self.booking(given["booking_id"], request.token)
        if isinstance(row, Response):
            return row
        if row["status"] == "held":
            return detail(409, "booking has no approved proof yet")
        if row["status"] == "closed":
            return detail(409, "booking has already been handed over")
        if given["lock_version"] != row["lock_version"]:
            return changeset_error({"lock_version": ["is stale"]})
        order = self.orders[row["order_id"]]
        row["status"] = order["status"] = "closed"
        row["lock_version"] += 1
        credits_ = int(float(order["fee"]))
        agent = self.agents[request.token]
        agent["credits"] += credits_
        self.book.pay(str(order["id"]), credits_)
        return Response(
            201,
            {
                "data": {
                    "booking": self.show(row),
                    "paid": order["fee"],
                    "balance": f"{agent['credits']}.00",
                }
            },
        )
