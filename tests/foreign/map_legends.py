"""A map publisher's legends; the interface was made by the drawing office.

tasks: {"ok": true, "edition", "legend": [{"ref", "sheet", "symbol", "caption", "royalty", ...}]}
claim: {"ref": "NW14-3"} -> {"ok": true, "proof": {"proof_no": 7001, "ref", "caption", ...}}
submit: {"proof_no": 7001, "set_caption": "..."} -> {"ok": true, "proof": {...}}
complete: {"proof_no": 7001, "decision": "release"} -> {"ok": true, "proof", "royalty", ...}
The office always answers 200; a no is {"ok": false, "because": "..."} (401 for the token).
"""

import secrets
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

DECISIONS = ("release", "withdraw")


@dataclass
class Entry:
    """One entry of a legend."""

    ref: str
    sheet: str
    symbol: str
    caption: str
    royalty: int
    state: str = "unset"
    proof_no: int = 0
    setter: str = ""


class MapLegends(Backend):
    """The drawing office."""

    def __init__(self) -> None:
        super().__init__()
        self.setters: dict[str, int] = {}
        self.next_proof = 7001
        rows = [
            (
                "NW14-1",
                "NW 14 Fell and Tarn",
                "dotted line",
                "footpath passable in dry weather only",
                10,
            ),
            (
                "NW14-2",
                "NW 14 Fell and Tarn",
                "blue cross",
                "ford with stepping stones",
                7,
            ),
            (
                "NW14-3",
                "NW 14 Fell and Tarn",
                "black tower",
                "ruin open to visitors in summer",
                12,
            ),
            (
                "SE02-1",
                "SE 02 Chalk Downs",
                "green disc",
                "single tree of some importance",
                9,
            ),
            (
                "SE02-2",
                "SE 02 Chalk Downs",
                "red dashes",
                "boundary of the old royal forest",
                14,
            ),
            (
                "SE02-3",
                "SE 02 Chalk Downs",
                "brown comb",
                "quarry no longer being worked",
                8,
            ),
            ("SE02-4", "SE 02 Chalk Downs", "white bar", "gate closed after sunset", 6),
        ]
        self.legend = {row[0]: Entry(*row) for row in rows}

    def texts(self) -> dict[str, str]:
        """Return what can be earned."""
        return {key: one.caption for key, one in self.legend.items()}

    def no(self, because: str, status: int = 200) -> Response:
        """Say no, politely, with a 200."""
        return Response(status, {"ok": False, "because": because}, refused=True)

    def read(self, request: Request) -> Response | dict[str, Any]:
        """Read an order."""
        if request.token not in self.setters:
            return self.no("this token is not known to the drawing office", 401)
        try:
            order = request.json() if request.raw else {}
        except ValueError:
            order = None
        if not isinstance(order, dict):
            return self.no("the order is not a JSON object")
        return order

    def lack(self, order: dict[str, Any], *names: str) -> Response | None:
        """Say what an order lacks."""
        lacking = [name for name in names if order.get(name) in (None, "")]
        if lacking:
            return self.no("the order lacks " + " and ".join(lacking))
        return None

    def entry(self, one: Entry) -> dict[str, Any]:
        """Describe an entry."""
        return {
            "ref": one.ref,
            "sheet": one.sheet,
            "symbol": one.symbol,
            "caption": one.caption,
            "lettering": "capitals throughout",
            "royalty": one.royalty,
            "state": one.state,
        }

    def proof(self, one: Entry) -> dict[str, Any]:
        """Describe a proof."""
        return {"proof_no": one.proof_no, **self.entry(one)}

    def register(self, request: Request) -> Response:
        """Engage a setter."""
        self.book.registrations += 1
        token = secrets.token_hex(9)
        self.setters[token] = 100
        return Response(
            200,
            {
                "ok": True,
                "agent_id": f"setter {len(self.setters)}",
                "access_token": token,
                "credits": 100,
            },
        )

    def marketplace(self, request: Request) -> Response:
        """Show the unset entries."""
        unset = [
            self.entry(one) for one in self.legend.values() if one.state == "unset"
        ]
        limit = request.query.get("limit", "")
        if limit.isdigit():
            unset = unset[: int(limit)]
        return Response(200, {"ok": True, "edition": "Fourth edition", "legend": unset})

    def tasks(self, request: Request) -> Response:
        """Show the unset entries to a setter."""
        if request.token not in self.setters:
            return self.no("this token is not known to the drawing office", 401)
        return self.marketplace(request)

    def claim(self, request: Request) -> Response:
        """Pull a proof."""
        order = self.read(request)
        if isinstance(order, Response):
            return order
        if refusal := self.lack(order, "ref"):
            return refusal
        one = self.legend.get(str(order["ref"]))
        if one is None:
            return self.no(f"no entry of this edition has the ref {order['ref']}")
        if one.setter and one.setter != request.token:
            return self.no(f"a proof of {one.ref} is with another setter")
        if not one.setter:
            one.setter, one.state, one.proof_no = (
                request.token,
                "in proof",
                self.next_proof,
            )
            self.next_proof += 1
            self.book.claimed(one.ref)
        return Response(200, {"ok": True, "proof": self.proof(one)})

    def find(self, request: Request, number: Any) -> Entry | Response:
        """Find the entry of a proof."""
        for one in self.legend.values():
            is_named = one.proof_no and str(one.proof_no) == str(number)
            if is_named and one.setter == request.token:
                return one
        return self.no(f"you have no proof with the proof_no {number}")

    def submit(self, request: Request) -> Response:
        """Take the caption as set."""
        order = self.read(request)
        if isinstance(order, Response):
            return order
        if refusal := self.lack(order, "proof_no", "set_caption"):
            return refusal
        one = self.find(request, order["proof_no"])
        if isinstance(one, Response):
            return one
        if order["set_caption"] != one.caption.upper():
            return self.no("set_caption is not the caption in capitals")
        if one.state == "in proof":
            one.state = "set"
        return Response(200, {"ok": True, "proof": self.proof(one)})

    def complete(self, request: Request) -> Response:
        """Release a proof and pay the royalty."""
        order = self.read(request)
        if isinstance(order, Response):
            return order
        if refusal := self.lack(order, "proof_no", "decision"):
            return refusal
        one = self.find(request, order["proof_no"])
        if isinstance(one, Response):
            return one
        if order["decision"] not in DECISIONS:
            return self.no("decision has to be release or withdraw")
        if one.state == "released":
            if order["decision"] == "withdraw":
                return self.no("a released proof cannot be withdrawn")
        elif order["decision"] == "withdraw":
            one.state, one.setter, one.proof_no = "unset", "", 0
            self.book.held.discard(one.ref)
            return Response(200, {"ok": True, "entry": self.entry(one)})
        elif one.state != "set":
            return self.no("the caption of this proof has not been set")
        else:
            one.state = "released"
            self.setters[request.token] += one.royalty
            self.book.pay(one.ref, one.royalty)
        return Response(
            200,
            {
                "ok": True,
                "proof": self.proof(one),
                "credits": self.setters[request.token],
            },
        )
