"""A hotel chain's sign workshop; the interface was drawn up by the housekeeping office.

tasks: {"houses": [{"house", "signs": [{"sign", "hangs_on", "wording", "fee", "state"}]}]}
claim: {"sign": "LIN-204", "letterer": any name} -> {"docket": "D-0001", "sign": {...}}
submit: {"docket": ..., "lettering": "..."} -> {"docket", "state": "lettered"}
complete: {"docket": ..., "hung": true} -> {"state": "hung", "fee_paid": n}
Refusals: 400 {"desk": sentence, "missing": [names]} and so on.
"""

import secrets
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response


@dataclass
class Sign:
    """One sign of one house."""

    number: str
    house: str
    door: str
    wording: str
    fee: int
    state: str = "to be lettered"
    docket: str = ""
    token: str = ""
    letterer: str = ""


class HotelDoorSigns(Backend):
    """The sign workshop's desk."""

    def __init__(self) -> None:
        super().__init__()
        self.purses: dict[str, int] = {}
        rows = [
            (
                "LIN-204",
                "Lindenhof",
                "guest room",
                "please let us sleep a little longer",
                12,
            ),
            ("LIN-B01", "Lindenhof", "sauna", "kindly shower before you enter", 8),
            (
                "LIN-R07",
                "Lindenhof",
                "breakfast room",
                "breakfast is served until half past ten",
                10,
            ),
            ("SEE-110", "Seeblick", "lift", "in case of fire take the stairs", 14),
            ("SEE-K02", "Seeblick", "kitchen", "no guests beyond this door please", 9),
            ("SEE-T05", "Seeblick", "terrace", "mind the step on your way out", 11),
            (
                "ALP-301",
                "Alpenrose",
                "ski room",
                "leave your boots on the warm rack",
                13,
            ),
        ]
        self.signs = {row[0]: Sign(*row) for row in rows}
        self.signs["ALP-900"] = Sign(
            "ALP-900", "Alpenrose", "old bar", "closed for the season", 5, "hung"
        )

    def texts(self) -> dict[str, str]:
        """Return what can be earned."""
        return {key: one.wording for key, one in self.signs.items() if key != "ALP-900"}

    def sorry(self, status: int, sentence: str, **more: Any) -> Response:
        """Say no at the desk."""
        return Response(status, {"desk": sentence, **more})

    def read(self, request: Request, *names: str) -> Response | dict[str, Any]:
        """Read a note left at the desk."""
        if request.token not in self.purses:
            return self.sorry(401, "We do not know this key.")
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return self.sorry(
                400, "We could not read your note, it has to be a JSON object."
            )
        missing = [name for name in names if body.get(name) in (None, "")]
        if missing:
            return self.sorry(
                400,
                "Your note is not complete, please fill in what is missing.",
                missing=missing,
            )
        for name in names:
            wanted = bool if name == "hung" else str
            if not isinstance(body[name], wanted):
                kind = "true or false" if wanted is bool else "words"
                return self.sorry(400, f"Please write {name} as {kind}.", wrong=[name])
        return body

    def card(self, sign: Sign) -> dict[str, Any]:
        """Describe a sign."""
        return {
            "sign": sign.number,
            "hangs_on": sign.door,
            "wording": sign.wording,
            "manner": "letter the wording in capitals",
            "fee": sign.fee,
            "state": sign.state,
        }

    def register(self, request: Request) -> Response:
        """Hand out a key."""
        self.book.registrations += 1
        token = "key-" + secrets.token_hex(8)
        self.purses[token] = 100
        return Response(
            200,
            {
                "agent_id": f"letterer-{len(self.purses)}",
                "access_token": token,
                "credits": 100,
            },
        )

    def marketplace(self, request: Request) -> Response:
        """List all signs by house."""
        houses: dict[str, list[dict[str, Any]]] = {}
        for sign in self.signs.values():
            houses.setdefault(sign.house, []).append(self.card(sign))
        return Response(
            200,
            {
                "houses": [
                    {"house": name, "signs": found} for name, found in houses.items()
                ]
            },
        )

    def tasks(self, request: Request) -> Response:
        """List for a letterer."""
        if request.token not in self.purses:
            return self.sorry(401, "We do not know this key.")
        return self.marketplace(request)

    def claim(self, request: Request) -> Response:
        """Write a docket."""
        note = self.read(request, "sign", "letterer")
        if isinstance(note, Response):
            return note
        sign = self.signs.get(note["sign"])
        if sign is None:
            return self.sorry(404, f"None of our houses has a sign {note['sign']}.")
        if sign.token != request.token:
            if sign.state != "to be lettered":
                return self.sorry(409, f"That sign is {sign.state} already.")
            sign.token, sign.letterer = request.token, note["letterer"]
            sign.state = "with the letterer"
            sign.docket = (
                f"D-{1000 + len([s for s in self.signs.values() if s.docket])}"
            )
            self.book.claimed(sign.number)
        return Response(
            200,
            {"docket": sign.docket, "letterer": sign.letterer, "sign": self.card(sign)},
        )

    def find(self, request: Request, docket: str) -> Sign | Response:
        """Find the sign of a docket."""
        for sign in self.signs.values():
            if sign.docket == docket and sign.token == request.token:
                return sign
        return self.sorry(404, f"We find no docket {docket} under your key.")

    def submit(self, request: Request) -> Response:
        """Take the lettering."""
        note = self.read(request, "docket", "lettering")
        if isinstance(note, Response):
            return note
        sign = self.find(request, note["docket"])
        if isinstance(sign, Response):
            return sign
        if note["lettering"] != sign.wording.upper():
            return self.sorry(
                422,
                "The lettering is not the wording in capitals.",
                wrong=["lettering"],
            )
        if sign.state == "with the letterer":
            sign.state = "lettered"
        return Response(200, {"docket": sign.docket, "state": sign.state})

    def complete(self, request: Request) -> Response:
        """Hear that it hangs, and pay."""
        note = self.read(request, "docket", "hung")
        if isinstance(note, Response):
            return note
        sign = self.find(request, note["docket"])
        if isinstance(sign, Response):
            return sign
        if sign.state == "with the letterer":
            return self.sorry(409, "This sign has not been lettered yet.")
        if note["hung"] is not True:
            return self.sorry(422, "We pay when hung is true.", wrong=["hung"])
        if sign.state == "lettered":
            sign.state = "hung"
            self.purses[request.token] += sign.fee
            self.book.pay(sign.number, sign.fee)
        return Response(
            200,
            {
                "docket": sign.docket,
                "state": sign.state,
                "fee_paid": sign.fee,
                "purse": self.purses[request.token],
            },
        )
