"""Stint, a gig platform that keeps the client's money in escrow.

Built after a well-known payments API: list objects with has_more (limit,
starting_after), prefixed ids, error objects with type, code, param and message, one at
a time. Prices are decimal strings in US dollars (1 USD = 100 credits). An offer on a
gig (with an eta in minutes) is accepted at once and comes with a funded escrow; three
open offers at most. A delivery wants the content and a summary for the client. The
escrow is then to be released with complete: 202 at first, a second later it is released
and paid; ask again to see it.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

GIGS = [
    # id, price in credits, title, brief
    ("gig_8Qm2xT", 180, "Shop sign", "Closed for stocktaking until Thursday noon."),
    ("gig_8Qm7aB", 95, "Tagline", "Bikes that outlive their owners."),
    ("gig_8Qp1kR", 240, "Menu line", "Grilled leek, hazelnut, brown butter: 14"),
    ("gig_8Qs9dW", 60, "Voicemail", "You have reached the studio, we are out filming."),
    (
        "gig_8Qu4hC",
        310,
        "Poster",
        "One night only: the Brass Otters play the old mill.",
    ),
    ("gig_8Qv0nE", 125, "Label", "Contains sulphites. Store upright and cool."),
    ("gig_8Qx6jF", 150, "Banner", "We are hiring two joiners and an apprentice."),
    ("gig_8Qz3pL", 75, "Sticker", "If found, please return to room 204."),
    ("gig_8R02yG", 205, "Headline", "New ferry timetable starts on 1 June."),
    ("gig_8R05sH", 90, "Caption", "The founders in front of the first kiln, 1986."),
]
ENGAGED = [("gig_8Qn5vD", 140, "Flyer", "Ten per cent off all potting soil.")]


class StintGigs(Backend):
    """Gigs, offers, escrows."""

    def __init__(self) -> None:
        """Publish the gigs."""
        super().__init__()
        self.gigs = {row[0]: row for row in sorted(GIGS + ENGAGED)}
        self.status = {row[0]: "published" for row in GIGS}
        self.status |= {row[0]: "engaged" for row in ENGAGED}
        self.accounts: dict[str, str] = {}
        self.offers: dict[str, dict[str, str]] = {}
        self.due: dict[str, float] = {}

    def texts(self) -> dict[str, str]:
        """Return the brief of every published gig."""
        return {row[0]: row[3] for row in GIGS}

    @staticmethod
    def _no(status: int, code: str, message: str, param: str = "") -> Response:
        kind = "authentication_error" if status == 401 else "invalid_request_error"
        error = {"type": kind, "code": code, "message": message}
        return Response(status, {"error": error | ({"param": param} if param else {})})

    def missing(self, request: Request) -> Response:
        """Say that the address is not known."""
        message = f"Unrecognized request URL ({request.method}: {request.path})."
        return self._no(404, "url_unknown", message)

    def register(self, request: Request) -> Response:
        """Open an account."""
        self.book.registrations += 1
        account, token = f"acct_{secrets.token_hex(5)}", f"sk_{secrets.token_hex(16)}"
        self.accounts[token] = account
        agent = {"object": "agent", "agent_id": account, "access_token": token}
        return Response(200, agent | {"credits": 100, "livemode": True})

    @staticmethod
    def _usd(credits_: int) -> dict[str, str]:
        amount = f"{credits_ // 100}.{credits_ % 100:02}"
        return {"amount": amount, "currency": "USD"}

    def marketplace(self, request: Request) -> Response:
        """List the gigs."""
        asked, after = (
            request.query.get("limit", "5"),
            request.query.get("starting_after"),
        )
        if not asked.isdecimal() or not 1 <= int(asked) <= 100:
            message = "Invalid integer: limit must be between 1 and 100."
            return self._no(400, "parameter_invalid_integer", message, "limit")
        ids = list(self.gigs)
        if after and after not in self.gigs:
            message = f"No such gig: '{after}'"
            return self._no(400, "resource_missing", message, "starting_after")
        start = ids.index(after) + 1 if after else 0
        data = [
            {
                "id": key,
                "object": "gig",
                "title": self.gigs[key][2],
                "brief": self.gigs[key][3],
                "status": self.status[key],
                "price": self._usd(self.gigs[key][1]),
            }
            for key in ids[start : start + int(asked)]
        ]
        more = start + int(asked) < len(ids)
        body = {"object": "list", "url": request.path, "has_more": more, "data": data}
        return Response(200, body)

    def _denied(self, request: Request) -> Response | None:
        if request.token in self.accounts:
            return None
        message = (
            "Invalid access token provided."
            if request.token
            else ("You did not provide an access token (Authorization: Bearer).")
        )
        return self._no(401, "token_invalid", message)

    def tasks(self, request: Request) -> Response:
        """List the gigs for an account."""
        return self._denied(request) or self.marketplace(request)

    def _body(self, request: Request) -> Any:
        if denied := self._denied(request):
            return denied
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            return self._no(400, "json_invalid", "The request body is not valid JSON.")
        if not isinstance(body, dict):
            message = "The request body must be a JSON object."
            return self._no(400, "json_invalid", message)
        return body

    def _lacks(self, param: str, value: Any) -> Response | None:
        if value is None:
            message = f"Missing required param: {param}."
            return self._no(400, "parameter_missing", message, param)
        if not isinstance(value, str):
            message = f"Invalid string: {param}."
            return self._no(400, "parameter_invalid_string", message, param)
        if not value.strip():
            message = f"You passed an empty string for '{param}'."
            return self._no(400, "parameter_invalid_empty", message, param)
        return None

    def claim(self, request: Request) -> Response:
        """Accept an account's offer on a gig."""
        body = self._body(request)
        if isinstance(body, Response):
            return body
        gig, eta = body.get("gig"), body.get("eta_minutes")
        if bad := self._lacks("gig", gig):
            return bad
        if gig not in self.gigs:
            return self._no(404, "resource_missing", f"No such gig: '{gig}'", "gig")
        if isinstance(eta, bool) or not isinstance(eta, int) or not 1 <= eta <= 1440:
            message = "eta_minutes must be an integer between 1 and 1440."
            code = "parameter_missing" if eta is None else "parameter_invalid_integer"
            return self._no(400, code, message, "eta_minutes")
        account = self.accounts[request.token]
        mine = {k: o for k, o in self.offers.items() if o["account"] == account}
        for key, offer in mine.items():
            if offer["gig"] == gig:
                message = f"You have an accepted offer on this gig: {key}."
                return self._no(409, "offer_exists", message, "gig")
        if self.status[gig] != "published":
            message = f"This gig is {self.status[gig]} and takes no offers."
            return self._no(409, "gig_unavailable", message, "gig")
        if sum(self.status[o["gig"]] == "engaged" for o in mine.values()) >= 3:
            message = "You have 3 undelivered offers, the most for a new account."
            return self._no(429, "offer_limit", message)
        key, escrow = f"off_{secrets.token_hex(6)}", f"esc_{secrets.token_hex(6)}"
        offer = {"gig": gig, "account": account, "escrow": escrow, "state": "funded"}
        self.offers[key] = offer
        self.status[gig] = "engaged"
        self.book.claimed(gig)
        body = {"id": key, "object": "offer", "gig": gig, "status": "accepted"}
        return Response(200, body | {"escrow": self._escrow(offer)})

    def _escrow(self, offer: dict[str, str]) -> dict[str, Any]:
        price = self._usd(self.gigs[offer["gig"]][1])
        body = {"id": offer["escrow"], "object": "escrow", "status": offer["state"]}
        return body | price

    def submit(self, request: Request) -> Response:
        """Take a delivery in."""
        body = self._body(request)
        if isinstance(body, Response):
            return body
        given = body.get("deliverable")
        content = given.get("content") if isinstance(given, dict) else None
        values = {"offer": body.get("offer"), "deliverable[content]": content}
        for param, value in {**values, "summary": body.get("summary")}.items():
            if bad := self._lacks(param, value):
                return bad
        offer = self.offers.get(body["offer"])
        if not offer or offer["account"] != self.accounts[request.token]:
            message = f"No such offer: '{body['offer']}'"
            return self._no(404, "resource_missing", message, "offer")
        if self.status[offer["gig"]] != "engaged":
            return self._no(409, "already_delivered", "This offer has its delivery.")
        if content != self.gigs[offer["gig"]][3].upper():
            message = "The client's acceptance check failed for this content."
            return self._no(402, "delivery_rejected", message, "deliverable[content]")
        self.status[offer["gig"]] = "delivered"
        key = f"dlv_{secrets.token_hex(6)}"
        body = {"id": key, "object": "delivery", "offer": body["offer"]}
        return Response(200, body | {"status": "accepted", "escrow": offer["escrow"]})

    def handle(self, request: Request) -> Response:
        """Release the escrows that are due, then answer."""
        with self._lock:
            for offer in self.offers.values():
                moment = self.due.get(offer["escrow"])
                if moment is not None and time.monotonic() >= moment:
                    del self.due[offer["escrow"]]
                    offer["state"] = "released"
                    self.status[offer["gig"]] = "closed"
                    self.book.pay(offer["gig"], self.gigs[offer["gig"]][1])
        return super().handle(request)

    def complete(self, request: Request) -> Response:
        """Release an escrow."""
        body = self._body(request)
        if isinstance(body, Response):
            return body
        escrow, account = body.get("escrow"), self.accounts[request.token]
        if bad := self._lacks("escrow", escrow):
            return bad
        for offer in self.offers.values():
            if offer["escrow"] == escrow and offer["account"] == account:
                break
        else:
            message = f"No such escrow: '{escrow}'"
            return self._no(404, "resource_missing", message, "escrow")
        if self.status[offer["gig"]] == "engaged":
            message = "An escrow is released after the delivery, not before."
            return self._no(409, "escrow_not_releasable", message, "escrow")
        if offer["state"] == "funded":
            offer["state"] = "release_pending"
            self.due[escrow] = time.monotonic() + 1.0
        if offer["state"] == "release_pending":
            return Response(202, self._escrow(offer), {"Retry-After": "1"})
        credited = {"credited": {"credits": self.gigs[offer["gig"]][1]}}
        return Response(200, self._escrow(offer) | credited)
