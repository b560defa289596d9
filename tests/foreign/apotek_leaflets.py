"""A pharmacy's leaflet desk: terse, JSON out when it is well, plain text when it is not.

Lists `leaflets` as an object keyed by slug, all at once (`limit` cuts it); no id inside. A
claim wants `leaflet` (the slug) and answers a numbered `slot`; submit wants `slot`, `wording`,
`version` (the leaflet's present one, as the list has it) and `checked_by` (a name), and answers
204; complete wants `slot` and pays: `outcome` paid, `credits`, `balance`. Refuses with a line
of text: every missing name at once, then one wrong value at a time. Two slots open at most.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

LEAFLETS = {
    # by slug: the medicine, its line, version, credits and state
    "ibuprofen-200-storage": ("Ibuprofen 200", "Store below 25 degrees", 3, 3, "free"),
    "nasal-spray-use": (
        "Nasal spray",
        "Do not use for more than seven days",
        7,
        4,
        "free",
    ),
    "eye-drops-opened": (
        "Eye drops",
        "Discard four weeks after opening",
        2,
        5,
        "taken",
    ),
    "cough-syrup-dose": (
        "Cough syrup",
        "Shake the bottle before each dose",
        12,
        3,
        "free",
    ),
    "antacid-interval": ("Antacid", "Take two hours after other tablets", 4, 4, "free"),
    "travel-tablets-driving": ("Travel tablets", "May cause drowsiness", 1, 2, "free"),
}


class ApotekLeaflets(Backend):
    """Lines of leaflets and the slots of those who word them."""

    def __init__(self) -> None:
        super().__init__()
        self.balances: dict[str, int] = {}
        self.leaflets: dict[str, dict[str, Any]] = {}
        for slug, (medicine, line, version, pay, state) in LEAFLETS.items():
            self.leaflets[slug] = {
                "medicine": medicine,
                "line": line,
                "version": version,
                "pays_credits": pay,
                "state": state,
            }
        self.slots: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {slug: leaf[1] for slug, leaf in LEAFLETS.items() if leaf[4] == "free"}

    @staticmethod
    def _no(status: int, line: str) -> Response:
        return Response(status, line + "\n")

    def missing(self, request: Request) -> Response:
        return self._no(404, "not found")

    def _fields(self, request: Request, *names: str) -> Any:
        """Return the body with these fields, or the refusal."""
        if request.token not in self.balances:
            return self._no(401, "who are you? bearer token needed")
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            return self._no(400, "not json")
        if not isinstance(body, dict):
            return self._no(400, "need a json object")
        lacking = [n for n in names if body.get(n) in (None, "")]
        return self._no(400, "missing: " + ", ".join(lacking)) if lacking else body

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        self.balances[token] = 100
        body = {"agent": f"w{len(self.balances):03}", "token": token, "balance": 100}
        return Response(201, body)

    def tasks(self, request: Request) -> Response:
        if request.token not in self.balances:
            return self._no(401, "who are you? bearer token needed")
        return self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        if not limit.isdigit():
            return self._no(400, "limit: not a number")
        shown = list(self.leaflets.items())[: int(limit)]
        body = {"leaflets": dict(shown), "shown": len(shown), "of": len(self.leaflets)}
        return Response(200, body)

    def claim(self, request: Request) -> Response:
        body = self._fields(request, "leaflet")
        if isinstance(body, Response):
            return body
        slug = str(body["leaflet"])
        if slug not in self.leaflets:
            return self._no(404, f"leaflet: no {slug!r} on the list")
        mine = {n: s for n, s in self.slots.items() if s["token"] == request.token}
        for slot in mine.values():
            if slot["leaflet"] == slug and slot["state"] != "rejected":
                return Response(200, {k: slot[k] for k in ("slot", "leaflet", "state")})
        if self.leaflets[slug]["state"] != "free":
            return self._no(409, f"{slug} is {self.leaflets[slug]['state']}")
        opened = [n for n, s in mine.items() if s["state"] in ("open", "worded")]
        if len(opened) >= 2:
            listed = ", ".join(map(str, opened))
            return self._no(
                409, f"two slots open already ({listed}), complete one first"
            )
        number = 17 + len(self.slots)
        slot = {"slot": number, "leaflet": slug, "state": "open"}
        self.slots[number] = slot | {"token": request.token, "wording": ""}
        self.leaflets[slug]["state"] = "taken"
        self.book.claimed(slug)
        return Response(200, slot)

    def _slot(self, request: Request, body: dict[str, Any]) -> Any:
        if not str(body["slot"]).isdigit():
            return self._no(400, "slot: not a number")
        slot = self.slots.get(int(body["slot"]))
        if slot and slot["token"] == request.token:
            return slot
        return self._no(404, f"slot: {body['slot']} is not yours")

    def submit(self, request: Request) -> Response:
        body = self._fields(request, "slot", "wording", "version", "checked_by")
        slot = body if isinstance(body, Response) else self._slot(request, body)
        if isinstance(slot, Response):
            return slot
        leaflet = self.leaflets[slot["leaflet"]]
        if not isinstance(body["wording"], str):
            return self._no(400, "wording: not a string")
        if not isinstance(body["checked_by"], str) or len(body["checked_by"]) > 60:
            return self._no(400, "checked_by: name of up to 60 letters")
        if str(body["version"]) != str(leaflet["version"]):
            return self._no(
                409, f"version: {slot['leaflet']} is at version {leaflet['version']}"
            )
        if slot["state"] not in ("open", "worded"):
            return self._no(409, f"slot {slot['slot']} is {slot['state']}")
        slot |= {"state": "worded", "wording": body["wording"]}
        return Response(204)

    def complete(self, request: Request) -> Response:
        body = self._fields(request, "slot")
        slot = body if isinstance(body, Response) else self._slot(request, body)
        if isinstance(slot, Response):
            return slot
        leaflet = self.leaflets[slot["leaflet"]]
        if slot["state"] == "open":
            return self._no(409, f"slot {slot['slot']} has no wording yet")
        if slot["state"] == "worded":
            if slot["wording"] == leaflet["line"].upper():
                slot["state"] = leaflet["state"] = "paid"
                self.balances[request.token] += leaflet["pays_credits"]
                self.book.pay(slot["leaflet"], leaflet["pays_credits"])
            else:
                slot["state"] = leaflet["state"] = "rejected"
        if slot["state"] == "rejected":
            return self._no(
                422, f"slot {slot['slot']}: wording rejected by the pharmacist"
            )
        body = {
            "slot": slot["slot"],
            "leaflet": slot["leaflet"],
            "outcome": "paid",
            "credits": leaflet["pays_credits"],
            "balance": self.balances[request.token],
        }
        return Response(200, body)
