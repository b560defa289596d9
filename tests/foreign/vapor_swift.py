"""A Swift service made with Vapor: Codable's complaints, and a claim's token in a header.

`{"error": true, "reason": "No such key 'gigID' at path ''."}`: one thing at a time, and
the path only where there is one. Fluent's pages have items and metadata. Whoever submits
or completes shows the token of the claim in X-Claim-Token.
"""

import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = (
    "a swift sleeps on the wing in june",
    "the optional parachute was packed",
    "fold the paper along the dotted line",
    "the codable fox spells its own name",
    "leave the lamp on for the late guest",
    "an actor waits behind the velvet rope",
    "the protocol asks for clean gloves",
    "steam rises from the morning harbour",
    "a closure keeps the secret it heard",
    "water vapour writes on the window",
    "the guard lets nobody return early",
    "unwrap the sandwich with both hands",
)
PER = 5


class AbortError(Exception):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


def decoded(body: Any, name: str, kind: type, path: str = "") -> Any:
    """Decode one key as JSONDecoder does."""
    if not isinstance(body, dict) or name not in body:
        raise AbortError(400, f"No such key '{name}' at path '{path}'.")
    value, at = body[name], f"{path}.{name}".strip(".")
    if value is None:
        raise AbortError(400, f"Value required for key '{at}'.")
    if not isinstance(value, kind):
        wanted = "String" if kind is str else "Dictionary<String, Any>"
        raise AbortError(400, f"Value at path '{at}' was not of type '{wanted}'.")
    return value


class VaporSwift(Backend):
    """Twelve gigs."""

    def __init__(self) -> None:
        super().__init__()
        self.gigs = {str(uuid.uuid4()).upper(): text for text in TEXTS}
        self.fee = {gig: n % 3 + 2 for n, gig in enumerate(self.gigs)}
        self.claims: dict[str, str] = {}  # gig -> token
        self.done: set[str] = set()
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return dict(self.gigs)

    def missing(self, request: Request) -> Response:
        return Response(404, {"error": True, "reason": "Not Found"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()).upper(), secrets.token_urlsafe(24)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        free = [gig for gig in self.gigs if gig not in self.claims]
        page = max(int(request.query.get("page", "1") or 1), 1)
        shown = free[(page - 1) * PER : page * PER]
        items = [
            {"id": gig, "copy": self.gigs[gig], "fee": self.fee[gig]} for gig in shown
        ]
        metadata = {"page": page, "per": PER, "total": len(free)}
        return Response(200, {"items": items, "metadata": metadata})

    def answered(self, request: Request, run: Any) -> Response:
        if request.token not in self.agents:
            return Response(401, {"error": True, "reason": "Unauthorized"})
        try:
            return Response(200, run(request))
        except AbortError as no:
            return Response(no.status, {"error": True, "reason": no.reason})

    def gig(self, request: Request) -> str:
        gig: str = decoded(request.json(), "gigID", str)
        if gig not in self.gigs:
            raise AbortError(404, "Gig not found")
        return gig

    def claimed_gig(self, request: Request) -> str:
        shown = request.headers.get("X-Claim-Token")
        if not shown:
            raise AbortError(400, "Missing header: X-Claim-Token")
        gig = self.gig(request)
        if self.claims.get(gig) != shown:
            raise AbortError(403, "The claim token does not match")
        return gig

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, request: Request) -> Any:
        gig = self.gig(request)
        if gig in self.claims:
            raise AbortError(409, "Gig is already claimed")
        self.claims[gig] = secrets.token_hex(12)
        self.book.claimed(gig)
        return {"gigID": gig, "claimToken": self.claims[gig], "ttl": 900}

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, request: Request) -> Any:
        gig = self.claimed_gig(request)
        delivery = decoded(request.json(), "delivery", dict)
        if decoded(delivery, "copy", str, "delivery") != self.gigs[gig].upper():
            raise AbortError(409, "This copy was declined")
        self.done.add(gig)
        return {"gigID": gig, "received": True}

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, request: Request) -> Any:
        gig = self.claimed_gig(request)
        if gig not in self.done:
            raise AbortError(409, "Nothing was delivered")
        if gig not in self.book.paid:
            self.book.pay(gig, self.fee[gig])
        return {"gigID": gig, "earned": self.fee[gig]}
