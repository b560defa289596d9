"""Elixir, Ash with AshJsonApi and ash_authentication: JSON:API documents in and out.

Lists resources of type `listing` with `links.next` (page[offset], page[limit]); rewards are
Ash decimals, so strings of credits. Claim creates a `hold`, submit a `delivery` (wants
`hold_id`, `content` and `register`, an enum shown on each listing), complete an `invoice`
(wants the delivery's id). Refuses with `errors` of code, pointer and detail as
AshJsonApi.Error.SchemaErrors writes them; unknown attributes are refused too. An invoice is
`under_review` until the listing has been looked at twice; then it and the listing are `paid`.
"""

import json
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

MEDIA = {"Content-Type": "application/vnd.api+json; charset=utf-8"}
NAMESPACE = uuid.UUID("5a7b0f0e-94a2-4c58-8d5e-2f4f36a1c9d0")
LISTINGS = [
    # title, body, register, credits, taken
    (
        "Trailhead board",
        "Stay on the marked path between the two cairns",
        "plain",
        "3",
        False,
    ),
    ("Hut rules", "Leave your boots in the drying room", "plain", "4", False),
    (
        "Winter closure",
        "The upper hut is closed from November to May",
        "formal",
        "6",
        True,
    ),
    (
        "Water point",
        "Boil the water from the spring before drinking",
        "plain",
        "5",
        False,
    ),
    (
        "Ferry pier",
        "The last boat leaves the pier at half past seven",
        "formal",
        "4",
        False,
    ),
    ("Dog notice", "Dogs are kept on a lead near the herd", "plain", "2", False),
]
REGISTERS = ("plain", "formal", "playful")


def inspect(value: Any) -> str:
    """Write a JSON value as Elixir's inspect does, but for maps."""
    return "nil" if value is None else json.dumps(value)


class AshJsonapiListings(Backend):
    """Listings, holds, deliveries and invoices."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: set[str] = set()
        self.listings = {
            str(uuid.uuid5(NAMESPACE, x[0])): {
                "title": x[0],
                "body": x[1],
                "register": x[2],
                "reward_credits": x[3],
                "state": "held" if x[4] else "available",
            }
            for x in LISTINGS
        }
        self.free = {
            k: v["body"] for k, v in self.listings.items() if v["state"] != "held"
        }
        self.holds: dict[str, dict[str, str]] = {}
        self.deliveries: dict[str, dict[str, str]] = {}
        self.invoices: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return dict(self.free)

    @staticmethod
    def _errors(status: int, *errors: tuple[str, str, str, str]) -> Response:
        rows = []
        for code, title, detail, pointer in errors:
            row = {
                "code": code,
                "detail": detail,
                "id": str(uuid.uuid4()),
                "meta": {},
                "status": str(status),
                "title": title,
            }
            rows.append(row | ({"source": {"pointer": pointer}} if pointer else {}))
        return Response(status, {"errors": rows, "jsonapi": {"version": "1.0"}}, MEDIA)

    def missing(self, request: Request) -> Response:
        return self._errors(
            404, ("no_route_found", "NoRouteFound", "No route found", "")
        )

    def _one(self, type_: str, key: str, attributes: Any, **meta: Any) -> Response:
        data = {"attributes": attributes, "id": key, "links": {}, "meta": {}}
        data |= {"type": type_, "relationships": {}}
        document = {
            "data": data,
            "jsonapi": {"version": "1.0"},
            "links": {},
            "meta": meta,
        }
        return Response(201, document, MEDIA)

    def _attributes(self, request: Request, type_: str, *names: str) -> Any:
        """Validate the document against the route's schema; a Response refuses."""
        if request.token not in self.agents:
            return self._errors(403, ("forbidden", "Forbidden", "forbidden", ""))
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            return self._errors(
                400, ("bad_request", "BadRequest", "Malformed JSON", "")
            )
        errors = []

        def note(path: list[str], detail: str, *, required: bool = False) -> None:
            kind = (
                ("required", "Required")
                if required
                else ("invalid_body", "InvalidBody")
            )
            errors.append((*kind, detail, "/" + "/".join(path)))

        def is_object(
            value: Any,
            path: list[str],
            required: tuple[str, ...],
            known: tuple[str, ...],
        ) -> bool:
            if not isinstance(value, dict):
                at = f", at {json.dumps(path)}." if path else "."
                note(path, f"Expected {inspect(value)} to be object{at}")
                return False
            for name in (n for n in required if n not in value):
                note([*path, name], "is required", required=True)
            for name in (n for n in value if n not in known):
                where = json.dumps([*path, name])
                note(
                    [*path, name], f"Expected only defined properties, got key {where}."
                )
            return True

        if is_object(body, [], ("data",), ("data",)) and "data" in body:
            data = body["data"]
            if is_object(data, ["data"], ("attributes",), ("type", "attributes")):
                if data.get("type", type_) != type_:
                    got = f'Expected the value to be "{type_}", got {inspect(data["type"])}'
                    note(["data", "type"], got + ', at ["data", "type"].')
                path = ["data", "attributes"]
                if "attributes" in data and is_object(
                    data["attributes"], path, names, names
                ):
                    for name in names:
                        value = data["attributes"].get(name, "")
                        at = f", at {json.dumps([*path, name])}."
                        if not isinstance(value, str):
                            note(
                                [*path, name],
                                f"Expected {inspect(value)} to be string{at}",
                            )
                        elif name == "register" and value and value not in REGISTERS:
                            note(
                                [*path, name],
                                f'Value "{value}" is not allowed in enum{at}',
                            )
        return self._errors(400, *errors) if errors else body["data"]["attributes"]

    def _invalid(self, name: str, detail: str) -> Response:
        pointer = f"/data/attributes/{name}"
        return self._errors(
            400, ("invalid_attribute", "InvalidAttribute", detail, pointer)
        )

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"eyJhbGciOiJIUzI1NiJ9.{uuid.uuid4().hex}.{uuid.uuid4().hex}"
        self.agents.add(token)
        return self._one("agent", str(uuid.uuid4()), {"credits": "100"}, token=token)

    def tasks(self, request: Request) -> Response:
        if request.token not in self.agents:
            return self._errors(403, ("forbidden", "Forbidden", "forbidden", ""))
        for invoice in self.invoices.values():
            if invoice["looks"] > 0:
                invoice["looks"] -= 1
                if not invoice["looks"]:
                    listing = self.listings[invoice["listing_id"]]
                    listing["state"] = invoice["state"] = "paid"
                    self.book.pay(invoice["listing_id"], int(listing["reward_credits"]))
        return self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        sizes = (
            request.query.get("page[limit]") or request.query.get("limit") or "4",
            request.query.get("page[offset]") or "0",
        )
        if not all(size.isdigit() for size in sizes):
            return self._errors(
                400, ("invalid_pagination", "InvalidPagination", "is invalid", "")
            )
        limit, offset = max(1, min(int(sizes[0]), 4)), int(sizes[1])
        rows = [
            {
                "attributes": attributes,
                "id": key,
                "links": {},
                "meta": {},
                "type": "listing",
            }
            for key, attributes in list(self.listings.items())[offset : offset + limit]
        ]
        more = offset + limit < len(self.listings)

        def link(start: int) -> str:
            at = f"page%5Blimit%5D={limit}&page%5Boffset%5D={start}"
            return f"{request.base}{request.path}?{at}"

        links: dict[str, str | None] = {"self": link(offset), "first": link(0)}
        links["prev"] = link(max(0, offset - limit)) if offset else None
        links["next"] = link(offset + limit) if more else None
        document = {"data": rows, "jsonapi": {"version": "1.0"}, "links": links}
        return Response(
            200, document | {"meta": {"page": {"total": len(self.listings)}}}, MEDIA
        )

    def claim(self, request: Request) -> Response:
        given = self._attributes(request, "hold", "listing_id")
        if isinstance(given, Response):
            return given
        key = given["listing_id"]
        if key not in self.listings:
            return self._invalid("listing_id", "does not exist")
        if self.listings[key]["state"] != "available":
            return self._invalid("listing_id", "is not available")
        self.listings[key]["state"] = "held"
        hold = str(uuid.uuid4())
        self.holds[hold] = {
            "listing_id": key,
            "agent": request.token,
            "state": "active",
        }
        self.book.claimed(key)
        shown = {
            "listing_id": key,
            "state": "active",
            "expires_at": "2099-01-01T00:00:00Z",
        }
        return self._one("hold", hold, shown)

    def submit(self, request: Request) -> Response:
        given = self._attributes(request, "delivery", "hold_id", "content", "register")
        if isinstance(given, Response):
            return given
        hold = self.holds.get(given["hold_id"])
        if not hold or hold["agent"] != request.token:
            return self._invalid("hold_id", "does not exist")
        if hold["state"] != "active":
            return self._invalid("hold_id", "has already been delivered")
        if not given["content"]:
            return self._invalid("content", "must be present")
        if given["register"] != self.listings[hold["listing_id"]]["register"]:
            return self._invalid("register", "must be the register of the listing")
        hold["state"] = "delivered"
        key = str(uuid.uuid4())
        self.deliveries[key] = {
            "listing_id": hold["listing_id"],
            "agent": request.token,
            "content": given["content"],
            "invoice": "",
        }
        return self._one(
            "delivery", key, {"hold_id": given["hold_id"], "state": "delivered"}
        )

    def complete(self, request: Request) -> Response:
        given = self._attributes(request, "invoice", "delivery_id")
        if isinstance(given, Response):
            return given
        delivery = self.deliveries.get(given["delivery_id"])
        if not delivery or delivery["agent"] != request.token:
            return self._invalid("delivery_id", "does not exist")
        listing = self.listings[delivery["listing_id"]]
        if not delivery["invoice"]:
            right = delivery["content"] == listing["body"].upper()
            delivery["invoice"] = key = str(uuid.uuid4())
            listing["state"] = state = "under_review" if right else "rejected"
            self.invoices[key] = {
                "listing_id": delivery["listing_id"],
                "state": state,
                "looks": 2 if right else 0,
            }
        invoice = self.invoices[delivery["invoice"]]
        shown = {
            "delivery_id": given["delivery_id"],
            "state": invoice["state"],
            "credits": listing["reward_credits"],
        }
        if invoice["state"] == "rejected":
            return self._invalid("delivery_id", "was rejected")
        return self._one("invoice", delivery["invoice"], shown)
