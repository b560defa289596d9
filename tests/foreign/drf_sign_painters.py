"""Django REST Framework: a sign painters' co-operative.

Lists page-numbered {"count", "next", "previous", "results"}, 4 orders to a page (`limit` sets the
page's size, up to 50; `page` the number): each with `slug` (its only id), `title`, `customer`
({"id", "name"}), `service` ({"code", "label"}), `wording` (the text), `width_cm`, `fee` (a
DecimalField, so a string: "12.00", in credits), `status`.
claim wants {"order": slug}; 201 {"id": int, "order": {...}, "status", ...}: the booking.
submit wants {"booking": id of the booking, "proof": {"lettering": str, "remarks"?: str}};
  201 {"id": int, "booking": int, "lettering", "status": "approved"}: the proof.
complete wants {"proof": id of the proof}; pays, 200 {"proof", "order", "payment", "balance"}.
Errors are DRF's: {field: [messages]}, nested for nested serializers, `non_field_errors` for a
body or a nested object that is no dictionary and for wrong work (400 all of them); {"detail": str}
for 400 (JSON parse error), 401, 404 (Invalid page.), 409 (order taken) and 415. Unknown keys are
ignored, strings are trimmed.
"""

import hashlib
import json
import math
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from tests.foreign.backend import Backend, Request, Response

PAGE_SIZE, MAX_PAGE_SIZE = 4, 50
# slug, title, customer, wording, width, fee
ORDERS = [
    ("harbour-cafe-window", "Window of the harbour café", (31, "Marlow & Finch"),
     "fresh soup and warm bread served every day until three", 140, 12),
    ("bakery-back-door", "Notice for the back door", (8, "Old Mill Bakery"),
     "please ring the bell twice, deliveries are taken at the side gate", 60, 7),
    ("swimming-hall-rules", "Rules at the pool", (45, "Town of Ashcombe"),
     "no running on the wet tiles", 200, 5),
    ("cycle-shop-board", "Pavement board", (17, "Second Wheel"),
     "we mend punctures while you drink a cup of our coffee", 75, 15),
    ("orchard-honesty-box", "Board for the honesty box", (22, "Penrose Orchard"),
     "take what you need and leave the money in the tin", 90, 9),
    ("library-reading-room", "Door of the reading room", (45, "Town of Ashcombe"),
     "quiet please, the chess club meets here on Thursday evenings", 110, 20),
]  # fmt: skip
NOT_FOUND = """
<!doctype html>
<html lang="en">
<head>
  <title>Not Found</title>
</head>
<body>
  <h1>Not Found</h1><p>The requested resource was not found on this server.</p>
</body>
</html>
"""
NULL = "This field may not be null."
Field = Callable[[Any], Any]


class Invalid(Exception):
    """A ValidationError; the first argument is its detail."""


def char(max_length: int, *, allow_blank: bool = False) -> Field:
    """Return a CharField (numbers become strings, blanks around are cut off)."""

    def run(value: Any) -> str:
        if value is None:
            raise Invalid([NULL])
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise Invalid(["Not a valid string."])
        text = str(value).strip()
        if not text and not allow_blank:
            raise Invalid(["This field may not be blank."])
        if len(text) > max_length:
            raise Invalid(
                [f"Ensure this field has no more than {max_length} characters."]
            )
        return text

    return run


def pk(rows: dict[int, Any]) -> Field:
    """Return a PrimaryKeyRelatedField over the rows."""

    def run(value: Any) -> Any:
        if value is None or value == "":
            raise Invalid([NULL])
        try:
            if isinstance(value, bool):
                raise TypeError
            return rows[int(value)]
        except KeyError:
            raise Invalid([f'Invalid pk "{value}" - object does not exist.']) from None
        except (TypeError, ValueError, OverflowError):
            kind = type(value).__name__
            message = f"Incorrect type. Expected pk value, received {kind}."
            raise Invalid([message]) from None

    return run


def by_slug(rows: dict[str, Any]) -> Field:
    """Return a SlugRelatedField over the rows."""

    def run(value: Any) -> Any:
        if value is None or value == "":
            raise Invalid([NULL])
        if str(value) not in rows:
            raise Invalid([f"Object with slug={value} does not exist."])
        return rows[str(value)]

    return run


def serializer(
    fields: dict[str, Field], optional: tuple[str, ...] = (), *, nested: bool = False
) -> Field:
    """Return a Serializer with these fields."""

    def run(data: Any) -> dict[str, Any]:
        if data is None:
            raise Invalid(
                [NULL] if nested else {"non_field_errors": ["No data provided"]}
            )
        if not isinstance(data, dict):
            kind = type(data).__name__
            message = f"Invalid data. Expected a dictionary, but got {kind}."
            raise Invalid({"non_field_errors": [message]})
        values, errors = {}, {}
        for name, field in fields.items():
            try:
                if name in data:
                    values[name] = field(data[name])
                elif name not in optional:
                    errors[name] = ["This field is required."]
            except Invalid as error:
                errors[name] = error.args[0]
        if errors:
            raise Invalid(errors)
        return values

    return run


def no_constant(name: str) -> None:
    """Refuse NaN and the like, as DRF's strict JSON does."""
    raise ValueError(f"Out of range float values are not JSON compliant: {name!r}")


class SignPainters(Backend):
    """Orders, bookings and proofs behind generic views and a page-number pagination."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        self.fees: dict[str, int] = {}
        self.bookings: dict[int, dict[str, Any]] = {}
        self.proofs: dict[int, dict[str, Any]] = {}
        for slug, title, (key, name), wording, width, fee in ORDERS:
            self.fees[slug] = fee
            self.orders[slug] = {
                "slug": slug,
                "title": title,
                "customer": {"id": key, "name": name},
                "service": {"code": "uppercase", "label": "Upper case lettering"},
                "wording": wording,
                "width_cm": width,
                "fee": f"{fee}.00",
                "status": "open",
                "created_at": f"2025-03-0{1 + len(self.fees)}T09:{key:02}:12.480351Z",
            }

    def texts(self) -> dict[str, str]:
        return {slug: row["wording"] for slug, row in self.orders.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, NOT_FOUND, {"Content-Type": "text/html; charset=utf-8"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        number = len(self.agents) + 1
        token = hashlib.sha1(f"sign painter {number}".encode()).hexdigest()
        self.agents[token] = {"agent_id": f"painter-{number}", "credits": 100}
        return Response(200, {**self.agents[token], "access_token": token})

    def unauthorized(self, request: Request) -> Response | None:
        """Return the refusal of a request without a good token, as TokenAuthentication."""
        words = (request.headers.get("Authorization") or "").split()
        if not words or words[0].lower() != "bearer":
            detail = "Authentication credentials were not provided."
        elif len(words) == 1:
            detail = "Invalid token header. No credentials provided."
        elif len(words) > 2:
            detail = "Invalid token header. Token string should not contain spaces."
        elif words[1] not in self.agents:
            detail = "Invalid token."
        else:
            return None
        return Response(401, {"detail": detail}, {"WWW-Authenticate": "Bearer"})

    def tasks(self, request: Request) -> Response:
        return self.unauthorized(request) or self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        rows = [row for row in self.orders.values() if row["status"] == "open"]
        size, limit = PAGE_SIZE, request.query.get("limit", "")
        if limit.isdecimal() and int(limit) > 0:
            size = min(int(limit), MAX_PAGE_SIZE)
        pages = max(1, math.ceil(len(rows) / size))
        wanted = request.query.get("page", "1")
        number = pages if wanted == "last" else int(wanted) if wanted.isdecimal() else 0
        if not 1 <= number <= pages:
            return Response(404, {"detail": "Invalid page."})

        def link(page: int) -> str | None:
            if not 1 <= page <= pages:
                return None
            query = {**request.query, "page": str(page)}
            query = {k: v for k, v in query.items() if k != "page" or page > 1}
            tail = f"?{urlencode(sorted(query.items()))}" if query else ""
            return f"{request.base}{request.path}{tail}"

        shown = rows[(number - 1) * size : number * size]
        links = {"next": link(number + 1), "previous": link(number - 1)}
        return Response(200, {"count": len(rows), **links, "results": shown})

    def valid(self, request: Request, check: Field) -> dict[str, Any] | Response:
        """Return what the serializer makes of the body, or the refusal."""
        refusal = self.unauthorized(request)
        if refusal:
            return refusal
        data: Any = {}
        if request.raw:
            media_type = request.headers.get("Content-Type") or ""
            if media_type.partition(";")[0].strip().lower() != "application/json":
                detail = f'Unsupported media type "{media_type}" in request.'
                return Response(415, {"detail": detail})
            try:
                data = json.loads(request.raw.decode(), parse_constant=no_constant)
            except ValueError as error:
                return Response(400, {"detail": f"JSON parse error - {error}"})
        try:
            return check(data)  # type: ignore[no-any-return]
        except Invalid as error:
            return Response(400, error.args[0])

    def mine(self, rows: dict[int, dict[str, Any]], token: str) -> dict[int, Any]:
        return {key: row for key, row in rows.items() if row["owner"] == token}

    def claim(self, request: Request) -> Response:
        data = self.valid(request, serializer({"order": by_slug(self.orders)}))
        if isinstance(data, Response):
            return data
        order = data["order"]
        status, own = 200, self.mine(self.bookings, request.token).values()
        booking = next((b for b in own if b["order"] is order), None)
        if order["status"] != "open" and (booking is None or order["status"] == "paid"):
            return Response(409, {"detail": "This order is no longer open."})
        if booking is None:
            status, key, order["status"] = 201, 118 + 3 * len(self.bookings), "booked"
            booking = {"id": key, "order": order, "owner": request.token}
            self.bookings[key] = booking
            self.book.claimed(order["slug"])
        body = {"id": booking["id"], "order": order, "status": order["status"]}
        return Response(
            status, {**body, "painter": self.agents[request.token]["agent_id"]}
        )

    def submit(self, request: Request) -> Response:
        own = self.mine(self.bookings, request.token)
        lettering = {"lettering": char(500), "remarks": char(200, allow_blank=True)}
        proof_in = serializer(lettering, optional=("remarks",), nested=True)
        data = self.valid(request, serializer({"booking": pk(own), "proof": proof_in}))
        if isinstance(data, Response):
            return data
        booking, text = data["booking"], data["proof"]["lettering"]
        order = booking["order"]
        if text != order["wording"].upper():
            message = (
                "The proof was rejected: it is not the order's wording in upper case."
            )
            return Response(400, {"non_field_errors": [message]})
        own = self.mine(self.proofs, request.token)
        proof = next((p for p in own.values() if p["booking"] is booking), None)
        status = 200 if proof else 201
        if proof is None:
            key, order["status"] = 5031 + 2 * len(self.proofs), "proofed"
            proof = {"id": key, "booking": booking, "owner": request.token}
            self.proofs[key] = proof
        body = {"id": proof["id"], "booking": booking["id"], "lettering": text}
        return Response(status, {**body, "status": "approved"})

    def complete(self, request: Request) -> Response:
        own = self.mine(self.proofs, request.token)
        data = self.valid(request, serializer({"proof": pk(own)}))
        if isinstance(data, Response):
            return data
        order, agent = data["proof"]["booking"]["order"], self.agents[request.token]
        if order["status"] == "paid":
            return Response(409, {"detail": "This proof has already been settled."})
        order["status"], fee = "paid", self.fees[order["slug"]]
        agent["credits"] += fee
        self.book.pay(order["slug"], fee)
        shown = {"slug": order["slug"], "status": "paid"}
        payment = {"amount": order["fee"], "currency": "credits"}
        body = {"proof": data["proof"]["id"], "order": shown, "payment": payment}
        return Response(200, {**body, "balance": f"{agent['credits']}.00"})
