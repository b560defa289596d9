"""A Sinatra service with dry-validation contracts, Sequel behind it, pages made by Pagy.

Errors are what `result.errors.to_h` gives: by key, nested as the input is, each a list of
sentences. Contracts take JSON's types as they come, so an integer has to be one; keys that
a contract does not have are dropped. Booking a gig makes a booking, whose number is what a
delivery belongs to.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]

LYRICS = (
    "the band forgot the second verse",
    "swing low over the parking lot",
    "nobody owns the blue trombone",
    "tune the piano before the flood",
    "a whistle carries past the mill",
    "the drummer lives above the bakery",
    "count to four and close the door",
    "the microphone smells of oranges",
    "play it slower for the dancers",
    "an encore for the cloakroom lady",
    "strings attached and strings removed",
)
PAGE = 4
FORMATS = ("plain", "markdown", "html")


def errors_of(body: Json, schema: Json) -> Json:
    """Return the errors of a contract, as errors.to_h does."""
    found: Json = {}
    for key, wanted in schema.items():
        if key not in body:
            found[key] = ["is missing"]
            continue
        value = body[key]
        if isinstance(wanted, dict):
            if not isinstance(value, dict):
                found[key] = ["must be a hash"]
            elif below := errors_of(value, wanted):
                found[key] = below
        elif wanted is int:
            if isinstance(value, bool) or not isinstance(value, int):
                found[key] = ["must be an integer"]
        elif value in ("", None):
            found[key] = ["must be filled"]
        elif not isinstance(value, str):
            found[key] = ["must be a string"]
        elif isinstance(wanted, tuple) and value not in wanted:
            found[key] = [f"must be one of: {', '.join(wanted)}"]
    return found


class Sinatra(Backend):
    """Eleven gigs."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, int] = {}
        self.gigs: dict[int, Json] = {
            n: {
                "id": n,
                "title": "Shout it",
                "lyrics": text,
                "fee_credits": n % 5 + 1,
                "state": "open",
                "created_at": "2026-03-01 18:00:00 +0100",
            }
            for n, text in enumerate(LYRICS, 311)
        }
        self.bookings: dict[int, Json] = {}

    def texts(self) -> dict[str, str]:
        return {str(n): gig["lyrics"] for n, gig in self.gigs.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "<h1>Not Found</h1>", {"Content-Type": "text/html"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        self.agents[token] = 40 + self.book.registrations
        told = {
            "agent_id": str(self.agents[token]),
            "access_token": token,
            "credits": 100,
        }
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        opened = [gig for gig in self.gigs.values() if gig["state"] == "open"]
        limit = request.query.get("limit", "")
        size = min(int(limit), PAGE) if limit.isdigit() and int(limit) else PAGE
        asked = request.query.get("page", "")
        page = int(asked) if asked.isdigit() and int(asked) else 1
        last = max(1, -(-len(opened) // size))
        shown = opened[(page - 1) * size : page * size]
        pagy = {
            "page": page,
            "limit": size,
            "count": len(opened),
            "last": last,
            "prev": page - 1 if page > 1 else None,
            "next": page + 1 if page < last else None,
        }
        return Response(200, {"gigs": shown, "pagy": pagy})

    def call(
        self, request: Request, schema: Json, step: Callable[[Json], Response]
    ) -> Response:
        """Check who asks and what, as a helper in the base application does."""
        if request.token not in self.agents:
            return Response(401, {"error": "unauthorized"})
        try:
            body = request.json()
        except ValueError:
            return Response(400, {"error": "malformed JSON"})
        if errors := errors_of(body if isinstance(body, dict) else {}, schema):
            return Response(422, {"errors": errors})
        return step(body)

    def claim(self, request: Request) -> Response:
        return self.call(request, {"gig_id": int}, self.on_claim)

    def on_claim(self, body: Json) -> Response:
        gig = self.gigs.get(body["gig_id"])
        if not gig:
            return Response(404, {"error": "gig not found"})
        if gig["state"] != "open":
            return Response(409, {"error": "gig is already booked"})
        gig["state"] = "booked"
        self.book.claimed(str(gig["id"]))
        booking = {
            "id": 9001 + len(self.bookings),
            "gig_id": gig["id"],
            "status": "active",
            "expires_at": "2027-03-01 18:00:00 +0100",
        }
        self.bookings[booking["id"]] = booking
        return Response(201, {"booking": booking})

    def submit(self, request: Request) -> Response:
        schema = {"booking_id": int, "delivery": {"format": FORMATS, "body": str}}
        return self.call(request, schema, self.on_submit)

    def on_submit(self, body: Json) -> Response:
        booking = self.bookings.get(body["booking_id"])
        if not booking:
            return Response(404, {"error": "booking not found"})
        lyrics = self.gigs[booking["gig_id"]]["lyrics"]
        if body["delivery"]["body"] != lyrics.upper():
            told = {"delivery": {"body": ["is not what the gig asks for"]}}
            return Response(422, {"errors": told})
        if booking["status"] == "active":
            booking["status"] = "delivered"
        return Response(200, {"booking": booking})

    def complete(self, request: Request) -> Response:
        return self.call(request, {"booking_id": int}, self.on_complete)

    def on_complete(self, body: Json) -> Response:
        booking = self.bookings.get(body["booking_id"])
        if not booking:
            return Response(404, {"error": "booking not found"})
        if booking["status"] == "active":
            return Response(409, {"error": "nothing was delivered yet"})
        gig = self.gigs[booking["gig_id"]]
        if booking["status"] == "delivered":
            booking["status"] = gig["state"] = "settled"
            self.book.pay(str(gig["id"]), gig["fee_credits"])
        payout = {"credits": gig["fee_credits"], "balance": None}
        return Response(200, {"booking": booking, "payout": payout})
