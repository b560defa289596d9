"""Rust actix-web + serde: gigs of a ferry line; extractor errors are plain text."""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TYPES = {"gig_id": "u64", "receipt": "a string", "output": "a string"}
OUTCOMES = ("done", "partial")
GIGS = [
    (1, "Deck sign", "no bicycles on the upper deck", 10, "Open"),
    (2, "Departure board", "the night boat leaves at eleven", 20, "Open"),
    (3, "Galley label", "tea, sugar and dry biscuits", 14, {"Claimed": {"by": 4}}),
    (4, "Lifejacket card", "pull the red cord once", 24, "Open"),
    (5, "Car lane", "lorries keep to the left", 11, "Open"),
    (6, "Ticket stub", "valid for one crossing", 9, "Paid"),
    (7, "Captain's notice", "swell of two metres expected", 19, "Open"),
]


def named(value: Any) -> str:
    """serde's Unexpected, as it is displayed."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"boolean `{str(value).lower()}`"
    if isinstance(value, int):
        return f"integer `{value}`"
    if isinstance(value, float):
        return f"floating point `{value}`"
    if isinstance(value, str):
        return f'string "{value}"'
    return "sequence" if isinstance(value, list) else "map"


def serde(
    struct: str, fields: list[str], request: Request
) -> tuple[dict[str, Any], str]:
    """Deserialize a struct with serde_json: the values and the error's text."""
    raw = request.raw.decode(errors="replace")
    end = f" at line {raw.count(chr(10)) + 1} column {len(raw.rsplit(chr(10), 1)[-1])}"
    if not raw.strip():
        return {}, "EOF while parsing a value at line 1 column 0"
    try:
        data = request.json()
    except ValueError:
        return {}, "expected value" + end
    if not isinstance(data, dict):
        return {}, f"invalid type: {named(data)}, expected struct {struct}" + end
    for name in fields:
        if name not in data:
            continue
        value, place = data[name], f" at line 1 column {raw.find(name) + len(name) + 3}"
        if name == "outcome":
            if not isinstance(value, str):
                return (
                    {},
                    f"invalid type: {named(value)}, expected variant identifier{place}",
                )
            if value not in OUTCOMES:
                known = " or ".join(f"`{o}`" for o in OUTCOMES)
                return {}, f"unknown variant `{value}`, expected {known}{place}"
        elif name == "gig_id":
            if type(value) is int and value < 0:
                return {}, f"invalid value: {named(value)}, expected u64{place}"
            if type(value) is not int:
                return {}, f"invalid type: {named(value)}, expected u64{place}"
        elif not isinstance(value, str):
            return {}, f"invalid type: {named(value)}, expected {TYPES[name]}{place}"
    for name in fields:
        if name not in data:
            return {}, f"missing field `{name}`" + end
    return data, ""


class Ferrygigs(Backend):
    """A bare array of gigs: id, body (the text), reward {credits}, state as a serde enum.

    claim: {gig_id: u64}; submit: {gig_id, output, outcome: done|partial} -> {receipt};
    complete: {gig_id, receipt} -> {paid, balance}, paid at once. Bad bodies are text/plain
    "Json deserialize error: ..."; other refusals {error, detail}; no token: empty 401.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gigs = {
            i: {"id": i, "title": t, "body": b, "reward": {"credits": c}, "state": s}
            for i, t, b, c, s in GIGS
        }
        self.members: dict[str, dict[str, Any]] = {}
        self.holder: dict[int, str] = {}
        self.receipts: dict[int, str] = {}

    def texts(self) -> dict[str, str]:
        return {str(i): b for i, _, b, _, s in GIGS if s == "Open"}

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(16)
        number = 10 + len(self.members)
        self.members[token] = {"number": number, "credits": 100}
        answer = {"agent_id": str(number), "access_token": token, "credits": 100}
        return Response(200, answer)

    def tasks(self, request: Request) -> Response:
        if request.token not in self.members:
            return Response(401, "", {"WWW-Authenticate": "Bearer"})
        limit = request.query.get("limit", "100")
        if not limit.isdigit():
            return Response(
                400, "Query deserialize error: invalid digit found in string"
            )
        return Response(200, list(self.gigs.values())[: int(limit)])

    def marketplace(self, request: Request) -> Response:
        return Response(200, [g for g in self.gigs.values() if g["state"] == "Open"])

    def _no(self, status: int, error: str, detail: str) -> Response:
        return Response(status, {"error": error, "detail": detail})

    def _extract(
        self, request: Request, struct: str, fields: list[str]
    ) -> tuple[dict[str, Any], dict[str, Any], Response | None]:
        if request.token not in self.members:
            return {}, {}, Response(401, "", {"WWW-Authenticate": "Bearer"})
        if "json" not in (request.headers.get("Content-Type") or ""):
            return {}, {}, Response(415, "Content type error")
        data, said = serde(struct, fields, request)
        if said:
            return {}, {}, Response(400, f"Json deserialize error: {said}")
        gig = self.gigs.get(data["gig_id"])
        if gig is None:
            return {}, {}, self._no(404, "GigNotFound", f"no gig {data['gig_id']}")
        return data, gig, None

    def claim(self, request: Request) -> Response:
        _, gig, no = self._extract(request, "ClaimGig", ["gig_id"])
        if no:
            return no
        if gig["state"] == "Open":
            gig["state"] = {"Claimed": {"by": self.members[request.token]["number"]}}
            self.holder[gig["id"]] = request.token
            self.book.claimed(str(gig["id"]))
        elif self.holder.get(gig["id"]) != request.token:
            return self._no(409, "AlreadyClaimed", "the gig is not open")
        return Response(200, gig | {"wanted": "the body in uppercase"})

    def submit(self, request: Request) -> Response:
        fields = ["gig_id", "output", "outcome"]
        data, gig, no = self._extract(request, "SubmitGig", fields)
        if no:
            return no
        if self.holder.get(gig["id"]) != request.token:
            return self._no(403, "NotYourGig", "the gig is held by another agent")
        if data["output"] != gig["body"].upper():
            return self._no(
                422, "OutputRejected", "output is not the body in uppercase"
            )
        if data["outcome"] != "done":
            return self._no(
                422, "Incomplete", "partial work is not accepted for this gig"
            )
        if gig["id"] not in self.receipts:
            self.receipts[gig["id"]] = secrets.token_hex(6)
            gig["state"] = "Submitted"
        return Response(
            200,
            {
                "gig_id": gig["id"],
                "state": gig["state"],
                "receipt": self.receipts[gig["id"]],
            },
        )

    def complete(self, request: Request) -> Response:
        data, gig, no = self._extract(request, "CompleteGig", ["gig_id", "receipt"])
        if no:
            return no
        if self.holder.get(gig["id"]) != request.token:
            return self._no(403, "NotYourGig", "the gig is held by another agent")
        if gig["id"] not in self.receipts:
            return self._no(409, "NotSubmitted", "submit the output first")
        if data["receipt"] != self.receipts[gig["id"]]:
            return self._no(422, "BadReceipt", "receipt does not match the submission")
        member, paid = self.members[request.token], gig["reward"]["credits"]
        if gig["state"] != "Paid":
            gig["state"] = "Paid"
            member["credits"] += paid
            self.book.pay(str(gig["id"]), paid)
        return Response(
            200,
            {
                "gig_id": gig["id"],
                "state": "Paid",
                "paid": {"credits": paid},
                "balance": member["credits"],
            },
        )
